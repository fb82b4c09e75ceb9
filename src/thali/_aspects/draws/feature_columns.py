"""Features and weights of many draws as ragged arrays, one entry per owner.

A column is a feature with its owners and its weight. The columns of all draws are concatenated, and
a dense block is made only for the required draws and options: among ten thousand options few own a
column.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from thali._inference.index_arithmetic import part_bounds, repeat_indices
from thali._posterior.posterior_tree import Posterior, flatten_chains

if TYPE_CHECKING:
    from ..samplers.draw_record import RecordedDraws


@dataclass(frozen=True)
class FeatureColumns:
    """Features with owners and weights of all draws, one column per feature and draw."""

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
    def column_offsets(self) -> np.ndarray:
        """Index of each draw's first feature, shape (n_draws + 1,)."""
        return part_bounds(self.n_features)

    @cached_property
    def owner_offsets(self) -> np.ndarray:
        """Index of each feature's first owner, shape (n_columns + 1,)."""
        return part_bounds(self.sizes)

    @cached_property
    def draw(self) -> np.ndarray:
        """Index of the draw that each feature belongs to."""
        return repeat_indices(self.n_features)

    @cached_property
    def slot(self) -> np.ndarray:
        """Position of each feature within its draw, as in padded arrays."""
        return np.arange(len(self.sizes)) - self.column_offsets[self.draw]

    def select_draw(self, draw: int) -> "FeatureColumns":
        """Return the features of one draw."""
        first_column = self.column_offsets[draw]
        stop_column = self.column_offsets[draw + 1]
        owners = self.owners[self.owner_offsets[first_column] : self.owner_offsets[stop_column]]
        draw_slice = slice(draw, draw + 1)
        return FeatureColumns(
            self.n_features[draw_slice],
            self.weights[first_column:stop_column],
            self.sizes[first_column:stop_column],
            owners,
            self.unique_weights[draw_slice],
        )

    def take(self, draws: np.ndarray) -> "FeatureColumns":
        """Return the features of these draws, in any order and with repetitions."""
        n_taken = self.n_features[draws]
        column_shifts = self.column_offsets[draws] - np.cumsum(n_taken) + n_taken
        column_indices = np.repeat(column_shifts, n_taken) + np.arange(n_taken.sum())
        n_owners = self.sizes[column_indices]
        column_shifts = self.owner_offsets[column_indices] - np.cumsum(n_owners) + n_owners
        owner_indices = np.repeat(column_shifts, n_owners) + np.arange(n_owners.sum())
        return FeatureColumns(
            n_taken,
            self.weights[column_indices],
            n_owners,
            self.owners[owner_indices],
            self.unique_weights[draws],
        )

    def count_by_draw(self, is_counted: np.ndarray) -> np.ndarray:
        """Count the marked features in each draw, shape (n_draws,)."""
        return np.bincount(self.draw[is_counted], minlength=self.n_draws)

    def sum_by_draw(self, terms: np.ndarray) -> np.ndarray:
        """Sum one number per feature over each draw, shape (n_draws,)."""
        return np.bincount(self.draw, terms, minlength=self.n_draws)

    def to_dense(
        self, start: int, stop: int, options: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return padded ownership and weight arrays of draws start to stop - 1."""
        column_slice = slice(self.column_offsets[start], self.column_offsets[stop])
        owners = self.owners[
            self.owner_offsets[column_slice.start] : self.owner_offsets[column_slice.stop]
        ]
        draw_index = self.draw[column_slice] - start
        slot_in_draw = (
            np.arange(column_slice.start, column_slice.stop)
            - self.column_offsets[start + draw_index]
        )
        if options is None:
            option_position = np.arange(self.n_options)
            n_selected = self.n_options
        else:
            option_position = np.full(self.n_options, -1)
            n_selected = len(options)
            option_position[options] = np.arange(n_selected)
        max_features = int(self.n_features[start:stop].max(initial=0))
        weights = np.zeros((stop - start, max_features))
        weights[draw_index, slot_in_draw] = self.weights[column_slice]
        column_of_owner = repeat_indices(self.sizes[column_slice])
        is_included = option_position[owners] >= 0
        features = np.zeros((stop - start, max_features, n_selected), dtype=bool)
        features[
            draw_index[column_of_owner[is_included]],
            slot_in_draw[column_of_owner[is_included]],
            option_position[owners[is_included]],
        ] = True
        return features, weights


def concatenate_chain_columns(chains: Sequence["RecordedDraws"], n_draws: int) -> FeatureColumns:
    """Concatenate the first `n_draws` draws of each chain's features."""
    arrays_by_chain = []
    for chain in chains:
        n_columns = int(np.sum(chain.n_features[:n_draws]))
        n_owners = int(np.sum(chain.sizes[:n_columns]))
        arrays_by_chain.append(
            (
                chain.n_features[:n_draws],
                chain.weights[:n_columns],
                chain.sizes[:n_columns],
                chain.owners[:n_owners],
                chain.unique_weights[:n_draws],
            )
        )
    return FeatureColumns(
        *(np.concatenate(arrays) for arrays in zip(*arrays_by_chain, strict=True))
    )


def read_columns(posterior: Posterior) -> FeatureColumns:
    """Read the features of all draws from a posterior, chain after chain."""
    weights = flatten_chains(posterior.weights)
    if posterior.unique is None:
        unique_weights = np.zeros((len(weights), posterior.n_options))
    else:
        unique_weights = flatten_chains(posterior.unique)
    if posterior.features is not None:
        features = flatten_chains(posterior.features)
        n_owners = features.sum(axis=-1, dtype=np.int64)
        owners = np.nonzero(features)[2]
    else:
        n_owners = flatten_chains(posterior.feature_sizes)
        owners = posterior.owners
        owners = owners[owners >= 0]
    has_owners = n_owners > 0
    return FeatureColumns(
        has_owners.sum(axis=1), weights[has_owners], n_owners[has_owners], owners, unique_weights
    )
