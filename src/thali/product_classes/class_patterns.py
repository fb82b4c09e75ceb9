"""Classes that are the same preference: what is left of them when all ways to write one are merged."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from thali.product_classes.particles import Particles
    from thali.product_classes.study import Study


class Patterns(NamedTuple):
    """The distinct classes of all draws, and which of them each owned class is.

    A class with one active attribute that no product lacks, disliked, is its complement, liked: both give the same
    differences of utility. A class of products that also asks for the no-choice option holds nothing.
    """

    active: np.ndarray  # (K, L) bool
    member: np.ndarray  # (K, levels) bool
    of_class: np.ndarray  # (classes, 2) int64: row of `active` for owners who like it, who dislike it; -1: no product
    flips: np.ndarray  # (classes,) bool: whether a class that is disliked is written as one that is liked


def patterns_of(draws: "Particles", study: "Study") -> Patterns:
    """Merge the classes of all draws.

    Parameters
    ----------
    draws : Particles
    study : Study

    Returns
    -------
    Patterns

    References
    ----------
    Section 4.3 of the specification of this model: attributes that are never missing, complement, merge.
    """
    active, member, offset = draws.active.copy(), draws.member.copy(), draws.offset
    nothing = np.zeros(len(active), bool)
    if study.inside >= 0:
        # An attribute that the no-choice option lacks says already that its products are products.
        cells = slice(offset[study.inside], offset[study.inside + 1])
        both = active[:, study.inside] & (active.sum(axis=1) > 1)
        nothing = both & member[:, cells][:, 0]
        active[both, study.inside] = False
        member[both, cells] = True
    only = active.argmax(axis=1)
    flips = (active.sum(axis=1) == 1) & study.never_missing[only]
    disliked = member.copy()
    attribute_of_cell = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
    own = flips[:, None] & (attribute_of_cell == only[:, None])
    disliked[own] = ~disliked[own]
    both_ways = np.concatenate([member, disliked])
    packed = np.ascontiguousarray(np.packbits(both_ways, axis=1))
    _, first, number = np.unique(packed.view(f"V{packed.shape[1]}").ravel(), return_index=True, return_inverse=True)
    of_class = number.reshape(2, -1).T.astype(np.int64)
    of_class[nothing] = -1
    return Patterns(np.concatenate([active, active])[first], both_ways[first], of_class, flips)
