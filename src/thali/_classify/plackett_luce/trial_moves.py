"""The likelihood after a trial change of weights in one or two columns, from as few rows as suffice
to reject it."""

import math
from typing import Any

from thali._compile.jit import scalar, vectorised
from thali._inference.numerics.decisions import draw_index
from thali._inference.numerics.gamma import draw_log_gamma
from thali._inference.numerics.logarithm import fast_log

from .state import FLOOR, log_probability

DIGITS = 1e-6  # of a sum; a smaller difference is summed again
# The change of every class in columns j and l, and its new weights there; a last row is their sum
# over classes.
GAIN, GAIN_OTHER, NEW, NEW_OTHER = range(4)


@scalar
def trial(
    rows: Any,
    weights: Any,
    totals: Any,
    j: Any,
    other: Any,
    first: Any,
    of_class: Any,
    of_all: Any,
    new_class: Any,
    new_all: Any,
    change: Any,
    bound: Any,
) -> Any:
    """The new log-likelihood and its sums T and S; a value below the bound as soon as it is known
    to be below.

    No row adds more than 0. The rows of the class that is likely to lose most, `first`, come first.
    Weights and totals are those from before the change; of a change in a single column, `other` is
    j and its changes are 0.
    """
    blocks = rows.sizes.shape[0]
    total = 0.0
    for step in range(blocks):
        b = rows.first[first] + step
        if b >= blocks:
            b -= blocks
        k, size = rows.of_class[b], rows.sizes[b]
        part, short = _block(
            rows.W, j, other, b, size, k, of_class, of_all, new_class, new_all, change
        )
        if short > 0:
            _recompute_sums(
                rows.W,
                weights,
                totals,
                j,
                other,
                b,
                size,
                k,
                of_class,
                of_all,
                new_class,
                new_all,
                change,
            )
            part = log_probability(new_class, new_all, b, size)
        total += part
        if total < bound:
            break
    return total


@vectorised
def _block(
    W: Any,
    j: Any,
    other: Any,
    b: Any,
    size: Any,
    k: Any,
    of_class: Any,
    of_all: Any,
    new_class: Any,
    new_all: Any,
    change: Any,
) -> Any:
    """The same for a block by differences; also in how many rows they leave too few digits."""
    own, own_other = change[k, GAIN], change[k, GAIN_OTHER]
    every, every_other = change[-1, GAIN], change[-1, GAIN_OTHER]
    total = 0.0
    short = 0
    for r in range(size):
        t = of_class[b, r] + W[b, j, r] * own + W[b, other, r] * own_other
        s = of_all[b, r] + W[b, j, r] * every + W[b, other, r] * every_other
        new_class[b, r] = t
        new_all[b, r] = s
        short += (t < DIGITS * of_class[b, r]) | (s < DIGITS * of_all[b, r])
        share = t / s if s > FLOOR else FLOOR
        total += fast_log(max(share, FLOOR))
    return total, short


@scalar
def _recompute_sums(
    W: Any,
    weights: Any,
    totals: Any,
    j: Any,
    other: Any,
    b: Any,
    size: Any,
    k: Any,
    of_class: Any,
    of_all: Any,
    new_class: Any,
    new_all: Any,
    change: Any,
) -> None:
    """Recompute sums that a subtraction left with few correct digits from their parts."""
    for r in range(size):
        if new_class[b, r] < DIGITS * of_class[b, r] or new_all[b, r] < DIGITS * of_all[b, r]:
            t = W[b, j, r] * change[k, NEW] + W[b, other, r] * change[k, NEW_OTHER]
            s = W[b, j, r] * change[-1, NEW] + W[b, other, r] * change[-1, NEW_OTHER]
            for i in range(W.shape[1]):
                if i != j and i != other:
                    t += W[b, i, r] * weights[k, i]
                    s += W[b, i, r] * totals[i]
            new_class[b, r], new_all[b, r] = t, s


@scalar
def least(rows: Any, of_class: Any) -> Any:
    """The smallest T of all rows."""
    smallest = 1.0
    for b in range(rows.sizes.shape[0]):
        for r in range(rows.sizes[b]):
            smallest = min(smallest, of_class[b, r])
    return smallest


@scalar
def keep_sums(
    rows: Any, mass: Any, of_class: Any, of_all: Any, new_class: Any, new_all: Any
) -> None:
    """Accept the sums of a trial, divided by the new sum of all weights."""
    for b in range(rows.sizes.shape[0]):
        for r in range(rows.sizes[b]):
            of_class[b, r] = new_class[b, r] / mass
            of_all[b, r] = new_all[b, r] / mass


@scalar
def rescale(log_weights: Any, weights: Any, totals: Any, mass: Any, log_mass: Any) -> None:
    """Divide all weights by their sum."""
    classes, p = weights.shape
    for j in range(p):
        totals[j] /= mass
        for k in range(classes):
            log_weights[k, j] -= log_mass
            weights[k, j] /= mass


# Single weights redrawn from their prior and accepted by the likelihood of the rows, without latent
# variables
#
# A column is switched on or off in one step; with latent variables all rows that use it must leave
# one by one.


_NOTHING = 1e-18  # of a sum: adding it changes no digit


@scalar
def redraw(
    rng: Any,
    rows: Any,
    a: Any,
    log_scale: Any,
    smallest: Any,
    log_weights: Any,
    weights: Any,
    totals: Any,
    of_class: Any,
    of_all: Any,
    new_class: Any,
    new_all: Any,
    change: Any,
    log_l: Any,
) -> Any:
    """λ_kj ~ Gamma(a, b) of a class and column chosen evenly, accepted with the ratio of
    likelihoods.

    log_scale is ln(b Λ), smallest the least T of all rows. Weights sum to 1 before and after;
    returns the log-likelihood log_l, the logarithm of what Λ was multiplied by, and the least T.
    """
    classes, p = weights.shape
    k, j = draw_index(rng, classes), draw_index(rng, p)
    log_new = draw_log_gamma(rng, a) - log_scale
    new, old = math.exp(log_new), weights[k, j]
    if max(new, old) < _NOTHING * smallest:
        log_weights[k, j], weights[k, j] = log_new, new
        totals[j] = 0.0  # summed again: a difference may be zero or negative
        for c in range(classes):
            totals[j] += weights[c, j]
        return log_l, 0.0, smallest
    bound = -rng.standard_exponential() + log_l
    _fill_weight(weights, k, j, new, change)
    first = k if new < old else (k + 1) % classes
    found = trial(
        rows, weights, totals, j, j, first, of_class, of_all, new_class, new_all, change, bound
    )
    if not found > bound:
        return log_l, 0.0, smallest
    log_weights[k, j], weights[k, j], totals[j] = log_new, new, change[classes, NEW]
    mass = 1.0 + new - old
    if mass < DIGITS:
        mass = 0.0
        for i in range(p):
            mass += totals[i]
    rescale(log_weights, weights, totals, mass, math.log(mass))
    keep_sums(rows, mass, of_class, of_all, new_class, new_all)
    return found, math.log(mass), least(rows, of_class)


@scalar
def _fill_weight(weights: Any, k: Any, j: Any, new: Any, change: Any) -> None:
    """The change of a single weight as `trial` reads it."""
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
    """One exchange; returns the log-likelihood and whether weights were exchanged. They sum to 1
    before and after."""
    classes, p = weights.shape
    chosen = draw_index(rng, classes + 1)  # the last: all classes
    j = _giver(rng, weights, totals, rows.mean, chosen)
    taker = rows.alive[draw_index(rng, rows.alive.shape[0])]
    if j < 0 or j == taker:
        return log_likelihood, False
    shift = math.log(rows.mean[j]) - math.log(rows.mean[taker])
    mass = _fill_columns(log_weights, weights, j, taker, chosen, shift, change)
    bound = -rng.standard_exponential() + (log_likelihood + classes * p * a * math.log(mass))
    first = _heaviest(weights, j) if chosen == classes else chosen
    found = trial(
        rows, weights, totals, j, taker, first, of_class, of_all, new_class, new_all, change, bound
    )
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
def _fill_columns(
    log_weights: Any, weights: Any, j: Any, taker: Any, chosen: Any, shift: Any, change: Any
) -> Any:
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
    log_weights: Any,
    weights: Any,
    totals: Any,
    j: Any,
    taker: Any,
    chosen: Any,
    shift: Any,
    change: Any,
) -> None:
    classes = weights.shape[0]
    for k in range(classes):
        if chosen == classes or chosen == k:
            log_weights[k, j], log_weights[k, taker] = (
                log_weights[k, taker] - shift,
                log_weights[k, j] + shift,
            )
            weights[k, j], weights[k, taker] = change[k, NEW], change[k, NEW_OTHER]
    totals[j], totals[taker] = change[classes, NEW], change[classes, NEW_OTHER]
