"""Distinct preferences: equivalent ways to write a class are merged."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from thali.data.experiments.design import Design

    from ..particles import Particles


class Patterns(NamedTuple):
    """The distinct classes of all draws, and which of them each owned class is.

    A disliked class with one active attribute that no product lacks equals its complement, liked: both give the same
    differences of utility. A class of products that also requires the no-choice option is empty.
    """

    active: np.ndarray  # (K, L) bool
    member: np.ndarray  # (K, levels) bool
    of_class: np.ndarray  # (classes, 2) int64: row of `active` for owners who like it, who dislike it; -1: no product
    flips: np.ndarray  # (classes,) bool: whether a class that is disliked is written as one that is liked


def patterns_of(draws: "Particles", design: "Design") -> Patterns:
    """Merge the classes of all draws."""
    active, member, offset = draws.active.copy(), draws.member.copy(), draws.offset
    nothing = np.zeros(len(active), bool)
    if design.inside >= 0:
        # An active attribute that the no-choice option lacks already excludes that option.
        cells = slice(offset[design.inside], offset[design.inside + 1])
        both = active[:, design.inside] & (active.sum(axis=1) > 1)
        nothing = both & member[:, cells][:, 0]
        active[both, design.inside] = False
        member[both, cells] = True
    only = active.argmax(axis=1)
    flips = (active.sum(axis=1) == 1) & design.never_missing[only]
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
