"""The record of a chain: columns as lists of owners, draw after draw."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar
from thali._inference.arrays import Arrays, fill_rows

from ..operations import log_likelihood, note_parameters
from ..state import ALPHA, COLUMNS, FULL, SWEEPS, has_free_singles
from ..weight_priors import weight

# The draws of one chain ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ChainDraws:
    """The recorded draws of one chain; features are ragged, concatenated draw after draw."""

    alpha: np.ndarray  # (draws,) float64
    # (draws,) float64, whole data, natural log, without binomial coefficients
    log_likelihood: np.ndarray
    # (draws, n_options) float64; zeros when the model has no unique aspects
    unique_weights: np.ndarray
    n_features: np.ndarray  # (draws,) int64: columns with at least one owner in each draw
    weights: np.ndarray  # (sum n_features,) float64
    sizes: np.ndarray  # (sum n_features,) int64: owners of each column, >= 1
    owners: np.ndarray  # (sum sizes,) int32: option indices, ascending within a column
    # (draws,) of each parameter of the likelihood
    extra: dict[str, np.ndarray] = field(default_factory=dict)
    kinds: np.ndarray = field(
        default_factory=lambda: np.zeros((0, 0), np.int16)
    )  # (draws, people), if these are unknown
    # of the whole chain, for sample_stats: numbers, or arrays
    stats: dict[str, Any] = field(default_factory=dict)


DRAW, FEATURE, OWNER = range(3)


class ChainRecord(NamedTuple):
    """Growing arrays; `used` says how much of each is filled."""

    used: np.ndarray  # (3,) int64 DRAW, FEATURE, OWNER
    alpha: np.ndarray
    log_likelihood: np.ndarray
    n_features: np.ndarray
    unique_weights: np.ndarray  # (draws, n)
    weights: np.ndarray
    sizes: np.ndarray
    owners: np.ndarray
    extra: np.ndarray  # (draws, parameters of the likelihood)
    # (draws, people) int16: of which kind everybody is; nobody, unless kinds of people are unknown
    kinds: np.ndarray


def empty_record(draws: int, n: int, parameters: int = 0, people: int = 0) -> ChainRecord:
    """Room for all draws, and a guess of the room for their features."""
    features = 16 * draws + 64
    return ChainRecord(
        used=np.zeros(3, np.int64),
        alpha=np.zeros(draws),
        log_likelihood=np.zeros(draws),
        n_features=np.zeros(draws, np.int64),
        unique_weights=np.zeros((draws, n)),
        weights=np.zeros(features),
        sizes=np.zeros(features, np.int64),
        owners=np.zeros(4 * features + 64 * n, np.int32),
        extra=np.zeros((draws, parameters)),
        kinds=np.zeros((draws, people), np.int16),
    )


def enlarged(record: ChainRecord) -> ChainRecord:
    """A copy with twice the room for features and their owners."""

    def twice(a: Any) -> Any:
        return np.concatenate([a, np.zeros_like(a)])

    return record._replace(
        weights=twice(record.weights), sizes=twice(record.sizes), owners=twice(record.owners)
    )


_BY_DRAW = ("alpha", "log_likelihood", "n_features", "unique_weights", "extra", "kinds")


def draws_between(record: ChainRecord, first: int, last: int, skipped: int) -> Arrays:
    """The draws from number `first` to before `last`, columns as lists of owners; the first
    `skipped` are not here."""
    found = {name: getattr(record, name)[first:last] for name in _BY_DRAW}
    start = int(record.n_features[skipped:first].sum())
    features = slice(start, start + int(record.n_features[first:last].sum()))
    start = int(record.sizes[: features.start].sum())
    sizes = record.sizes[features]
    owners = record.owners[start : start + int(sizes.sum())]
    return found | {"weights": record.weights[features], "sizes": sizes, "owners": owners}


def adopted(record: ChainRecord, draws: Arrays, first: int) -> ChainRecord:
    """A record that begins with these draws, of which the first has that number."""
    last = first + len(draws["alpha"])
    for name in _BY_DRAW:
        fill_rows(getattr(record, name)[first:last], draws[name])
    counts, sizes, owners = draws["n_features"], draws["sizes"], draws["owners"]
    if not (counts.sum() == len(sizes) == len(draws["weights"]) and sizes.sum() == len(owners)):
        raise ValueError("draws whose features are not there")
    longer = {
        name: np.concatenate([draws[name], getattr(record, name)])
        for name in ("weights", "sizes", "owners")
    }
    used = np.array([last, len(draws["weights"]), len(draws["owners"])])
    return record._replace(used=used, **longer)


def skipping(record: ChainRecord, draws: int) -> ChainRecord:
    """A record that goes on after so many draws, which are elsewhere."""
    return record._replace(used=np.array([draws, 0, 0]))


def chain_draws(drawn: Arrays, parameters: tuple[str, ...], stats: dict[str, Any]) -> ChainDraws:
    """What `draws_between` gave, by name; `parameters` are the names of the likelihood's own."""
    extra = {name: drawn["extra"][:, p] for p, name in enumerate(parameters)}
    return ChainDraws(
        **{name: array for name, array in drawn.items() if name != "extra"},
        extra=extra,
        stats=stats,
    )


@scalar
def is_due(b: Any, out: Any, tune: int, thin: Any) -> Any:
    """Whether the last sweep is to be recorded."""
    return b.whole[SWEEPS] > tune and (b.whole[SWEEPS] - tune) // thin > out.used[DRAW]


@scalar
def has_room(b: Any, out: Any) -> Any:
    """Whether the columns of the current state fit into the rest of the record."""
    features = b.whole[COLUMNS] + b.whole[FULL]
    owners = b.whole[FULL] * b.singles.shape[0]
    for k in range(b.whole[COLUMNS]):
        owners += b.m[k]
    for i in range(b.singles.shape[0]):
        features += b.singles[i]
        owners += b.singles[i]
    return (
        out.used[FEATURE] + features <= out.weights.shape[0]
        and out.used[OWNER] + owners <= out.owners.shape[0]
    )


@scalar
def record(rng: np.random.Generator, model: Any, c: Any, b: Any, out: Any) -> None:
    """Record the state; columns of single options are split from their unique weights."""
    n = b.singles.shape[0]
    draw = out.used[DRAW]
    before = out.used[FEATURE]
    for k in range(b.whole[COLUMNS]):
        if b.m[k] > 0:
            open_feature(out, b.w[k], b.m[k])
            for i in range(n):
                if b.Z[k, i] != 0.0:
                    add_owner(out, i)
    for i in range(n):
        out.unique_weights[draw, i] = b.s[i]
        if b.singles[i] > 0 and has_free_singles(model):
            for _ in range(b.singles[i]):
                open_feature(out, weight(rng, model), 1)
                add_owner(out, i)
        elif b.singles[i] > 0:
            fixed = rng.standard_exponential()
            total = fixed
            first = out.used[FEATURE]
            for _ in range(b.singles[i]):
                part = rng.standard_exponential()
                total += part
                open_feature(out, part, 1)
                add_owner(out, i)
            share = b.s[i] / total
            out.unique_weights[draw, i] = fixed * share
            for f in range(first, out.used[FEATURE]):
                out.weights[f] *= share
    for _ in range(b.whole[FULL]):
        open_feature(out, weight(rng, model), n)
        for i in range(n):
            add_owner(out, i)
    out.n_features[draw] = out.used[FEATURE] - before
    out.alpha[draw] = b.real[ALPHA]
    out.log_likelihood[draw] = log_likelihood(model.likelihood, c, b)
    note_parameters(model.likelihood, c, b, out.extra, draw)
    out.used[DRAW] = draw + 1


@scalar
def open_feature(out: Any, w: Any, m: Any) -> None:
    out.weights[out.used[FEATURE]] = w
    out.sizes[out.used[FEATURE]] = m
    out.used[FEATURE] += 1


@scalar
def add_owner(out: Any, i: Any) -> None:
    out.owners[out.used[OWNER]] = i
    out.used[OWNER] += 1
