r"""Regression design of a conjoint experiment, and its average marginal component effects.

If two attributes were not randomised independently, their interaction is in the regression. The
effect of level :math:`t_1` against the baseline :math:`t_0` is then an average over the profiles in
which both could have been shown (Hainmueller, Hopkins & Yamamoto 2014):

.. math::

    \hat\pi(t_1, t_0) = \frac{1}{|R|} \sum_{i \in R}
        \big(x_i^{(t_1)} - x_i^{(t_0)}\big)'\hat\beta, \qquad
    R = \{i: t_1 \text{ and } t_0 \text{ can meet the other levels of profile } i\}.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from thali._labels import suggest
from thali.errors import Argument, ArgumentError

from .profiles import Profiles

_CHANCE = 1e-3  # probability that levels of any pair of attributes never meet by chance
_DEPENDENT = 1e-8  # p-value from which on two attributes are not independent


class LinkedPair(NamedTuple):
    """Two attributes that were not randomised independently."""

    attributes: tuple[int, int]
    meets: np.ndarray  # (levels, levels) whether two levels occur in one profile

    def compatible(self, attribute: int, level: int) -> np.ndarray:
        """Return whether each level of the other attribute meets this level."""
        return np.take(self.meets, level, self.attributes.index(attribute))

    def other(self, attribute: int) -> int:
        """Return the other attribute of the pair."""
        return self.attributes[1 - self.attributes.index(attribute)]


def count_level_pairs(profiles: Profiles, first: int, second: int) -> np.ndarray:
    """Return how many profiles have each pair of levels of two attributes."""
    n_first, n_second = (len(labels) + 1 for labels in _get_labels(profiles, first, second))
    cells = profiles.codes[:, first] * n_second + profiles.codes[:, second]
    counts = np.bincount(cells, minlength=n_first * n_second).reshape(n_first, n_second)
    return counts[:-1, :-1]


def _get_labels(profiles: Profiles, *attributes: int) -> list[tuple[str, ...]]:
    """Return the level labels of these attributes."""
    all_labels = list(profiles.levels.values())
    return [all_labels[k] for k in attributes]


def find_linked_pairs(profiles: Profiles) -> list[LinkedPair]:
    """Find the pairs of attributes whose levels never meet, or are not independent."""
    from scipy.special import chdtrc

    pairs = list(combinations(range(len(profiles.levels)), 2))
    linked_pairs = []
    for first, second in pairs:
        counts = count_level_pairs(profiles, first, second)
        counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / max(counts.sum(), 1)
        min_expected = np.log(counts.size * len(pairs) / _CHANCE)
        never_meets = ((counts == 0) & (expected >= min_expected)).any()
        df = np.prod(np.subtract(counts.shape, 1))
        chi_square = (np.square(counts - expected) / np.maximum(expected, 1e-300)).sum()
        if never_meets or (df and chdtrc(df, chi_square) < _DEPENDENT / len(pairs)):
            linked_pairs.append(_build_pair(profiles, first, second))
    return linked_pairs


def _build_pair(profiles: Profiles, first: int, second: int) -> LinkedPair:
    """Build the pair of two attributes; levels meet where a profile has both."""
    return LinkedPair((first, second), count_level_pairs(profiles, first, second) > 0)


def parse_restrictions(
    profiles: Profiles, restrictions: Iterable[Sequence[str]] | None
) -> list[LinkedPair]:
    """Return the pairs of attributes in the argument `restrictions`; None: those in the data."""
    if restrictions is None:
        return find_linked_pairs(profiles)
    linked_pairs = []
    for names in restrictions:
        if isinstance(names, str) or len(names) < 2:
            raise ArgumentError(
                Argument("restrictions"),
                " must list pairs of attributes that were not randomised independently, such as"
                f" [('education', 'job')]; got {names!r}.",
            )
        indices = sorted(
            find_attribute(profiles, name, Argument("restrictions")) for name in names
        )
        linked_pairs += [_build_pair(profiles, *pair) for pair in combinations(indices, 2)]
    return linked_pairs


def find_attribute(profiles: Profiles, name: str, argument: Argument) -> int:
    """Return the index of an attribute; raise ArgumentError if it is unknown."""
    names = list(profiles.levels)
    if str(name) not in names:
        raise ArgumentError(
            argument,
            f" contains {name!r}, which is not an attribute.{suggest(str(name), names)}",
        )
    return names.index(str(name))


def find_baselines(profiles: Profiles, baseline: Mapping[str, Any] | None) -> list[int]:
    """Return the index of each attribute's baseline level: given, or the first that occurs."""
    argument = Argument("baseline")
    if baseline is not None and not isinstance(baseline, Mapping):
        raise ArgumentError(
            argument, f" must be a mapping such as {{'party': 'Left'}}; got {baseline!r}."
        )
    indices = [int(column.min()) for column in profiles.codes.T]
    for name, level in (baseline or {}).items():
        k = find_attribute(profiles, name, argument)
        labels = profiles.levels[str(name)]
        if str(level) not in labels:
            raise ArgumentError(
                argument,
                f" of {name!r} is {level!r}, which is not one of its"
                f" levels.{suggest(str(level), labels)}",
            )
        indices[k] = labels.index(str(level))
    return indices


class EffectDesign:
    """Columns of the regression: one block per group, or with a modifier two blocks."""

    def __init__(
        self, profiles: Profiles, baselines: list[int], linked_pairs: list[LinkedPair]
    ) -> None:
        self.profiles, self.baselines, self.linked_pairs = profiles, baselines, linked_pairs
        column_indices = [np.zeros(len(profiles.codes), np.int64)]  # the constant
        self._first_columns: list[int] = []
        n_columns = 1
        for codes, labels, base in zip(
            profiles.codes.T, profiles.levels.values(), baselines, strict=True
        ):
            self._first_columns.append(n_columns)
            column_indices.append(np.where(codes == base, -1, n_columns + codes))
            n_columns += len(labels) + 1
        self._cell_columns: list[np.ndarray] = []
        for pair in linked_pairs:
            columns = n_columns + np.arange(pair.meets.size + 1)
            cells = self._number_cells(pair)
            column_indices.append(np.where(cells < 0, -1, columns[cells]))
            self._cell_columns.append(columns[:-1].reshape(pair.meets.shape))
            n_columns += pair.meets.size
        self._indices = np.stack(column_indices, axis=1)
        used = np.unique(self._indices[self._indices >= 0])
        self._position = np.full(n_columns, -1)  # of the columns that occur
        self._position[used] = np.arange(len(used))
        self.n_columns = len(used)

    def _number_cells(self, pair: LinkedPair) -> np.ndarray:
        """Return the number of each profile's pair of levels; -1: at a baseline, or missing."""
        first, second = pair.attributes
        first_codes, second_codes = self.profiles.codes[:, first], self.profiles.codes[:, second]
        is_plain = (
            (first_codes == self.baselines[first])
            | (second_codes == self.baselines[second])
            | (first_codes >= pair.meets.shape[0])
            | (second_codes >= pair.meets.shape[1])
        )
        return np.where(is_plain, -1, first_codes * pair.meets.shape[1] + second_codes)

    def build_matrix(self, blocks: np.ndarray | None = None) -> Any:
        """Return the sparse design matrix (rows, blocks * columns).

        `blocks` (rows, blocks) multiplies the columns of each block; None: one block of ones.
        """
        from scipy.sparse import csr_array

        row_index, term = np.nonzero(self._indices >= 0)
        columns = self._position[self._indices[row_index, term]]
        if blocks is None:
            blocks = np.ones((len(self._indices), 1))
        entry_block, entry = np.nonzero(blocks[row_index].T)
        values = blocks[row_index[entry], entry_block]
        return csr_array(
            (values, (row_index[entry], entry_block * self.n_columns + columns[entry])),
            shape=(len(self._indices), blocks.shape[1] * self.n_columns),
        )

    def list_effects(self) -> list[tuple[int, int]]:
        """Return (attribute, level) of all levels, in order."""
        return [
            (k, level)
            for k, labels in enumerate(self.profiles.levels.values())
            for level in range(len(labels))
        ]

    def build_contrasts(self) -> np.ndarray:
        """Return the contrasts of all effects in one block, (columns, effects).

        A contrast is NaN if no level of another attribute can meet both levels.
        """
        effects = self.list_effects()
        contrasts = np.zeros((self.n_columns, len(effects)))
        for column, (attribute, level) in enumerate(effects):
            base = self.baselines[attribute]
            if level == base:
                continue
            position = self._position[self._first_columns[attribute] + level]
            if position < 0:  # a level that does not occur
                contrasts[:, column] = np.nan
                continue
            contrasts[position, column] = 1.0
            self._add_interactions(contrasts[:, column], attribute, level)
        return contrasts

    def _add_interactions(self, contrast: np.ndarray, attribute: int, level: int) -> None:
        """Add the mean interaction of a level over the profiles that can have it."""
        base = self.baselines[attribute]
        is_possible = np.ones(len(self.profiles.codes), bool)
        linked = []
        for pair, cell_columns in zip(self.linked_pairs, self._cell_columns, strict=True):
            if attribute not in pair.attributes:
                continue
            other = pair.other(attribute)
            meets_both = pair.compatible(attribute, level) & pair.compatible(attribute, base)
            is_possible &= np.append(meets_both, False)[self.profiles.codes[:, other]]
            linked.append((other, np.take(cell_columns, level, pair.attributes.index(attribute))))
        if linked and not is_possible.any():
            contrast[:] = np.nan
            return
        for other, columns in linked:
            counts = np.bincount(
                self.profiles.codes[is_possible, other], minlength=len(columns) + 1
            )
            shares = counts[: len(columns)] / counts.sum()
            positions = self._position[columns]
            is_used = (shares > 0) & (positions >= 0)
            contrast[positions[is_used]] += shares[is_used]


def build_group_blocks(profiles: Profiles) -> np.ndarray:
    """Return one column per group: 1 for its profiles, 0 for others."""
    return np.eye(profiles.n_groups)[profiles.group]
