"""The likelihood after a trial change of weights in one or two columns, in as few rows as it takes to refuse it."""

from thali._jit import lanes, scalar
from thali.mcmc.logarithm import fast_log
from thali.regression.class_rows import FLOOR, log_probability

DIGITS = 1e-6  # of a sum, below which what a subtraction leaves is added up anew
# What every class gains in columns j and l, and what it then has there; a last row is their sum over classes.
GAIN, GAIN_OTHER, NEW, NEW_OTHER = range(4)


@scalar
def trial(rows, weights, totals, j, other, first, of_class, of_all, new_class, new_all, change, bound):
    """The new log-likelihood, and the sums T and S behind it; less than the bound as soon as it is known to be.

    No row adds more than 0. The rows of the class that is likely to lose most, `first`, are looked at first. Weights
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
            _add_anew(rows.W, weights, totals, j, other, b, size, k, of_class, of_all, new_class, new_all, change)
            part = log_probability(new_class, new_all, b, size)
        total += part
        if total < bound:
            break
    return total


@lanes
def _block(W, j, other, b, size, k, of_class, of_all, new_class, new_all, change):
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
def _add_anew(W, weights, totals, j, other, b, size, k, of_class, of_all, new_class, new_all, change):
    """Sums that a subtraction left with few correct digits, from their parts."""
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
def least(rows, of_class):
    """The smallest T of all rows."""
    smallest = 1.0
    for b in range(rows.sizes.shape[0]):
        for r in range(rows.sizes[b]):
            smallest = min(smallest, of_class[b, r])
    return smallest


@scalar
def keep_sums(rows, mass, of_class, of_all, new_class, new_all):
    """Take over the sums of a trial, divided by the new sum of all weights."""
    for b in range(rows.sizes.shape[0]):
        for r in range(rows.sizes[b]):
            of_class[b, r] = new_class[b, r] / mass
            of_all[b, r] = new_all[b, r] / mass


@scalar
def rescale(log_weights, weights, totals, mass, log_mass):
    """Divide all weights by their sum."""
    classes, p = weights.shape
    for j in range(p):
        totals[j] /= mass
        for k in range(classes):
            log_weights[k, j] -= log_mass
            weights[k, j] /= mass
