"""A user's likelihood that is one function: the verbs, each an evaluation of all data with the change made.

A `delta_*` makes the change to the bag, evaluates, and takes it back; the `apply_*` that follows it at once keeps the
value. Row K of the bag, K the number of columns, is free while a column is changed.
"""

from typing import NamedTuple

import numpy as np

from thali._jit import scalar
from thali.likelihoods.sums import COMMON, no, whole_of_bag
from thali.mcmc import verbs
from thali.mcmc.bag import COLUMNS, copy_row, scratch

NOW, PROPOSED = range(2)  # positions in Value.real


class Value(NamedTuple):
    """What a chain keeps."""

    real: np.ndarray  # (2,) the log-likelihood NOW, and the one PROPOSED last


def empty_cache(likelihood) -> Value:
    """A value that is still to be filled in."""
    return Value(np.zeros(2))


@scalar
def proposed(likelihood, c, b, columns):
    """The change of the log-likelihood, now that the bag holds the proposal."""
    c.real[PROPOSED] = whole_of_bag(likelihood, b, columns)
    return c.real[PROPOSED] - c.real[NOW]


def _delta_member(likelihood, c, b, k, i, d):
    b.Z[k, i] = 1.0 - b.Z[k, i]
    change = proposed(likelihood, c, b, b.whole[COLUMNS])
    b.Z[k, i] = 1.0 - b.Z[k, i]
    return change


def _delta_weight(likelihood, c, b, k, m, d):
    columns = b.whole[COLUMNS]
    last = columns - 1
    w = b.w[k]
    if k == columns:  # a birth
        b.w[k] = d
        change = proposed(likelihood, c, b, columns + 1)
    elif d == -w:  # a death: the last column takes its place
        copy_row(b, k, columns)
        copy_row(b, last, k)
        b.w[k] = b.w[last]
        change = proposed(likelihood, c, b, last)
        copy_row(b, columns, k)
    else:
        b.w[k] = w + d
        change = proposed(likelihood, c, b, columns)
    b.w[k] = w
    return change


def _delta_transfer(likelihood, c, b, k, other, d):
    columns = b.whole[COLUMNS]
    w = b.w[other]
    copy_row(b, k, columns)
    copy_row(b, scratch(b), k)
    b.w[other] = w - d
    change = proposed(likelihood, c, b, columns)
    b.w[other] = w
    copy_row(b, columns, k)
    return change


def _apply_member(likelihood, c, b, k, i, d):
    c.real[NOW] = c.real[PROPOSED]


def _apply_weight(likelihood, c, b, k, m, d):
    c.real[NOW] = c.real[PROPOSED]


def _apply_transfer(likelihood, c, b, k, other, d):
    c.real[NOW] = c.real[PROPOSED]


def _rebuild(likelihood, c, b):
    c.real[NOW] = whole_of_bag(likelihood, b, b.whole[COLUMNS])


def _cache_at(likelihood, caches, t):
    return Value(caches.real[t])


ANSWERS = COMMON | {
    verbs.sums_duplicates: no,
    verbs.cache_at: _cache_at,
    verbs.rebuild: _rebuild,
    verbs.delta_member: _delta_member,
    verbs.apply_member: _apply_member,
    verbs.delta_weight: _delta_weight,
    verbs.apply_weight: _apply_weight,
    verbs.delta_transfer: _delta_transfer,
    verbs.apply_transfer: _apply_transfer,
}
