"""Pairs whose comparisons have covariates x, such as the position, the judge, or the difference in
length.

    logit p = log A_ij - log A_ji + x'beta,    beta ~ Normal(0, 1) each,

then the lapse, and the ties. A pair has a lane for each different x, in which the weight of its own
side is lifted by exp(x'beta), and by the inverse in the copy among its neighbour's blocks.
"""

from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar, vectorised
from thali._inference.numerics.exponential import fast_exp
from thali._inference.numerics.slices import draw_on_line, log_density

from ..state import BETA
from .pair_blocks import (
    ETA,
    LIFT,
    LOSSES,
    OTHER,
    OWN,
    WIDTH,
    WINS,
    fill_lifts,
    first_side,
    has_ties,
    may_be_empty,
    no,
    second_side,
    store_all,
    term_of,
    yes,
)

COEFFICIENTS = 3  # position of the first in PairCache.real
MIN_LIFTED = 1e-150  # weight of an empty side, which must stay above 0 when it is lifted
FARTHEST = 300.0  # x'beta beyond it counts as much: e^300 = 2e130


class PairsWithCovariates(NamedTuple):
    """As `pair_blocks.Pairs`, with covariates. Never changed."""

    start: np.ndarray
    neighbour: np.ndarray
    transposed: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    scale: float
    base: float
    x: np.ndarray  # (covariates, blocks, WIDTH)


class PairsWithCovariatesWithoutUnique(PairsWithCovariates):
    """The same where options have no unique aspects, so that a side may be without columns."""


class PairsWithCovariatesAndTies(PairsWithCovariates):
    """Pairs with covariates of which neither may be chosen: wins and losses each include half of
    the ties."""


class PairsWithCovariatesAndTiesWithoutUnique(PairsWithCovariatesAndTies):
    """The same where options have no unique aspects."""


CLASSES: dict[tuple[bool, bool], type[Any]] = {  # by whether there are unique aspects, and ties
    (True, False): PairsWithCovariates,
    (False, False): PairsWithCovariatesWithoutUnique,
    (True, True): PairsWithCovariatesAndTies,
    (False, True): PairsWithCovariatesAndTiesWithoutUnique,
}


def _first_side(pairs: Any, c: Any, v: Any, t: Any, own: Any) -> Any:
    return max(own, MIN_LIFTED) * c.block[v, LIFT + t]


def _second_side(pairs: Any, other: Any) -> Any:
    return max(other, MIN_LIFTED)


@scalar
def _fill_lifts(pairs: Any, c: Any) -> None:
    for v in range(c.block.shape[0]):
        for t in range(WIDTH):
            eta = 0.0
            for m in range(pairs.x.shape[0]):
                eta += pairs.x[m, v, t] * c.real[COEFFICIENTS + m]
            c.block[v, ETA + t] = eta
            c.block[v, LIFT + t] = fast_exp(min(max(eta, -FARTHEST), FARTHEST))


for (_unique, _ties), _cls in CLASSES.items():
    may_be_empty.register(_cls)(no if _unique else yes)
    has_ties.register(_cls)(yes if _ties else no)
    first_side.register(_cls)(_first_side)
    second_side.register(_cls)(_second_side)
    fill_lifts.register(_cls)(_fill_lifts)


@vectorised
def sum_of_terms(pairs: Any, c: Any, m: Any, step: Any) -> Any:
    """The log-likelihood after a step of coefficient m. Every pair stands there twice, and a
    missing one counts 0."""
    total = 0.0
    for v in range(c.block.shape[0]):
        for t in range(WIDTH):
            eta = c.block[v, ETA + t] + step * pairs.x[m, v, t]
            lift = fast_exp(min(max(eta, -FARTHEST), FARTHEST))
            own = max(c.block[v, OWN + t], MIN_LIFTED) * lift
            other = max(c.block[v, OTHER + t], MIN_LIFTED)
            total += term_of(pairs, c, own, other, c.block[v, WINS + t], c.block[v, LOSSES + t])
    return 0.5 * total


class CoefficientLine(NamedTuple):
    """Coefficient m given everything else, at the inverse temperature of the chain."""

    pairs: Any
    cache: Any
    state: Any
    m: int


@log_density.register(CoefficientLine)
def _log_density_of_coefficient(line: Any, value: Any) -> Any:
    pairs, c, b, m = line
    step = value - c.real[COEFFICIENTS + m]
    return b.real[BETA] * sum_of_terms(pairs, c, m, step) - 0.5 * value * value


@scalar
def draw_coefficients(pairs: Any, rng: np.random.Generator, c: Any, b: Any) -> None:
    """Each coefficient in turn, by a slice sampler with stepping out from the prior's deviation
    (Neal 2003)."""
    for m in range(pairs.x.shape[0]):
        line = CoefficientLine(pairs, c, b, m)
        c.real[COEFFICIENTS + m] = draw_on_line(rng, line, c.real[COEFFICIENTS + m], 1.0)
        fill_lifts(pairs, c)
    store_all(pairs, c)
