"""The arithmetic of additive similarity: residuals of all pairs, and what a change of the features
does to them.

Residuals fill a square, so every pair is stored twice; entries on the diagonal, and those of pairs
that were not measured, are always 0 and have no weight in `measured`. The similarity of a pair is
the mean of n_ij judgements and has the variance sigma^2 / n_ij; its residual is stored times n_ij:
a change of mu by d z over a row of pairs changes the log-likelihood by d sum_j z_j (R_j - d n_j z_j
/ 2) / sigma^2, over the measured ones.
"""

from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar, vectorised
from thali._inference.numerics.truncated import draw_tilted_weight

from ..state import BETA

CONSTANT, VARIANCE = range(2)  # positions in Residuals.real


class Judgements(NamedTuple):
    """Similarities of pairs. Never changed."""

    value: np.ndarray  # (n, n) similarity; 0 on the diagonal and where it was not measured
    # (n, n) number of judgements that a similarity is the mean of; 0.0 where it was not measured
    measured: np.ndarray
    share: np.ndarray  # (n, n) 1 / measured; 0.0 where it was not
    pairs: float  # number of measured pairs
    total: float  # of the judgements of all pairs
    single: bool  # whether each is one judgement
    complete: bool  # whether in addition all pairs were measured
    shape: float  # of the Gamma prior of the weights and the constant
    rate: float
    has_constant: bool
    learns_variance: bool
    variance: float  # where it is fixed; where it is learned, the value that a chain starts with
    prior_shape: float  # of the inverse Gamma prior of a learned variance
    prior_scale: float


class Residuals(NamedTuple):
    """The cache of a chain."""

    residual: np.ndarray  # (n, n) similarity minus mu, times the number of judgements
    # (n,) of the open pattern: sum of the residuals of an object's pairs with the owners
    pull: np.ndarray
    # (n,) of the open pattern: number of judgements of an object's pairs with the owners
    ties: np.ndarray
    real: np.ndarray  # (2,) CONSTANT, VARIANCE


@vectorised
def row_gain(judgements: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    """Change of the log-likelihood if mu grows by d z over the pairs of option i; z is row k, which
    may be real."""
    half = 0.5 * d
    total = 0.0
    for j in range(judgements.value.shape[0]):
        z = b.Z[k, j]
        total += z * (c.residual[i, j] - half * z * judgements.measured[i, j])
    return d * total / c.real[VARIANCE]


@vectorised
def row_sum(square: Any, b: Any, k: Any, i: Any) -> Any:
    """The sum of a square over the pairs of option i with the owners of pattern k."""
    total = 0.0
    for j in range(square.shape[0]):
        total += b.Z[k, j] * square[i, j]
    return total


@vectorised
def common_sum(square: Any, b: Any, k: Any, other: Any, i: Any) -> Any:
    """The sum of a square over the pairs of option i with the common owners of two patterns."""
    total = 0.0
    for j in range(square.shape[0]):
        total += b.Z[k, j] * b.Z[other, j] * square[i, j]
    return total


@scalar
def row_shift(judgements: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    """mu grows by d z over the pairs of option i."""
    n = judgements.value.shape[0]
    for j in range(n):
        c.residual[i, j] -= d * b.Z[k, j] * judgements.measured[i, j]
    for j in range(n):
        c.residual[j, i] = c.residual[i, j]


@scalar
def open_row_sums(judgements: Any, c: Any, b: Any, k: Any) -> None:
    """Fill c.pull and c.ties for pattern k."""
    n = judgements.value.shape[0]
    for j in range(n):
        c.pull[j] = 0.0
        c.ties[j] = b.m[k] - b.Z[k, j] if judgements.complete else 0.0
    for i in range(n):
        if b.Z[k, i] != 0.0:
            for j in range(n):
                c.pull[j] += c.residual[i, j]
            if not judgements.complete:
                for j in range(n):
                    c.ties[j] += judgements.measured[i, j]


@scalar
def shift_row_sums(judgements: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    """Update them after option i joined pattern k (d > 0) or left it and the residuals were
    shifted."""
    n = judgements.value.shape[0]
    c.pull[i] -= d * c.ties[i]  # its own pairs with the owners
    if d > 0.0:
        for j in range(n):
            c.pull[j] += c.residual[i, j]
            c.ties[j] += judgements.measured[i, j]
    else:
        for j in range(n):  # as an owner it was counted with the residuals before the shift
            c.pull[j] -= c.residual[i, j] + d * b.Z[k, j] * judgements.measured[i, j]
            c.ties[j] -= judgements.measured[i, j]


@scalar
def inner_pairs(judgements: Any, b: Any, k: Any, m: Any) -> Any:
    """The number of judgements of pairs of owners of pattern k."""
    return 0.5 * m * (m - 1) if judgements.complete else inner_sum(judgements.measured, b, k)


@vectorised
def inner_sum(square: Any, b: Any, k: Any) -> Any:
    """The sum of a symmetric square over the pairs of owners of pattern k."""
    n = square.shape[0]
    total = 0.0
    for i in range(n):
        if b.Z[k, i] != 0.0:
            for j in range(n):
                total += b.Z[k, j] * square[i, j]
    return 0.5 * total


@scalar
def inner_shift(judgements: Any, c: Any, b: Any, k: Any, d: Any) -> None:
    """mu grows by d over the pairs of owners of pattern k."""
    n = judgements.value.shape[0]
    for i in range(n):
        if b.Z[k, i] != 0.0:
            for j in range(n):
                c.residual[i, j] -= d * b.Z[k, j] * judgements.measured[i, j]


@vectorised
def outer_sum(square: Any) -> Any:
    """The sum of a symmetric square over all pairs."""
    n = square.shape[0]
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += square[i, j]
    return 0.5 * total


@scalar
def outer_shift(judgements: Any, c: Any, d: Any) -> None:
    """mu grows by d everywhere."""
    n = judgements.value.shape[0]
    for i in range(n):
        for j in range(n):
            c.residual[i, j] -= d * judgements.measured[i, j]


@vectorised
def squared_error(judgements: Any, c: Any) -> Any:
    """The sum of the squared residuals of all pairs, each times its number of judgements."""
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
def fill(judgements: Any, c: Any, b: Any, columns: Any) -> None:
    """All residuals from the weights."""
    n = judgements.value.shape[0]
    for i in range(n):
        for j in range(n):
            c.residual[i, j] = (judgements.value[i, j] - c.real[CONSTANT]) * judgements.measured[
                i, j
            ]
    for k in range(columns):
        inner_shift(judgements, c, b, k, b.w[k])


@scalar
def draw_constant(rng: np.random.Generator, judgements: Any, c: Any, b: Any) -> None:
    """The additive constant from its conditional, exactly."""
    if judgements.has_constant:
        precision = b.real[BETA] / c.real[VARIANCE]
        before = c.real[CONSTANT]
        slope = precision * (outer_sum(c.residual) + before * judgements.total)
        after = draw_tilted_weight(
            rng, judgements.shape, judgements.rate, precision * judgements.total, slope
        )
        outer_shift(judgements, c, after - before)
        c.real[CONSTANT] = after


@scalar
def draw_variance(rng: np.random.Generator, judgements: Any, c: Any, b: Any) -> None:
    """A learned variance from its conditional, inverse Gamma."""
    if judgements.learns_variance:
        shape = judgements.prior_shape + 0.5 * b.real[BETA] * judgements.pairs
        scale = judgements.prior_scale + 0.5 * b.real[BETA] * squared_error(judgements, c)
        c.real[VARIANCE] = scale / rng.standard_gamma(shape)


def lay_out(data: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The squares of similarities, of the numbers of their judgements, and of one over these."""
    value, measured, share = np.zeros((3, data.n_options, data.n_options))
    for square, entries in (
        (value, data.values),
        (measured, data.judgements),
        (share, 1.0 / data.judgements),
    ):
        square[data.first, data.second] = square[data.second, data.first] = entries
    return value, measured, share


def empty_cache(judgements: Judgements) -> Residuals:
    """The parameters at the start of a chain; residuals are filled in later."""
    constant = judgements.shape / judgements.rate if judgements.has_constant else 0.0
    n = judgements.value.shape[0]
    return Residuals(
        np.zeros((n, n)), np.zeros(n), np.zeros(n), np.array([constant, judgements.variance])
    )
