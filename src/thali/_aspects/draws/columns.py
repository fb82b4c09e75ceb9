"""The features of many draws as ragged arrays: the one form in which everything in this folder
reads them.

A column is a feature with its owners and its weight. The columns of all draws lie one after
another, and a dense block is made only for the draws and options at hand: of ten thousand options
few own a column.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from thali._inference.indexing import part_bounds
from thali._posterior.view import Posterior, flat

if TYPE_CHECKING:
    from ..samplers.draw_record import ChainDraws


@dataclass(frozen=True)
class FeatureColumns:
    """All columns of `n_draws` draws over `n_options` options, draw after draw."""

    n_features: np.ndarray  # (draws,) columns of each draw
    weights: np.ndarray  # (columns,)
    sizes: np.ndarray  # (columns,) owners of each column, >= 1
    owners: np.ndarray  # (sum of sizes,) option indices, ascending within a column
    unique_weights: np.ndarray  # (draws, options)

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(self.n_features)

    @property
    def n_options(self) -> int:
        """Number of options."""
        return self.unique_weights.shape[1]

    @cached_property
    def first_column(self) -> np.ndarray:
        """Index of each draw's first column; one entry more than there are draws."""
        return part_bounds(self.n_features)

    @cached_property
    def first_owner(self) -> np.ndarray:
        """Index of each column's first owner; one entry more than there are columns."""
        return part_bounds(self.sizes)

    @cached_property
    def draw(self) -> np.ndarray:
        """The draw to which each column belongs."""
        return np.repeat(np.arange(self.n_draws), self.n_features)

    @cached_property
    def slot(self) -> np.ndarray:
        """The place of each column among those of its draw, where arrays are padded."""
        return np.arange(len(self.sizes)) - self.first_column[self.draw]

    def reweighted(self, weights: np.ndarray, unique_weights: np.ndarray) -> "FeatureColumns":
        """The same columns with other weights, which take no further memory."""
        made = replace(self, weights=weights, unique_weights=unique_weights)
        vars(made).update(
            {name: getattr(self, name) for name in ("first_column", "first_owner", "draw")}
        )
        return made

    def at(self, draw: int) -> "FeatureColumns":
        """One draw alone."""
        first, last = self.first_column[draw], self.first_column[draw + 1]
        owners = self.owners[self.first_owner[first] : self.first_owner[last]]
        one = slice(draw, draw + 1)
        return FeatureColumns(
            self.n_features[one],
            self.weights[first:last],
            self.sizes[first:last],
            owners,
            self.unique_weights[one],
        )

    def take(self, draws: np.ndarray) -> "FeatureColumns":
        """Some of the draws, in ascending order or not, each as often as it is named."""
        count = self.n_features[draws]
        column = np.repeat(self.first_column[draws] - np.cumsum(count) + count, count) + np.arange(
            count.sum()
        )
        sizes = self.sizes[column]
        owner = np.repeat(self.first_owner[column] - np.cumsum(sizes) + sizes, sizes) + np.arange(
            sizes.sum()
        )
        return FeatureColumns(
            count, self.weights[column], sizes, self.owners[owner], self.unique_weights[draws]
        )

    def summed(self, terms: np.ndarray) -> np.ndarray:
        """The sum of one number a column over the columns of each draw."""
        return np.bincount(self.draw, terms, minlength=self.n_draws)

    def dense(
        self, start: int, stop: int, options: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Features and weights of the draws start..stop-1 as padded arrays, for some options only
        if given."""
        columns = slice(self.first_column[start], self.first_column[stop])
        owners = self.owners[self.first_owner[columns.start] : self.first_owner[columns.stop]]
        draw = self.draw[columns] - start
        slot = np.arange(columns.start, columns.stop) - self.first_column[start + draw]
        if options is None:
            place, m = np.arange(self.n_options), self.n_options
        else:
            place, m = np.full(self.n_options, -1), len(options)
            place[options] = np.arange(m)
        width = int(self.n_features[start:stop].max(initial=0))
        weights = np.zeros((stop - start, width))
        weights[draw, slot] = self.weights[columns]
        column = np.repeat(np.arange(len(draw)), self.sizes[columns])
        wanted = place[owners] >= 0
        features = np.zeros((stop - start, width, m), dtype=bool)
        features[draw[column[wanted]], slot[column[wanted]], place[owners[wanted]]] = True
        return features, weights


def columns_of_chains(chains: Sequence["ChainDraws"], draws: int) -> FeatureColumns:
    """The first `draws` draws of each chain, chain after chain."""
    parts = []
    for chain in chains:
        n_columns = int(np.sum(chain.n_features[:draws]))
        n_owners = int(np.sum(chain.sizes[:n_columns]))
        parts.append(
            (
                chain.n_features[:draws],
                chain.weights[:n_columns],
                chain.sizes[:n_columns],
                chain.owners[:n_owners],
                chain.unique_weights[:draws],
            )
        )
    return FeatureColumns(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def columns_of(posterior: Posterior) -> FeatureColumns:
    """The columns that a posterior tree holds, chain after chain, be they stored dense or as owner
    lists."""
    weights = flat(posterior.weights)
    if posterior.unique is None:
        unique_weights = np.zeros((len(weights), posterior.n_options))
    else:
        unique_weights = flat(posterior.unique)
    if posterior.features is not None:
        features = flat(posterior.features)
        sizes = features.sum(axis=-1, dtype=np.int64)
        owners = np.nonzero(features)[2]
    else:
        sizes, owners = flat(posterior.feature_sizes), posterior.owners
        owners = owners[owners >= 0]
    present = sizes > 0
    return FeatureColumns(
        present.sum(axis=1), weights[present], sizes[present], owners, unique_weights
    )
