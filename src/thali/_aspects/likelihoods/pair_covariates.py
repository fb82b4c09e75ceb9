"""Kernels of compared pairs with covariates, such as position or difference in length.

    logit p = log A_ij - log A_ji + x'beta,    beta ~ Normal(0, 1) each,

then the lapse and the ties. A pair has a lane for each distinct x. The weight of its first side is
multiplied by exp(x'beta), and by the inverse in the copy among its neighbour's blocks.
"""

from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import register_answers, scalar, vectorised
from thali._inference.numerics.fast_exponential import fast_exp
from thali._inference.numerics.slice_sampling import draw_on_line, log_density

from ..chain_state import BETA
from .pair_blocks import (
    COVARIATE_FACTOR,
    ETA,
    LOSSES,
    WEIGHT_I,
    WEIGHT_J,
    WIDTH,
    WINS,
    PairCache,
    count_first_weight,
    count_second_weight,
    fill_covariate_factors,
    has_empty_sides,
    has_ties,
    pair_log_likelihood,
    store_all_pairs,
)

FIRST_COEFFICIENT = 3  # position of the first coefficient in PairCache.real
MIN_SIDE_WEIGHT = 1e-150  # of an empty side, which must remain positive when it is multiplied
MAX_ETA = 300.0  # bound of x'beta: e^300 = 2e130


class PairsWithCovariates(NamedTuple):
    """Compared pairs with covariates, otherwise like `PairBlocks`; read-only."""

    start: np.ndarray
    neighbour: np.ndarray
    transposed: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    scale: float
    base: float
    x: np.ndarray  # (covariates, blocks, WIDTH)


class PairsWithCovariatesWithoutUnique(PairsWithCovariates):
    """Compared pairs with covariates, in a model without unique aspects."""


class PairsWithCovariatesAndTies(PairsWithCovariates):
    """Compared pairs with covariates and ties; a tie is half a win, half a loss."""


class PairsWithCovariatesAndTiesWithoutUnique(PairsWithCovariatesAndTies):
    """Compared pairs with covariates and ties, without unique aspects."""


COVARIATE_PAIR_CLASSES: dict[
    tuple[bool, bool], type[Any]
] = {  # by whether there are unique aspects, and ties
    (True, False): PairsWithCovariates,
    (False, False): PairsWithCovariatesWithoutUnique,
    (True, True): PairsWithCovariatesAndTies,
    (False, True): PairsWithCovariatesAndTiesWithoutUnique,
}


def _first_weight_with_covariates(
    pairs: PairsWithCovariates, c: PairCache, v: int, t: int, weight_i: float
) -> Any:
    """Return the weight of a pair's first option times its covariate factor."""
    return max(weight_i, MIN_SIDE_WEIGHT) * c.block[v, COVARIATE_FACTOR + t]


def _second_weight_with_covariates(pairs: PairsWithCovariates, weight_j: float) -> Any:
    """Return the weight of a pair's second option, at least MIN_SIDE_WEIGHT."""
    return max(weight_j, MIN_SIDE_WEIGHT)


@scalar
def _fill_pair_factors(pairs: Any, c: Any) -> None:
    """Store x'beta and exp(x'beta) of every pair in the cache."""
    for v in range(c.block.shape[0]):
        for t in range(WIDTH):
            eta = 0.0
            for m in range(pairs.x.shape[0]):
                eta += pairs.x[m, v, t] * c.real[FIRST_COEFFICIENT + m]
            c.block[v, ETA + t] = eta
            c.block[v, COVARIATE_FACTOR + t] = fast_exp(min(max(eta, -MAX_ETA), MAX_ETA))


for (_unique, _ties), _cls in COVARIATE_PAIR_CLASSES.items():
    register_answers(_cls, {has_empty_sides: not _unique, has_ties: _ties})
    count_first_weight.register(_cls)(_first_weight_with_covariates)
    count_second_weight.register(_cls)(_second_weight_with_covariates)
    fill_covariate_factors.register(_cls)(_fill_pair_factors)


@vectorised
def shifted_log_likelihood(pairs: Any, c: Any, m: Any, step: Any) -> Any:
    """Return the log-likelihood of all pairs if coefficient m grows by `step`.

    Every pair is stored twice, and missing neighbours add 0.
    """
    total = 0.0
    for v in range(c.block.shape[0]):
        for t in range(WIDTH):
            eta = c.block[v, ETA + t] + step * pairs.x[m, v, t]
            covariate_factor = fast_exp(min(max(eta, -MAX_ETA), MAX_ETA))
            weight_i = max(c.block[v, WEIGHT_I + t], MIN_SIDE_WEIGHT) * covariate_factor
            weight_j = max(c.block[v, WEIGHT_J + t], MIN_SIDE_WEIGHT)
            total += pair_log_likelihood(
                pairs, c, weight_i, weight_j, c.block[v, WINS + t], c.block[v, LOSSES + t]
            )
    return 0.5 * total


class CoefficientLine(NamedTuple):
    """Conditional density of coefficient m given all else, for slice sampling."""

    pairs: Any
    cache: Any
    state: Any
    m: int


@log_density.register(CoefficientLine)
def _coefficient_log_density(line: CoefficientLine, coefficient: float) -> Any:
    """Return the log conditional density of a value of coefficient m."""
    pairs, c, b, m = line
    step = coefficient - c.real[FIRST_COEFFICIENT + m]
    return (
        b.real[BETA] * shifted_log_likelihood(pairs, c, m, step) - 0.5 * coefficient * coefficient
    )


@scalar
def draw_coefficients(pairs: Any, rng: np.random.Generator, c: Any, b: Any) -> None:
    """Draw each coefficient by slice sampling with stepping out (Neal 2003).

    The initial width is the prior standard deviation.
    """
    for m in range(pairs.x.shape[0]):
        line = CoefficientLine(pairs, c, b, m)
        c.real[FIRST_COEFFICIENT + m] = draw_on_line(rng, line, c.real[FIRST_COEFFICIENT + m], 1.0)
        fill_covariate_factors(pairs, c)
    store_all_pairs(pairs, c)
