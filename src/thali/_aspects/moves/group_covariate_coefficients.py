"""Draws of covariate coefficients that all groups share, from the data of all groups.

As `likelihoods.pair_covariates` for one group, each coefficient is drawn by a slice of its density
given all weights.
"""

from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import generic, scalar
from thali._inference.numerics.slice_sampling import draw_on_line, log_density

from ..chain_state import BETA, count_groups, replica
from ..group_likelihoods import COVARIATE_CLASSES
from ..group_state import select_group_likelihood
from ..kernel_operations import rebuild_cache, select_cache
from ..likelihoods.pair_blocks import fill_covariate_factors
from ..likelihoods.pair_covariates import FIRST_COEFFICIENT, shifted_log_likelihood


@generic
def draw_common_parameters(likelihood: Any, rng: Any, caches: Any, states: Any) -> None:
    """Draw the likelihood's parameters that all groups share; default: none.

    `likelihood` is stacked by group.
    """


@draw_common_parameters.register(object)
def _draw_nothing(likelihood: Any, rng: Any, caches: Any, states: Any) -> None:
    """Do nothing: by default, groups share no parameters."""
    pass


class SharedCoefficientLine(NamedTuple):
    """Conditional density of coefficient m, shared by all groups, for slice sampling.

    It has the inverse temperature of the chain.
    """

    pairs: Any
    caches: Any
    states: Any
    m: int


@log_density.register(SharedCoefficientLine)
def _log_coefficient_density(line: Any, beta: Any) -> Any:
    """Return the log conditional density of value `beta` of the coefficient."""
    pairs, caches, states, m = line
    total = 0.0
    for g in range(count_groups(states)):
        likelihood = select_group_likelihood(pairs, g)
        c = select_cache(likelihood, caches, g)
        total += shifted_log_likelihood(likelihood, c, m, beta - c.real[FIRST_COEFFICIENT + m])
    return replica(states, 0).real[BETA] * total - 0.5 * beta * beta


@scalar
def set_coefficient(pairs: Any, caches: Any, states: Any, m: Any, beta: Any) -> None:
    """Set coefficient m to `beta` in all groups, and update their caches."""
    for g in range(count_groups(states)):
        likelihood = select_group_likelihood(pairs, g)
        c = select_cache(likelihood, caches, g)
        c.real[FIRST_COEFFICIENT + m] = beta
        fill_covariate_factors(likelihood, c)


def _draw_coefficients(pairs: Any, rng: np.random.Generator, caches: Any, states: Any) -> None:
    """Draw each shared coefficient given all weights, then rebuild all groups' caches."""
    first_cache = select_cache(select_group_likelihood(pairs, 0), caches, 0)
    for m in range(pairs.x.shape[1]):
        beta = draw_on_line(
            rng,
            SharedCoefficientLine(pairs, caches, states, m),
            first_cache.real[FIRST_COEFFICIENT + m],
            1.0,
        )
        set_coefficient(pairs, caches, states, m, beta)
    for g in range(count_groups(states)):
        likelihood = select_group_likelihood(pairs, g)
        rebuild_cache(likelihood, select_cache(likelihood, caches, g), replica(states, g))


for _cls in COVARIATE_CLASSES:
    draw_common_parameters.register(_cls)(_draw_coefficients)
