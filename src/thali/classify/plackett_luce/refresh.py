"""Single weights redrawn from their prior and accepted by the likelihood of the rows, without latent variables.

A column is switched on or off in one step; with latent variables all rows that use it must leave one by one.
"""

import math
from typing import Any

from thali.compile.jit import scalar
from thali.inference.numerics.decisions import index
from thali.inference.numerics.gamma_tails import log_gamma_draw

from .trial_change import DIGITS, GAIN, GAIN_OTHER, NEW, NEW_OTHER, keep_sums, least, rescale, trial

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
    """λ_kj ~ Gamma(a, b) of a class and column chosen evenly, accepted with the ratio of likelihoods.

    log_scale is ln(b Λ), smallest the least T of all rows. Weights sum to 1 before and after; returns the
    log-likelihood log_l, the logarithm of what Λ was multiplied by, and the least T.
    """
    classes, p = weights.shape
    k, j = index(rng, classes), index(rng, p)
    log_new = log_gamma_draw(rng, a) - log_scale
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
    found = trial(rows, weights, totals, j, j, first, of_class, of_all, new_class, new_all, change, bound)
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
