"""Kernels that draw the latent variables of Plackett-Luce regression: columns and times."""

import math
from typing import Any

from thali._compile.jit import scalar, vectorised

from .chain_state import (
    LOG_A,
    LOG_LIKELIHOOD,
    MIN_PROBABILITY,
    compute_block_scores,
    sum_block_log_likelihood,
)


@vectorised
def _add_weighted_times(W: Any, times: Any, b: Any, size: Any, s: Any) -> None:
    """Add the sums of times * W over the first `size` rows of block b to s."""
    for j in range(W.shape[1]):
        total = 0.0
        for r in range(size):
            total += times[b, r] * W[b, j, r]
        s[j] += total


@vectorised
def _find_columns(
    W: Any, weights: Any, b: Any, k: Any, size: Any, target: Any, running: Any, column_index: Any
) -> None:
    """Find each row's column where its running sum of W lambda (class k) passes the target."""
    # The rows are the first `size` of block b.
    # The running sum of a row is the sum of W λ over columns.
    for r in range(size):
        running[r] = 0.0
        column_index[r] = 0
    for j in range(W.shape[1]):
        weight = weights[k, j]
        for r in range(size):
            running[r] += W[b, j, r] * weight
            column_index[r] += running[r] <= target[r]


@scalar
def draw_latent_variables(rng: Any, rows: Any, state: Any) -> None:
    """Draw each row's first-arriving column C_i of W and its time Z_i; update sums n_kj, s_j.

    C_i is drawn with probabilities W_ij λ_{Y_i j} / T_i, and Z_i ~ Exp(S_i). Columns are found
    without a branch: the running sums of many rows advance together.
    """
    W, p, scratch = rows.W, rows.W.shape[1], state.scratch
    for j in range(p):
        state.s[j] = 0.0
        for k in range(state.counts.shape[0]):
            state.counts[k, j] = 0
    for b in range(W.shape[0]):
        k, size = rows.class_of_block[b], rows.sizes[b]
        for r in range(size):
            scratch.target[r] = rng.random() * state.class_scores[b, r]
            rate = max(state.total_scores[b, r], MIN_PROBABILITY)
            state.times[b, r] = rng.standard_exponential() / rate
        _find_columns(
            W, state.weights, b, k, size, scratch.target, scratch.running, scratch.column_index
        )
        for r in range(size):
            j = scratch.column_index[r]
            if j >= p:  # rounding error of a sum
                j = _find_largest_term(W, state.weights, b, k, r)
            state.columns[b, r] = j
            state.counts[k, j] += 1
        _add_weighted_times(W, state.times, b, size, state.s)


@scalar
def _find_largest_term(W: Any, weights: Any, b: Any, k: Any, r: Any) -> Any:
    """Return the column j with the largest W[b, j, r] * weights[k, j]."""
    largest = 0
    for j in range(W.shape[1]):
        if W[b, j, r] * weights[k, j] > W[b, largest, r] * weights[k, largest]:
            largest = j
    return largest


@vectorised
def _sum_terms(W: Any, b: Any, r: Any, pull: Any) -> Any:
    """Return the sum over columns j of W[b, j, r] * pull[j]."""
    total = 0.0
    for j in range(W.shape[1]):
        total += W[b, j, r] * pull[j]
    return total


@scalar
def redraw_columns(rng: Any, rows: Any, state: Any) -> None:
    """Redraw the latent column of every row given times, with weights integrated out.

    p(C_i = j) ∝ W_ij (a + n_kj without row i) / (b + s_j)
    """
    a, log_rate, counts = math.exp(state.real[LOG_A]), state.log_rate, state.counts
    pull, size = state.scratch.pull, state.scratch.size
    W, p = rows.W, rows.W.shape[1]
    min_log_rate = math.inf
    for j in range(p):
        if rows.mean[j] > 0.0:
            min_log_rate = min(min_log_rate, log_rate[j])
    for j in range(p):
        size[j] = 0.0
        if rows.mean[j] > 0.0:
            size[j] = math.exp(min_log_rate - log_rate[j])
    for b in range(W.shape[0]):
        k = rows.class_of_block[b]
        for j in range(p):
            pull[j] = (a + counts[k, j]) * size[j]
        for r in range(rows.sizes[b]):
            old = state.columns[b, r]
            counts[k, old] -= 1
            pull[old] = (a + counts[k, old]) * size[old]
            new = _redraw_column(rng, W, b, r, pull, old)
            state.columns[b, r] = new
            counts[k, new] += 1
            pull[new] = (a + counts[k, new]) * size[new]


@scalar
def _redraw_column(rng: Any, W: Any, b: Any, r: Any, pull: Any, old: Any) -> Any:
    """Redraw the column j of row r, with probability proportional to W[b, j, r] * pull[j]."""
    # `old` is the current column.
    # The current column is often drawn again.
    target = rng.random() * _sum_terms(W, b, r, pull)
    running = W[b, old, r] * pull[old]
    if target < running:
        return old
    column = old
    for j in range(W.shape[1]):
        if j != old and W[b, j, r] * pull[j] > 0.0:
            running += W[b, j, r] * pull[j]
            column = j
            if target < running:
                break
    return column


# Mirror moves between the two forms of a contrast of two classes: e^x against 1 is 1 against e^−x
#
# For two classes and columns W in pairs of opposites (e^x and e^−x; a column of ones is opposite to
# itself), the weights λ_0j and λ_1l alone give the odds W_l λ_1l / W_j λ_0j. The opposite columns
# give the same odds with the classes exchanged: λ_0 on the opposite of l, λ_1 on the opposite of j.
# Such supports are far apart for moves of a single class.


@scalar
def propose_mirror_move(rng: Any, rows: Any, state: Any) -> None:
    """Propose to exchange the weights of two columns with their opposite columns.

    Column j0 is chosen with probability ∝ λ_0j, j1 ∝ λ_1j; then two weights are exchanged within
    each class. Sums, products and the probability of the reverse move are the same, so that ln α =
    Δ log-likelihood.
    """
    weights, totals = state.weights, state.totals
    new_T, new_S = state.scratch.new_class_scores, state.scratch.new_total_scores
    j0, j1 = _draw_column_by_weight(rng, weights, 0), _draw_column_by_weight(rng, weights, 1)
    j0_new, j1_new = rows.opposite[j1], rows.opposite[j0]
    if j0_new < 0 or j1_new < 0 or j0 == j0_new:
        return
    bound = -rng.standard_exponential() + state.real[LOG_LIKELIHOOD]
    _swap_weights(state, j0, j0_new, j1, j1_new)
    log_likelihood = 0.0
    for b in range(rows.sizes.size):
        k, size = rows.class_of_block[b], rows.sizes[b]
        compute_block_scores(rows.W, weights, totals, b, k, size, new_T, new_S)
        log_likelihood += sum_block_log_likelihood(new_T, new_S, b, size)
        if log_likelihood < bound:
            break
    if not log_likelihood > bound:
        _swap_weights(state, j0, j0_new, j1, j1_new)
        return
    state.real[LOG_LIKELIHOOD] = log_likelihood
    for b in range(rows.sizes.size):
        for r in range(rows.sizes[b]):
            state.class_scores[b, r], state.total_scores[b, r] = new_T[b, r], new_S[b, r]


@scalar
def _draw_column_by_weight(rng: Any, weights: Any, k: Any) -> Any:
    """Draw a column with probability proportional to its weight in class k."""
    p = weights.shape[1]
    total = 0.0
    for j in range(p):
        total += weights[k, j]
    target = rng.random() * total
    running = 0.0
    column = 0
    for j in range(p):
        if weights[k, j] > 0.0:
            running += weights[k, j]
            column = j
            if target < running:
                break
    return column


@scalar
def _swap_weights(state: Any, j0: Any, j0_new: Any, j1: Any, j1_new: Any) -> None:
    """Swap weights j0 and j0_new of class 0, and weights j1 and j1_new of class 1."""
    log_weights, weights, totals = state.log_weights, state.weights, state.totals
    log_weights[0, j0], log_weights[0, j0_new] = log_weights[0, j0_new], log_weights[0, j0]
    weights[0, j0], weights[0, j0_new] = weights[0, j0_new], weights[0, j0]
    log_weights[1, j1], log_weights[1, j1_new] = log_weights[1, j1_new], log_weights[1, j1]
    weights[1, j1], weights[1, j1_new] = weights[1, j1_new], weights[1, j1]
    for j in (j0, j0_new, j1, j1_new):
        totals[j] = weights[0, j] + weights[1, j]


# Moves of the shape a of the weights' Gamma prior, under p(a) ∝ 1/a on an interval ----------------


@scalar
def _log_shape_density(log_a: Any, counts: Any, n_cells: Any, m: Any, slope: Any) -> Any:
    """Return the log density of ln a, up to a constant."""
    # ln p(ln a) = Σ ln Γ(a + n)/Γ(a) over occupied cells + ln Γ(ma)/Γ(a)^m + a · slope
    a = math.exp(log_a)
    log_gamma_a = math.lgamma(a)
    total = a * slope
    if m > 0:
        total += math.lgamma(m * a) - m * log_gamma_a
    for c in range(n_cells):
        if counts[c] == 1:
            total += math.log(a)
        else:
            total += math.lgamma(a + counts[c]) - log_gamma_a
    return total


@scalar
def _draw_shape_by_slice(
    rng: Any, prior: Any, log_a: Any, width: Any, counts: Any, n_cells: Any, m: Any, slope: Any
) -> Any:
    """Draw ln a within its prior range by slice sampling (Neal 2003)."""
    # The slice is stepped out, then shrunk.
    level = _log_shape_density(log_a, counts, n_cells, m, slope) - rng.standard_exponential()
    left = log_a - width * rng.random()
    right = left + width
    while left > prior.low and _log_shape_density(left, counts, n_cells, m, slope) > level:
        left -= width
    while right < prior.high and _log_shape_density(right, counts, n_cells, m, slope) > level:
        right += width
    left, right = max(left, prior.low), min(right, prior.high)
    while True:
        proposal = left + (right - left) * rng.random()
        if not _log_shape_density(proposal, counts, n_cells, m, slope) < level:
            return proposal
        if proposal < log_a:
            left = proposal
        else:
            right = proposal
        if not right - left > 1e-14:
            return log_a


@vectorised
def sum_log_weights(log_weights: Any) -> Any:
    """Return the sum of the logarithms of all weights."""
    total = 0.0
    for k in range(log_weights.shape[0]):
        for j in range(log_weights.shape[1]):
            total += log_weights[k, j]
    return total


@scalar
def draw_shape_given_latent(rng: Any, prior: Any, state: Any) -> None:
    """Draw ln a given latent variables, with the weights integrated out.

    p(a) ∝ a⁻¹ Π_kj Γ(a + n_kj)/Γ(a) · b^{aKp} Π_j (b + s_j)^{−Ka}
    """
    occupied = state.scratch.occupied
    classes, p = state.counts.shape
    n_cells = 0
    for k in range(classes):
        for j in range(p):
            if state.counts[k, j] > 0:
                occupied[n_cells] = state.counts[k, j]
                n_cells += 1
    slope = 0.0
    for j in range(p):
        slope += prior.log_b - state.log_rate[j]
    state.real[LOG_A] = _draw_shape_by_slice(
        rng, prior, state.real[LOG_A], 1.0, occupied, n_cells, 0, classes * slope
    )


@scalar
def draw_shape_given_weights(rng: Any, prior: Any, state: Any) -> None:
    """Draw ln a given relative weights, with their sum integrated out.

    p(a) ∝ a⁻¹ Γ(Kpa)/Γ(a)^{Kp} exp(a Σ ln λ̄_kj)
    """
    size, slope = state.log_weights.size, sum_log_weights(state.log_weights)
    state.real[LOG_A] = _draw_shape_by_slice(
        rng, prior, state.real[LOG_A], 3.0 / math.sqrt(size), state.scratch.occupied, 0, size, slope
    )
