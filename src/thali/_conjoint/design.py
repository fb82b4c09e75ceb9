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
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from thali._inference.index_arithmetic import part_bounds
from thali._inference.numerics.weight_shares import divide_positive
from thali._labels import suggest
from thali.errors import Argument, ArgumentError

from .linear_fit import LinearFit
from .profiles import Profiles

AttributePair = tuple[int, int]  # two attributes that were not randomised independently

_CHANCE = 1e-3  # probability that levels of any pair of attributes never meet by chance
_DEPENDENT = 1e-8  # p-value from which on two attributes are not independent


def count_level_pairs(profiles: Profiles, pair: AttributePair) -> np.ndarray:
    """Return how many profiles have each pair of levels of two attributes."""
    shape = tuple(profiles.n_levels[list(pair)] + 1)
    cells = np.ravel_multi_index(tuple(profiles.codes[:, list(pair)].T), shape)
    return np.bincount(cells, minlength=np.prod(shape)).reshape(shape)[:-1, :-1]


def find_linked_pairs(profiles: Profiles) -> list[AttributePair]:
    """Find the pairs of attributes whose levels never meet, or are not independent."""
    from scipy.special import chdtrc

    pairs = list(combinations(range(len(profiles.levels)), 2))
    linked_pairs = []
    for pair in pairs:
        counts = count_level_pairs(profiles, pair)
        counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / max(counts.sum(), 1)
        min_expected = np.log(counts.size * len(pairs) / _CHANCE)
        never_meets = ((counts == 0) & (expected >= min_expected)).any()
        df = np.prod(np.subtract(counts.shape, 1))
        chi_square = np.sum(np.square(counts - expected) / np.maximum(expected, 1e-300))
        if never_meets or chdtrc(max(df, 1), chi_square) < _DEPENDENT / len(pairs):
            linked_pairs.append(pair)
    return linked_pairs


def parse_restrictions(
    profiles: Profiles, restrictions: Iterable[Sequence[str]] | None
) -> list[AttributePair]:
    """Return the pairs of attributes in the argument `restrictions`; None: those in the data."""
    if restrictions is None:
        return find_linked_pairs(profiles)
    linked_pairs = []
    for names in restrictions:
        if isinstance(names, str) or len(names) != 2:
            raise ArgumentError(
                Argument("restrictions"),
                f" must name two attributes that were not randomised independently; got {names!r}.",
            )
        first, second = (_find_attribute(profiles, name, "restrictions") for name in names)
        linked_pairs.append((min(first, second), max(first, second)))
    return linked_pairs


def _find_attribute(profiles: Profiles, name: str, argument: str) -> int:
    """Return the index of an attribute; raise ArgumentError if it is unknown."""
    names = list(profiles.levels)
    if name not in names:
        raise ArgumentError(
            Argument(argument),
            f" contains {name!r}, which is not an attribute.{suggest(name, names)}",
        )
    return names.index(name)


def find_baselines(profiles: Profiles, baseline: Mapping[str, Any] | None) -> list[int]:
    """Return the index of each attribute's baseline level: given, or the first that occurs."""
    indices = [int(column.min()) for column in profiles.codes.T]
    for name, level in (baseline or {}).items():
        attribute = _find_attribute(profiles, name, "baseline")
        labels = profiles.levels[name]
        if str(level) not in labels:
            raise ArgumentError(
                Argument("baseline"),
                f" of {name!r} is {level!r}, which is not one of its"
                f" levels.{suggest(str(level), labels)}",
            )
        indices[attribute] = labels.index(str(level))
    return indices


def build_indicators(codes: np.ndarray, n_levels: np.ndarray, blocks: np.ndarray) -> Any:
    """Return sparse indicators of codes (rows, terms), times each column of `blocks`.

    Term k has n_levels[k] + 1 columns; the last is of profiles that lack the attribute.
    """
    from scipy.sparse import csr_array, hstack

    n_rows, n_terms = codes.shape
    columns = codes + part_bounds(n_levels + 1)[:-1]
    row_bounds = n_terms * np.arange(n_rows + 1)
    shape = (n_rows, int(np.sum(n_levels + 1)))
    parts = [
        csr_array((np.repeat(block, n_terms), columns.ravel(), row_bounds), shape)
        for block in blocks.T
    ]
    design: Any = hstack(parts, format="csr")
    design.eliminate_zeros()
    return design


class EffectDesign:
    """Regression of outcomes on the levels of all attributes, and on pairs of linked ones."""

    def __init__(
        self, profiles: Profiles, baselines: list[int], linked_pairs: list[AttributePair]
    ) -> None:
        self.profiles = profiles
        self.baselines = baselines
        self.linked_pairs = linked_pairs
        pair_sizes = [np.prod(profiles.n_levels[list(pair)] + 1) for pair in linked_pairs]
        self._n_levels = np.append(profiles.n_levels, np.array(pair_sizes, np.int64))

    def fit(self, blocks: np.ndarray) -> LinearFit:
        """Fit the regression whose coefficients are multiplied by each column of `blocks`."""
        profiles = self.profiles
        design = build_indicators(self._add_pairs(profiles.codes), self._n_levels, blocks)
        return LinearFit(design, profiles.outcome, profiles.weights, profiles.bounds)

    def _add_pairs(self, codes: np.ndarray) -> np.ndarray:
        """Return level codes with a column for each linked pair, (rows, terms)."""
        cells = [
            np.ravel_multi_index(
                tuple(codes[:, list(pair)].T), tuple(self.profiles.n_levels[list(pair)] + 1)
            )
            for pair in self.linked_pairs
        ]
        return np.column_stack([codes, *cells])

    @cached_property
    def contrasts(self) -> np.ndarray:
        """The contrast of each level to its baseline, (coefficients, levels).

        It is NaN if no level of a linked attribute can meet both.
        """
        profiles = self.profiles
        contrasts = []
        for attribute, n_levels in enumerate(profiles.n_levels):
            for level in range(n_levels):
                compared = [level, self.baselines[attribute]]
                codes = profiles.codes[self._find_possible(attribute, compared)]
                sums = []
                for code in compared:
                    codes[:, attribute] = code
                    design = build_indicators(
                        self._add_pairs(codes), self._n_levels, np.ones((len(codes), 1))
                    )
                    sums.append(design.sum(axis=0))
                contrasts.append(divide_positive(sums[0] - sums[1], len(codes), np.nan))
        return np.stack(contrasts, axis=1)

    def _find_possible(self, attribute: int, levels: list[int]) -> np.ndarray:
        """Return the rows whose levels of linked attributes can meet all these levels."""
        codes = self.profiles.codes
        linked_pairs = [pair for pair in self.linked_pairs if attribute in pair]
        if not linked_pairs:
            return np.zeros(1, np.int64)  # the same contrast for all rows
        is_possible = np.ones(len(codes), bool)
        for pair in linked_pairs:
            position = pair.index(attribute)
            counts = np.take(count_level_pairs(self.profiles, pair), levels, position)
            meets_all = np.append((counts > 0).all(axis=position), False)
            is_possible &= meets_all[codes[:, pair[1 - position]]]
        return np.flatnonzero(is_possible)
