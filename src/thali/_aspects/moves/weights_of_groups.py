"""The weights of columns, and the unique weights of options, in all groups under the same names.

What moves a weight in all groups at once is written once for both.
"""

from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import generic, scalar

from ..group_state import KAPPA
from ..operations import apply_own, apply_weight, delta_own, delta_weight


class SharedWeights(NamedTuple):
    """The weights of columns, what they vary about and how little: `Base` has them, by the number
    of the column."""

    weight: np.ndarray  # (groups, columns)
    middle: np.ndarray
    lift: np.ndarray
    slope: np.ndarray
    kappa: float


class UniqueWeights(SharedWeights):
    """The same of the unique weights of options, by the number of the option."""


@scalar
def shared_weights(states: Any, base: Any) -> Any:
    """The weights of columns."""
    return SharedWeights(states.w, base.v, base.lift, base.slope, base.real[KAPPA])


@scalar
def unique_weights(states: Any, base: Any) -> Any:
    """The unique weights of options."""
    return UniqueWeights(states.s, base.own, base.own_lift, base.own_slope, base.real[KAPPA])


@scalar
def middle_in(weights: Any, k: Any, g: Any) -> Any:
    """What weight k varies about in group g."""
    return weights.middle[k] * weights.lift[g, k]


@generic
def delta_of(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> None:
    """Change of the log-likelihood of a group whose weight k grows by d."""


@generic
def apply_to(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> None:
    """Let the caches of a group follow that change; the weight itself is left to the caller."""


@delta_of.register(SharedWeights)
def _delta_of_shared(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> Any:
    return delta_weight(likelihood, c, b, k, b.m[k], d)


@delta_of.register(UniqueWeights)
def _delta_of_unique(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> Any:
    return delta_own(likelihood, c, b, k, d)


@apply_to.register(SharedWeights)
def _apply_to_shared(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> None:
    apply_weight(likelihood, c, b, k, b.m[k], d)


@apply_to.register(UniqueWeights)
def _apply_to_unique(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> None:
    apply_own(likelihood, c, b, k, d)
