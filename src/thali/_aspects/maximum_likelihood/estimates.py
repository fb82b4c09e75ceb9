"""What a maximum of the likelihood says: weights with standard errors, the utility scale, tests of
fit."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import check_open_interval
from thali._data.pairs import PairedComparisons
from thali._model.clusters import AnswersByRespondent, DesignEffect, compute_design_effect
from thali._model.respondent_scores import (
    RespondentScores,
    ScoreVariance,
    raise_improbable_variance,
)
from thali._posterior.dependence import format_degrees, format_dominance
from thali._posterior.interval import INTERVAL, interval_tails

from ..draws.covariate_lifts import lift_advantages
from ..likelihoods.set_draws import compute_luce_probabilities
from .aspects import KnownAspects
from .goodness import FitTest, fit_test
from .maximum import Maximum, highest, maximise
from .problem import PairProblem, patterns, shares

if TYPE_CHECKING:
    import pandas

NO_INFORMATION = 1e-8  # share of the largest eigenvalue below which a direction has none
MORE_PEOPLE = 5  # than parameters: from so many on, tests of fit over respondents keep their level


class Directions(NamedTuple):
    """What the data say of parameters."""

    root: np.ndarray  # L (parameters, directions), with L L' the inverse information
    unknown: np.ndarray  # (parameters,) bool: no direction tells the parameter


@dataclass(frozen=True, eq=False)
class Estimates:
    """The estimates of one fit. Log-likelihoods contain the multinomial coefficients."""

    data: "PairedComparisons"
    known: KnownAspects
    lapse: float
    pose: PairProblem
    maximum: Maximum
    clusters: AnswersByRespondent | None = (
        None  # the answers of each person; None: nobody knows who answered
    )

    @property
    def weights(self) -> np.ndarray:
        """Of the aspects; they sum to 1."""
        return self.maximum.weights

    @property
    def coefficients_of_covariates(self) -> np.ndarray:
        """By which a unit of each covariate changes the log odds."""
        sizes = covariate_sizes(self.data)
        return self.maximum.beta[: len(sizes)] / sizes

    @property
    def covariance_of_covariates(self) -> np.ndarray:
        """Of these coefficients."""
        return self.part_of_covariates(self.joint_covariance)

    def part_of_covariates(self, joint: np.ndarray) -> np.ndarray:
        """The part of a joint covariance that is theirs."""
        sizes, n = covariate_sizes(self.data), len(self.maximum.weights)
        return joint[n : n + len(sizes), n : n + len(sizes)] / np.outer(sizes, sizes)

    @property
    def is_over_people(self) -> bool:
        """Return whether standard errors take only respondents, not their answers, to be
        independent."""
        return self.clusters is not None and bool(self._known.any())

    @property
    def is_tested_over_people(self) -> bool:
        """Return whether respondents are enough for tests of fit over them."""
        return (
            self.clusters is not None
            and self.clusters.n_respondents >= self.n_parameters + MORE_PEOPLE
        )

    @property
    def error_source(self) -> str:
        """Return a sentence that states what standard errors take to be independent; "" without
        respondents."""
        if self.clusters is None or not self.is_over_people:
            return ""
        respondents, answers = (
            f"{self.clusters.n_respondents:,} respondents",
            f"{self.pose.totals.sum():,.15g} choices",
        )
        found = (
            f"Standard errors are clustered by respondent ({respondents}, {answers};"
            f" {format_degrees(self.error_df)}).{format_dominance(self._score_variance.share)}"
        )
        if self.is_tested_over_people:
            return found
        return (
            f"{found} Tests of fit treat the choices as independent, because clustered tests"
            f" require at least {self.n_parameters + MORE_PEOPLE:,} respondents, {MORE_PEOPLE}"
            " more than the number of free weights."
        )

    @cached_property
    def joint_covariance(self) -> np.ndarray:
        r"""Covariance of the weights and the further coefficients, from the observed information I.

        .. math:: J I^- J', \qquad J = \operatorname{diag}(w) - w w'

        for weights that sum to 1, whose logarithms are known up to a constant; over respondents
        :math:`J L W L' J'` with :math:`I^- = L L'` and W as in `respondent_scores`. Rows of weights
        that are zero, or that others leave undetermined at this point, are missing (NaN).
        """
        if not self.is_over_people:
            return self._covariance()
        assert self.clusters is not None
        freedom = (self.clusters.n_respondents - 1) / self._directions.root.shape[1]
        return self._covariance(
            raise_improbable_variance(self._score_variance, self.error_df, freedom)
        )

    @cached_property
    def _directions(self) -> Directions:
        """Those of the parameters about which the data say something."""
        weights, beta = self.maximum.weights, self.maximum.beta
        free = np.flatnonzero(np.append(weights > 0.0, np.ones(len(beta), bool)))
        information = -self.pose.compute_derivatives(weights, beta).hessian
        values, vectors = np.linalg.eigh(information[np.ix_(free, free)])
        informed = values > NO_INFORMATION * max(values[-1], 0.0)
        root = np.zeros((len(information), int(informed.sum())))
        root[free] = vectors[:, informed] / np.sqrt(values[informed])
        # Directions without information, beyond the common factor of the weights, leave some
        # weights unknown.
        unknown = np.ones(len(information), bool)
        nothing = self._jacobian[np.ix_(free, free)] @ vectors[:, ~informed]
        unknown[free] = np.abs(nothing).max(axis=1, initial=0.0) > 1e-6
        return Directions(root, unknown)

    @cached_property
    def _known(self) -> np.ndarray:
        """Which parameters have a standard error (parameters,)."""
        reached = np.abs(self._jacobian @ self._directions.root).max(axis=1, initial=0.0)
        return ~self._directions.unknown & (reached > 0.0)

    @property
    def _jacobian(self) -> np.ndarray:
        """J, with 1 for each coefficient."""
        weights, n = self.maximum.weights, len(self.maximum.weights)
        found = np.diag(np.append(weights, np.ones(len(self.maximum.beta))))
        found[:n, :n] -= np.outer(weights, weights)
        return found

    def _covariance(self, variance: np.ndarray | None = None) -> np.ndarray:
        """Return the joint covariance where W (directions, directions) is that of the scores; None:
        1."""
        half = self._jacobian @ self._directions.root
        found = half @ half.T if variance is None else half @ variance @ half.T
        found[self._directions.unknown] = np.nan
        found[:, self._directions.unknown] = np.nan
        return found

    @cached_property
    def _scores(self) -> RespondentScores:
        """The scores of respondents at the maximum."""
        assert self.clusters is not None
        point = self.maximum.weights, self.maximum.beta
        return RespondentScores(self.pose, self.clusters.tally, *point, self._directions.root)

    @cached_property
    def _score_variance(self) -> ScoreVariance:
        """Their variance."""
        return self._scores.compute_variance()

    def degrees(self, contrasts: np.ndarray) -> float:
        """Return the degrees of freedom of contrasts of weights together, shape (q, weights), of
        rank q."""
        return float(
            self._scores.degrees_of_freedom(
                (contrasts @ self._jacobian[: len(self.weights)]).T[None]
            )[0]
        )

    @property
    def covariance(self) -> np.ndarray:
        """Of the weights."""
        n = len(self.weights)
        return self.joint_covariance[:n, :n]

    @property
    def standard_errors(self) -> np.ndarray:
        errors = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return np.where(self.weights == 1.0, np.nan, errors)  # which is 1 because all others are 0

    @property
    def raw_utility(self) -> np.ndarray:
        """Sum of the weights of each option's aspects, which sum to 1 over aspects."""
        return self.known.owners @ self.weights

    def raw_utility_covariance(self) -> np.ndarray:
        """Of those sums; weights that are zero count as known."""
        covariance = self.covariance.copy()
        zero = self.weights == 0.0
        covariance[zero] = 0.0
        covariance[:, zero] = 0.0
        owners = self.known.owners.astype(float)
        return owners @ covariance @ owners.T

    @property
    def utility(self) -> np.ndarray:
        """The utility scale: those sums, divided by their sum over options."""
        raw = self.raw_utility
        return raw / raw.sum()

    @property
    def utility_covariance(self) -> np.ndarray:
        """Of the utility scale, by the delta method."""
        raw = self.raw_utility
        jacobian = (np.eye(len(raw)) - np.outer(raw / raw.sum(), np.ones(len(raw)))) / raw.sum()
        return jacobian @ self.raw_utility_covariance() @ jacobian.T

    @property
    def tie(self) -> float | None:
        """nu, the parameter of ties; None: they are no outcome."""
        return None if self.pose.tied is None else float(np.exp(self.maximum.beta[-1]))

    @property
    def tie_std_error(self) -> float | None:
        """Of nu."""
        tie = self.tie
        return None if tie is None else tie * float(np.sqrt(self.joint_covariance[-1, -1]))

    @property
    def is_of_choices(self) -> bool:
        """Whether one of two options was always chosen, and there are no ties among the
        outcomes."""
        return self.pose.tied is None

    @property
    def coefficients(self) -> str:
        """The name of the coefficients that the log-likelihood includes."""
        return "binomial coefficients" if self.is_of_choices else "multinomial coefficients"

    @cached_property
    def coefficient(self) -> float:
        """Sum of the logarithms of the multinomial coefficients."""
        return float(self.pose.asked.log_coefficients().sum())

    @property
    def log_likelihood(self) -> float:
        return self.maximum.value + self.coefficient

    @property
    def saturated(self) -> float:
        """Log-likelihood of the model in which every pair has probabilities of its own."""
        return saturated(self.pose.counts, self.pose.sizes) + self.coefficient

    @property
    def n_parameters(self) -> int:
        """Weights less one, for their common factor, and further coefficients."""
        return len(self.maximum.weights) - 1 + len(self.maximum.beta)

    @property
    def deviance(self) -> float:
        """G²: twice the log-likelihood ratio of the saturated model."""
        return 2.0 * (self.saturated - self.log_likelihood)

    @property
    def df(self) -> int:
        return len(self.pose.counts) - len(self.pose.totals) - self.n_parameters

    @property
    def p_value(self) -> float:
        """Of the deviance."""
        return self.usual_test.p_value

    @cached_property
    def usual_test(self) -> FitTest:
        """The test against the saturated model by chi-square, or the usual number of samples."""
        return self.fit_test()

    def reach(self, ci: float) -> float:
        """Half the length of an interval of that probability, in standard errors."""
        from scipy.special import stdtrit

        return float(
            stdtrit(
                self.error_df,
                interval_tails(check_open_interval("ci", ci, "the probability of an interval"))[1],
            )
        )

    @cached_property
    def error_df(self) -> float:
        """Degrees of freedom of standard errors: the median over weights; infinite where answers
        are independent."""
        if not self.is_over_people:
            return np.inf
        return float(
            np.median(self._scores.degrees_of_freedom(self._jacobian[self._known, :, None]))
        )

    def tail(self, z: np.ndarray, df: np.ndarray | None = None) -> np.ndarray:
        """Return P(|Z| >= |z|) of estimates over their standard errors; `df`: of each, None: of
        all."""
        from scipy.special import stdtr

        return 2.0 * stdtr(self.error_df if df is None else df, -np.abs(z))

    def design_effect(self, larger: "Estimates | None" = None) -> DesignEffect:
        """How G² against a larger model is distributed over people."""
        assert self.clusters is not None
        best = self if larger is None else larger
        p = best.fitted()
        residuals = self.clusters.residuals(self.pose, p)
        root = np.sqrt(np.repeat(self.pose.totals, self.pose.sizes) * p)[:, None]
        columns = [
            root * each.outcome_scores() for each in ((self,) if larger is None else (self, larger))
        ]
        df = self.df if larger is None else larger.n_parameters - self.n_parameters
        return compute_design_effect(
            residuals,
            self.clusters.n_respondents,
            None if larger is None else columns[1],
            columns[0],
            df,
        )

    def outcome_scores(self) -> np.ndarray:
        """The gradient of the logarithm of the probability of each outcome, shape (outcomes,
        weights and beta)."""
        from scipy.sparse import eye_array

        return self.pose.compute_scores(
            eye_array(len(self.pose.counts), format="csr"), self.maximum.weights, self.maximum.beta
        )

    def fit_test(self, samples: int | None = None, random_seed: Any = 0) -> FitTest:
        """The test against the saturated model."""
        return fit_test(
            self.deviance,
            self.df,
            self.pose.totals,
            self.inverse,
            self.is_whole,
            self.replicate,
            self.pose.work,
            samples,
            random_seed,
            self.design_effect if self.is_tested_over_people else None,
        )

    @property
    def inverse(self) -> np.ndarray:
        """Of each pair the sum of one over the fitted probabilities of its outcomes."""
        return self.pose.asked.summed(1.0 / np.maximum(self.fitted(), 1e-300))

    @property
    def is_whole(self) -> bool:
        """Whether the counts are whole numbers."""
        return bool(np.array_equal(self.pose.counts, np.floor(self.pose.counts)))

    def replicate(self, rng: np.random.Generator) -> float:
        """G² of choices that the model draws, fitted as these were."""
        pose = self.pose.with_counts(self.drawn(rng))
        return 2.0 * (
            saturated(pose.counts, pose.sizes) - highest(pose, self._start, self.maximum.beta)
        )

    def drawn(self, rng: np.random.Generator) -> np.ndarray:
        """Counts that the model draws, as many of each pair as there are."""
        asked, p = self.pose.asked, self.fitted()
        return asked.drawn(p / np.repeat(asked.summed(p), asked.sizes), rng)

    def refitted(self, counts: np.ndarray) -> Maximum:
        """The maximum for other counts; the climb starts at the estimate."""
        return maximise(self.pose.with_counts(counts), [self._start])

    @property
    def _start(self) -> np.ndarray:
        return np.log(np.maximum(self.maximum.weights, 1e-3 * self.maximum.weights.max()))

    @property
    def pearson(self) -> float:
        """X²: sum of (observed - expected)² / expected over all outcomes of every pair."""
        return float(np.sum(self.residuals("pearson") ** 2))

    @property
    def aic(self) -> float:
        return -2.0 * self.log_likelihood + 2.0 * self.n_parameters

    @property
    def bic(self) -> float:
        """With the number of compared pairs for n."""
        return -2.0 * self.log_likelihood + float(np.log(len(self.pose.totals))) * self.n_parameters

    def fitted(self) -> np.ndarray:
        """The probabilities of the outcomes in the order of `pose.counts`: of a pair first, tie,
        second."""
        return self.pose.probabilities(self.maximum.working, self.maximum.beta)

    def residuals(self, kind: str) -> np.ndarray:
        """Signed roots of the contributions to X² ("pearson") or G² ("deviance"), by pair or
        outcome."""
        from scipy.special import xlogy

        p, counts, n = self.fitted(), self.pose.counts, np.repeat(self.pose.totals, self.pose.sizes)
        if self.is_of_choices:
            p, rest, wins, losses, n = p[::2], p[1::2], counts[::2], counts[1::2], n[::2]
            lean = wins * rest - losses * p  # wins - n p, with the digits of a small p
            if kind == "pearson":
                spread = np.sqrt(n * p * rest)
                return np.divide(lean, spread, out=np.zeros_like(lean), where=spread > 0.0)
            part = xlogy(wins, wins / (n * np.where(wins > 0, p, 1.0))) + xlogy(
                losses, losses / (n * np.where(losses > 0, rest, 1.0))
            )
        else:
            expected = n * p
            lean = counts - expected
            if kind == "pearson":
                return np.divide(
                    lean, np.sqrt(expected), out=np.zeros_like(lean), where=expected > 0.0
                )
            # the last sums to 0
            part = xlogy(counts, counts / np.where(counts > 0, expected, 1.0)) - lean
        return np.sign(lean) * np.sqrt(np.maximum(2.0 * part, 0.0))

    def probabilities(
        self, first: np.ndarray, second: np.ndarray, x: np.ndarray | None = None
    ) -> np.ndarray:
        """The probability that the first of each pair is chosen, lapse included; `x`: their
        covariates, None: 0."""
        own, other = (
            side @ self.maximum.working for side in patterns(self.known.owners, first, second)
        )
        if x is not None:
            own, other = lift_advantages(own, other, x @ self.coefficients_of_covariates)
        return (1 - self.lapse) * shares(own, other)[0] + self.lapse / 2

    def set_probabilities(self, members: np.ndarray) -> np.ndarray:
        """The probability of each of these options to be chosen out of all of them."""
        from ..likelihoods.elimination_recursion import elimination_probabilities

        if self.known.unique and not self.known.shared.shape[1]:
            every = np.arange(len(members))
            return compute_luce_probabilities(
                self.maximum.working[None, members], np.array([0, len(every)]), every, self.lapse
            )[0]
        aspects = {int(i): np.flatnonzero(self.known.owners[i]).tolist() for i in members}
        weights = dict(enumerate(self.weights))
        return elimination_probabilities(members.tolist(), aspects, weights, self.lapse)

    def table(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        r"""Weights with standard errors, Wald tests of shared ones being zero, and intervals.

        .. math::

            \operatorname{logit}^{-1}\Big(\operatorname{logit}(w) \pm \frac{z\, s}{w (1 - w)}\Big)

        is the interval of a unique weight, inside (0, 1); 95 % intervals w ± z s contain 92 to 93 %
        of unique weights. A shared weight, which may be 0, has w ± z s, cut at 0 and 1: it contains
        0 where the test does not reject it.
        """
        import pandas as pd
        from scipy.special import expit, logit

        from thali._tables import Table

        # 0: all others are at the boundary
        error = np.where(self.standard_errors > 0.0, self.standard_errors, np.nan)
        # none is tested against 0
        own = self.known.unique & (np.arange(len(error)) < len(self.known.labels))
        w = self.weights
        reach = self.reach(ci) * error
        z = np.where(own, np.nan, w / error)
        lower, upper = (
            np.where(own, expit(logit(w) + by / (w * (1.0 - w))), np.clip(w + by, 0.0, 1.0))
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
            usual = np.sqrt(np.maximum(np.diag(self._covariance())[: len(error)], 0.0))
            columns["std_error_independent"] = np.where(np.isnan(error), np.nan, usual)
        table = Table(columns, index=pd.Index(self.known.names, name="aspect"))
        table.attrs["interval"] = ci
        return table


def covariate_sizes(data: Any) -> np.ndarray:
    """What the covariates of comparisons are divided by in a pose, so that they reach 1."""
    x = data.cells.x if isinstance(data, PairedComparisons) else np.zeros((0, 0))
    return np.maximum(np.abs(x).max(axis=0, initial=0.0), 1e-300)


def saturated(counts: np.ndarray, sizes: np.ndarray) -> float:
    """Log-likelihood of the observed proportions of outcomes, pair after pair, without multinomial
    coefficients."""
    from scipy.special import xlogy

    n = np.repeat(np.add.reduceat(counts, np.cumsum(sizes) - sizes), sizes)
    return float(xlogy(counts, counts / n).sum())
