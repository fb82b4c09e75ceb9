"""The exchange move: two columns swap their weights of one class, or of all classes.

At small a the posterior is a mixture over sparse supports, between which Gibbs sampling of the weights cannot move.

    λ_kl ← λ_kj c_j/c_l,  λ_kj ← λ_kl c_l/c_j,  c the column means of W

j is chosen with probability ∝ λ_kj c_j, l evenly. The choice is symmetric, the Jacobian 1 and the product of the
weights preserved. With their sum integrated out, ln α = Δ log-likelihood + Kpa ln(Σλ/Σλ').
"""

import math
from typing import Any

from thali.compile.jit import scalar
from thali.inference.numerics.decisions import index

from .trial_change import DIGITS, GAIN, GAIN_OTHER, NEW, NEW_OTHER, keep_sums, rescale, trial


@scalar
def exchange(
    rng: Any,
    rows: Any,
    a: Any,
    log_weights: Any,
    weights: Any,
    totals: Any,
    of_class: Any,
    of_all: Any,
    new_class: Any,
    new_all: Any,
    change: Any,
    log_likelihood: Any,
) -> Any:
    """One exchange; returns the log-likelihood and whether weights were exchanged. They sum to 1 before and after."""
    classes, p = weights.shape
    chosen = index(rng, classes + 1)  # the last: all classes
    j = _giver(rng, weights, totals, rows.mean, chosen)
    taker = rows.alive[index(rng, rows.alive.shape[0])]
    if j < 0 or j == taker:
        return log_likelihood, False
    shift = math.log(rows.mean[j]) - math.log(rows.mean[taker])
    mass = _fill_columns(log_weights, weights, j, taker, chosen, shift, change)
    bound = -rng.standard_exponential() + (log_likelihood + classes * p * a * math.log(mass))
    first = _heaviest(weights, j) if chosen == classes else chosen
    found = trial(rows, weights, totals, j, taker, first, of_class, of_all, new_class, new_all, change, bound)
    if not found > bound:
        return log_likelihood, False
    _keep(log_weights, weights, totals, j, taker, chosen, shift, change)
    rescale(log_weights, weights, totals, mass, math.log(mass))
    keep_sums(rows, mass, of_class, of_all, new_class, new_all)
    return found, True


@scalar
def _giver(rng: Any, weights: Any, totals: Any, mean: Any, chosen: Any) -> Any:
    """A column with probability ∝ λ_kj c_j; -1 if all of these are zero."""
    classes, p = weights.shape
    total = 0.0
    for j in range(p):
        total += (totals[j] if chosen == classes else weights[chosen, j]) * mean[j]
    target = rng.random() * total
    running = 0.0
    found = -1
    for j in range(p):
        part = (totals[j] if chosen == classes else weights[chosen, j]) * mean[j]
        if part > 0.0:
            running += part
            found = j
            if target < running:
                break
    return found


@scalar
def _heaviest(weights: Any, j: Any) -> Any:
    """The class with the largest weight in a column."""
    found = 0
    for k in range(1, weights.shape[0]):
        if weights[k, j] > weights[found, j]:
            found = k
    return found


@scalar
def _fill_columns(log_weights: Any, weights: Any, j: Any, taker: Any, chosen: Any, shift: Any, change: Any) -> Any:
    """New weights in the two columns, and their changes; returns the new sum of all weights."""
    classes, p = weights.shape
    for what in range(4):
        change[classes, what] = 0.0
    for k in range(classes):
        change[k, NEW], change[k, NEW_OTHER] = weights[k, j], weights[k, taker]
        if chosen == classes or chosen == k:
            change[k, NEW] = math.exp(log_weights[k, taker] - shift)
            change[k, NEW_OTHER] = math.exp(log_weights[k, j] + shift)
        change[k, GAIN] = change[k, NEW] - weights[k, j]
        change[k, GAIN_OTHER] = change[k, NEW_OTHER] - weights[k, taker]
        for what in range(4):
            change[classes, what] += change[k, what]
    mass = 1.0 + change[classes, GAIN] + change[classes, GAIN_OTHER]
    if mass < DIGITS:
        mass = change[classes, NEW] + change[classes, NEW_OTHER]
        for k in range(classes):
            for i in range(p):
                if i != j and i != taker:
                    mass += weights[k, i]
    return mass


@scalar
def _keep(
    log_weights: Any, weights: Any, totals: Any, j: Any, taker: Any, chosen: Any, shift: Any, change: Any
) -> None:
    classes = weights.shape[0]
    for k in range(classes):
        if chosen == classes or chosen == k:
            log_weights[k, j], log_weights[k, taker] = log_weights[k, taker] - shift, log_weights[k, j] + shift
            weights[k, j], weights[k, taker] = change[k, NEW], change[k, NEW_OTHER]
    totals[j], totals[taker] = change[classes, NEW], change[classes, NEW_OTHER]
