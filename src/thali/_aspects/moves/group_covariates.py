"""The coefficients of covariates, which several groups have in common: their data are those of all
groups.

As `likelihoods.pair_covariates` for one group: each coefficient by a slice of the density given all
weights.
"""

from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import generic, scalar
from thali._inference.numerics.slices import draw_on_line, log_density

from ..group_likelihoods import WITH_COVARIATES
from ..group_state import group_at
from ..likelihoods.pair_blocks import fill_lifts
from ..likelihoods.pair_covariates import COEFFICIENTS, sum_of_terms
from ..operations import cache_at, rebuild
from ..state import BETA, replica


@generic
def draw_common_parameters(likelihood: Any, rng: Any, caches: Any, states: Any) -> None:
    """Draw the likelihood's own parameters that all groups have in common; `likelihood` is the
    stacked one; default: there are none."""


@draw_common_parameters.register(object)
def _draw_nothing(likelihood: Any, rng: Any, caches: Any, states: Any) -> None:
    pass


class ValueLine(NamedTuple):
    """Coefficient m of all groups given everything else, at the inverse temperature of the
    chain."""

    pairs: Any
    caches: Any
    states: Any
    m: int


@log_density.register(ValueLine)
def _log_density_of_value(line: Any, value: Any) -> Any:
    pairs, caches, states, m = line
    total = 0.0
    for g in range(states.w.shape[0]):
        likelihood = group_at(pairs, g)
        c = cache_at(likelihood, caches, g)
        total += sum_of_terms(likelihood, c, m, value - c.real[COEFFICIENTS + m])
    return replica(states, 0).real[BETA] * total - 0.5 * value * value


@scalar
def set_value(pairs: Any, caches: Any, states: Any, m: Any, value: Any) -> None:
    """Coefficient m of all groups."""
    for g in range(states.w.shape[0]):
        likelihood = group_at(pairs, g)
        c = cache_at(likelihood, caches, g)
        c.real[COEFFICIENTS + m] = value
        fill_lifts(likelihood, c)


def _draw_coefficients(pairs: Any, rng: np.random.Generator, caches: Any, states: Any) -> None:
    first = cache_at(group_at(pairs, 0), caches, 0)
    for m in range(pairs.x.shape[1]):
        value = draw_on_line(
            rng, ValueLine(pairs, caches, states, m), first.real[COEFFICIENTS + m], 1.0
        )
        set_value(pairs, caches, states, m, value)
    for g in range(states.w.shape[0]):
        likelihood = group_at(pairs, g)
        rebuild(likelihood, cache_at(likelihood, caches, g), replica(states, g))


for _cls in WITH_COVARIATES:
    draw_common_parameters.register(_cls)(_draw_coefficients)
