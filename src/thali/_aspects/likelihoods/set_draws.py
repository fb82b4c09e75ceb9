"""Choice probabilities of sets at posterior draws, by the samplers' kernels."""

from typing import Any

import numpy as np

from thali._compile.jit import compiled
from thali._data.respondent_answers import list_ordered_pairs
from thali._inference.indexing import iterate_slices, part_bounds, repeat_indices
from thali._inference.numerics.bounds import part_range, part_size
from thali.errors import DataError

from ..draws.feature_columns import FeatureColumns
from ..state import COLUMNS, clear_row, make_empty_state
from .elimination_kernels import MAX_SET_SIZE, arrange_sets, compute_set_shares, make_set_cache

CACHE_NUMBERS = 2**15  # numbers that fit into the processor's cache


def compute_set_probabilities(
    columns: FeatureColumns,
    start: np.ndarray,
    members: np.ndarray,
    lapse: float,
    draws: slice | None = None,
) -> np.ndarray:
    """Return choice probabilities of all set members, shape (n_draws, n_members)."""
    draws = draws or slice(0, columns.n_draws)
    if not columns.n_features[draws].any():
        return compute_luce_probabilities(columns.unique_weights[draws], start, members, lapse)
    if (largest := int(np.diff(start).max())) > MAX_SET_SIZE:
        raise DataError(
            f"A set may have at most {MAX_SET_SIZE} options; the largest set has {largest}. Remove"
            " some options."
        )
    sets = arrange_sets(columns.n_options, start, members, np.zeros(len(members)), lapse)
    state = make_empty_state(columns.n_options, int(columns.n_features[draws].max(initial=0)))
    probability = np.empty((draws.stop - draws.start, len(members)))
    try:
        _fill_probabilities(
            sets,
            make_set_cache(sets),
            state,
            columns.column_offsets[draws.start : draws.stop + 1],
            columns.owner_offsets,
            np.ascontiguousarray(columns.owners, np.int64),
            columns.weights,
            np.ascontiguousarray(columns.unique_weights[draws]),
            probability,
        )
    except OverflowError as error:
        raise DataError(error, f" The largest set has {largest} options.") from None
    return probability


def compute_luce_probabilities(
    weights: np.ndarray, start: np.ndarray, members: np.ndarray, lapse: float
) -> np.ndarray:
    """Return choice probabilities proportional to unique weights, (n_draws, n_members).

    `weights` has shape (draws, options), and no aspect is shared.
    """
    sizes = np.diff(start)
    chance, set_of = np.repeat(1.0 / sizes, sizes), repeat_indices(sizes)
    shares = np.empty((len(weights), len(members)))
    for draws in iterate_slices(len(weights), len(members), CACHE_NUMBERS):
        share = shares[draws]
        np.take(weights[draws], members, axis=1, out=share)
        total = np.add.reduceat(share, start[:-1], axis=1)
        if not total.all():  # in a set without weights, options are equally probable
            is_empty = (total == 0.0)[:, set_of]
            share[is_empty] = np.broadcast_to(chance, share.shape)[is_empty]
            total[total == 0.0] = 1.0
        share /= total[:, set_of]
        share *= 1.0 - lapse
        share += lapse * chance
    return shares


def compute_answer_probabilities(
    columns: FeatureColumns,
    start: np.ndarray,
    members: np.ndarray,
    lapse: float,
    draws: slice | None = None,
) -> np.ndarray:
    """Return probabilities of all (best, worst) answers, (n_draws, n_answers)."""
    draws = draws or slice(0, columns.n_draws)
    if (largest := int(np.diff(start).max())) > 3:
        raise DataError(
            f"Best and worst can be predicted only for sets of up to three options; got {largest}."
        )
    # the sets from which one option is chosen, and two positions in them for each answer
    sets, factors = [], []
    for set_members in np.split(members, start[1:-1]):
        full_start, rest_starts = sum(map(len, sets)), {}
        sets.append(set_members)
        for best, worst in zip(*list_ordered_pairs(len(set_members)), strict=True):
            middle_members = [k for k in range(len(set_members)) if k not in (best, worst)]
            if middle_members and best not in rest_starts:
                rest_starts[best] = sum(map(len, sets))
                sets.append(np.delete(set_members, best))
            middle_index = -1
            if middle_members:
                middle_index = rest_starts[best] + int(middle_members[0] > worst)
            factors.append((full_start + best, middle_index))
    best_index, middle_indices = np.array(factors).T
    set_starts = part_bounds(list(map(len, sets)))
    p = compute_set_probabilities(columns, set_starts, np.concatenate(sets), lapse, draws)
    return p[:, best_index] * np.where(middle_indices < 0, 1.0, p[:, middle_indices])


def average_over_draws(compute_draws: Any, n_draws: int, size: int) -> np.ndarray:
    """Return the mean over draws of `size` probabilities, computed in blocks.

    `draws_of` computes them for a slice of draws.
    """
    total = np.zeros(size)
    for draws in iterate_slices(n_draws, size):
        total += compute_draws(draws).sum(axis=0)
    return total / n_draws


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
