"""Move that replaces a class of one attribute by its complement, with signs reversed."""

from typing import Any

import numpy as np

from thali._compile.jit import scalar

from ..state import ACTIVE, CLASSES, FIRST, NEGATIVE, NEXT_OWNER, OWNERS, POLARITY, SIGN
from .class_content_moves import find_attribute


@scalar
def flip_classes(rng: Any, problem: Any, state: Any) -> None:
    """Replace each class of one attribute by its complement with probability 1/2.

    Classes of an attribute that some product lacks are never flipped.
    """
    # A symmetry of the posterior, so always accepted: the utilities of all products change by the
    # same amount for each owner, and the prior of classes and signs is equal for a set of levels
    # and its complement. A product that lacks the attribute belongs to neither.
    for k in range(state.whole[CLASSES]):
        if state.classes[k, ACTIVE] == 1:
            i = find_attribute(problem, state.bits, k, True, 0)
            if not problem.lacking[i] and rng.random() < 0.5:
                flip_class(problem, state, k, i)


@scalar
def flip_class(problem: Any, state: Any, k: Any, i: Any) -> None:
    """Replace class k by the other levels of attribute i and reverse all signs."""
    row, features = state.classes, state.features
    for b in range(problem.first_bit[i], problem.first_bit[i + 1] - 1):
        state.bits[k, b >> 6] ^= np.int64(1) << (b & 63)
    if row[k, POLARITY] >= 0:
        row[k, POLARITY] = 1 - row[k, POLARITY]
    row[k, NEGATIVE] = row[k, OWNERS] - row[k, NEGATIVE]
    f = row[k, FIRST]
    while f >= 0:
        features.slots[f, SIGN] = 1 - features.slots[f, SIGN]
        for c in range(features.difference.shape[1]):
            features.difference[f, c] = -features.difference[f, c]
        f = features.slots[f, NEXT_OWNER]
