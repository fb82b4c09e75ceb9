"""The latent variables of Plackett–Luce regression: the column C and the arrival time Z of every
row."""

import math
from typing import Any

from thali._compile.jit import scalar, vectorised

from .state import FLOOR, block_dots, log_probability


@vectorised
def _weighted_sums(W: Any, times: Any, b: Any, size: Any, s: Any) -> None:
    """Add Z W of the rows of a block to s."""
    for j in range(W.shape[1]):
        total = 0.0
        for r in range(size):
            total += times[b, r] * W[b, j, r]
        s[j] += total


@vectorised
def _places(
    W: Any, weights: Any, b: Any, k: Any, size: Any, target: Any, running: Any, place: Any
) -> None:
    """Write to `place` the number of columns whose running sum of W λ does not exceed the target of
    a row."""
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
    """C_i from W_ij λ_{Y_i j} / T_i and Z_i ~ Exp(S_i), for all rows at once; their sums n_kj and
    s_j.

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
def redraw_columns(
    rng: Any, rows: Any, a: Any, log_rate: Any, columns: Any, counts: Any, pull: Any, size: Any
) -> None:
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


# Moves between the two ways in which two classes can share a contrast: e^x against 1 is 1 against
# e^−x
#
# For two classes and columns W that come in pairs of opposites (e^x and e^−x; a column of ones is
# its own), the weights λ_0j and λ_1l alone give the odds W_l λ_1l / W_j λ_0j. The opposite columns
# give the same odds with the classes exchanged: λ_0 on the opposite of l, λ_1 on that of j. Such
# supports are far apart for moves of a single class.


@scalar
def mirror(
    rng: Any,
    rows: Any,
    log_weights: Any,
    weights: Any,
    totals: Any,
    of_class: Any,
    of_all: Any,
    new_class: Any,
    new_all: Any,
    log_likelihood: Any,
) -> Any:
    """One such move; returns the log-likelihood.

    j is chosen with probability ∝ λ_0j, l ∝ λ_1l; then two weights are exchanged within each class.
    Sums, products and the probability of the reverse move are the same, so that ln α = Δ
    log-likelihood.
    """
    j, other = _by_weight(rng, weights, 0), _by_weight(rng, weights, 1)
    to, other_to = rows.opposite[other], rows.opposite[j]
    if to < 0 or other_to < 0 or j == to:
        return log_likelihood
    bound = -rng.standard_exponential() + log_likelihood
    _swap(log_weights, weights, totals, j, to, other, other_to)
    total = 0.0
    for b in range(rows.sizes.shape[0]):
        block_dots(rows.W, weights, totals, b, rows.of_class[b], rows.sizes[b], new_class, new_all)
        total += log_probability(new_class, new_all, b, rows.sizes[b])
        if total < bound:
            break
    if not total > bound:
        _swap(log_weights, weights, totals, j, to, other, other_to)
        return log_likelihood
    for b in range(rows.sizes.shape[0]):
        for r in range(rows.sizes[b]):
            of_class[b, r], of_all[b, r] = new_class[b, r], new_all[b, r]
    return total


@scalar
def _by_weight(rng: Any, weights: Any, k: Any) -> Any:
    """A column with probability ∝ λ_kj."""
    p = weights.shape[1]
    total = 0.0
    for j in range(p):
        total += weights[k, j]
    target = rng.random() * total
    running = 0.0
    found = 0
    for j in range(p):
        if weights[k, j] > 0.0:
            running += weights[k, j]
            found = j
            if target < running:
                break
    return found


@scalar
def _swap(
    log_weights: Any, weights: Any, totals: Any, j: Any, to: Any, other: Any, other_to: Any
) -> None:
    """Class 0 exchanges its weights of columns j and to, class 1 those of columns other and
    other_to."""
    log_weights[0, j], log_weights[0, to] = log_weights[0, to], log_weights[0, j]
    weights[0, j], weights[0, to] = weights[0, to], weights[0, j]
    log_weights[1, other], log_weights[1, other_to] = (
        log_weights[1, other_to],
        log_weights[1, other],
    )
    weights[1, other], weights[1, other_to] = weights[1, other_to], weights[1, other]
    totals[j], totals[to] = weights[0, j] + weights[1, j], weights[0, to] + weights[1, to]
    totals[other], totals[other_to] = (
        weights[0, other] + weights[1, other],
        weights[0, other_to] + weights[1, other_to],
    )


# Moves of the shape a of the weights' Gamma prior, under p(a) ∝ 1/a on an interval ----------------


@scalar
def _log_density(log_a: Any, counts: Any, cells: Any, of_simplex: Any, slope: Any) -> Any:
    """ln p(ln a) = Σ ln Γ(a + n)/Γ(a) over occupied cells + ln Γ(ma)/Γ(a)^m, m = of_simplex, + a ·
    slope."""
    a = math.exp(log_a)
    of_a = math.lgamma(a)
    total = a * slope
    if of_simplex > 0:
        total += math.lgamma(of_simplex * a) - of_simplex * of_a
    for c in range(cells):
        total += math.log(a) if counts[c] == 1 else math.lgamma(a + counts[c]) - of_a
    return total


@scalar
def _slice(
    rng: Any,
    log_a: Any,
    low: Any,
    high: Any,
    width: Any,
    counts: Any,
    cells: Any,
    of_simplex: Any,
    slope: Any,
) -> Any:
    """One slice-sampling step of ln a on (low, high): step out, then shrink (Neal 2003)."""
    level = _log_density(log_a, counts, cells, of_simplex, slope) - rng.standard_exponential()
    left = log_a - width * rng.random()
    right = left + width
    while left > low and _log_density(left, counts, cells, of_simplex, slope) > level:
        left -= width
    while right < high and _log_density(right, counts, cells, of_simplex, slope) > level:
        right += width
    left, right = max(left, low), min(right, high)
    while True:
        proposal = left + (right - left) * rng.random()
        if not _log_density(proposal, counts, cells, of_simplex, slope) < level:
            return proposal
        if proposal < log_a:
            left = proposal
        else:
            right = proposal
        if not right - left > 1e-14:
            return log_a


@vectorised
def total(log_weights: Any) -> Any:
    sum_of_all = 0.0
    for k in range(log_weights.shape[0]):
        for j in range(log_weights.shape[1]):
            sum_of_all += log_weights[k, j]
    return sum_of_all


@scalar
def shape_given_latent(
    rng: Any, log_a: Any, low: Any, high: Any, counts: Any, log_rate: Any, log_b: Any, occupied: Any
) -> Any:
    """ln a given C and Z, the weights integrated out.

    p(a) ∝ a⁻¹ Π_kj Γ(a + n_kj)/Γ(a) · b^{aKp} Π_j (b + s_j)^{−Ka}
    """
    classes, p = counts.shape
    cells = 0
    for k in range(classes):
        for j in range(p):
            if counts[k, j] > 0:
                occupied[cells] = counts[k, j]
                cells += 1
    slope = 0.0
    for j in range(p):
        slope += log_b - log_rate[j]
    return _slice(rng, log_a, low, high, 1.0, occupied, cells, 0, classes * slope)


@scalar
def shape_given_weights(
    rng: Any, log_a: Any, low: Any, high: Any, log_weights: Any, occupied: Any
) -> Any:
    """ln a given the weights' shares of their sum, the sum integrated out.

    p(a) ∝ a⁻¹ Γ(Kpa)/Γ(a)^{Kp} exp(a Σ ln λ̄_kj)
    """
    slope = total(log_weights)
    return _slice(
        rng,
        log_a,
        low,
        high,
        3.0 / math.sqrt(log_weights.size),
        occupied,
        0,
        log_weights.size,
        slope,
    )
