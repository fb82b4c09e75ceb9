"""The likelihood after a trial change of weights in one or two columns, from as few rows as suffice to reject it."""

from typing import Any

from thali.compile.jit import scalar, vectorised
from thali.inference.numerics.logarithm import fast_log

from .class_rows import FLOOR, log_probability

DIGITS = 1e-6  # of a sum; a smaller difference is summed again
# The change of every class in columns j and l, and its new weights there; a last row is their sum over classes.
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
    """The new log-likelihood and its sums T and S; a value below the bound as soon as it is known to be below.

    No row adds more than 0. The rows of the class that is likely to lose most, `first`, come first. Weights
    and totals are those from before the change; of a change in a single column, `other` is j and its changes are 0.
    """
    blocks = rows.sizes.shape[0]
    total = 0.0
    for step in range(blocks):
        b = rows.first[first] + step
        if b >= blocks:
            b -= blocks
        k, size = rows.of_class[b], rows.sizes[b]
        part, short = _block(rows.W, j, other, b, size, k, of_class, of_all, new_class, new_all, change)
        if short > 0:
            _recompute_sums(rows.W, weights, totals, j, other, b, size, k, of_class, of_all, new_class, new_all, change)
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
def keep_sums(rows: Any, mass: Any, of_class: Any, of_all: Any, new_class: Any, new_all: Any) -> None:
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
