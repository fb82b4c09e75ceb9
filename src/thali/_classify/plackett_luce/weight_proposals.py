"""Kernels that propose changes of weights, stopping early once a proposal is rejected."""

import math
from typing import Any

from thali._compile.jit import scalar, vectorised
from thali._inference.numerics.discrete_draws import draw_index
from thali._inference.numerics.fast_logarithm import fast_log
from thali._inference.numerics.gamma_distribution import draw_log_gamma

from .chain_state import LOG_A, LOG_LIKELIHOOD, LOG_MASS, MIN_PROBABILITY, sum_block_log_likelihood

MIN_SHARE = 1e-6  # of a sum; smaller differences are computed again from their terms
# Entries of `change`, one row per class and a last row for their sum: changes of the weights in
# columns j and `taker`, and new weights there.
GAIN, GAIN_OTHER, NEW, NEW_OTHER = range(4)


@scalar
def evaluate_trial(rows: Any, state: Any, j: Any, taker: Any, first_class: Any, bound: Any) -> Any:
    """Compute log-likelihood and scores after proposed changes of two columns.

    If it is below `bound`, return a value below `bound` early: no row adds more than 0. The rows of
    `first_class`, which is likely to lose most, are evaluated first. Weights and totals are the
    values before the change; for a change in a single column, `taker` is j and its changes are 0.
    """
    scratch, blocks = state.scratch, rows.sizes.size
    log_likelihood = 0.0
    for step in range(blocks):
        b = rows.first[first_class] + step
        if b >= blocks:
            b -= blocks
        k, size = rows.class_of_block[b], rows.sizes[b]
        block_log_likelihood, n_imprecise = _evaluate_block(
            rows.W,
            j,
            taker,
            b,
            size,
            k,
            state.class_scores,
            state.total_scores,
            scratch.new_class_scores,
            scratch.new_total_scores,
            scratch.change,
        )
        if n_imprecise > 0:
            _recompute_scores(rows, state, j, taker, b)
            block_log_likelihood = sum_block_log_likelihood(
                scratch.new_class_scores, scratch.new_total_scores, b, size
            )
        log_likelihood += block_log_likelihood
        if log_likelihood < bound:
            break
    return log_likelihood


@vectorised
def _evaluate_block(
    W: Any,
    j: Any,
    taker: Any,
    b: Any,
    size: Any,
    k: Any,
    T: Any,
    S: Any,
    new_T: Any,
    new_S: Any,
    change: Any,
) -> Any:
    """Update scores T, S of block b (class k); return log-likelihood, number of imprecise rows."""
    # Columns j and `taker` change.
    # Rows are imprecise if their sums, which change by differences, have too few correct digits.
    class_gain, class_gain_taker = change[k, GAIN], change[k, GAIN_OTHER]
    total_gain, total_gain_taker = change[-1, GAIN], change[-1, GAIN_OTHER]
    log_likelihood = 0.0
    n_imprecise = 0
    for r in range(size):
        t = T[b, r] + W[b, j, r] * class_gain + W[b, taker, r] * class_gain_taker
        s = S[b, r] + W[b, j, r] * total_gain + W[b, taker, r] * total_gain_taker
        new_T[b, r] = t
        new_S[b, r] = s
        n_imprecise += (t < MIN_SHARE * T[b, r]) | (s < MIN_SHARE * S[b, r])
        probability = t / s if s > MIN_PROBABILITY else MIN_PROBABILITY
        log_likelihood += fast_log(max(probability, MIN_PROBABILITY))
    return log_likelihood, n_imprecise


@scalar
def _recompute_scores(rows: Any, state: Any, j: Any, taker: Any, b: Any) -> None:
    """Recompute scores of block b that subtraction left with few digits."""
    # Columns j and `taker` change.
    W, k, change = rows.W, rows.class_of_block[b], state.scratch.change
    T, S = state.class_scores, state.total_scores
    new_T, new_S = state.scratch.new_class_scores, state.scratch.new_total_scores
    for r in range(rows.sizes[b]):
        if new_T[b, r] < MIN_SHARE * T[b, r] or new_S[b, r] < MIN_SHARE * S[b, r]:
            t = W[b, j, r] * change[k, NEW] + W[b, taker, r] * change[k, NEW_OTHER]
            s = W[b, j, r] * change[-1, NEW] + W[b, taker, r] * change[-1, NEW_OTHER]
            for i in range(W.shape[1]):
                if i != j and i != taker:
                    t += W[b, i, r] * state.weights[k, i]
                    s += W[b, i, r] * state.totals[i]
            new_T[b, r], new_S[b, r] = t, s


@scalar
def find_smallest_score(rows: Any, state: Any) -> Any:
    """Return the smallest class score T over all rows."""
    smallest = 1.0
    for b in range(rows.sizes.size):
        for r in range(rows.sizes[b]):
            smallest = min(smallest, state.class_scores[b, r])
    return smallest


@scalar
def accept_trial(rows: Any, state: Any, mass: Any, log_likelihood: Any) -> None:
    """Store proposed scores, with weights and scores divided by the new sum."""
    state.real[LOG_LIKELIHOOD] = log_likelihood
    classes, p = state.weights.shape
    log_mass = math.log(mass)
    for j in range(p):
        state.totals[j] /= mass
        for k in range(classes):
            state.log_weights[k, j] -= log_mass
            state.weights[k, j] /= mass
    for b in range(rows.sizes.size):
        for r in range(rows.sizes[b]):
            state.class_scores[b, r] = state.scratch.new_class_scores[b, r] / mass
            state.total_scores[b, r] = state.scratch.new_total_scores[b, r] / mass


# Single weights, proposed from the prior and accepted by the likelihood without latent variables
#
# A column is switched on or off in one step; with latent variables all rows that use it would have
# to leave it one by one.


_NEGLIGIBLE = 1e-18  # share of a sum that changes none of its digits


@scalar
def redraw_weight(rng: Any, rows: Any, prior: Any, state: Any, smallest: Any) -> Any:
    """Propose a prior draw for one random weight; accept or reject it.

    The ratio is that of the likelihoods. `smallest` is the smallest T of all rows. Weights sum to 1
    before and after. Return the smallest T.
    """
    real, weights = state.real, state.weights
    classes, p = weights.shape
    k, j = draw_index(rng, classes), draw_index(rng, p)
    log_new = draw_log_gamma(rng, math.exp(real[LOG_A])) - (prior.log_b + real[LOG_MASS])
    new, old = math.exp(log_new), weights[k, j]
    if max(new, old) < _NEGLIGIBLE * smallest:
        state.log_weights[k, j], weights[k, j] = log_new, new
        state.totals[j] = 0.0  # computed again: a difference may be zero or negative
        for c in range(classes):
            state.totals[j] += weights[c, j]
        return smallest
    bound = -rng.standard_exponential() + real[LOG_LIKELIHOOD]
    _fill_weight_change(state, k, j, new)
    first_class = (k + 1) % classes
    if new < old:
        first_class = k
    log_likelihood = evaluate_trial(rows, state, j, j, first_class, bound)
    if not log_likelihood > bound:
        return smallest
    state.log_weights[k, j], weights[k, j] = log_new, new
    state.totals[j] = state.scratch.change[classes, NEW]
    mass = 1.0 + new - old
    if mass < MIN_SHARE:
        mass = 0.0
        for i in range(p):
            mass += state.totals[i]
    accept_trial(rows, state, mass, log_likelihood)
    real[LOG_MASS] += math.log(mass)
    return find_smallest_score(rows, state)


@scalar
def _fill_weight_change(state: Any, k: Any, j: Any, new: Any) -> None:
    """Write the change of weight (k, j) to `new`, for `evaluate_trial`."""
    weights, change = state.weights, state.scratch.change
    classes = weights.shape[0]
    change[classes, NEW] = 0.0
    for c in range(classes):
        change[c, GAIN] = change[c, GAIN_OTHER] = change[c, NEW_OTHER] = 0.0
        change[c, NEW] = weights[c, j]
        if c == k:
            change[c, NEW] = new
        change[classes, NEW] += change[c, NEW]
    change[k, GAIN] = change[classes, GAIN] = new - weights[k, j]
    change[classes, GAIN_OTHER] = change[classes, NEW_OTHER] = 0.0


# The exchange move: two columns swap their weights of one class, or of all classes ----------------
#
# At small a the posterior is a mixture over sparse supports, between which Gibbs sampling of the
# weights cannot move.
#
#     λ_kl ← λ_kj c_j/c_l,  λ_kj ← λ_kl c_l/c_j,  c the column means of W
#
# j is chosen with probability ∝ λ_kj c_j, l evenly. The choice is symmetric, the Jacobian 1 and the
# product of the weights preserved. With their sum integrated out, ln α = Δ log-likelihood + Kpa
# ln(Σλ/Σλ').


@scalar
def exchange_columns(rng: Any, rows: Any, state: Any) -> Any:
    """Propose to exchange the weights of two columns; return whether accepted.

    Weights sum to 1 before and after.
    """
    classes, p = state.weights.shape
    k = draw_index(rng, classes + 1)  # the last: all classes
    j = _draw_exchanged_column(rng, rows, state, k)
    taker = rows.alive[draw_index(rng, rows.alive.size)]
    if j < 0 or j == taker:
        return False
    shift = math.log(rows.mean[j]) - math.log(rows.mean[taker])
    mass = _fill_column_changes(state, j, taker, k, shift)
    a, log_likelihood = math.exp(state.real[LOG_A]), state.real[LOG_LIKELIHOOD]
    bound = -rng.standard_exponential() + (log_likelihood + classes * p * a * math.log(mass))
    first_class = k
    if k == classes:
        first_class = _find_largest_class(state.weights, j)
    new_log_likelihood = evaluate_trial(rows, state, j, taker, first_class, bound)
    if not new_log_likelihood > bound:
        return False
    _exchange_weights(state, j, taker, k, shift)
    accept_trial(rows, state, mass, new_log_likelihood)
    return True


@scalar
def _draw_exchanged_column(rng: Any, rows: Any, state: Any, k: Any) -> Any:
    """Draw a column to exchange, by its weight in class k; -1 if all weights are zero."""
    # k = K means the sum over all classes.
    weights = state.totals
    if k < state.weights.shape[0]:
        weights = state.weights[k]
    total = 0.0
    for j in range(weights.size):
        total += weights[j] * rows.mean[j]
    target = rng.random() * total
    running = 0.0
    column = -1
    for j in range(weights.size):
        term = weights[j] * rows.mean[j]
        if term > 0.0:
            running += term
            column = j
            if target < running:
                break
    return column


@scalar
def _find_largest_class(weights: Any, j: Any) -> Any:
    """Return the class that has the largest weight in column j."""
    largest = 0
    for k in range(1, weights.shape[0]):
        if weights[k, j] > weights[largest, j]:
            largest = k
    return largest


@scalar
def _fill_column_changes(state: Any, j: Any, taker: Any, chosen_class: Any, shift: Any) -> Any:
    """Write the weights of columns j and `taker` after an exchange; return the total weight."""
    log_weights, weights, change = state.log_weights, state.weights, state.scratch.change
    classes, p = weights.shape
    for entry in range(4):
        change[classes, entry] = 0.0
    for k in range(classes):
        change[k, NEW], change[k, NEW_OTHER] = weights[k, j], weights[k, taker]
        if chosen_class == classes or chosen_class == k:
            change[k, NEW] = math.exp(log_weights[k, taker] - shift)
            change[k, NEW_OTHER] = math.exp(log_weights[k, j] + shift)
        change[k, GAIN] = change[k, NEW] - weights[k, j]
        change[k, GAIN_OTHER] = change[k, NEW_OTHER] - weights[k, taker]
        for entry in range(4):
            change[classes, entry] += change[k, entry]
    mass = 1.0 + change[classes, GAIN] + change[classes, GAIN_OTHER]
    if mass < MIN_SHARE:
        mass = change[classes, NEW] + change[classes, NEW_OTHER]
        for k in range(classes):
            for i in range(p):
                if i != j and i != taker:
                    mass += weights[k, i]
    return mass


@scalar
def _exchange_weights(state: Any, j: Any, taker: Any, chosen_class: Any, shift: Any) -> None:
    """Exchange the weights of columns j and `taker`, in one class or in all."""
    log_weights, change = state.log_weights, state.scratch.change
    classes = log_weights.shape[0]
    for k in range(classes):
        if chosen_class == classes or chosen_class == k:
            log_weights[k, j], log_weights[k, taker] = (
                log_weights[k, taker] - shift,
                log_weights[k, j] + shift,
            )
            state.weights[k, j], state.weights[k, taker] = change[k, NEW], change[k, NEW_OTHER]
    state.totals[j], state.totals[taker] = change[classes, NEW], change[classes, NEW_OTHER]
