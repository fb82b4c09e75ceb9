"""The maximum of the likelihood: several starts, weights that are zero, and maxima that lie at
infinity."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from thali._inference.optimise import Slope, Target, maximise_newton

from .problem import PairProblem, Pose

_TINY = 1e-6  # share of the largest weight below which a weight may be zero
_SAME = 1e-9  # difference of log-likelihoods that is rounding, and what a climb left to gain
# of the log-likelihood, that setting weights to zero may cost: what the climb left to gain, and
# rounding
_LOSS = 1e-7


class Maximum(NamedTuple):
    """The best point found."""

    weights: np.ndarray  # they sum to 1; those that vanish are 0
    # the same up to a factor, but small where they vanish: their ratios decide choices, too
    working: np.ndarray
    beta: np.ndarray
    value: float  # log-likelihood without binomial coefficients
    # bool: the likelihood has no maximum, and rises for ever while these weights shrink
    vanishing: np.ndarray


def maximise(pose: PairProblem, starts: Iterable[np.ndarray]) -> Maximum:
    """Climb from every start (logarithms of weights) and keep the best, of equals the first."""
    found = [_from_start(pose, np.asarray(start, float)) for start in starts]
    top = max(one.value for one in found)
    return next(one for one in found if one.value > top - _SAME)


def highest(pose: PairProblem, start: np.ndarray, beta: np.ndarray) -> float:
    """The log-likelihood at the top of a climb, to six digits after the point; less work than the
    maximum itself."""
    return ascend(pose, start, beta, np.ones(len(start), bool), 1e-6).value


def starting_points(pose: PairProblem, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Equal weights, weights by how often their owners were chosen, random ones; one if that is
    enough."""
    equal = np.zeros(pose.n_aspects)
    if pose.is_concave() or count == 1:
        return [equal]
    chosen, rejected = pose.chosen_and_rejected()
    by_choice = np.log((chosen + 0.5) / (rejected + 0.5))
    spread = np.where(np.arange(count - 2) % 2, 1.0, 3.0)
    return [equal, by_choice, *(spread[:, None] * rng.normal(size=(count - 2, pose.n_aspects)))]


def _from_start(pose: PairProblem, logs: np.ndarray) -> Maximum:
    beta = np.zeros(pose.n_coefficients)
    free = np.ones(len(logs), bool)
    logs, beta, _ = ascend(pose, logs, beta, free)
    weights, vanishing = _boundary(pose, np.exp(logs), beta)
    for _ in range(len(logs)):  # a weight set to zero too early is set free again
        free = weights > 0.0
        with np.errstate(divide="ignore"):
            logs = np.log(weights)
        # Weights that vanish would take all of a step; their ratios are polished apart from the
        # others.
        logs, beta = polish(pose, logs, beta, free & ~vanishing)
        if vanishing.any():
            logs, _ = polish(pose, logs, beta, free & vanishing, with_beta=False)
        weights = np.exp(logs)
        rising = ~free & (pose.slope_at_zero(weights, beta) * weights.sum() > _LOSS)
        if not rising.any() or vanishing.any():
            break
        logs[rising] = np.log(_TINY * weights.max())
        logs, beta, _ = ascend(pose, logs, beta, free | rising)
        weights, vanishing = _boundary(pose, np.exp(logs), beta)
    value = float(pose.terms(weights, beta).sum())
    reported = np.where(vanishing, 0.0, weights)
    return Maximum(reported / reported.sum(), weights, beta, value, vanishing)


def _boundary(
    pose: PairProblem, weights: np.ndarray, beta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The weights with zeros where they belong, and those that shrink for ever."""
    # Tiny weights become zero if that costs no likelihood. Where it would leave a pair that
    # differed before without any weight, only the ratio of what vanishes explains its choices: then
    # there is no maximum.
    before = pose.terms(weights, beta)
    decided = pose.strength(weights, beta) > 0.0
    tiny = np.flatnonzero(weights <= _TINY * weights.max())
    tiny = tiny[np.argsort(weights[tiny])]
    while len(tiny):
        zeroed = weights.copy()
        zeroed[tiny] = 0.0
        lost = decided & (pose.strength(zeroed, beta) == 0.0)
        after = pose.terms(zeroed, beta)
        if (before - after)[~lost].sum() <= _LOSS:
            if not lost.any():
                return zeroed, np.zeros(len(weights), bool)
            vanishing = np.zeros(len(weights), bool)
            vanishing[tiny] = True
            return weights, vanishing
        tiny = tiny[:-1]
    return weights, np.zeros(len(weights), bool)


# The log-likelihood as a function of logarithms of weights, and Newton's method for it ------------


_LONGEST = 5.0  # change of a logarithm in one step
_GAIN = 1e-10  # of the log-likelihood: no step that promises less is taken


class WeightPlace(NamedTuple):
    """Logarithms of weights, coefficients, and the log-likelihood there."""

    logs: np.ndarray
    beta: np.ndarray
    value: float


class _LogWeights(Target[WeightPlace]):
    """The log-likelihood, of which some weights and coefficients move.

    It does not change with a common factor of all weights; the curvature along it is made positive,
    which leaves the step as it is, because the gradient along it is zero.
    """

    def __init__(self, pose: Pose, moving: np.ndarray) -> None:
        self._pose, self._moving, self._free = pose, moving, moving[: pose.n_aspects]
        self._n_free = int(self._free.sum())

    def look(self, logs: np.ndarray, beta: np.ndarray) -> WeightPlace:
        """The log-likelihood at a point."""
        return WeightPlace(logs, beta, float(self._pose.terms(np.exp(logs), beta).sum()))

    def move_point(self, here: WeightPlace, change: np.ndarray) -> WeightPlace:
        logs, beta = self.changed(here, change)
        return self.look(logs - logs[self._free].max(), beta)

    def changed(self, here: WeightPlace, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The logarithms and the coefficients after a change of those that move."""
        whole = np.zeros(len(self._moving))
        whole[self._moving] = change
        return here.logs + whole[: len(here.logs)], here.beta + whole[len(here.logs) :]

    def slope(self, here: WeightPlace) -> Slope:
        found = self._pose.compute_derivatives(np.exp(here.logs), here.beta)
        curve = -found.hessian[np.ix_(self._moving, self._moving)]
        metric = found.information[self._moving]
        metric = metric + 1e-10 * metric.max(initial=1e-300)
        curve[: self._n_free, : self._n_free] += metric.mean() / max(self._n_free, 1)
        # where the likelihood is flat, rounding moves nothing
        curve[np.diag_indices_from(curve)] += 1e-10 * metric.max(initial=0.0)
        return Slope(found.gradient[self._moving], curve, metric)


def ascend(
    pose: Pose, logs: np.ndarray, beta: np.ndarray, free: np.ndarray, gain: float = _GAIN
) -> WeightPlace:
    """Climb from a point until no step promises a gain; weights that are not free stay."""
    target = _LogWeights(pose, np.concatenate([free, np.ones(len(beta), bool)]))
    return maximise_newton(
        target, target.look(logs, beta), gain, damping=1e-3, max_change=_LONGEST
    ).point


def polish(
    pose: Pose, logs: np.ndarray, beta: np.ndarray, free: np.ndarray, with_beta: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """A few plain Newton steps, which double the digits each, at the end of a climb."""
    target = _LogWeights(pose, np.concatenate([free, np.full(len(beta), with_beta)]))
    last = np.inf
    for _ in range(12):
        here = WeightPlace(logs, beta, np.nan)
        step = target.solve(target.slope(here), 0.0)
        if step is None or not (size := np.abs(step.change).max(initial=0.0)) < min(last / 2, 1e-2):
            break
        (logs, beta), last = target.changed(here, step.change), size
    return logs, beta


# The mode of the posterior of known aspects -------------------------------------------------------


class _WithPrior(_LogWeights):
    r"""The same with the priors of the posterior, of which the common factor of the weights leaves

    .. math:: \sum_k \ln w_k - K \ln \sum_k w_k - \tfrac12 \sum_m (\beta_m / s_m)^2 + \tau - e^\tau

    where s_m is what the covariate was divided by, and :math:`\tau = \ln \nu` the last coefficient
    if there are ties.
    """

    def __init__(self, pose: Pose, sizes: np.ndarray) -> None:
        super().__init__(pose, np.ones(pose.n_aspects + pose.n_coefficients, bool))
        self._sizes = sizes

    def look(self, logs: np.ndarray, beta: np.ndarray) -> WeightPlace:
        top, of_covariates = logs.max(), beta[: len(self._sizes)] / self._sizes
        value = super().look(logs - top, beta).value
        value += (
            logs.sum()
            - len(logs) * (top + np.log(np.exp(logs - top).sum()))
            - 0.5 * of_covariates @ of_covariates
        )
        return WeightPlace(
            logs,
            beta,
            float(value + (beta[-1] - np.exp(beta[-1]) if self._pose.tied is not None else 0.0)),
        )

    def slope(self, here: WeightPlace) -> Slope:
        found, k, m = super().slope(here), len(here.logs), len(self._sizes)
        share = np.exp(here.logs - here.logs.max())
        share = share / share.sum()
        gradient, curve = found.gradient.copy(), found.curvature.copy()
        gradient[:k] += 1.0 - k * share
        curve[:k, :k] += k * (np.diag(share) - np.outer(share, share))
        gradient[k : k + m] -= here.beta[:m] / self._sizes**2
        curve[np.arange(k, k + m), np.arange(k, k + m)] += 1.0 / self._sizes**2
        if self._pose.tied is not None:
            gradient[-1] += 1.0 - np.exp(here.beta[-1])
            curve[-1, -1] += np.exp(here.beta[-1])
        return Slope(gradient, curve, found.metric)


def mode_of(pose: Pose, sizes: np.ndarray) -> WeightPlace:
    """Where the posterior of weights and coefficients is highest; `sizes`: what covariates were
    divided by."""
    target = _WithPrior(pose, sizes)
    start = target.look(np.zeros(pose.n_aspects), np.zeros(pose.n_coefficients))
    return maximise_newton(target, start, _GAIN, damping=1e-3, max_change=_LONGEST).point
