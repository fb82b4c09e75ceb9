"""Moves between the two ways in which two classes can share a contrast: e^x against 1 is 1 against e^−x.

For two classes and columns W that come in pairs of opposites (e^x and e^−x; a column of ones is its own), the weights
λ_0j and λ_1l alone give the odds W_l λ_1l / W_j λ_0j. The opposite columns give the same odds with the classes
exchanged: λ_0 on the opposite of l, λ_1 on that of j. Such supports are far apart for moves of a single class.
"""

from typing import Any

from thali.compile.jit import scalar

from .class_rows import block_dots, log_probability


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

    j is chosen with probability ∝ λ_0j, l ∝ λ_1l; then two weights are exchanged within each class. Sums, products and
    the probability of the reverse move are the same, so that ln α = Δ log-likelihood.
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
def _swap(log_weights: Any, weights: Any, totals: Any, j: Any, to: Any, other: Any, other_to: Any) -> None:
    """Class 0 exchanges its weights of columns j and to, class 1 those of columns other and other_to."""
    log_weights[0, j], log_weights[0, to] = log_weights[0, to], log_weights[0, j]
    weights[0, j], weights[0, to] = weights[0, to], weights[0, j]
    log_weights[1, other], log_weights[1, other_to] = log_weights[1, other_to], log_weights[1, other]
    weights[1, other], weights[1, other_to] = weights[1, other_to], weights[1, other]
    totals[j], totals[to] = weights[0, j] + weights[1, j], weights[0, to] + weights[1, to]
    totals[other], totals[other_to] = weights[0, other] + weights[1, other], weights[0, other_to] + weights[1, other_to]
