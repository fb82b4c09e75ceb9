"""Groups of similar classes: classes that hold nearly the same products count as one."""

import numpy as np

from .class_patterns import Patterns

OVERLAP = "the least overlap of classes that count as one"
SIMILAR = 0.5  # overlap from which on classes count as one
_CENTRES = 2_000  # classes, the most important ones, around which groups form


def centres_of(patterns: Patterns, offset: np.ndarray, inside: int, weight: np.ndarray, similar: float) -> np.ndarray:
    """The centre of the group of every pattern: another pattern, or itself.

    The heaviest class that is in no group yet is the next centre; those of the others that are similar to it join.
    """
    centre, free = np.arange(len(weight)), np.ones(len(weight), bool)
    for k in np.argsort(-weight, kind="stable")[:_CENTRES]:
        if free[k]:
            own = free & (overlaps(patterns, offset, inside, k) >= similar)
            own[k] = True
            centre[own], free[own] = k, False
    return centre


def merged(patterns: Patterns, centre: np.ndarray) -> Patterns:
    """The patterns of the centres, with all classes of a group counted as its centre."""
    centres, of_pattern = np.unique(centre, return_inverse=True)
    of_class = np.where(patterns.of_class < 0, -1, of_pattern[patterns.of_class]).astype(np.int64)
    return patterns._replace(active=patterns.active[centres], member=patterns.member[centres], of_class=of_class)


def overlaps(patterns: Patterns, offset: np.ndarray, inside: int, k: int) -> np.ndarray:
    r"""Overlap \|A ∩ B\| / \|A ∪ B\| of pattern k and all others, among all combinations of levels.

    The no-choice option is none of these: a class that holds it alone overlaps with no other.
    """
    both, sizes = np.ones(len(patterns.active)), np.ones(len(patterns.active))
    for i, (first, last) in enumerate(zip(offset[:-1], offset[1:], strict=True)):
        held = patterns.member[:, first + (i == inside) : last]
        both *= (held & held[k]).sum(axis=1)
        sizes *= held.sum(axis=1)
    union = sizes[k] + sizes - both
    return both / np.where(union > 0.0, union, 1.0)
