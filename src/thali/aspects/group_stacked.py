"""The likelihoods of several groups as one, of the same class, whose arrays have a group along their first axis."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from thali.compile.jit import generic

from .likelihoods.pair_blocks import WIDTH, Pairs, PairsWithoutUnique, PairsWithTies, PairsWithTiesWithoutUnique
from .likelihoods.residuals import Judgements
from .likelihoods.sets import Sets, empty_cache


@generic
def group_at(likelihood: Any, g: Any) -> None:
    """The likelihood of group g, from the stacked one."""


@group_at.register(Pairs)
def _pairs(pairs: Any, g: Any) -> Any:
    return Pairs(
        pairs.start[g], pairs.neighbour[g], pairs.transposed[g], pairs.wins[g], pairs.losses[g], pairs.scale, pairs.base
    )


@group_at.register(PairsWithoutUnique)
def _pairs_without_unique(pairs: Any, g: Any) -> Any:
    return PairsWithoutUnique(
        pairs.start[g], pairs.neighbour[g], pairs.transposed[g], pairs.wins[g], pairs.losses[g], pairs.scale, pairs.base
    )


@group_at.register(PairsWithTies)
def _pairs_with_ties(pairs: Any, g: Any) -> Any:
    return PairsWithTies(
        pairs.start[g], pairs.neighbour[g], pairs.transposed[g], pairs.wins[g], pairs.losses[g], pairs.scale, pairs.base
    )


@group_at.register(PairsWithTiesWithoutUnique)
def _pairs_with_ties_without_unique(pairs: Any, g: Any) -> Any:
    return PairsWithTiesWithoutUnique(
        pairs.start[g], pairs.neighbour[g], pairs.transposed[g], pairs.wins[g], pairs.losses[g], pairs.scale, pairs.base
    )


@group_at.register(Judgements)
def _judgements(judgements: Any, g: Any) -> Any:
    return Judgements(
        judgements.value[g],
        judgements.measured[g],
        judgements.share[g],
        judgements.pairs[g],
        judgements.total[g],
        judgements.single[g],
        judgements.complete[g],
        judgements.shape,
        judgements.rate,
        judgements.has_constant,
        judgements.learns_variance,
        judgements.variance[g],
        judgements.prior_shape,
        judgements.prior_scale[g],
    )


@group_at.register(Sets)
def _sets(sets: Any, g: Any) -> Any:
    return Sets(sets.start[g], sets.member[g], sets.count[g], sets.first[g], sets.within[g], sets.lapse)


_BY_GROUP = ("value", "measured", "share", "pairs", "total", "single", "complete", "variance", "prior_scale")
_OF_SETS = ("member", "count", "first", "within")


def stacked(parts: Sequence[Any]) -> Any:
    """The stacked likelihood of these, which are of one class."""
    if isinstance(parts[0], Judgements):
        return parts[0]._replace(**{name: np.array([getattr(each, name) for each in parts]) for name in _BY_GROUP})
    if isinstance(parts[0], Sets):
        arrays = {name: _stacked([getattr(each, name) for each in parts]) for name in _OF_SETS}
        return parts[0]._replace(**arrays, start=_stacked([each.start for each in parts], ending="edge"))
    padded = padded_pairs(parts)
    names = ("start", "neighbour", "transposed", "wins", "losses")
    return padded[0]._replace(**{name: np.stack([getattr(each, name) for each in padded]) for name in names})


def make_caches(compiled: Sequence[tuple[Any, Any]]) -> list[Callable[..., Any]]:
    """A function for each group that makes its cache, of the same shapes in all, from likelihoods with their own."""
    if not isinstance(compiled[0][0], Sets):
        return [make for _, make in compiled]
    largest = max(int(np.diff(sets.start).max()) for sets, _ in compiled)
    return [partial(empty_cache, largest=largest) for _ in compiled]


def _stacked(arrays: Sequence[np.ndarray], ending: Any = "constant") -> np.ndarray:
    """Arrays of different lengths, the shorter ones filled up with 0, or with their last element: sets of no option."""
    most = max(each.size for each in arrays)
    return np.stack([np.pad(each, (0, most - each.size), mode=ending) for each in arrays])


def padded_pairs(parts: Sequence[Any]) -> list[Any]:
    """Pairs with the same number of blocks in every group: further blocks, which no option has, hold no counts."""
    most = max(each.neighbour.shape[0] for each in parts)
    return [_with_blocks(each, most) for each in parts]


def _with_blocks(pairs: Any, blocks: int) -> Any:
    missing, n = blocks - pairs.neighbour.shape[0], pairs.start.size - 1
    empty, slots = np.zeros((missing, WIDTH)), np.arange(pairs.neighbour.size, blocks * WIDTH, dtype=np.uint64)
    return pairs._replace(
        neighbour=np.concatenate([pairs.neighbour, np.full((missing, WIDTH), n, np.uint64)]),
        transposed=np.concatenate([pairs.transposed, slots.reshape(-1, WIDTH)]),
        wins=np.concatenate([pairs.wins, empty]),
        losses=np.concatenate([pairs.losses, empty]),
    )
