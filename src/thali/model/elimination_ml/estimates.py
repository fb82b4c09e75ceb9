"""What a maximum of the likelihood says: weights with standard errors, the utility scale, tests of fit."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.pairs import PairedComparisons

from ..latent_features.answers.binomial import log_coefficient
from .aspects import KnownAspects
from .goodness import FitTest, fit_test
from .maximum import Maximum, highest, maximise
from .problem import Problem, advantages, patterns, shares, slopes

if TYPE_CHECKING:
    import pandas

LEVEL = 0.95  # of intervals


@dataclass(frozen=True, eq=False)
class Estimates:
    """The estimates of one fit. Log-likelihoods contain the binomial coefficients."""

    data: PairedComparisons
    known: KnownAspects
    lapse: float
    pose: Problem
    maximum: Maximum

    @property
    def weights(self) -> np.ndarray:
        """Of the aspects; they sum to 1."""
        return self.maximum.weights

    @cached_property
    def joint_covariance(self) -> np.ndarray:
        r"""Covariance of the weights and the further coefficients, from the observed information I.

        .. math:: J I^- J', \qquad J = \operatorname{diag}(w) - w w'

        for weights that sum to 1, whose logarithms are known up to a constant. Rows of weights that are zero, or that
        others leave undetermined at this point, are missing (NaN).
        """
        n_weights = len(self.weights)
        w = np.concatenate([self.weights, np.ones(len(self.maximum.beta))])
        information = -slopes(self.pose, self.weights, self.maximum.beta).hessian
        free = np.flatnonzero(w > 0.0)
        inside = free < n_weights
        values, vectors = np.linalg.eigh(information[np.ix_(free, free)])
        scale = max(values[-1], 0.0)
        messages = values > 1e-11 * scale
        inverse = (vectors[:, messages] / values[messages]) @ vectors[:, messages].T
        jacobian = np.diag(w[free])
        jacobian[np.ix_(inside, inside)] -= np.outer(w[free][inside], w[free][inside])
        covariance = np.full((len(w), len(w)), np.nan)
        found = jacobian @ inverse @ jacobian.T
        # Directions without information, beyond the common factor of the weights, leave some weights unknown.
        unknown = np.abs(jacobian @ vectors[:, ~messages]).max(axis=1, initial=0.0) > 1e-6
        found[unknown] = np.nan
        found[:, unknown] = np.nan
        covariance[np.ix_(free, free)] = found
        return covariance

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

    @cached_property
    def coefficient(self) -> float:
        """Sum of the logarithms of the binomial coefficients."""
        return float(log_coefficient(self.pose.wins, self.pose.losses).sum())

    @property
    def log_likelihood(self) -> float:
        return self.maximum.value + self.coefficient

    @property
    def saturated(self) -> float:
        """Log-likelihood of the model in which every pair has its own probability."""
        return saturated(self.pose.wins, self.pose.losses) + self.coefficient

    @property
    def n_parameters(self) -> int:
        """Weights less one, for their common factor, and further coefficients."""
        return len(self.weights) - 1 + len(self.maximum.beta)

    @property
    def deviance(self) -> float:
        """G²: twice the log-likelihood ratio of the saturated model."""
        return 2.0 * (self.saturated - self.log_likelihood)

    @property
    def df(self) -> int:
        return len(self.pose.wins) - self.n_parameters

    @property
    def p_value(self) -> float:
        """Of the deviance."""
        return self.usual_test.p_value

    @cached_property
    def usual_test(self) -> FitTest:
        """The test against the saturated model by chi-square, or the usual number of samples."""
        return self.fit_test()

    def fit_test(self, samples: int | None = None, random_seed: Any = 0) -> FitTest:
        """The test against the saturated model."""
        n = self.pose.wins + self.pose.losses
        probabilities, is_whole = np.column_stack(self.fitted()), self.is_whole
        weights = len(self.weights)
        return fit_test(
            self.deviance, self.df, n, probabilities, is_whole, self.replicate, weights, samples, random_seed
        )

    @property
    def is_whole(self) -> bool:
        """Whether the counts are whole numbers."""
        return all(np.array_equal(side, np.floor(side)) for side in (self.pose.wins, self.pose.losses))

    def replicate(self, rng: np.random.Generator) -> float:
        """G² of choices that the model draws, fitted as these were."""
        n = self.pose.wins + self.pose.losses
        wins = rng.binomial(n.astype(np.int64), self.fitted()[0]).astype(float)
        pose = self.pose._replace(wins=wins, losses=n - wins)
        return 2.0 * (saturated(wins, n - wins) - highest(pose, self._start, self.maximum.beta))

    def refitted(self, wins: np.ndarray, losses: np.ndarray) -> Maximum:
        """The maximum for other counts; the climb starts at the estimate."""
        return maximise(self.pose._replace(wins=wins, losses=losses), [self._start])

    @property
    def _start(self) -> np.ndarray:
        return np.log(np.maximum(self.weights, 1e-3 * self.weights.max()))

    @property
    def pearson(self) -> float:
        """X²: sum of (observed - expected)² / expected over both choices of every pair."""
        return float(np.sum(self.residuals("pearson") ** 2))

    @property
    def aic(self) -> float:
        return -2.0 * self.log_likelihood + 2.0 * self.n_parameters

    @property
    def bic(self) -> float:
        """With the number of compared pairs for n."""
        return -2.0 * self.log_likelihood + float(np.log(len(self.pose.wins))) * self.n_parameters

    def fitted(self) -> tuple[np.ndarray, np.ndarray]:
        """The probability that the first of each compared pair is chosen, and that the second is."""
        q, rest = shares(*advantages(self.pose, self.maximum.working, self.maximum.beta))
        return (1 - self.lapse) * q + self.lapse / 2, (1 - self.lapse) * rest + self.lapse / 2

    def residuals(self, kind: str) -> np.ndarray:
        """Signed roots of what each pair contributes to X² ("pearson") or to G² ("deviance")."""
        from scipy.special import xlogy

        p, rest = self.fitted()
        wins, losses = self.pose.wins, self.pose.losses
        n = wins + losses
        lean = wins * rest - losses * p  # wins - n p, with the digits of a small p
        if kind == "pearson":
            spread = np.sqrt(n * p * rest)
            return np.divide(lean, spread, out=np.zeros_like(lean), where=spread > 0.0)
        part = xlogy(wins, wins / (n * np.where(wins > 0, p, 1.0))) + xlogy(
            losses, losses / (n * np.where(losses > 0, rest, 1.0))
        )
        return np.sign(lean) * np.sqrt(np.maximum(2.0 * part, 0.0))

    def probabilities(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """The probability that the first of each of these pairs of options is chosen, lapse included."""
        own, other = (side @ self.maximum.working for side in patterns(self.known.owners, first, second))
        return (1 - self.lapse) * shares(own, other)[0] + self.lapse / 2

    def set_probabilities(self, members: np.ndarray) -> np.ndarray:
        """The probability of each of these options to be chosen out of all of them."""
        from ..latent_features.likelihoods.recursion import elimination_probabilities

        aspects = {int(i): np.flatnonzero(self.known.owners[i]).tolist() for i in members}
        weights = dict(enumerate(self.weights))
        return elimination_probabilities(members.tolist(), aspects, weights, self.lapse)

    def table(self) -> "pandas.DataFrame":
        """Weights with standard errors, Wald tests of shared ones being zero, and intervals."""
        import pandas as pd
        from scipy.stats import norm

        from thali._tables import Table

        error = np.where(self.standard_errors > 0.0, self.standard_errors, np.nan)  # 0: all others are at the boundary
        own = self.known.unique & (np.arange(len(error)) < len(self.known.labels))  # none is tested against 0
        z = np.where(own, np.nan, self.weights / error)
        reach = norm.ppf((1 + LEVEL) / 2) * error
        columns = {
            "weight": self.weights,
            "std_error": error,
            "z": z,
            "p_value": 2 * norm.sf(np.abs(z)),
            "lower": self.weights - reach,
            "upper": self.weights + reach,
        }
        return Table(columns, index=pd.Index(self.known.names, name="aspect"))


def saturated(wins: np.ndarray, losses: np.ndarray) -> float:
    """Log-likelihood of the observed proportions, without binomial coefficients."""
    from scipy.special import xlogy

    n = wins + losses
    return float((xlogy(wins, wins / n) + xlogy(losses, losses / n)).sum())
