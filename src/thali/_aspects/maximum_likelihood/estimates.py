"""Maximum-likelihood estimates: weights, standard errors, utility scale, tests of fit."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._data.number_checks import are_integers
from thali._data.pairs import PairedComparisons
from thali._inference.numerics.weight_shares import compute_shares, divide_positive, mix_with_guess
from thali._model.answers_by_respondent import (
    AnswersByRespondent,
    DesignEffect,
    compute_design_effect,
)
from thali._model.cluster_robust_variance import RespondentScores, RespondentVariance
from thali._posterior.posterior_interval import INTERVAL, interval_tails
from thali._posterior.respondent_dependence import ADJUSTED, Dependence

from ..draws.covariate_offsets import multiply_first_advantage
from ..likelihoods.set_probabilities import compute_luce_probabilities
from .given_aspects import KnownAspects
from .goodness_of_fit import FitTest, chi_square_tail, run_fit_test
from .maximisation import Maximum, estimate_maximum, maximise
from .pair_likelihood import PairProblem, compute_exclusive_aspects, compute_pair_shares

if TYPE_CHECKING:
    import pandas

    from thali._data.choices import Choices
    from thali._inference.random_seeds import RandomSeed

NO_INFORMATION = 1e-8  # share of the largest eigenvalue below which a direction is uninformative
# respondents in excess of parameters required for tests of fit over respondents
MIN_EXTRA_RESPONDENTS = 5
_LEAST_WEIGHT = 1e-6  # share of the weights in place of zero, whose score by log weight is zero


class InformationDirections(NamedTuple):
    """Root of the inverse information matrix, and a mask of unidentified parameters."""

    root: np.ndarray  # L (parameters, directions), with L L' the inverse information
    unknown: np.ndarray  # (parameters,) bool: no direction identifies the parameter


@dataclass(frozen=True, eq=False)
class Estimates:
    """Maximum-likelihood estimates of one fit, with errors and tests of fit."""

    data: "PairedComparisons"
    known: KnownAspects
    lapse: float
    problem: PairProblem
    maximum: Maximum
    clusters: AnswersByRespondent | None = None  # answers by respondent, if these are known
    treatment: Dependence | None = None  # of repeated answers, without the design effect

    @property
    def weights(self) -> np.ndarray:
        """Weights of the aspects, which sum to 1."""
        return self.maximum.weights

    @property
    def covariate_coefficients(self) -> np.ndarray:
        """Change of the first option's log odds per unit of each covariate, (n_covariates,)."""
        covariate_sizes = compute_covariate_sizes(self.data)
        return self.maximum.beta[: len(covariate_sizes)] / covariate_sizes

    @property
    def covariate_covariance(self) -> np.ndarray:
        """Covariance matrix of the covariates' coefficients."""
        covariate_sizes = compute_covariate_sizes(self.data)
        n_weights = len(self.maximum.weights)
        return self.joint_covariance[
            n_weights : n_weights + len(covariate_sizes),
            n_weights : n_weights + len(covariate_sizes),
        ] / np.outer(covariate_sizes, covariate_sizes)

    @property
    def is_adjusted(self) -> bool:
        """Whether errors and tests allow for repeated answers of respondents."""
        return self.treatment is not None and self.treatment.model == ADJUSTED

    @property
    def is_over_people(self) -> bool:
        """Whether standard errors are clustered by respondent."""
        return self.is_adjusted and bool(self._has_error.any())

    @property
    def is_tested_over_people(self) -> bool:
        """Whether enough respondents exist for tests of fit clustered by respondent."""
        return (
            self.is_adjusted
            and self.clusters is not None
            and self.clusters.n_respondents >= self.n_parameters + MIN_EXTRA_RESPONDENTS
        )

    @property
    def people(self) -> Dependence | None:
        """Treatment of repeated answers, with the design effect; None if unknown."""
        if self.treatment is None or self.clusters is None or not self._has_error.any():
            return self.treatment
        dependence = replace(self.treatment, effect=self._respondent_variance.scores.design_effect)
        if self.is_over_people:
            return self._respondent_variance.describe(dependence)
        return dependence

    @property
    def independent_tests(self) -> str:
        """Sentence on tests of fit that ignore respondents; "" if they do not."""
        if not self.is_over_people or self.is_tested_over_people:
            return ""
        return (
            "Tests of fit treat the choices as independent, because clustered tests"
            f" require at least {self.n_parameters + MIN_EXTRA_RESPONDENTS:,} respondents,"
            f" {MIN_EXTRA_RESPONDENTS}"
            " more than the number of free weights."
        )

    @cached_property
    def joint_covariance(self) -> np.ndarray:
        r"""Covariance of the weights and coefficients from the observed information I.

        .. math:: J I^- J', \qquad J = \operatorname{diag}(w) - w w'

        for weights that sum to 1, whose logarithms are identified up to a constant; over
        respondents :math:`J L W L' J'` with :math:`I^- = L L'` and W as in
        `cluster_robust_variance`. Rows of weights that are zero, or not identified at this point,
        are missing (NaN).
        """
        if not self.is_over_people:
            return self._compute_covariance()
        return self._compute_covariance(self._respondent_variance.score_covariance)

    @cached_property
    def _informed_directions(self) -> InformationDirections:
        """Scaled eigenvectors of the information matrix, and which parameters are unknown."""
        # Eigenvectors with an eigenvalue near 0 are omitted.
        weights = self.maximum.weights
        beta = self.maximum.beta
        free_indices = np.flatnonzero(np.append(weights > 0.0, np.ones(len(beta), bool)))
        information = -self.problem.compute_derivatives(weights, beta).hessian
        eigenvalues, eigenvectors = np.linalg.eigh(information[np.ix_(free_indices, free_indices)])
        is_informed = eigenvalues > NO_INFORMATION * max(eigenvalues[-1], 0.0)
        scaled_directions = np.zeros((len(information), int(is_informed.sum())))
        scaled_directions[free_indices] = eigenvectors[:, is_informed] / np.sqrt(
            eigenvalues[is_informed]
        )
        # Directions without information, beyond the common factor of the weights, leave some
        # weights unknown.
        is_unknown = np.ones(len(information), bool)
        uninformed_directions = (
            self._log_weight_jacobian[np.ix_(free_indices, free_indices)]
            @ eigenvectors[:, ~is_informed]
        )
        is_unknown[free_indices] = np.abs(uninformed_directions).max(axis=1, initial=0.0) > 1e-6
        return InformationDirections(scaled_directions, is_unknown)

    @cached_property
    def _has_error(self) -> np.ndarray:
        """Mask of parameters that have a standard error, shape (n_parameters,)."""
        max_loading = np.abs(self._log_weight_jacobian @ self._informed_directions.root).max(
            axis=1, initial=0.0
        )
        return ~self._informed_directions.unknown & (max_loading > 0.0)

    @property
    def _log_weight_jacobian(self) -> np.ndarray:
        """Jacobian J of weights by log weights, with 1 for each coefficient."""
        weights = self.maximum.weights
        n_weights = len(self.maximum.weights)
        jacobian = np.diag(np.append(weights, np.ones(len(self.maximum.beta))))
        jacobian[:n_weights, :n_weights] -= np.outer(weights, weights)
        return jacobian

    def _compute_covariance(self, variance: np.ndarray | None = None) -> np.ndarray:
        """Return the joint covariance, with score variance W in information directions."""
        # None means the identity.
        root_covariance = self._log_weight_jacobian @ self._informed_directions.root
        if variance is None:
            covariance = root_covariance @ root_covariance.T
        else:
            covariance = root_covariance @ variance @ root_covariance.T
        covariance[self._informed_directions.unknown] = np.nan
        covariance[:, self._informed_directions.unknown] = np.nan
        return covariance

    @cached_property
    def _respondent_scores(self) -> RespondentScores:
        """Scores (log-likelihood gradients) of respondents at the maximum."""
        assert self.clusters is not None
        return RespondentScores(
            self.problem,
            self.clusters.tally,
            self.maximum.weights,
            self.maximum.beta,
            self._informed_directions.root,
        )

    @cached_property
    def _respondent_variance(self) -> RespondentVariance:
        """Variance of the respondents' summed scores, for clustered standard errors."""
        assert self.clusters is not None
        root = self._informed_directions.root
        return RespondentVariance(
            self._respondent_scores.variance,
            root,
            self._respondent_scores.degrees_of_freedom(
                self._log_weight_jacobian[self._has_error, :, None]
            ),
            (self.clusters.n_respondents - 1) / root.shape[1],
        )

    def degrees(self, contrasts: np.ndarray) -> float:
        """Return the joint degrees of freedom of q independent contrasts of the weights."""
        return float(
            self._respondent_scores.degrees_of_freedom(
                (contrasts @ self._log_weight_jacobian[: len(self.weights)]).T[None]
            )[0]
        )

    @property
    def covariance(self) -> np.ndarray:
        """Covariance matrix of the aspect weights."""
        n_weights = len(self.weights)
        return self.joint_covariance[:n_weights, :n_weights]

    @property
    def standard_errors(self) -> np.ndarray:
        """Standard errors of the aspect weights, shape (n_aspects,)."""
        std_errors = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        # a weight is 1 if all other weights are 0
        return np.where(self.weights == 1.0, np.nan, std_errors)

    @property
    def raw_utility(self) -> np.ndarray:
        """Sum of the weights of each option's aspects, shape (n_options,)."""
        return self.known.owners @ self.weights

    def raw_utility_covariance(self) -> np.ndarray:
        """Return the covariance of `raw_utility`; zero weights are treated as fixed."""
        covariance = self.covariance.copy()
        is_zero = self.weights == 0.0
        covariance[is_zero] = 0.0
        covariance[:, is_zero] = 0.0
        owners = self.known.owners.astype(float)
        return owners @ covariance @ owners.T

    @property
    def utility(self) -> np.ndarray:
        """Utility scale: `raw_utility` divided by its sum over options."""
        return compute_shares(self.raw_utility)

    @property
    def utility_covariance(self) -> np.ndarray:
        """Covariance of the utility scale, by the delta method."""
        raw_utility = self.raw_utility
        jacobian = (np.eye(len(raw_utility)) - self.utility[:, None]) / raw_utility.sum()
        return jacobian @ self.raw_utility_covariance() @ jacobian.T

    @property
    def tie(self) -> float | None:
        """Tie parameter nu; None if the data have no ties as outcomes."""
        if self.is_of_choices:
            return None
        return float(np.exp(self.maximum.beta[-1]))

    @property
    def tie_std_error(self) -> float | None:
        """Standard error of the tie parameter nu; None without ties."""
        if self.tie is None:
            return None
        return self.tie * float(np.sqrt(self.joint_covariance[-1, -1]))

    @property
    def is_of_choices(self) -> bool:
        """Whether outcomes are choices only, without ties."""
        return self.problem.tied is None

    @property
    def coefficients(self) -> str:
        """Words for the coefficients (binomial or multinomial) in the log-likelihood."""
        if self.is_of_choices:
            return "binomial coefficients"
        return "multinomial coefficients"

    @cached_property
    def coefficient(self) -> float:
        """Sum of the logarithms of the multinomial coefficients."""
        return float(self.problem.asked.log_coefficients().sum())

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood at the maximum."""
        return self.maximum.value + self.coefficient

    @property
    def saturated_value(self) -> float:
        """Log-likelihood of the saturated model, with free probabilities for every pair."""
        return saturated_log_likelihood(self.problem.counts, self.problem.sizes) + self.coefficient

    @property
    def n_parameters(self) -> int:
        """Number of weights minus one, for their common factor, plus coefficients."""
        return len(self.maximum.weights) - 1 + len(self.maximum.beta)

    @property
    def deviance(self) -> float:
        """G², twice the log-likelihood ratio of the saturated model."""
        return 2.0 * (self.saturated_value - self.log_likelihood)

    @property
    def df(self) -> int:
        """Degrees of freedom of the deviance: free outcomes minus parameters."""
        return len(self.problem.counts) - len(self.problem.totals) - self.n_parameters

    @property
    def p_value(self) -> float:
        """P-value of the deviance, by `default_test`."""
        return self.default_test.p_value

    @cached_property
    def default_test(self) -> FitTest:
        """Test against the saturated model, by chi-square or the default number of samples."""
        return self.fit_test()

    def interval_half_width(self, ci: float) -> float:
        """Return the half-width of a `ci` interval, in standard errors."""
        from scipy.special import stdtrit

        return float(stdtrit(self.error_df, interval_tails(ci)[1]))

    @property
    def error_df(self) -> float:
        """Degrees of freedom of standard errors: the median over weights.

        They are infinite if answers are independent.
        """
        if not self.is_over_people:
            return np.inf
        return self._respondent_variance.df

    def tail(self, z: np.ndarray, df: np.ndarray | float | None = None) -> np.ndarray:
        """Return P(|T| >= |z|) by Student's t, with `df` for each z, or for all."""
        from scipy.special import stdtr

        if df is None:
            df = self.error_df
        return 2.0 * stdtr(df, -np.abs(z))

    def design_effect(self, larger: "Estimates | None" = None) -> DesignEffect:
        """Return the design effect of G², against the saturated or a larger model."""
        assert self.clusters is not None
        fitted_probabilities = self.fitted()
        df = self.df
        larger_model_scores = None
        if larger is not None:
            fitted_probabilities = larger.fitted()
            df = larger.n_parameters - self.n_parameters
        root_expected = np.sqrt(
            np.repeat(self.problem.totals, self.problem.sizes) * fitted_probabilities
        )[:, None]
        if larger is not None:
            # a weight of zero is a direction of the larger model, too
            larger_model_scores = root_expected * larger.outcome_scores(_LEAST_WEIGHT)
        return compute_design_effect(
            self.clusters.residuals(self.problem, fitted_probabilities),
            self.clusters.n_respondents,
            larger_model_scores,
            root_expected * self.outcome_scores(),
            df,
        )

    def test_nested(self, larger: "Estimates", statistic: float) -> FitTest:
        """Return the likelihood-ratio test of this model in a larger one.

        It is clustered by respondent if both models have enough respondents.
        """
        df = larger.n_parameters - self.n_parameters
        if not (self.is_tested_over_people and larger.is_tested_over_people):
            return FitTest(statistic, df, chi_square_tail(statistic, df))
        effect = self.design_effect(larger)
        return FitTest(statistic, df, effect.p_value(statistic), n_respondents=effect.n_respondents)

    def outcome_scores(self, min_weight: float = 0.0) -> np.ndarray:
        """Return gradients of log outcome probabilities at weights of at least `min_weight`."""
        from scipy.sparse import eye_array

        return self.problem.compute_scores(
            eye_array(len(self.problem.counts), format="csr"),
            np.maximum(self.maximum.weights, min_weight),
            self.maximum.beta,
        )

    def fit_test(self, samples: int | None = None, random_seed: "RandomSeed" = 0) -> FitTest:
        """Test the fit against the saturated model, which fits every proportion."""
        estimate_effect = None
        if self.is_tested_over_people:
            estimate_effect = self.design_effect
        return run_fit_test(
            self.deviance,
            self.df,
            self.problem.totals,
            self.inverse_probability_sums,
            self.has_integer_counts,
            self.replicate,
            self.problem.work,
            samples,
            random_seed,
            estimate_effect,
        )

    @property
    def inverse_probability_sums(self) -> np.ndarray:
        """Sum over outcomes of 1 / fitted probability, one number per pair."""
        return self.problem.asked.sum_by_question(1.0 / np.maximum(self.fitted(), 1e-300))

    @property
    def has_integer_counts(self) -> bool:
        """Whether all outcome counts are integers."""
        return bool(are_integers(self.problem.counts))

    def replicate(self, rng: np.random.Generator) -> float:
        """Simulate choices from the fit, refit the model and return its G²."""
        replicate_problem = self.problem.with_counts(self.simulate_counts(rng))
        return 2.0 * (
            saturated_log_likelihood(replicate_problem.counts, replicate_problem.sizes)
            - estimate_maximum(replicate_problem, self._log_start, self.maximum.beta)
        )

    def simulate_counts(self, rng: np.random.Generator) -> np.ndarray:
        """Simulate outcome counts from the fit, with the observed total of each pair."""
        questions = self.problem.asked
        fitted_probabilities = self.fitted()
        return questions.simulate_counts(
            fitted_probabilities
            / np.repeat(questions.sum_by_question(fitted_probabilities), questions.sizes),
            rng,
        )

    def refit(self, counts: np.ndarray) -> Maximum:
        """Return estimates of other outcome counts, starting from these estimates."""
        return maximise(self.problem.with_counts(counts), [self._log_start])

    @property
    def _log_start(self) -> np.ndarray:
        """Log weights from which a refit starts, with zeros replaced."""
        return np.log(np.maximum(self.maximum.weights, 1e-3 * self.maximum.weights.max()))

    @property
    def pearson(self) -> float:
        """Pearson's X², the sum of (observed - expected)² / expected over outcomes."""
        return float(np.sum(self.residuals("pearson") ** 2))

    @property
    def aic(self) -> float:
        """Akaike information criterion of the fit."""
        return -2.0 * self.log_likelihood + 2.0 * self.n_parameters

    @property
    def bic(self) -> float:
        """Bayesian information criterion, n being the number of compared pairs."""
        return (
            -2.0 * self.log_likelihood + float(np.log(len(self.problem.totals))) * self.n_parameters
        )

    def fitted(self) -> np.ndarray:
        """Return the fitted outcome probabilities, in the order of `problem.counts`."""
        return self.problem.probabilities(self.maximum.working, self.maximum.beta)

    def residuals(self, kind: str) -> np.ndarray:
        """Return signed roots of the contributions to X² ("pearson") or G² ("deviance")."""
        from scipy.special import xlogy

        p = self.fitted()
        counts = self.problem.counts
        n = np.repeat(self.problem.totals, self.problem.sizes)
        if self.is_of_choices:
            p, p_second, wins, losses, n = p[::2], p[1::2], counts[::2], counts[1::2], n[::2]
            # equals wins - n p, to full precision for small p
            difference = wins * p_second - losses * p
            if kind == "pearson":
                return divide_positive(difference, np.sqrt(n * p * p_second))
            contributions = xlogy(wins, wins / (n * np.where(wins > 0, p, 1.0))) + xlogy(
                losses, losses / (n * np.where(losses > 0, p_second, 1.0))
            )
        else:
            expected_wins = n * p
            difference = counts - expected_wins
            if kind == "pearson":
                return divide_positive(difference, np.sqrt(expected_wins))
            # the last term sums to 0
            contributions = (
                xlogy(counts, counts / np.where(counts > 0, expected_wins, 1.0)) - difference
            )
        return np.sign(difference) * np.sqrt(np.maximum(2.0 * contributions, 0.0))

    def probabilities(
        self, first_options: np.ndarray, second_options: np.ndarray, x: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the probability that the first of each pair is chosen, with covariates x."""
        first_advantage, second_advantage = (
            pattern @ self.maximum.working
            for pattern in compute_exclusive_aspects(
                self.known.owners, first_options, second_options
            )
        )
        if x is not None:
            first_advantage, second_advantage = multiply_first_advantage(
                first_advantage, second_advantage, x @ self.covariate_coefficients
            )
        return mix_with_guess(compute_pair_shares(first_advantage, second_advantage)[0], self.lapse)

    def set_probabilities(self, members: np.ndarray) -> np.ndarray:
        """Return the probability that each of these options is chosen from all of them."""
        from ..likelihoods.elimination_recursion import elimination_probabilities

        if self.known.unique and not self.known.shared.shape[1]:
            positions = np.arange(len(members))
            return compute_luce_probabilities(
                self.maximum.working[None, members],
                np.array([0, len(positions)]),
                positions,
                self.lapse,
            )[0]
        aspects_by_option = {int(i): np.flatnonzero(self.known.owners[i]).tolist() for i in members}
        weight_by_aspect = dict(enumerate(self.weights))
        return elimination_probabilities(
            members.tolist(), aspects_by_option, weight_by_aspect, self.lapse
        )

    def table(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        r"""Return a table of weights with standard errors, Wald tests and intervals.

        .. math::

            \operatorname{logit}^{-1}\Big(\operatorname{logit}(w) \pm \frac{z\, s}{w (1 - w)}\Big)

        is the interval of a unique weight, inside (0, 1); 95 % intervals w ± z s contain 92 to 93 %
        of unique weights. A shared weight, which may be 0, has w ± z s, cut at 0 and 1; the
        interval contains 0 if the test does not reject 0.
        """
        import pandas as pd
        from scipy.special import expit, logit

        from thali._exportable_table import Table

        # an error is 0 if all other weights are at the boundary
        std_error = np.where(self.standard_errors > 0.0, self.standard_errors, np.nan)
        # unique weights are not tested against 0
        is_unique = self.known.unique & (np.arange(len(std_error)) < len(self.known.labels))
        weights = self.weights
        half_width = self.interval_half_width(ci) * std_error
        z = np.where(is_unique, np.nan, weights / std_error)
        low, high = (
            np.where(
                is_unique,
                expit(logit(weights) + change / (weights * (1.0 - weights))),
                np.clip(weights + change, 0.0, 1.0),
            )
            for change in (-half_width, half_width)
        )
        table_columns = {
            "weight": weights,
            "std_error": std_error,
            "z": z,
            "p_value": self.tail(z),
            "low": low,
            "high": high,
        }
        if self.is_over_people:
            independent_errors = np.sqrt(
                np.maximum(np.diag(self._compute_covariance())[: len(std_error)], 0.0)
            )
            table_columns["std_error_independent"] = np.where(
                np.isnan(std_error), np.nan, independent_errors
            )
        weights_table = Table(table_columns, index=pd.Index(self.known.names, name="aspect"))
        weights_table.attrs["interval"] = ci
        return weights_table


def compute_covariate_sizes(data: "PairedComparisons | Choices") -> np.ndarray:
    """Return the largest absolute value of each covariate, its scale in a problem."""
    if not isinstance(data, PairedComparisons):
        return np.zeros(0)
    return np.maximum(np.abs(data.cells.x).max(axis=0, initial=0.0), 1e-300)


def saturated_log_likelihood(counts: np.ndarray, sizes: np.ndarray) -> float:
    """Return the log-likelihood of observed proportions, without multinomial coefficients."""
    from scipy.special import xlogy

    repeated_totals = np.repeat(np.add.reduceat(counts, np.cumsum(sizes) - sizes), sizes)
    return float(xlogy(counts, counts / repeated_totals).sum())
