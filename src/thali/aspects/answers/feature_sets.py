"""The distinct sets of features among the draws, in which a most probable set is searched.

Features that fewer than two objects own do not affect similarities; they are left out.
"""

from dataclasses import dataclass

import numpy as np

from ..draws.columns import Columns


@dataclass(frozen=True)
class FeatureSets:
    """The features with two owners or more of all draws; a set of them is a multiset, for features may have copies."""

    patterns: np.ndarray  # (patterns, n) bool: the distinct sets of owners
    pattern: np.ndarray  # (columns,) the pattern of each feature
    draw: np.ndarray  # (columns,) its draw, ascending
    weights: np.ndarray  # (columns,)
    members: np.ndarray  # (sets, M) patterns of each distinct set of features, ascending; padded with -1 on the left
    of_draw: np.ndarray  # (draws,) the set of each draw
    counts: np.ndarray  # (sets,) draws that have it

    @property
    def sizes(self) -> np.ndarray:
        """Features of each set, copies counted."""
        return np.count_nonzero(self.members >= 0, axis=1)

    def matrix(self, number: int) -> np.ndarray:
        """A set as a matrix of objects by features."""
        members = self.members[number]
        return self.patterns[members[members >= 0]].T

    def distinct(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """The patterns of a set and how often each is in it."""
        members = self.members[number]
        return np.unique(members[members >= 0], return_counts=True)


def feature_sets(columns: Columns, n: int) -> FeatureSets:
    """The distinct sets of features of the draws over n objects."""
    shared = np.flatnonzero(columns.sizes >= 2)
    distinct, pattern = _distinct_rows(_masks(columns, n)[shared])
    patterns = np.unpackbits(distinct.view(np.uint8), axis=1, count=n, bitorder="little").astype(bool)
    order = np.lexsort((pattern, columns.draw[shared]))  # ascending within a draw, for the rows of `members`
    pattern, draw, weights = pattern[order], columns.draw[shared][order], columns.weights[shared][order]
    sizes = np.bincount(draw, minlength=columns.n_draws)
    slot = np.arange(len(draw)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    width = int(sizes.max(initial=0))
    members = np.full((columns.n_draws, width), -1)
    members[draw, width - sizes[draw] + slot] = pattern
    members, of_draw = _distinct_rows(members)
    return FeatureSets(patterns, pattern, draw, weights, members, of_draw, np.bincount(of_draw))


def _masks(columns: Columns, n: int) -> np.ndarray:
    """The owners of each column as bits, 64 to a word, the first option lowest."""
    width = -(-n // 64) * 8
    column = np.repeat(np.arange(len(columns.sizes)), columns.sizes)
    byte, bit = column * width + columns.owners // 8, 1 << (columns.owners % 8)
    bits = np.bincount(byte, bit, minlength=len(columns.sizes) * width)
    return bits.astype(np.uint8).view("<u8").reshape(-1, width // 8)


def _distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows in ascending order, and for each row the number of its distinct row."""
    order = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(len(rows))
    ascending = rows[order]
    is_new = np.ones(len(rows), bool)
    is_new[1:] = (ascending[1:] != ascending[:-1]).any(axis=1)
    number = np.empty(len(rows), np.int64)
    number[order] = np.cumsum(is_new) - 1
    return ascending[is_new], number
