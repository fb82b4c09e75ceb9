"""The prior of every weight: Gamma, or Normal for a user's likelihood that takes weights of either
sign.

The moves use only these operations and know neither. A walk of a weight takes steps on the scale on
which the prior has no bound.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import generic, scalar


class GammaWeights(NamedTuple):
    """Weights above 0."""

    shape: float = 1.0
    rate: float = 1.0

    def random(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """Weights from the prior."""
        return rng.gamma(self.shape, 1.0 / self.rate, size)

    def expected(self) -> float:
        """The mean."""
        return self.shape / self.rate

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """The log density of each weight."""
        from scipy.special import gammaln, xlogy

        shape, rate = self.shape, self.rate
        return shape * np.log(rate) - gammaln(shape) + xlogy(shape - 1.0, values) - rate * values


EXPONENTIAL = GammaWeights()


class NormalWeights(NamedTuple):
    """Weights that may be any number."""

    mean: float = 0.0
    sd: float = 1.0

    def random(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """Weights from the prior."""
        return rng.normal(self.mean, self.sd, size)

    def expected(self) -> float:
        """The mean."""
        return self.mean

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """The log density of each weight."""
        return (
            -0.5 * ((values - self.mean) / self.sd) ** 2
            - math.log(self.sd)
            - 0.5 * math.log(2.0 * math.pi)
        )


@generic
def are_positive(weights: Any) -> None:
    """Whether the prior allows weights above 0 only."""


@generic
def are_exponential(weights: Any) -> None:
    """Whether the prior is an exponential distribution: a sum of weights then says nothing of how
    it is split."""


@generic
def shape_of(weights: Any) -> None:
    """The shape of a Gamma prior. Asked only of exponential weights, and where options have unique
    weights."""


@generic
def rate_of(weights: Any) -> None:
    """Its rate, asked likewise."""


@generic
def drawn(weights: Any, rng: Any) -> None:
    """A weight from the prior."""


@generic
def log_density_ratio(weights: Any, w: Any, d: Any) -> None:
    """log p(w + d) - log p(w)."""


@generic
def walked(weights: Any, w: Any, move: Any) -> None:
    """Where a step of that size takes the weight."""


@generic
def log_stretch(weights: Any, move: Any) -> None:
    """The log derivative of the new weight by the old one, at the same step."""


@are_positive.register(GammaWeights)
def _positive(weights: Any) -> Any:
    return True


@are_positive.register(NormalWeights)
def _of_either_sign(weights: Any) -> Any:
    return False


@are_exponential.register(GammaWeights)
def _exponential(weights: Any) -> Any:
    return weights.shape == 1.0


@are_exponential.register(NormalWeights)
def _not_exponential(weights: Any) -> Any:
    return False


@shape_of.register(GammaWeights)
def _shape(weights: Any) -> Any:
    return weights.shape


@rate_of.register(GammaWeights)
def _rate(weights: Any) -> Any:
    return weights.rate


@shape_of.register(NormalWeights)
@rate_of.register(NormalWeights)
def _none(weights: Any) -> Any:
    return np.nan


@drawn.register(GammaWeights)
def _gamma(weights: Any, rng: Any) -> Any:
    if weights.shape == 1.0:
        return rng.standard_exponential() / weights.rate
    return rng.standard_gamma(weights.shape) / weights.rate


@drawn.register(NormalWeights)
def _normal(weights: Any, rng: Any) -> Any:
    return weights.mean + weights.sd * rng.standard_normal()


@log_density_ratio.register(GammaWeights)
def _gamma_ratio(weights: Any, w: Any, d: Any) -> Any:
    ratio = -weights.rate * d
    if weights.shape != 1.0:
        ratio += (weights.shape - 1.0) * math.log((w + d) / w)
    return ratio


@log_density_ratio.register(NormalWeights)
def _normal_ratio(weights: Any, w: Any, d: Any) -> Any:
    return -d * (w + 0.5 * d - weights.mean) / (weights.sd * weights.sd)


@walked.register(GammaWeights)
def _multiplied(weights: Any, w: Any, move: Any) -> Any:
    return w * math.exp(move)


@walked.register(NormalWeights)
def _added(weights: Any, w: Any, move: Any) -> Any:
    return w + weights.sd * move


@log_stretch.register(GammaWeights)
def _stretched(weights: Any, move: Any) -> Any:
    return move


@log_stretch.register(NormalWeights)
def _unstretched(weights: Any, move: Any) -> Any:
    return 0.0


@scalar
def is_possible(weights: Any, w: Any, d: Any) -> Any:
    """Whether weight w may become w + d: d = -w would be a death, and rounding may make it that."""
    after = w + d
    return (
        (0.0 < after < np.inf) if are_positive(weights) else (after != 0.0 and abs(after) < np.inf)
    )


@scalar
def weight(rng: Any, model: Any) -> Any:
    """A weight from its prior."""
    return drawn(model.weights, rng)
