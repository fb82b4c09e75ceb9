"""Weights of columns and unique weights of options in all groups, under common names.

Moves of a weight in all groups are written once for both.
"""

from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import generic, scalar

from ..group_state import KAPPA
from ..operations import apply_unique, apply_weight, delta_unique, delta_weight


class GroupColumnWeights(NamedTuple):
    """Column weights of all groups, with base weights, slopes and kappa of `CommonWeights`."""

    weight: np.ndarray  # (groups, columns)
    center: np.ndarray
    covariate_factor: np.ndarray
    slope: np.ndarray
    kappa: float


class GroupUniqueWeights(GroupColumnWeights):
    """Unique weights of all groups, indexed by option."""


@scalar
def select_column_weights(states: Any, base: Any) -> Any:
    """Return the weights of columns of all groups."""
    return GroupColumnWeights(states.w, base.v, base.covariate_factor, base.slope, base.real[KAPPA])


@scalar
def select_unique_weights(states: Any, base: Any) -> Any:
    """Return the unique weights of options of all groups."""
    return GroupUniqueWeights(
        states.s, base.unique, base.unique_covariate_factor, base.unique_slope, base.real[KAPPA]
    )


@scalar
def group_center(weights: Any, k: Any, g: Any) -> Any:
    """Return the prior mean of weight k in group g."""
    return weights.center[k] * weights.covariate_factor[g, k]


@generic
def delta_group_weight(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> None:
    """Return the change of a group's log-likelihood if weight k grows by d."""


@generic
def apply_group_weight(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> None:
    """Update the caches of a group whose weight k grows by d; the caller updates it."""


@delta_group_weight.register(GroupColumnWeights)
def _delta_column_weight(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> Any:
    """Return a group's log-likelihood change if the weight of column k grows by d."""
    return delta_weight(likelihood, c, b, k, b.m[k], d)


@delta_group_weight.register(GroupUniqueWeights)
def _delta_unique_weight(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> Any:
    """Return a group's log-likelihood change if the unique weight of option k grows by d."""
    return delta_unique(likelihood, c, b, k, d)


@apply_group_weight.register(GroupColumnWeights)
def _apply_column_weight(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> None:
    """Update the cache of a group: the weight of column k grows by d."""
    apply_weight(likelihood, c, b, k, b.m[k], d)


@apply_group_weight.register(GroupUniqueWeights)
def _apply_unique_weight(weights: Any, likelihood: Any, c: Any, b: Any, k: Any, d: Any) -> None:
    """Update the cache of a group: the unique weight of option k grows by d."""
    apply_unique(likelihood, c, b, k, d)
