"""The latent variables of Plackett–Luce regression: the column C and the arrival time Z of every row."""

import math
from typing import Any

from thali.compile.jit import scalar, vectorised

from .class_rows import FLOOR


@vectorised
def _weighted_sums(W: Any, times: Any, b: Any, size: Any, s: Any) -> None:
    """Add Z W of the rows of a block to s."""
    for j in range(W.shape[1]):
        total = 0.0
        for r in range(size):
            total += times[b, r] * W[b, j, r]
        s[j] += total


@vectorised
def _places(W: Any, weights: Any, b: Any, k: Any, size: Any, target: Any, running: Any, place: Any) -> None:
    """Write to `place` the number of columns whose running sum of W λ does not exceed the target of a row."""
    for r in range(size):
        running[r] = 0.0
        place[r] = 0
    for j in range(W.shape[1]):
        own = weights[k, j]
        for r in range(size):
            running[r] += W[b, j, r] * own
            place[r] += running[r] <= target[r]


@scalar
def draw_latent(
    rng: Any,
    rows: Any,
    weights: Any,
    of_class: Any,
    of_all: Any,
    columns: Any,
    times: Any,
    counts: Any,
    s: Any,
    target: Any,
    running: Any,
    place: Any,
) -> None:
    """C_i from W_ij λ_{Y_i j} / T_i and Z_i ~ Exp(S_i), for all rows at once; their sums n_kj and s_j.

    Columns are found without a branch: the running sums of many rows advance together.
    """
    W, p = rows.W, rows.W.shape[1]
    for j in range(p):
        s[j] = 0.0
        for k in range(counts.shape[0]):
            counts[k, j] = 0
    for b in range(W.shape[0]):
        k, size = rows.of_class[b], rows.sizes[b]
        for r in range(size):
            target[r] = rng.random() * of_class[b, r]
            times[b, r] = rng.standard_exponential() / max(of_all[b, r], FLOOR)
        _places(W, weights, b, k, size, target, running, place)
        for r in range(size):
            j = place[r]
            if j >= p:  # the last digit of a sum
                j = _heaviest(W, weights, b, k, r)
            columns[b, r] = j
            counts[k, j] += 1
        _weighted_sums(W, times, b, size, s)


@scalar
def _heaviest(W: Any, weights: Any, b: Any, k: Any, r: Any) -> Any:
    heaviest = 0
    for j in range(W.shape[1]):
        if W[b, j, r] * weights[k, j] > W[b, heaviest, r] * weights[k, heaviest]:
            heaviest = j
    return heaviest


@vectorised
def _pulls(W: Any, b: Any, r: Any, pull: Any) -> Any:
    total = 0.0
    for j in range(W.shape[1]):
        total += W[b, j, r] * pull[j]
    return total


@scalar
def redraw_columns(rng: Any, rows: Any, a: Any, log_rate: Any, columns: Any, counts: Any, pull: Any, size: Any) -> None:
    """One scan of C_i given the other columns and Z, with the weights integrated out.

    p(C_i = j) ∝ W_ij (a + n_kj without row i) / (b + s_j)
    """
    W, p = rows.W, rows.W.shape[1]
    least = math.inf
    for j in range(p):
        if rows.mean[j] > 0.0:
            least = min(least, log_rate[j])
    for j in range(p):
        size[j] = math.exp(least - log_rate[j]) if rows.mean[j] > 0.0 else 0.0
    for b in range(W.shape[0]):
        k = rows.of_class[b]
        for j in range(p):
            pull[j] = (a + counts[k, j]) * size[j]
        for r in range(rows.sizes[b]):
            old = columns[b, r]
            counts[k, old] -= 1
            pull[old] = (a + counts[k, old]) * size[old]
            new = _redrawn(rng, W, b, r, pull, old)
            columns[b, r] = new
            counts[k, new] += 1
            pull[new] = (a + counts[k, new]) * size[new]


@scalar
def _redrawn(rng: Any, W: Any, b: Any, r: Any, pull: Any, old: Any) -> Any:
    """The column of a row; its current column is tried first, because it often stays."""
    target = rng.random() * _pulls(W, b, r, pull)
    running = W[b, old, r] * pull[old]
    if target < running:
        return old
    found = old
    for j in range(W.shape[1]):
        if j != old and W[b, j, r] * pull[j] > 0.0:
            running += W[b, j, r] * pull[j]
            found = j
            if target < running:
                break
    return found
