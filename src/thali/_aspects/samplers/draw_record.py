"""Growing arrays that record a chain's draws, with features as lists of owners."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar
from thali._inference.array_dict_encoding import Arrays, fill_rows

from ..chain_state import ALPHA, COLUMNS, FULL, SWEEPS, count_options, has_free_singles, owns
from ..kernel_operations import log_likelihood, record_parameters
from ..weight_priors import draw_prior_weight

# The draws of one chain ---------------------------------------------------------------------------


@dataclass(frozen=True)
class RecordedDraws:
    """Recorded draws of one chain; `owners` joins the owner lists of all features.

    The list of column c has `sizes[c]` entries.
    """

    alpha: np.ndarray  # (draws,) float64
    # (draws,) float64, complete data, natural log, without binomial coefficients
    log_likelihood: np.ndarray
    # (draws, n_options) float64; zeros when the model has no unique aspects
    unique_weights: np.ndarray
    n_features: np.ndarray  # (draws,) int64: columns with at least one owner in each draw
    weights: np.ndarray  # (sum n_features,) float64
    sizes: np.ndarray  # (sum n_features,) int64: owners of each column, >= 1
    owners: np.ndarray  # (sum sizes,) int32: option indices, ascending within a column
    # (draws,) of each parameter of the likelihood
    extra: dict[str, np.ndarray] = field(default_factory=dict)
    # of the complete chain, for sample_stats: numbers, or arrays
    stats: dict[str, Any] = field(default_factory=dict)


DRAW, FEATURE, OWNER = range(3)


class ChainRecord(NamedTuple):
    """Growing arrays of a chain's draws; `used` counts filled draws, features, owners."""

    used: np.ndarray  # (3,) int64 DRAW, FEATURE, OWNER
    alpha: np.ndarray
    log_likelihood: np.ndarray
    n_features: np.ndarray
    unique_weights: np.ndarray  # (draws, n)
    weights: np.ndarray
    sizes: np.ndarray
    owners: np.ndarray
    extra: np.ndarray  # (draws, parameters of the likelihood)


def empty_record(draws: int, n_options: int, n_parameters: int = 0) -> ChainRecord:
    """Allocate arrays for all draws, with guessed room for their features."""
    feature_room = 16 * draws + 64
    return ChainRecord(
        used=np.zeros(3, np.int64),
        alpha=np.zeros(draws),
        log_likelihood=np.zeros(draws),
        n_features=np.zeros(draws, np.int64),
        unique_weights=np.zeros((draws, n_options)),
        weights=np.zeros(feature_room),
        sizes=np.zeros(feature_room, np.int64),
        owners=np.zeros(4 * feature_room + 64 * n_options, np.int32),
        extra=np.zeros((draws, n_parameters)),
    )


def enlarge_record(record: ChainRecord) -> ChainRecord:
    """Return a copy of the record with twice the room for features and owners."""

    def double_length(a: np.ndarray) -> Any:
        """Return a copy of the array with twice the length."""
        return np.concatenate([a, np.zeros_like(a)])

    return record._replace(
        weights=double_length(record.weights),
        sizes=double_length(record.sizes),
        owners=double_length(record.owners),
    )


_BY_DRAW = ("alpha", "log_likelihood", "n_features", "unique_weights", "extra")


def slice_draws(record: ChainRecord, first: int, stop: int, n_skipped: int) -> Arrays:
    """Return draws `first` to `stop` - 1; the record lacks the first `n_skipped` draws."""
    draw_arrays = {name: getattr(record, name)[first:stop] for name in _BY_DRAW}
    offset = int(record.n_features[n_skipped:first].sum())
    feature_slice = slice(offset, offset + int(record.n_features[first:stop].sum()))
    offset = int(record.sizes[: feature_slice.start].sum())
    n_owners = record.sizes[feature_slice]
    owners = record.owners[offset : offset + int(n_owners.sum())]
    return draw_arrays | {
        "weights": record.weights[feature_slice],
        "sizes": n_owners,
        "owners": owners,
    }


def prepend_draws(record: ChainRecord, draws: Arrays, start: int) -> ChainRecord:
    """Return a record that starts with these stored draws, from index `start`."""
    n_filled = start + len(draws["alpha"])
    for array_name in _BY_DRAW:
        fill_rows(getattr(record, array_name)[start:n_filled], draws[array_name])
    n_features = draws["n_features"]
    n_owners = draws["sizes"]
    owners = draws["owners"]
    if not (
        n_features.sum() == len(n_owners) == len(draws["weights"]) and n_owners.sum() == len(owners)
    ):
        raise ValueError("draws whose features are not there")
    ragged_arrays = {
        array_name: np.concatenate([draws[array_name], getattr(record, array_name)])
        for array_name in ("weights", "sizes", "owners")
    }
    used_counts = np.array([n_filled, len(draws["weights"]), len(draws["owners"])])
    return record._replace(used=used_counts, **ragged_arrays)


def skip_draws(record: ChainRecord, n_draws: int) -> ChainRecord:
    """Return an emptied record that continues after `n_draws` draws stored elsewhere."""
    return record._replace(used=np.array([n_draws, 0, 0]))


def build_chain_draws(
    arrays: Arrays, parameters: tuple[str, ...], stats: dict[str, Any]
) -> RecordedDraws:
    """Build `RecordedDraws` from the arrays of `slice_draws` and parameter names."""
    parameter_draws = {name: arrays["extra"][:, p] for p, name in enumerate(parameters)}
    return RecordedDraws(
        **{name: array for name, array in arrays.items() if name != "extra"},
        extra=parameter_draws,
        stats=stats,
    )


@scalar
def is_due(b: Any, record: Any, tune: int, thin: Any) -> Any:
    """Return whether the last sweep is one that is recorded."""
    return b.whole[SWEEPS] > tune and (b.whole[SWEEPS] - tune) // thin > record.used[DRAW]


@scalar
def has_room(b: Any, record: Any) -> Any:
    """Return whether the record has room for the features of the current state."""
    n_features = b.whole[COLUMNS] + b.whole[FULL]
    n_owners = b.whole[FULL] * b.singles.size
    for k in range(b.whole[COLUMNS]):
        n_owners += b.m[k]
    for i in range(b.singles.size):
        n_features += b.singles[i]
        n_owners += b.singles[i]
    return (
        record.used[FEATURE] + n_features <= record.weights.shape[0]
        and record.used[OWNER] + n_owners <= record.owners.shape[0]
    )


@scalar
def record_state(rng: np.random.Generator, model: Any, c: Any, b: Any, record: Any) -> None:
    """Record the state; draw the features of one owner hidden in unique weights."""
    n = b.singles.size
    draw = record.used[DRAW]
    n_before = record.used[FEATURE]
    for k in range(b.whole[COLUMNS]):
        if b.m[k] > 0:
            open_feature(record, b.w[k], b.m[k])
            add_owners(record, b, k)
    for i in range(n):
        record.unique_weights[draw, i] = b.s[i]
        if b.singles[i] > 0 and has_free_singles(model):
            for _ in range(b.singles[i]):
                open_feature(record, draw_prior_weight(rng, model), 1)
                add_owner(record, i)
        elif b.singles[i] > 0:
            unique_weight = rng.standard_exponential()
            total = unique_weight
            first_feature = record.used[FEATURE]
            for _ in range(b.singles[i]):
                weight_k = rng.standard_exponential()
                total += weight_k
                open_feature(record, weight_k, 1)
                add_owner(record, i)
            share = b.s[i] / total
            record.unique_weights[draw, i] = unique_weight * share
            for f in range(first_feature, record.used[FEATURE]):
                record.weights[f] *= share
    for _ in range(b.whole[FULL]):
        open_feature(record, draw_prior_weight(rng, model), n)
        for i in range(n):
            add_owner(record, i)
    record.n_features[draw] = record.used[FEATURE] - n_before
    record.alpha[draw] = b.real[ALPHA]
    record.log_likelihood[draw] = log_likelihood(model.likelihood, c, b)
    record_parameters(model.likelihood, c, b, record.extra, draw)
    record.used[DRAW] = draw + 1


@scalar
def open_feature(record: Any, w: Any, m: Any) -> None:
    """Append a feature with weight w and m owners to the record."""
    record.weights[record.used[FEATURE]] = w
    record.sizes[record.used[FEATURE]] = m
    record.used[FEATURE] += 1


@scalar
def add_owners(record: Any, b: Any, k: Any) -> None:
    """Append the owners of feature k to the record."""
    for i in range(count_options(b)):
        if owns(b, i, k):
            add_owner(record, i)


@scalar
def add_owner(record: Any, i: Any) -> None:
    """Append option i to the owners in the record."""
    record.owners[record.used[OWNER]] = i
    record.used[OWNER] += 1
