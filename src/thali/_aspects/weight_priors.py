"""Priors of feature weights: Gamma, or normal for likelihoods with weights of either sign.

The moves use only these operations, not the classes. A random walk of a weight takes steps on the
scale on which the prior has no bound.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import generic, register_answers, scalar
from thali._inference.numerics.log_densities import LOG_2PI


class GammaWeights(NamedTuple):
    """Gamma(shape, rate) prior of positive feature weights."""

    shape: float = 1.0
    rate: float = 1.0

    def random(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """Sample weights from the prior."""
        return rng.gamma(self.shape, 1.0 / self.rate, size)

    def expected(self) -> float:
        """Return the prior mean of a weight."""
        return self.shape / self.rate

    def log_density(self, weights: np.ndarray) -> np.ndarray:
        """Return the log density of each weight."""
        from scipy.special import gammaln, xlogy

        shape = self.shape
        rate = self.rate
        return shape * np.log(rate) - gammaln(shape) + xlogy(shape - 1.0, weights) - rate * weights


EXPONENTIAL = GammaWeights()


class NormalWeights(NamedTuple):
    """Normal(mean, sd) prior of feature weights of either sign."""

    mean: float = 0.0
    sd: float = 1.0

    def random(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """Sample weights from the prior."""
        return rng.normal(self.mean, self.sd, size)

    def expected(self) -> float:
        """Return the prior mean of a weight."""
        return self.mean

    def log_density(self, weights: np.ndarray) -> np.ndarray:
        """Return the log density of each weight."""
        return -0.5 * ((weights - self.mean) / self.sd) ** 2 - math.log(self.sd) - 0.5 * LOG_2PI


@generic
def is_positive_prior(weights: Any) -> Any:
    """Return whether the prior allows positive weights only."""


@generic
def is_exponential_prior(weights: Any) -> Any:
    """Return whether the prior of weights is an exponential distribution.

    A sum of exponential weights carries no information on how it is split.
    """


@generic
def gamma_shape(weights: Any) -> Any:
    """Return the shape of a Gamma prior; NaN for a normal prior."""


@generic
def gamma_rate(weights: Any) -> Any:
    """Return the rate of a Gamma prior; NaN for a normal prior."""


@generic
def draw_weight(weights: Any, rng: Any) -> None:
    """Draw one weight from the prior."""


@generic
def log_density_ratio(weights: Any, w: Any, d: Any) -> Any:
    """Return the prior's log p(w + d) - log p(w)."""


@generic
def step_weight(weights: Any, w: Any, move: Any) -> Any:
    """Return weight w after a random-walk step `move`, in logs for a Gamma prior."""


@generic
def log_step_derivative(weights: Any, move: Any) -> Any:
    """Return the log derivative of the new weight by the old one, for a step."""


register_answers(GammaWeights, {is_positive_prior: True})
register_answers(NormalWeights, {is_positive_prior: False, is_exponential_prior: False})


@is_exponential_prior.register(GammaWeights)
def _gamma_exponential(weights: GammaWeights) -> Any:
    """Return whether the Gamma prior has shape 1."""
    return weights.shape == 1.0


@gamma_shape.register(GammaWeights)
def _gamma_shape(weights: GammaWeights) -> Any:
    """Return the shape of the Gamma prior."""
    return weights.shape


@gamma_rate.register(GammaWeights)
def _gamma_rate(weights: GammaWeights) -> Any:
    """Return the rate of the Gamma prior."""
    return weights.rate


@gamma_shape.register(NormalWeights)
@gamma_rate.register(NormalWeights)
def _no_gamma_parameter(weights: GammaWeights) -> Any:
    """Return NaN: a normal prior has no shape or rate."""
    return np.nan


@draw_weight.register(GammaWeights)
def _draw_gamma_weight(weights: GammaWeights, rng: np.random.Generator) -> Any:
    """Draw one weight from the Gamma prior."""
    if weights.shape == 1.0:
        return rng.standard_exponential() / weights.rate
    return rng.standard_gamma(weights.shape) / weights.rate


@draw_weight.register(NormalWeights)
def _draw_normal_weight(weights: NormalWeights, rng: np.random.Generator) -> Any:
    """Draw one weight from the normal prior."""
    return weights.mean + weights.sd * rng.standard_normal()


@log_density_ratio.register(GammaWeights)
def _gamma_ratio(weights: GammaWeights, w: float, d: float) -> Any:
    """Return log p(w + d) - log p(w) under the Gamma prior."""
    ratio = -weights.rate * d
    if weights.shape != 1.0:
        ratio += (weights.shape - 1.0) * math.log((w + d) / w)
    return ratio


@log_density_ratio.register(NormalWeights)
def _normal_ratio(weights: NormalWeights, w: float, d: float) -> Any:
    """Return log p(w + d) - log p(w) under the normal prior."""
    return -d * (w + 0.5 * d - weights.mean) / (weights.sd * weights.sd)


@step_weight.register(GammaWeights)
def _step_gamma_weight(weights: GammaWeights, w: float, move: float) -> Any:
    """Return weight w after a random-walk step on the log scale."""
    return w * math.exp(move)


@step_weight.register(NormalWeights)
def _step_normal_weight(weights: NormalWeights, w: float, move: float) -> Any:
    """Return weight w after a random-walk step, in units of the prior sd."""
    return w + weights.sd * move


@log_step_derivative.register(GammaWeights)
def _gamma_step_derivative(weights: GammaWeights, move: float) -> Any:
    """Return `move`, the log derivative of w exp(move) by w."""
    return move


@log_step_derivative.register(NormalWeights)
def _normal_step_derivative(weights: NormalWeights, move: float) -> Any:
    """Return 0, the log derivative: normal weights step on their own scale."""
    return 0.0


@scalar
def is_possible(weights: Any, w: Any, d: Any) -> Any:
    """Return whether the prior allows weight w to become w + d.

    A change d = -w would be a death, and rounding may produce one.
    """
    new_weight = w + d
    if is_positive_prior(weights):
        return 0.0 < new_weight < np.inf
    return new_weight != 0.0 and abs(new_weight) < np.inf


@scalar
def draw_prior_weight(rng: Any, model: Any) -> Any:
    """Draw one weight from the weight prior of the model."""
    return draw_weight(model.weights, rng)
