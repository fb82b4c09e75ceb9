"""The fits of a comparison, shares of them for several processes, and the folder that keeps them."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from thali._arguments import whole
from thali.errors import Argument, ArgumentError
from thali.inference.arrays import Arrays
from thali.inference.parts import PartsFolder
from thali.inference.seeds import root
from thali.model.registry import spec_of
from thali.model.saved import describe, digest_of, encoded

Fit = tuple[str, int]  # the name of a model, and the number of the part that is left out
Shard = tuple[int, int]  # (k, n): the k-th of n shares, from 1 on

ELSEWHERE = "in another shard"  # why a fit is missing in the table of a shard


def fits_of(names: Iterable[str], parts: int, shard: Shard | None = None) -> list[Fit]:
    """The fits of a shard, or all; shares of each model, and so their times, are as equal as can be.

    Examples
    --------
    >>> fits_of(["BTL", "iEBA"], 3, (1, 2))
    [('BTL', 0), ('BTL', 2), ('iEBA', 1)]
    """
    return share_of([(name, number) for name in names for number in range(parts)], shard)


def share_of(fits: list[Fit], shard: Shard | None) -> list[Fit]:
    """Those of a shard, or all."""
    return fits if shard is None else fits[shard[0] - 1 :: shard[1]]


def key_of(fit: Fit) -> str:
    """The name of a fit in its job."""
    name, number = fit
    return f"{number} {name}"


def fit_of(key: str) -> Fit:
    """The fit of that name."""
    number, _, name = key.partition(" ")
    return name, int(number)


def checked_shard(shard: Any, job: Any, random_seed: Any) -> Shard | None:
    """The argument `shard`, once it is clear that what it finds can be joined with the others."""
    if shard is None:
        return None
    if not isinstance(shard, tuple | list) or len(shard) != 2:
        raise ArgumentError(Argument("shard"), f" must be (k, n), the k-th of n shards; got {shard!r}.")
    k, n = (whole("shard", number, 1) for number in shard)
    if k > n:
        raise ArgumentError(Argument("shard"), f": there is no shard {k:,} of {n:,}.")
    if job is None:
        raise ArgumentError(Argument("shard"), " needs ", Argument("job"), ", the folder that keeps the fits.")
    if random_seed is None:
        raise ArgumentError(Argument("shard"), " needs ", Argument("random_seed"), ", the same for all shards.")
    return k, n


# The folder of a comparison: what it says of itself, so that only the same comparison goes on with it -----------------


BY_PREDICTION, BY_EVIDENCE = "comparison", "comparison by evidence"  # kinds of jobs
_OF_RUN = (
    "cores",
    "random_seed",
    "random_state",
    "progressbar",
    "job",
)  # parameters of classifiers that decide about no result


@contextmanager
def opened_job(
    job: Any,
    kind: str,
    named: Mapping[str, Any],
    settings: Mapping[str, Any],
    data: Any,
    random_seed: Any,
    shard: Shard | None,
    source: Arrays,
) -> Iterator[tuple[PartsFolder | None, np.random.SeedSequence]]:
    """The folder of a comparison, if it has one, and its seed, which is that of the job where none was given.

    `settings` and `data` are what determines the results; `source` is what makes a table of them without the data.
    """
    if job is None:
        yield None, root(random_seed)
        return
    stamp = {
        "kind": kind,
        "models": {name: _described(model) for name, model in named.items()},
        "settings": {name: encoded(value, None) for name, value in settings.items()},
        "data": digest_of(data),
        "shard": shard,
    }
    with PartsFolder(job, stamp, random_seed, source) as folder:
        yield folder, folder.seed


def _described(model: Any) -> dict[str, Any]:
    """What determines the results of a model, besides data and settings, as JSON."""
    if spec_of(model) is None:
        has_repr = type(model).__repr__ is not object.__repr__
        parameters = (
            {"model": repr(model)} if has_repr else {name: encoded(each, None) for name, each in vars(model).items()}
        )
        return {"class": type(model).__name__, "parameters": parameters}
    described = describe(model)
    return described | {
        "parameters": {name: value for name, value in described["parameters"].items() if name not in _OF_RUN}
    }
