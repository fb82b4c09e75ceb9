"""Feature weights and unique weights of all groups behind one interface, for shared moves.

Moves of a weight in all groups are written once for both.
"""

from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import generic, scalar

from ..group_state import KAPPA
from ..kernel_operations import apply_unique, apply_weight, delta_unique, delta_weight


class GroupColumnWeights(NamedTuple):
    """Feature weights of all groups, with the matching arrays of `CommonWeights`."""

    weight: np.ndarray  # (groups, columns)
    center: np.ndarray
    covariate_factor: np.ndarray
    slope: np.ndarray
    kappa: float


class GroupUniqueWeights(GroupColumnWeights):
    """Unique weights of all groups by option, with the arrays of `CommonWeights`."""


@scalar
def select_column_weights(states: Any, base: Any) -> Any:
    """Return the feature weights of all groups with their common weights."""
    return GroupColumnWeights(states.w, base.v, base.covariate_factor, base.slope, base.real[KAPPA])


@scalar
def select_unique_weights(states: Any, base: Any) -> Any:
    """Return the unique weights of all groups with their common weights."""
    return GroupUniqueWeights(
        states.s, base.unique, base.unique_covariate_factor, base.unique_slope, base.real[KAPPA]
    )


@scalar
def group_center(weights: Any, k: Any, g: Any) -> Any:
    """Return the prior mean of weight k in group g: common weight times covariate factor."""
    return weights.center[k] * weights.covariate_factor[g, k]


@generic
def delta_group_weight(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> Any:
    """Return the log-likelihood change of a group if its weight k grows by d."""


@generic
def apply_group_weight(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> None:
    """Update the cache of a group whose weight k grows by d."""


@delta_group_weight.register(GroupColumnWeights)
def _delta_column_weight(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> Any:
    """Return a group's log-likelihood change if the weight of feature k grows by d."""
    return delta_weight(likelihood, c, b, k, b.m[k], d)


@delta_group_weight.register(GroupUniqueWeights)
def _delta_unique_weight(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> Any:
    """Return a group's log-likelihood change if the unique weight of option k grows by d."""
    return delta_unique(likelihood, c, b, k, d)


@apply_group_weight.register(GroupColumnWeights)
def _apply_column_weight(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> None:
    """Update the cache of a group: the weight of feature k grows by d."""
    apply_weight(likelihood, c, b, k, b.m[k], d)


@apply_group_weight.register(GroupUniqueWeights)
def _apply_unique_weight(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> None:
    """Update the cache of a group: the unique weight of option k grows by d."""
    apply_unique(likelihood, c, b, k, d)
