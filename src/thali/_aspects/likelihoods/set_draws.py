"""Choice probabilities out of sets, draw by draw, by the arithmetic of the samplers."""

from typing import Any

import numpy as np

from thali._compile.jit import compiled
from thali._data.answers import list_ordered_pairs
from thali._inference.indexing import iterate_slices, part_bounds
from thali.errors import DataError

from ..draws.feature_columns import FeatureColumns
from ..state import COLUMNS, clear_row, make_empty_state
from .sets import LARGEST, empty_cache, lay_out, set_shares

AT_HAND = 2**15  # numbers that a processor has at hand


def set_probability_draws(
    columns: FeatureColumns,
    start: np.ndarray,
    members: np.ndarray,
    lapse: float,
    draws: slice | None = None,
) -> np.ndarray:
    """The probability that each member of each set is chosen out of it, in each draw."""
    draws = draws or slice(0, columns.n_draws)
    if not columns.n_features[draws].any():
        return luce_probabilities(columns.unique_weights[draws], start, members, lapse)
    if (largest := int(np.diff(start).max())) > LARGEST:
        raise DataError(
            f"A set may have at most {LARGEST} options; the largest set has {largest}. Remove some"
            " options."
        )
    part = np.arange(draws.start, draws.stop)
    sets = lay_out(columns.n_options, start, members, np.zeros(len(members)), lapse)
    state = make_empty_state(columns.n_options, int(columns.n_features[part].max(initial=0)))
    probability = np.empty((part.size, len(members)))
    try:
        _fill(
            sets,
            empty_cache(sets),
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


def luce_probabilities(
    weights: np.ndarray, start: np.ndarray, members: np.ndarray, lapse: float
) -> np.ndarray:
    """The same where every option has a weight alone, (draws, options), and shares nothing: in
    proportion to it."""
    sizes = np.diff(start)
    guess, set_of = np.repeat(1.0 / sizes, sizes), np.repeat(np.arange(len(sizes)), sizes)
    shares = np.empty((len(weights), len(members)))
    step = max(1, AT_HAND // max(1, len(members)))
    for first in range(0, len(weights), step):
        share = shares[first : first + step]
        np.take(weights[first : first + step], members, axis=1, out=share)
        total = np.add.reduceat(share, start[:-1], axis=1)
        if not total.all():  # no option of a set has any weight: each is as likely
            empty = (total == 0.0)[:, set_of]
            share[empty] = np.broadcast_to(guess, share.shape)[empty]
            total[total == 0.0] = 1.0
        share /= total[:, set_of]
        share *= 1.0 - lapse
        share += lapse * guess
    return shares


def answer_probability_draws(
    columns: FeatureColumns,
    start: np.ndarray,
    members: np.ndarray,
    lapse: float,
    draws: slice | None = None,
) -> np.ndarray:
    """The probability of each ordered pair (best, worst) of each set, in each draw."""
    draws = draws or slice(0, columns.n_draws)
    if (largest := int(np.diff(start).max())) > 3:
        raise DataError(
            f"Best and worst can be predicted only for sets of up to three options; got {largest}."
        )
    # the sets out of which one is chosen, and for each answer two places of them
    sets, factors = [], []
    for of_set in np.split(members, start[1:-1]):
        whole, rests = sum(map(len, sets)), {}
        sets.append(of_set)
        for best, worst in zip(*list_ordered_pairs(len(of_set)), strict=True):
            middle = [k for k in range(len(of_set)) if k not in (best, worst)]
            if middle and best not in rests:
                rests[best] = sum(map(len, sets))
                sets.append(np.delete(of_set, best))
            at = rests[best] + int(middle[0] > worst) if middle else -1
            factors.append((whole + best, at))
    first, second = np.array(factors).T
    begin = part_bounds([len(each) for each in sets])
    p = set_probability_draws(columns, begin, np.concatenate(sets), lapse, draws)
    return p[:, first] * np.where(second < 0, 1.0, p[:, second])


def mean_over_draws(draws_of: Any, n_draws: int, size: int) -> np.ndarray:
    """The mean over draws of `size` probabilities, which a function gives for a slice of draws."""
    total = np.zeros(size)
    for draws in iterate_slices(n_draws, size):
        total += draws_of(draws).sum(axis=0)
    return total / n_draws


@compiled
def _fill(
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
    for d in range(probability.shape[0]):
        for i in range(unique.shape[1]):
            b.s[i] = unique[d, i]
        b.whole[COLUMNS] = first_column[d + 1] - first_column[d]
        for k in range(b.whole[COLUMNS]):
            clear_row(b, k)
            column = first_column[d] + k
            b.w[k] = weights[column]
            for t in range(first_owner[column], first_owner[column + 1]):
                b.Z[k, owners[t]] = 1.0
        for v in range(sets.start.shape[0] - 1):
            set_shares(sets, c, b, v)
            size = sets.start[v + 1] - sets.start[v]
            for x in range(size):
                probability[d, sets.start[v] + x] = (1.0 - sets.lapse) * c.share[
                    x
                ] + sets.lapse / size
