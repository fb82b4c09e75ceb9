"""Maximisation of the likelihood of aspect weights: starts, climbs and zero weights."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from thali._inference.maximisation import Slope, Target, maximise_newton
from thali._inference.numerics.weight_shares import compute_shares, softmax

from .pair_likelihood import PairProblem, WeightProblem

_TINY = 1e-6  # share of the largest weight below which a weight may be zero
_EQUAL_VALUE = 1e-9  # log-likelihoods closer than this are equal, up to rounding and convergence
# largest loss of log-likelihood when weights are set to zero, by rounding and convergence
_MAX_LOSS = 1e-7


class Maximum(NamedTuple):
    """The best maximum found: weights, coefficients, log-likelihood and boundary."""

    weights: np.ndarray  # they sum to 1; vanishing weights are 0
    # the same up to a factor, but small where they vanish, because their ratios affect choices too
    working: np.ndarray
    beta: np.ndarray
    value: float  # log-likelihood without binomial coefficients
    # bool: the likelihood has no maximum, and keeps increasing while these weights shrink
    vanishing: np.ndarray


def maximise(problem: PairProblem, starts: Iterable[np.ndarray]) -> Maximum:
    """Return the best maximum of climbs from several starting log weights."""
    maxima = [_climb_from_start(problem, np.asarray(start, float)) for start in starts]
    max_log_likelihood = max(maximum.value for maximum in maxima)
    return next(maximum for maximum in maxima if maximum.value > max_log_likelihood - _EQUAL_VALUE)


def estimate_maximum(problem: PairProblem, start: np.ndarray, beta: np.ndarray) -> float:
    """Return the maximal log-likelihood, exact to six decimals, by one climb."""
    return ascend(problem, start, beta, np.ones(len(start), bool), 1e-6).value


def choose_starting_points(
    problem: PairProblem, n_starts: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """Return log weights to start from: equal, by choice frequency, random.

    A concave problem needs one start.
    """
    equal_start = np.zeros(problem.n_aspects)
    if problem.is_concave() or n_starts == 1:
        return [equal_start]
    n_chosen, n_rejected = problem.count_aspect_choices()
    choice_start = np.log((n_chosen + 0.5) / (n_rejected + 0.5))
    random_sds = np.where(np.arange(n_starts - 2) % 2, 1.0, 3.0)
    return [
        equal_start,
        choice_start,
        *(random_sds[:, None] * rng.normal(size=(n_starts - 2, problem.n_aspects))),
    ]


def _climb_from_start(problem: PairProblem, log_weights: np.ndarray) -> Maximum:
    """Climb from these log weights; return the maximum, zero weights included."""
    beta = np.zeros(problem.n_coefficients)
    is_free = np.ones(len(log_weights), bool)
    log_weights, beta, _ = ascend(problem, log_weights, beta, is_free)
    weights, is_vanishing = _find_boundary(problem, np.exp(log_weights), beta)
    for _ in range(len(log_weights)):  # a weight set to zero too early is set free again
        is_free = weights > 0.0
        with np.errstate(divide="ignore"):
            log_weights = np.log(weights)
        # Vanishing weights would dominate a step, so their ratios are polished separately.
        log_weights, beta = polish(problem, log_weights, beta, is_free & ~is_vanishing)
        if is_vanishing.any():
            log_weights, _ = polish(
                problem, log_weights, beta, is_free & is_vanishing, with_beta=False
            )
        weights = np.exp(log_weights)
        is_rising = ~is_free & (
            problem.compute_boundary_slopes(weights, beta) * weights.sum() > _MAX_LOSS
        )
        if not is_rising.any() or is_vanishing.any():
            break
        log_weights[is_rising] = np.log(_TINY * weights.max())
        log_weights, beta, _ = ascend(problem, log_weights, beta, is_free | is_rising)
        weights, is_vanishing = _find_boundary(problem, np.exp(log_weights), beta)
    log_likelihood = float(problem.terms(weights, beta).sum())
    reported_weights = np.where(is_vanishing, 0.0, weights)
    return Maximum(compute_shares(reported_weights), weights, beta, log_likelihood, is_vanishing)


def _find_boundary(
    problem: PairProblem, weights: np.ndarray, beta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights with tiny ones set to 0, and an empty mask."""
    # If that leaves a decided pair without weight, return the old weights and a mask of the tiny
    # ones.
    # Tiny weights become zero if that costs no likelihood. If a pair that differed would then have
    # no weight, only the ratio of vanishing weights explains its choices, so there is no maximum.
    original_terms = problem.terms(weights, beta)
    is_decided = problem.sum_weights(weights, beta) > 0.0
    tiny_indices = np.flatnonzero(weights <= _TINY * weights.max())
    tiny_indices = tiny_indices[np.argsort(weights[tiny_indices])]
    while len(tiny_indices):
        zeroed_weights = weights.copy()
        zeroed_weights[tiny_indices] = 0.0
        is_lost = is_decided & (problem.sum_weights(zeroed_weights, beta) == 0.0)
        new_terms = problem.terms(zeroed_weights, beta)
        if (original_terms - new_terms)[~is_lost].sum() <= _MAX_LOSS:
            if not is_lost.any():
                return zeroed_weights, np.zeros(len(weights), bool)
            is_vanishing = np.zeros(len(weights), bool)
            is_vanishing[tiny_indices] = True
            return weights, is_vanishing
        tiny_indices = tiny_indices[:-1]
    return weights, np.zeros(len(weights), bool)


# The log-likelihood as a function of logarithms of weights, and Newton's method for it ------------


_MAX_CHANGE = 5.0  # largest change of a logarithm in one step
_MIN_GAIN = 1e-10  # smallest expected gain of the log-likelihood in one step


class LogWeightPoint(NamedTuple):
    """Log weights, coefficients, and the log-likelihood at them."""

    logs: np.ndarray
    beta: np.ndarray
    value: float


class _LogWeightTarget(Target[LogWeightPoint]):
    """Log-likelihood as a function of free log weights and coefficients.

    A common factor of all weights does not change it; the curvature along this direction is made
    positive, which does not affect the step, because the gradient along it is zero.
    """

    def __init__(self, problem: WeightProblem, is_moving: np.ndarray) -> None:
        self._problem = problem
        self._moving = is_moving
        self._free = is_moving[: problem.n_aspects]
        self._n_free = int(self._free.sum())

    def evaluate(self, log_weights: np.ndarray, beta: np.ndarray) -> LogWeightPoint:
        """Evaluate the log-likelihood at log weights and coefficients."""
        return LogWeightPoint(
            log_weights, beta, float(self._problem.terms(np.exp(log_weights), beta).sum())
        )

    def move_point(self, point: LogWeightPoint, change: np.ndarray) -> LogWeightPoint:
        """Return the point after adding `change` to the free parameters."""
        log_weights, beta = self.change_parameters(point, change)
        return self.evaluate(log_weights - log_weights[self._free].max(), beta)

    def change_parameters(
        self, point: LogWeightPoint, change: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return log weights and coefficients after adding `change` to the free ones."""
        full_change = np.zeros(len(self._moving))
        full_change[self._moving] = change
        return point.logs + full_change[: len(point.logs)], point.beta + full_change[
            len(point.logs) :
        ]

    def slope(self, point: LogWeightPoint) -> Slope:
        """Return gradient and negative Hessian by the free parameters at a point."""
        derivatives = self._problem.compute_derivatives(np.exp(point.logs), point.beta)
        curvature = -derivatives.hessian[np.ix_(self._moving, self._moving)]
        metric = derivatives.information[self._moving]
        metric = metric + 1e-10 * metric.max(initial=1e-300)
        curvature[: self._n_free, : self._n_free] += metric.mean() / max(self._n_free, 1)
        # keeps rounding from moving parameters where the likelihood is flat
        curvature[np.diag_indices_from(curvature)] += 1e-10 * metric.max(initial=0.0)
        return Slope(derivatives.gradient[self._moving], curvature, metric)


def ascend(
    problem: WeightProblem,
    log_weights: np.ndarray,
    beta: np.ndarray,
    is_free: np.ndarray,
    gain: float = _MIN_GAIN,
) -> LogWeightPoint:
    """Climb by Newton steps until none promises a gain; only free weights move."""
    objective = _LogWeightTarget(problem, np.concatenate([is_free, np.ones(len(beta), bool)]))
    return maximise_newton(
        objective, objective.evaluate(log_weights, beta), gain, damping=1e-3, max_change=_MAX_CHANGE
    ).point


def polish(
    problem: WeightProblem,
    log_weights: np.ndarray,
    beta: np.ndarray,
    is_free: np.ndarray,
    with_beta: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """Improve a maximum by a few plain Newton steps, which double the digits."""
    objective = _LogWeightTarget(problem, np.concatenate([is_free, np.full(len(beta), with_beta)]))
    previous_step_size = np.inf
    for _ in range(12):
        point = LogWeightPoint(log_weights, beta, np.nan)
        newton_step = objective.solve(objective.slope(point), 0.0)
        if newton_step is None or not (
            step_size := np.abs(newton_step.change).max(initial=0.0)
        ) < min(previous_step_size / 2, 1e-2):
            break
        log_weights, beta = objective.change_parameters(point, newton_step.change)
        previous_step_size = step_size
    return log_weights, beta


# The mode of the posterior of given aspects -------------------------------------------------------


class _LogPosteriorTarget(_LogWeightTarget):
    r"""Log posterior of log weights and coefficients, for maximisation.

    Without the common factor of the weights the log prior is

    .. math:: \sum_k \ln w_k - K \ln \sum_k w_k - \tfrac12 \sum_m (\beta_m / s_m)^2 + \tau - e^\tau

    where s_m is the scale of the covariate, and :math:`\tau = \ln \nu` the last coefficient if
    there are ties.
    """

    def __init__(self, problem: WeightProblem, sizes: np.ndarray) -> None:
        super().__init__(problem, np.ones(problem.n_aspects + problem.n_coefficients, bool))
        self._sizes = sizes

    def evaluate(self, log_weights: np.ndarray, beta: np.ndarray) -> LogWeightPoint:
        """Evaluate the log posterior at log weights and coefficients."""
        max_log_weight = log_weights.max()
        scaled_beta = beta[: len(self._sizes)] / self._sizes
        log_posterior = super().evaluate(log_weights - max_log_weight, beta).value
        log_posterior += (
            log_weights.sum()
            - len(log_weights)
            * (max_log_weight + np.log(np.exp(log_weights - max_log_weight).sum()))
            - 0.5 * scaled_beta @ scaled_beta
        )
        if self._problem.tied is not None:
            log_posterior += beta[-1] - np.exp(beta[-1])
        return LogWeightPoint(log_weights, beta, float(log_posterior))

    def slope(self, point: LogWeightPoint) -> Slope:
        """Return gradient and negative Hessian of the log posterior at a point."""
        slope = super().slope(point)
        n_weights = len(point.logs)
        n_coefficients = len(self._sizes)
        relative_weights = softmax(point.logs)
        gradient = slope.gradient.copy()
        curvature = slope.curvature.copy()
        gradient[:n_weights] += 1.0 - n_weights * relative_weights
        curvature[:n_weights, :n_weights] += n_weights * (
            np.diag(relative_weights) - np.outer(relative_weights, relative_weights)
        )
        gradient[n_weights : n_weights + n_coefficients] -= (
            point.beta[:n_coefficients] / self._sizes**2
        )
        curvature[
            np.arange(n_weights, n_weights + n_coefficients),
            np.arange(n_weights, n_weights + n_coefficients),
        ] += 1.0 / self._sizes**2
        if self._problem.tied is not None:
            gradient[-1] += 1.0 - np.exp(point.beta[-1])
            curvature[-1, -1] += np.exp(point.beta[-1])
        return Slope(gradient, curvature, slope.metric)


def find_mode(problem: WeightProblem, sizes: np.ndarray) -> LogWeightPoint:
    """Find the posterior mode of weights and coefficients; `sizes` scale the covariates."""
    objective = _LogPosteriorTarget(problem, sizes)
    start_point = objective.evaluate(np.zeros(problem.n_aspects), np.zeros(problem.n_coefficients))
    return maximise_newton(
        objective, start_point, _MIN_GAIN, damping=1e-3, max_change=_MAX_CHANGE
    ).point
