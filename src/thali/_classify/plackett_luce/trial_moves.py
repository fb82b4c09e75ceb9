"""Likelihoods after a trial change of weights, computed until it is rejected."""

import math
from typing import Any

from thali._compile.jit import scalar, vectorised
from thali._inference.numerics.decisions import draw_index
from thali._inference.numerics.gamma import draw_log_gamma
from thali._inference.numerics.logarithm import fast_log

from .state import MIN_PROBABILITY, sum_block_log_likelihood

MIN_SHARE = 1e-6  # of a sum; smaller differences are computed again from their terms
# Entries of `change`, one row per class and a last row for their sum: changes of the weights in
# columns j and `taker`, and new weights there.
GAIN, GAIN_OTHER, NEW, NEW_OTHER = range(4)


@scalar
def evaluate_trial(
    rows: Any,
    weights: Any,
    totals: Any,
    j: Any,
    taker: Any,
    first_class: Any,
    T: Any,
    S: Any,
    new_T: Any,
    new_S: Any,
    change: Any,
    bound: Any,
) -> Any:
    """Compute the new log-likelihood and scores T and S.

    If it is below `bound`, return a value below `bound` early: no row adds more than 0. The rows of
    `first_class`, which is likely to lose most, are evaluated first. Weights and totals are the
    values before the change; for a change in a single column, `taker` is j and its changes are 0.
    """
    blocks = rows.sizes.shape[0]
    log_likelihood = 0.0
    for step in range(blocks):
        b = rows.first[first_class] + step
        if b >= blocks:
            b -= blocks
        k, size = rows.class_of_block[b], rows.sizes[b]
        block_log_likelihood, n_imprecise = _evaluate_block(
            rows.W, j, taker, b, size, k, T, S, new_T, new_S, change
        )
        if n_imprecise > 0:
            _recompute_scores(
                rows.W,
                weights,
                totals,
                j,
                taker,
                b,
                size,
                k,
                T,
                S,
                new_T,
                new_S,
                change,
            )
            block_log_likelihood = sum_block_log_likelihood(new_T, new_S, b, size)
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
    """Update T and S of a block; return its log-likelihood and the number of imprecise rows."""
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
def _recompute_scores(
    W: Any,
    weights: Any,
    totals: Any,
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
) -> None:
    """Recompute scores that a subtraction left with few correct digits."""
    for r in range(size):
        if new_T[b, r] < MIN_SHARE * T[b, r] or new_S[b, r] < MIN_SHARE * S[b, r]:
            t = W[b, j, r] * change[k, NEW] + W[b, taker, r] * change[k, NEW_OTHER]
            s = W[b, j, r] * change[-1, NEW] + W[b, taker, r] * change[-1, NEW_OTHER]
            for i in range(W.shape[1]):
                if i != j and i != taker:
                    t += W[b, i, r] * weights[k, i]
                    s += W[b, i, r] * totals[i]
            new_T[b, r], new_S[b, r] = t, s


@scalar
def find_smallest_score(rows: Any, T: Any) -> Any:
    """Return the smallest T of all rows."""
    smallest = 1.0
    for b in range(rows.sizes.shape[0]):
        for r in range(rows.sizes[b]):
            smallest = min(smallest, T[b, r])
    return smallest


@scalar
def accept_scores(rows: Any, mass: Any, T: Any, S: Any, new_T: Any, new_S: Any) -> None:
    """Store the scores of a trial, divided by the new sum of weights."""
    for b in range(rows.sizes.shape[0]):
        for r in range(rows.sizes[b]):
            T[b, r] = new_T[b, r] / mass
            S[b, r] = new_S[b, r] / mass


@scalar
def rescale_weights(log_weights: Any, weights: Any, totals: Any, mass: Any, log_mass: Any) -> None:
    """Divide all weights by their sum."""
    classes, p = weights.shape
    for j in range(p):
        totals[j] /= mass
        for k in range(classes):
            log_weights[k, j] -= log_mass
            weights[k, j] /= mass


# Single weights, proposed from the prior and accepted by the likelihood without latent variables
#
# A column is switched on or off in one step; with latent variables all rows that use it would have
# to leave it one by one.


_NEGLIGIBLE = 1e-18  # share of a sum that changes none of its digits


@scalar
def redraw_weight(
    rng: Any,
    rows: Any,
    a: Any,
    log_scale: Any,
    smallest: Any,
    log_weights: Any,
    weights: Any,
    totals: Any,
    T: Any,
    S: Any,
    new_T: Any,
    new_S: Any,
    change: Any,
    log_l: Any,
) -> Any:
    """Propose λ_kj ~ Gamma(a, b) for a random weight, and decide.

    The ratio is that of the likelihoods. log_scale is ln(b Λ), smallest the smallest T of all rows.
    Weights sum to 1 before and after. Return the log-likelihood log_l, the logarithm of the factor
    of Λ, and the smallest T.
    """
    classes, p = weights.shape
    k, j = draw_index(rng, classes), draw_index(rng, p)
    log_new = draw_log_gamma(rng, a) - log_scale
    new, old = math.exp(log_new), weights[k, j]
    if max(new, old) < _NEGLIGIBLE * smallest:
        log_weights[k, j], weights[k, j] = log_new, new
        totals[j] = 0.0  # computed again: a difference may be zero or negative
        for c in range(classes):
            totals[j] += weights[c, j]
        return log_l, 0.0, smallest
    bound = -rng.standard_exponential() + log_l
    _fill_weight_change(weights, k, j, new, change)
    first_class = k if new < old else (k + 1) % classes
    new_log_l = evaluate_trial(
        rows, weights, totals, j, j, first_class, T, S, new_T, new_S, change, bound
    )
    if not new_log_l > bound:
        return log_l, 0.0, smallest
    log_weights[k, j], weights[k, j], totals[j] = log_new, new, change[classes, NEW]
    mass = 1.0 + new - old
    if mass < MIN_SHARE:
        mass = 0.0
        for i in range(p):
            mass += totals[i]
    rescale_weights(log_weights, weights, totals, mass, math.log(mass))
    accept_scores(rows, mass, T, S, new_T, new_S)
    return new_log_l, math.log(mass), find_smallest_score(rows, T)


@scalar
def _fill_weight_change(weights: Any, k: Any, j: Any, new: Any, change: Any) -> None:
    """Write the change of a single weight for `evaluate_trial`."""
    classes = weights.shape[0]
    change[classes, NEW] = 0.0
    for c in range(classes):
        change[c, GAIN] = change[c, GAIN_OTHER] = change[c, NEW_OTHER] = 0.0
        change[c, NEW] = new if c == k else weights[c, j]
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
def exchange_columns(
    rng: Any,
    rows: Any,
    a: Any,
    log_weights: Any,
    weights: Any,
    totals: Any,
    T: Any,
    S: Any,
    new_T: Any,
    new_S: Any,
    change: Any,
    log_likelihood: Any,
) -> Any:
    """Propose to exchange weights of two columns, and decide.

    Return the log-likelihood and whether weights were exchanged. Weights sum to 1 before and after.
    """
    classes, p = weights.shape
    k = draw_index(rng, classes + 1)  # the last: all classes
    j = _draw_giver(rng, weights, totals, rows.mean, k)
    taker = rows.alive[draw_index(rng, rows.alive.shape[0])]
    if j < 0 or j == taker:
        return log_likelihood, False
    shift = math.log(rows.mean[j]) - math.log(rows.mean[taker])
    mass = _fill_column_changes(log_weights, weights, j, taker, k, shift, change)
    bound = -rng.standard_exponential() + (log_likelihood + classes * p * a * math.log(mass))
    first_class = _find_largest_class(weights, j) if k == classes else k
    new_log_likelihood = evaluate_trial(
        rows, weights, totals, j, taker, first_class, T, S, new_T, new_S, change, bound
    )
    if not new_log_likelihood > bound:
        return log_likelihood, False
    _exchange_weights(log_weights, weights, totals, j, taker, k, shift, change)
    rescale_weights(log_weights, weights, totals, mass, math.log(mass))
    accept_scores(rows, mass, T, S, new_T, new_S)
    return new_log_likelihood, True


@scalar
def _draw_giver(rng: Any, weights: Any, totals: Any, mean: Any, k: Any) -> Any:
    """Draw a column with probability ∝ λ_kj c_j; -1 if all are zero."""
    # k = K means the sum over all classes.
    classes, p = weights.shape
    total = 0.0
    for j in range(p):
        total += (totals[j] if k == classes else weights[k, j]) * mean[j]
    target = rng.random() * total
    running = 0.0
    column = -1
    for j in range(p):
        term = (totals[j] if k == classes else weights[k, j]) * mean[j]
        if term > 0.0:
            running += term
            column = j
            if target < running:
                break
    return column


@scalar
def _find_largest_class(weights: Any, j: Any) -> Any:
    """Return the class with the largest weight in a column."""
    largest = 0
    for k in range(1, weights.shape[0]):
        if weights[k, j] > weights[largest, j]:
            largest = k
    return largest


@scalar
def _fill_column_changes(
    log_weights: Any, weights: Any, j: Any, taker: Any, chosen_class: Any, shift: Any, change: Any
) -> Any:
    """Write new weights of two columns and changes; return the new sum."""
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
def _exchange_weights(
    log_weights: Any,
    weights: Any,
    totals: Any,
    j: Any,
    taker: Any,
    chosen_class: Any,
    shift: Any,
    change: Any,
) -> None:
    """Exchange the weights of two columns in the chosen class or all."""
    classes = weights.shape[0]
    for k in range(classes):
        if chosen_class == classes or chosen_class == k:
            log_weights[k, j], log_weights[k, taker] = (
                log_weights[k, taker] - shift,
                log_weights[k, j] + shift,
            )
            weights[k, j], weights[k, taker] = change[k, NEW], change[k, NEW_OTHER]
    totals[j], totals[taker] = change[classes, NEW], change[classes, NEW_OTHER]
