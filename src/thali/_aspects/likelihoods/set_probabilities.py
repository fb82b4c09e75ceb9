"""Choice probabilities of sets at posterior draws, by the samplers' kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np

from thali._compile.jit import compiled
from thali._data.respondent_answers import list_ordered_pairs
from thali._inference.index_arithmetic import iterate_slices, part_bounds, repeat_indices
from thali._inference.numerics.array_parts import part_range, part_size
from thali.errors import DataError

from ..chain_state import COLUMNS, clear_row, make_empty_state
from ..draws.feature_columns import FeatureColumns
from .elimination_kernels import MAX_SET_SIZE, arrange_sets, compute_set_shares, make_set_cache

CACHE_NUMBERS = 2**15  # numbers that fit into the processor's cache


def compute_set_probabilities(
    feature_columns: FeatureColumns,
    start: np.ndarray,
    members: np.ndarray,
    lapse: float,
    draws: slice | None = None,
) -> np.ndarray:
    """Return choice probabilities of all set members, shape (n_draws, n_members)."""
    draws = draws or slice(0, feature_columns.n_draws)
    if not feature_columns.n_features[draws].any():
        return compute_luce_probabilities(
            feature_columns.unique_weights[draws], start, members, lapse
        )
    if (max_set_size := int(np.diff(start).max())) > MAX_SET_SIZE:
        raise DataError(
            f"A set may have at most {MAX_SET_SIZE} options; the largest set has {max_set_size}."
            " Remove some options."
        )
    sets = arrange_sets(feature_columns.n_options, start, members, np.zeros(len(members)), lapse)
    state = make_empty_state(
        feature_columns.n_options, int(feature_columns.n_features[draws].max(initial=0))
    )
    probability = np.empty((draws.stop - draws.start, len(members)))
    try:
        _fill_probabilities(
            sets,
            make_set_cache(sets),
            state,
            feature_columns.column_offsets[draws.start : draws.stop + 1],
            feature_columns.owner_offsets,
            np.ascontiguousarray(feature_columns.owners, np.int64),
            feature_columns.weights,
            np.ascontiguousarray(feature_columns.unique_weights[draws]),
            probability,
        )
    except OverflowError as error:
        raise DataError(error, f" The largest set has {max_set_size} options.") from None
    return probability


def compute_luce_probabilities(
    weights: np.ndarray, start: np.ndarray, members: np.ndarray, lapse: float
) -> np.ndarray:
    """Return choice probabilities proportional to unique weights, (n_draws, n_members).

    `weights` has shape (draws, options), and no aspect is shared.
    """
    set_sizes = np.diff(start)
    uniform_probability = np.repeat(1.0 / set_sizes, set_sizes)
    set_index = repeat_indices(set_sizes)
    probabilities = np.empty((len(weights), len(members)))
    for draws in iterate_slices(len(weights), len(members), CACHE_NUMBERS):
        share_block = probabilities[draws]
        np.take(weights[draws], members, axis=1, out=share_block)
        set_totals = np.add.reduceat(share_block, start[:-1], axis=1)
        if not set_totals.all():  # in a set without weights, options are equally probable
            is_empty = (set_totals == 0.0)[:, set_index]
            share_block[is_empty] = np.broadcast_to(uniform_probability, share_block.shape)[
                is_empty
            ]
            set_totals[set_totals == 0.0] = 1.0
        share_block /= set_totals[:, set_index]
        share_block *= 1.0 - lapse
        share_block += lapse * uniform_probability
    return probabilities


def compute_answer_probabilities(
    feature_columns: FeatureColumns,
    start: np.ndarray,
    members: np.ndarray,
    lapse: float,
    draws: slice | None = None,
) -> np.ndarray:
    """Return probabilities of all (best, worst) answers, (n_draws, n_answers)."""
    draws = draws or slice(0, feature_columns.n_draws)
    if (max_set_size := int(np.diff(start).max())) > 3:
        raise DataError(
            "Best and worst can be predicted only for sets of up to three options; got"
            f" {max_set_size}."
        )
    # the sets from which one option is chosen, and two positions in them for each answer
    all_sets = []
    answer_factors = []
    for set_members in np.split(members, start[1:-1]):
        full_set_index = sum(map(len, all_sets))
        rest_set_index = {}
        all_sets.append(set_members)
        for best, worst in zip(*list_ordered_pairs(len(set_members)), strict=True):
            middle_members = [k for k in range(len(set_members)) if k not in (best, worst)]
            if middle_members and best not in rest_set_index:
                rest_set_index[best] = sum(map(len, all_sets))
                all_sets.append(np.delete(set_members, best))
            middle_index = -1
            if middle_members:
                middle_index = rest_set_index[best] + int(middle_members[0] > worst)
            answer_factors.append((full_set_index + best, middle_index))
    best_index, middle_indices = np.array(answer_factors).T
    set_starts = part_bounds(list(map(len, all_sets)))
    set_probabilities = compute_set_probabilities(
        feature_columns, set_starts, np.concatenate(all_sets), lapse, draws
    )
    return set_probabilities[:, best_index] * np.where(
        middle_indices < 0, 1.0, set_probabilities[:, middle_indices]
    )


def average_over_draws(
    compute_draws: Callable[..., np.ndarray], n_draws: int, size: int
) -> np.ndarray:
    """Return the mean over draws of `size` probabilities, computed in blocks.

    `draws_of` computes them for a slice of draws.
    """
    summed_probability = np.zeros(size)
    for draw_slice in iterate_slices(n_draws, size):
        summed_probability += compute_draws(draw_slice).sum(axis=0)
    return summed_probability / n_draws


@compiled
def _fill_probabilities(
    sets: Any,
    c: Any,
    b: Any,
    first_column: Any,
    first_owner: Any,
    owners: Any,
    weights: Any,
    unique: Any,
    probability: Any,
) -> None:
    """Fill the choice probabilities of all set members at every draw."""
    for d in range(probability.shape[0]):
        for i in range(unique.shape[1]):
            b.s[i] = unique[d, i]
        b.whole[COLUMNS] = part_size(first_column, d)
        for k in range(b.whole[COLUMNS]):
            clear_row(b, k)
            column = first_column[d] + k
            b.w[k] = weights[column]
            for t in part_range(first_owner, column):
                b.Z[k, owners[t]] = 1.0
        for v in range(sets.start.size - 1):
            compute_set_shares(sets, c, b, v)
            size = part_size(sets.start, v)
            for x in range(size):
                probability[d, sets.start[v] + x] = (1.0 - sets.lapse) * c.share[
                    x
                ] + sets.lapse / size
