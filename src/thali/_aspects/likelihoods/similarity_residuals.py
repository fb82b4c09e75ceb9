"""Residuals of similarities under additive clustering, and their updates by kernels.

Residuals fill a square, so every pair is stored twice; entries on the diagonal and of unmeasured
pairs are always 0 and have weight 0 in `measured`. The similarity of a pair is the mean of n_ij
judgements and has variance sigma^2 / n_ij; its residual is stored times n_ij. A change of mu by d z
over a row of pairs changes the log-likelihood by d sum_j z_j (R_j - d n_j z_j / 2) / sigma^2, over
the measured pairs.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar, vectorised
from thali._inference.numerics.positive_weight_draws import draw_tilted_weight

from ..chain_state import BETA, COLUMNS, owns

if TYPE_CHECKING:
    from thali._data.similarities import Similarities


CONSTANT, VARIANCE = range(2)  # positions in Residuals.real


class Judgements(NamedTuple):
    """Similarities of pairs and numbers of judgements, as kernels read them; read-only."""

    value: np.ndarray  # (n, n) similarity; 0 on the diagonal and for unmeasured pairs
    measured: np.ndarray  # (n, n) number of judgements; 0.0 for unmeasured pairs
    share: np.ndarray  # (n, n) 1 / measured; 0.0 for unmeasured pairs
    pairs: float  # number of measured pairs
    total: float  # number of judgements of all pairs
    single: bool  # whether each similarity is one judgement
    complete: bool  # whether in addition all pairs were measured
    shape: float  # of the Gamma prior of the weights and the constant
    rate: float
    has_constant: bool
    learns_variance: bool
    variance: float  # its fixed value, or the starting value of a learned variance
    prior_shape: float  # of the inverse Gamma prior of a learned variance
    prior_scale: float


class Residuals(NamedTuple):
    """A chain's cache: residuals of all pairs, row sums, constant and variance."""

    residual: np.ndarray  # (n, n) similarity minus mu, times the number of judgements
    # (n,) for the open pattern: sum of the residuals of an object's pairs with the owners
    pull: np.ndarray
    # (n,) for the open pattern: number of judgements of an object's pairs with the owners
    ties: np.ndarray
    real: np.ndarray  # (2,) CONSTANT, VARIANCE


@vectorised
def row_delta(judgements: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    """Return the log-likelihood change if similarities of i with owners of k grow by d.

    z is row k, which may be real-valued.
    """
    half = 0.5 * d
    total = 0.0
    for j in range(judgements.value.shape[0]):
        z = b.Z[k, j]
        total += z * (c.residual[i, j] - half * z * judgements.measured[i, j])
    return d * total / c.real[VARIANCE]


@vectorised
def sum_row(square: Any, b: Any, k: Any, i: Any) -> Any:
    """Return the sum of row i of a matrix over the owners of feature k."""
    total = 0.0
    for j in range(square.shape[0]):
        total += b.Z[k, j] * square[i, j]
    return total


@vectorised
def sum_common(square: Any, b: Any, k: Any, partner: Any, i: Any) -> Any:
    """Return the sum of row i of a matrix over owners of both k and `partner`."""
    total = 0.0
    for j in range(square.shape[0]):
        total += b.Z[k, j] * b.Z[partner, j] * square[i, j]
    return total


@scalar
def shift_row(judgements: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    """Update the residuals: similarities of i with owners of k grow by d."""
    n = judgements.value.shape[0]
    for j in range(n):
        c.residual[i, j] -= d * b.Z[k, j] * judgements.measured[i, j]
    for j in range(n):
        c.residual[j, i] = c.residual[i, j]


@scalar
def open_row_sums(judgements: Any, c: Any, b: Any, k: Any) -> None:
    """Store sums over owners of k of each object's residuals and judgement counts."""
    n = judgements.value.shape[0]
    for j in range(n):
        c.pull[j], c.ties[j] = 0.0, 0.0
        if judgements.complete:
            c.ties[j] = b.m[k] - b.Z[k, j]
    for i in range(n):
        if owns(b, i, k):
            for j in range(n):
                c.pull[j] += c.residual[i, j]
            if not judgements.complete:
                for j in range(n):
                    c.ties[j] += judgements.measured[i, j]


@scalar
def shift_row_sums(judgements: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    """Update the stored row sums after object i joined feature k (d > 0) or left.

    The residuals have been updated before.
    """
    n = judgements.value.shape[0]
    c.pull[i] -= d * c.ties[i]  # the pairs of i with the owners
    if d > 0.0:
        for j in range(n):
            c.pull[j] += c.residual[i, j]
            c.ties[j] += judgements.measured[i, j]
    else:
        for j in range(n):  # as an owner it was counted with the residuals before the shift
            c.pull[j] -= c.residual[i, j] + d * b.Z[k, j] * judgements.measured[i, j]
            c.ties[j] -= judgements.measured[i, j]


@scalar
def count_inner_judgements(judgements: Any, b: Any, k: Any, m: Any) -> Any:
    """Return the number of judgements of pairs that both own feature k."""
    if judgements.complete:
        return 0.5 * m * (m - 1)
    return sum_inner(judgements.measured, b, k)


@vectorised
def sum_inner(square: Any, b: Any, k: Any) -> Any:
    """Return the sum of a symmetric matrix over pairs that both own feature k."""
    n = square.shape[0]
    total = 0.0
    for i in range(n):
        if owns(b, i, k):
            for j in range(n):
                total += b.Z[k, j] * square[i, j]
    return 0.5 * total


@scalar
def shift_inner(judgements: Any, c: Any, b: Any, k: Any, d: Any) -> None:
    """Update the residuals: similarities of pairs that both own feature k grow by d."""
    n = judgements.value.shape[0]
    for i in range(n):
        if owns(b, i, k):
            for j in range(n):
                c.residual[i, j] -= d * b.Z[k, j] * judgements.measured[i, j]


@vectorised
def sum_all(square: Any) -> Any:
    """Return the sum of a symmetric matrix over all pairs."""
    n = square.shape[0]
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += square[i, j]
    return 0.5 * total


@scalar
def shift_all(judgements: Any, c: Any, d: Any) -> None:
    """Update the residuals: the similarities of all pairs grow by d."""
    n = judgements.value.shape[0]
    for i in range(n):
        for j in range(n):
            c.residual[i, j] -= d * judgements.measured[i, j]


@vectorised
def squared_error(judgements: Any, c: Any) -> Any:
    """Return the sum of squared residuals, weighted by numbers of judgements."""
    n = c.residual.shape[0]
    total = 0.0
    if judgements.single:
        for i in range(n):
            for j in range(n):
                total += c.residual[i, j] * c.residual[i, j]
    else:
        for i in range(n):
            for j in range(n):
                total += c.residual[i, j] * c.residual[i, j] * judgements.share[i, j]
    return 0.5 * total


@scalar
def fill_residuals(judgements: Any, c: Any, b: Any) -> None:
    """Compute all residuals from features, weights and constant."""
    n = judgements.value.shape[0]
    for i in range(n):
        for j in range(n):
            c.residual[i, j] = (judgements.value[i, j] - c.real[CONSTANT]) * judgements.measured[
                i, j
            ]
    for k in range(b.whole[COLUMNS]):
        shift_inner(judgements, c, b, k, b.w[k])


@scalar
def draw_constant(rng: np.random.Generator, judgements: Any, c: Any, b: Any) -> None:
    """Draw the additive constant exactly from its conditional distribution."""
    if judgements.has_constant:
        precision = b.real[BETA] / c.real[VARIANCE]
        before = c.real[CONSTANT]
        slope = precision * (sum_all(c.residual) + before * judgements.total)
        after = draw_tilted_weight(
            rng, judgements.shape, judgements.rate, precision * judgements.total, slope
        )
        shift_all(judgements, c, after - before)
        c.real[CONSTANT] = after


@scalar
def draw_variance(rng: np.random.Generator, judgements: Any, c: Any, b: Any) -> None:
    """Draw a learned variance from its inverse Gamma conditional distribution."""
    if judgements.learns_variance:
        shape = judgements.prior_shape + 0.5 * b.real[BETA] * judgements.pairs
        scale = judgements.prior_scale + 0.5 * b.real[BETA] * squared_error(judgements, c)
        c.real[VARIANCE] = scale / rng.standard_gamma(shape)


def arrange_squares(data: "Similarities") -> tuple[np.ndarray, ...]:
    """Return similarities, judgement counts and inverse counts, each (n, n)."""
    return tuple(
        arrange_square(data.n_options, data.first, data.second, entries)
        for entries in (data.values, data.judgements, 1.0 / data.judgements)
    )


def arrange_square(
    n: int, first: np.ndarray, second: np.ndarray, entries: np.ndarray
) -> np.ndarray:
    """Return the symmetric (n, n) matrix with these entries of pairs, 0 elsewhere."""
    square = np.zeros((n, n))
    square[first, second] = square[second, first] = entries
    return square


def make_residual_cache(judgements: Judgements) -> Residuals:
    """Make a chain's cache with starting parameters; residuals are filled later."""
    constant = 0.0
    if judgements.has_constant:
        constant = judgements.shape / judgements.rate
    n = judgements.value.shape[0]
    return Residuals(
        np.zeros((n, n)), np.zeros(n), np.zeros(n), np.array([constant, judgements.variance])
    )
