"""The fits of a comparison, and the share of them that one of several processes carries out."""

from collections.abc import Iterable
from typing import Any

from thali._arguments import whole
from thali.errors import Argument, ArgumentError

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
