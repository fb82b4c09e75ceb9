"""Maximum-likelihood estimates: weights, standard errors, utility scale, tests of fit."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.checks import are_integers
from thali._data.pairs import PairedComparisons
from thali._inference.numerics.shares import compute_shares, divide_positive, mix_with_guess
from thali._model.answers_by_respondent import (
    AnswersByRespondent,
    DesignEffect,
    compute_design_effect,
)
from thali._model.respondent_scores import (
    RespondentScores,
    ScoreVariance,
    raise_improbable_variance,
)
from thali._posterior.interval import INTERVAL, interval_tails
from thali._posterior.repeated_answers import format_degrees, format_dominance

from ..draws.covariate_offsets import multiply_first_advantage
from ..likelihoods.set_draws import compute_luce_probabilities
from .aspects import KnownAspects
from .fit_tests import FitTest, run_fit_test
from .maximum import Maximum, estimate_maximum, maximise
from .pair_problem import PairProblem, compute_exclusive_aspects, compute_pair_shares

if TYPE_CHECKING:
    import pandas

NO_INFORMATION = 1e-8  # share of the largest eigenvalue below which a direction is uninformative
# respondents in excess of parameters required for tests of fit over respondents
MIN_EXTRA_RESPONDENTS = 5


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

    @property
    def weights(self) -> np.ndarray:
        """Weights of the aspects, which sum to 1."""
        return self.maximum.weights

    @property
    def covariate_coefficients(self) -> np.ndarray:
        """Change of the first option's log odds per unit of each covariate, (n_covariates,)."""
        sizes = compute_covariate_sizes(self.data)
        return self.maximum.beta[: len(sizes)] / sizes

    @property
    def covariate_covariance(self) -> np.ndarray:
        """Covariance matrix of the covariates' coefficients."""
        return self.select_covariate_block(self.joint_covariance)

    def select_covariate_block(self, joint_covariance: np.ndarray) -> np.ndarray:
        """Return the rows and columns of a joint covariance that concern covariates."""
        covariate_sizes, n = compute_covariate_sizes(self.data), len(self.maximum.weights)
        return joint_covariance[
            n : n + len(covariate_sizes), n : n + len(covariate_sizes)
        ] / np.outer(covariate_sizes, covariate_sizes)

    @property
    def is_over_people(self) -> bool:
        """Whether standard errors are clustered by respondent."""
        return self.clusters is not None and bool(self._has_error.any())

    @property
    def is_tested_over_people(self) -> bool:
        """Whether enough respondents exist for tests of fit clustered by respondent."""
        return (
            self.clusters is not None
            and self.clusters.n_respondents >= self.n_parameters + MIN_EXTRA_RESPONDENTS
        )

    @property
    def error_source(self) -> str:
        """Sentence about standard errors clustered by respondent; "" without them."""
        if self.clusters is None or not self.is_over_people:
            return ""
        respondents, answers = (
            f"{self.clusters.n_respondents:,} respondents",
            f"{self.problem.totals.sum():,.15g} choices",
        )
        sentence = (
            f"Standard errors are clustered by respondent ({respondents}, {answers};"
            f" {format_degrees(self.error_df)}).{format_dominance(self._score_variance.share)}"
        )
        if self.is_tested_over_people:
            return sentence
        return (
            f"{sentence} Tests of fit treat the choices as independent, because clustered tests"
            f" require at least {self.n_parameters + MIN_EXTRA_RESPONDENTS:,} respondents,"
            f" {MIN_EXTRA_RESPONDENTS}"
            " more than the number of free weights."
        )

    @cached_property
    def joint_covariance(self) -> np.ndarray:
        r"""Covariance of the weights and coefficients from the observed information I.

        .. math:: J I^- J', \qquad J = \operatorname{diag}(w) - w w'

        for weights that sum to 1, whose logarithms are identified up to a constant; over
        respondents :math:`J L W L' J'` with :math:`I^- = L L'` and W as in `respondent_scores`.
        Rows of weights that are zero, or not identified at this point, are missing (NaN).
        """
        if not self.is_over_people:
            return self._compute_covariance()
        assert self.clusters is not None
        freedom = (self.clusters.n_respondents - 1) / self._informed_directions.root.shape[1]
        return self._compute_covariance(
            raise_improbable_variance(self._score_variance, self.error_df, freedom)
        )

    @cached_property
    def _informed_directions(self) -> InformationDirections:
        """Scaled eigenvectors of the information matrix, and which parameters are unknown."""
        # Eigenvectors with an eigenvalue near 0 are omitted.
        weights, beta = self.maximum.weights, self.maximum.beta
        free = np.flatnonzero(np.append(weights > 0.0, np.ones(len(beta), bool)))
        information = -self.problem.compute_derivatives(weights, beta).hessian
        values, vectors = np.linalg.eigh(information[np.ix_(free, free)])
        informed = values > NO_INFORMATION * max(values[-1], 0.0)
        root = np.zeros((len(information), int(informed.sum())))
        root[free] = vectors[:, informed] / np.sqrt(values[informed])
        # Directions without information, beyond the common factor of the weights, leave some
        # weights unknown.
        unknown = np.ones(len(information), bool)
        no_direction = self._log_weight_jacobian[np.ix_(free, free)] @ vectors[:, ~informed]
        unknown[free] = np.abs(no_direction).max(axis=1, initial=0.0) > 1e-6
        return InformationDirections(root, unknown)

    @cached_property
    def _has_error(self) -> np.ndarray:
        """Mask of parameters that have a standard error, shape (n_parameters,)."""
        reached = np.abs(self._log_weight_jacobian @ self._informed_directions.root).max(
            axis=1, initial=0.0
        )
        return ~self._informed_directions.unknown & (reached > 0.0)

    @property
    def _log_weight_jacobian(self) -> np.ndarray:
        """Jacobian J of weights by log weights, with 1 for each coefficient."""
        weights, n_weights = self.maximum.weights, len(self.maximum.weights)
        jacobian = np.diag(np.append(weights, np.ones(len(self.maximum.beta))))
        jacobian[:n_weights, :n_weights] -= np.outer(weights, weights)
        return jacobian

    def _compute_covariance(self, variance: np.ndarray | None = None) -> np.ndarray:
        """Return the joint covariance, with score variance W in information directions."""
        # None means the identity.
        half = self._log_weight_jacobian @ self._informed_directions.root
        if variance is None:
            covariance = half @ half.T
        else:
            covariance = half @ variance @ half.T
        covariance[self._informed_directions.unknown] = np.nan
        covariance[:, self._informed_directions.unknown] = np.nan
        return covariance

    @cached_property
    def _respondent_scores(self) -> RespondentScores:
        """Scores (log-likelihood gradients) of respondents at the maximum."""
        assert self.clusters is not None
        point = self.maximum.weights, self.maximum.beta
        return RespondentScores(
            self.problem, self.clusters.tally, *point, self._informed_directions.root
        )

    @cached_property
    def _score_variance(self) -> ScoreVariance:
        """Variance matrix of the respondents' summed scores, for clustered standard errors."""
        return self._respondent_scores.compute_variance()

    def degrees(self, contrasts: np.ndarray) -> float:
        """Return the joint degrees of freedom of contrasts of weights (q, weights), rank q."""
        return float(
            self._respondent_scores.degrees_of_freedom(
                (contrasts @ self._log_weight_jacobian[: len(self.weights)]).T[None]
            )[0]
        )

    @property
    def covariance(self) -> np.ndarray:
        """Covariance matrix of the aspect weights."""
        n = len(self.weights)
        return self.joint_covariance[:n, :n]

    @property
    def standard_errors(self) -> np.ndarray:
        """Standard errors of the aspect weights, shape (n_aspects,)."""
        errors = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        # a weight is 1 if all other weights are 0
        return np.where(self.weights == 1.0, np.nan, errors)

    @property
    def raw_utility(self) -> np.ndarray:
        """Sum of the weights of each option's aspects, shape (n_options,)."""
        return self.known.owners @ self.weights

    def raw_utility_covariance(self) -> np.ndarray:
        """Return the covariance of `raw_utility`; zero weights are treated as fixed."""
        covariance = self.covariance.copy()
        zero = self.weights == 0.0
        covariance[zero] = 0.0
        covariance[:, zero] = 0.0
        owners = self.known.owners.astype(float)
        return owners @ covariance @ owners.T

    @property
    def utility(self) -> np.ndarray:
        """Utility scale: `raw_utility` divided by its sum over options."""
        return compute_shares(self.raw_utility)

    @property
    def utility_covariance(self) -> np.ndarray:
        """Covariance of the utility scale, by the delta method."""
        raw = self.raw_utility
        jacobian = (np.eye(len(raw)) - self.utility[:, None]) / raw.sum()
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

    @cached_property
    def error_df(self) -> float:
        """Degrees of freedom of standard errors: the median over weights.

        They are infinite if answers are independent.
        """
        if not self.is_over_people:
            return np.inf
        return float(
            np.median(
                self._respondent_scores.degrees_of_freedom(
                    self._log_weight_jacobian[self._has_error, :, None]
                )
            )
        )

    def tail(self, z: np.ndarray, df: np.ndarray | float | None = None) -> np.ndarray:
        """Return P(|Z| >= |z|) of estimates over standard errors; `df` of each, or of all."""
        from scipy.special import stdtr

        if df is None:
            df = self.error_df
        return 2.0 * stdtr(df, -np.abs(z))

    def design_effect(self, larger: "Estimates | None" = None) -> DesignEffect:
        """Return the design effect of G², against the saturated or a larger model."""
        assert self.clusters is not None
        p, df, larger_scores = self.fitted(), self.df, None
        if larger is not None:
            p, df = larger.fitted(), larger.n_parameters - self.n_parameters
        root_expected = np.sqrt(np.repeat(self.problem.totals, self.problem.sizes) * p)[:, None]
        if larger is not None:
            larger_scores = root_expected * larger.outcome_scores()
        return compute_design_effect(
            self.clusters.residuals(self.problem, p),
            self.clusters.n_respondents,
            larger_scores,
            root_expected * self.outcome_scores(),
            df,
        )

    def outcome_scores(self) -> np.ndarray:
        """Return gradients of log outcome probabilities, (n_outcomes, n_parameters)."""
        from scipy.sparse import eye_array

        return self.problem.compute_scores(
            eye_array(len(self.problem.counts), format="csr"),
            self.maximum.weights,
            self.maximum.beta,
        )

    def fit_test(self, samples: int | None = None, random_seed: Any = 0) -> FitTest:
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
        problem = self.problem.with_counts(self.simulate_counts(rng))
        return 2.0 * (
            saturated_log_likelihood(problem.counts, problem.sizes)
            - estimate_maximum(problem, self._log_start, self.maximum.beta)
        )

    def simulate_counts(self, rng: np.random.Generator) -> np.ndarray:
        """Simulate outcome counts from the fit, with the observed total of each pair."""
        questions, p = self.problem.asked, self.fitted()
        return questions.simulate_counts(
            p / np.repeat(questions.sum_by_question(p), questions.sizes), rng
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

        p, counts, n = (
            self.fitted(),
            self.problem.counts,
            np.repeat(self.problem.totals, self.problem.sizes),
        )
        if self.is_of_choices:
            p, complement, wins, losses, n = p[::2], p[1::2], counts[::2], counts[1::2], n[::2]
            difference = (
                wins * complement - losses * p
            )  # equals wins - n p, to full precision for small p
            if kind == "pearson":
                return _divide_by_spread(difference, n * p * complement)
            contributions = xlogy(wins, wins / (n * np.where(wins > 0, p, 1.0))) + xlogy(
                losses, losses / (n * np.where(losses > 0, complement, 1.0))
            )
        else:
            expected = n * p
            difference = counts - expected
            if kind == "pearson":
                return _divide_by_spread(difference, expected)
            # the last term sums to 0
            contributions = xlogy(counts, counts / np.where(counts > 0, expected, 1.0)) - difference
        return np.sign(difference) * np.sqrt(np.maximum(2.0 * contributions, 0.0))

    def probabilities(
        self, first_options: np.ndarray, second_options: np.ndarray, x: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the probability that the first of each pair is chosen, with covariates x."""
        ij, ji = (
            pattern @ self.maximum.working
            for pattern in compute_exclusive_aspects(
                self.known.owners, first_options, second_options
            )
        )
        if x is not None:
            ij, ji = multiply_first_advantage(ij, ji, x @ self.covariate_coefficients)
        return mix_with_guess(compute_pair_shares(ij, ji)[0], self.lapse)

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
        aspects = {int(i): np.flatnonzero(self.known.owners[i]).tolist() for i in members}
        weights = dict(enumerate(self.weights))
        return elimination_probabilities(members.tolist(), aspects, weights, self.lapse)

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

        from thali._result_table import Table

        # an error is 0 if all other weights are at the boundary
        error = np.where(self.standard_errors > 0.0, self.standard_errors, np.nan)
        # unique weights are not tested against 0
        is_unique = self.known.unique & (np.arange(len(error)) < len(self.known.labels))
        w = self.weights
        reach = self.interval_half_width(ci) * error
        z = np.where(is_unique, np.nan, w / error)
        lower, upper = (
            np.where(is_unique, expit(logit(w) + by / (w * (1.0 - w))), np.clip(w + by, 0.0, 1.0))
            for by in (-reach, reach)
        )
        columns = {
            "weight": w,
            "std_error": error,
            "z": z,
            "p_value": self.tail(z),
            "low": lower,
            "high": upper,
        }
        if self.is_over_people:
            independent_errors = np.sqrt(
                np.maximum(np.diag(self._compute_covariance())[: len(error)], 0.0)
            )
            columns["std_error_independent"] = np.where(np.isnan(error), np.nan, independent_errors)
        table = Table(columns, index=pd.Index(self.known.names, name="aspect"))
        table.attrs["interval"] = ci
        return table


def _divide_by_spread(difference: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return differences over their standard deviations; 0 if these are 0."""
    return divide_positive(difference, np.sqrt(variance))


def compute_covariate_sizes(data: Any) -> np.ndarray:
    """Return the largest absolute value of each covariate, its scale in a problem."""
    if not isinstance(data, PairedComparisons):
        return np.zeros(0)
    return np.maximum(np.abs(data.cells.x).max(axis=0, initial=0.0), 1e-300)


def saturated_log_likelihood(counts: np.ndarray, sizes: np.ndarray) -> float:
    """Return the log-likelihood of observed proportions, without multinomial coefficients."""
    from scipy.special import xlogy

    totals = np.repeat(np.add.reduceat(counts, np.cumsum(sizes) - sizes), sizes)
    return float(xlogy(counts, counts / totals).sum())
