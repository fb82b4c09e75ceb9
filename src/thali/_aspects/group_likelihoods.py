"""The likelihoods of several groups as one, of the same class, whose arrays have a group along
their first axis.

A likelihood that groups can have registers `group_at`, which takes one group out, and a function in
`_JOINED`, which stacks the likelihoods of all of them. Where groups have different numbers of
answers, arrays are filled up with answers that were never given, which count 0 and which no move
looks at.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from thali._data.answers import OUTCOMES

from .group_state import ClassAnswers, group_at
from .likelihoods.pair_blocks import PAIRS_ALONE, WIDTH
from .likelihoods.pair_covariates import CLASSES
from .likelihoods.pair_sets import AnsweredPairSets
from .likelihoods.residuals import Judgements
from .likelihoods.sets import OfferedSets, empty_cache


def _register_pairs(cls: Any) -> None:
    """Register what takes the pairs of one group out."""

    @group_at.register(cls)
    def _pairs(pairs: Any, g: Any) -> Any:
        return cls(
            pairs.start[g],
            pairs.neighbour[g],
            pairs.transposed[g],
            pairs.wins[g],
            pairs.losses[g],
            pairs.scale,
            pairs.base,
        )


def _register_pairs_with_covariates(cls: Any) -> None:
    """Register what takes the pairs with covariates of one group out."""

    @group_at.register(cls)
    def _pairs(pairs: Any, g: Any) -> Any:
        return cls(
            pairs.start[g],
            pairs.neighbour[g],
            pairs.transposed[g],
            pairs.wins[g],
            pairs.losses[g],
            pairs.scale,
            pairs.base,
            pairs.x[g],
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


@group_at.register(OfferedSets)
def _sets(sets: Any, g: Any) -> Any:
    return OfferedSets(
        sets.start[g], sets.member[g], sets.count[g], sets.first[g], sets.within[g], sets.lapse
    )


@group_at.register(AnsweredPairSets)
def _pair_sets(sets: Any, g: Any) -> Any:
    return AnsweredPairSets(
        sets.start[g],
        sets.pair[g],
        sets.times[g],
        sets.lower[g],
        sets.upper[g],
        sets.set_start[g],
        sets.set_of[g],
        sets.pair_start[g],
        sets.pair_of[g],
        sets.other[g],
        sets.is_ratio,
        sets.lapse,
        sets.shape,
        sets.rate,
    )


WITH_COVARIATES = tuple(CLASSES.values())
_OF_PAIRS_ALONE = tuple(PAIRS_ALONE.values())
for _cls in _OF_PAIRS_ALONE:
    _register_pairs(_cls)
for _cls in WITH_COVARIATES:
    _register_pairs_with_covariates(_cls)

_OF_JUDGEMENTS = (
    "value",
    "measured",
    "share",
    "pairs",
    "total",
    "single",
    "complete",
    "variance",
    "prior_scale",
)
_OF_SETS = ("member", "count", "first", "within")
_OF_PAIR_SETS = (
    "start",
    "pair",
    "times",
    "lower",
    "upper",
    "set_start",
    "set_of",
    "pair_start",
    "pair_of",
    "other",
)
_OF_PAIRS = ("start", "neighbour", "transposed", "wins", "losses")


def stacked(parts: Sequence[Any]) -> Any:
    """The stacked likelihood of these, which are of one class."""
    return _JOINED[type(parts[0])](parts)


def _with_stacked(parts: Sequence[Any], names: Sequence[str]) -> Any:
    """The first part with these arrays of all, the shorter ones filled up with 0."""
    return parts[0]._replace(
        **{name: _stacked([np.asarray(getattr(each, name)) for each in parts]) for name in names}
    )


def _joined_judgements(parts: Sequence[Any]) -> Any:
    return parts[0]._replace(
        **{name: np.array([getattr(each, name) for each in parts]) for name in _OF_JUDGEMENTS}
    )


def _joined_sets(parts: Sequence[Any]) -> Any:
    return _with_stacked(parts, _OF_SETS)._replace(
        start=_stacked([each.start for each in parts], ending="edge")
    )


def _joined_pair_sets(parts: Sequence[Any]) -> Any:
    return _with_stacked(_with_rows(parts, "pair", [0]), _OF_PAIR_SETS)


def _with_rows(parts: Sequence[Any], name: str, row: list[int]) -> list[Any]:
    """The parts with as many rows in each, whose places are in the field `name`; of a new row they
    are `row`."""
    most = max(each.start.size for each in parts)
    found = []
    for each in parts:
        missing, places = most - each.start.size, getattr(each, name)
        more = {name: np.concatenate([places, np.tile(np.array(row, places.dtype), missing)])}
        ends = each.start[-1] + len(row) * np.arange(1, missing + 1)
        times = np.concatenate([each.times, np.zeros(missing)])
        found.append(each._replace(start=np.concatenate([each.start, ends]), times=times, **more))
    return found


def _joined_pairs(parts: Sequence[Any]) -> Any:
    return _with_stacked(padded_pairs(parts), _OF_PAIRS)


def _joined_covariates(parts: Sequence[Any]) -> Any:
    most = max(each.x.shape[1] for each in parts)
    x = np.stack([np.pad(each.x, [(0, 0), (0, most - each.x.shape[1]), (0, 0)]) for each in parts])
    return _joined_pairs(parts)._replace(x=x)


_JOINED: dict[type[Any], Callable[[Sequence[Any]], Any]] = {
    Judgements: _joined_judgements,
    OfferedSets: _joined_sets,
    AnsweredPairSets: _joined_pair_sets,
    **dict.fromkeys(_OF_PAIRS_ALONE, _joined_pairs),
    **dict.fromkeys(WITH_COVARIATES, _joined_covariates),
}


def make_caches(compiled: Sequence[tuple[Any, Any]]) -> list[Callable[..., Any]]:
    """A function for each group that makes its cache, of the same shapes in all, from likelihoods
    with their own."""
    if not isinstance(compiled[0][0], OfferedSets):
        return [make for _, make in compiled]
    largest = max(int(np.diff(sets.start).max()) for sets, _ in compiled)
    return [partial(empty_cache, largest=largest) for _ in compiled]


def _stacked(arrays: Sequence[np.ndarray], ending: Any = "constant") -> np.ndarray:
    """Arrays of different lengths, the shorter ones filled up with 0, or with their last element:
    sets of no option."""
    most = max(each.shape[0] for each in arrays)
    widths = [[(0, most - each.shape[0])] + [(0, 0)] * (each.ndim - 1) for each in arrays]
    return np.stack(
        [np.pad(each, width, mode=ending) for each, width in zip(arrays, widths, strict=True)]
    )


def padded_pairs(parts: Sequence[Any]) -> list[Any]:
    """Pairs with the same number of blocks in every group: further blocks, which no option has,
    hold no counts."""
    most = max(each.neighbour.shape[0] for each in parts)
    return [_with_blocks(each, most) for each in parts]


def _with_blocks(pairs: Any, blocks: int) -> Any:
    missing, n = blocks - pairs.neighbour.shape[0], pairs.start.size - 1
    empty, slots = (
        np.zeros((missing, WIDTH)),
        np.arange(pairs.neighbour.size, blocks * WIDTH, dtype=np.uint64),
    )
    return pairs._replace(
        neighbour=np.concatenate([pairs.neighbour, np.full((missing, WIDTH), n, np.uint64)]),
        transposed=np.concatenate([pairs.transposed, slots.reshape(-1, WIDTH)]),
        wins=np.concatenate([pairs.wins, empty]),
        losses=np.concatenate([pairs.losses, empty]),
    )


# Where a likelihood finds what people answered ----------------------------------------------------


def people_of(data: Any, likelihood: Any) -> ClassAnswers:
    """What everybody answered; `likelihood` is the compiled one of the answers of all."""
    asked = data.questions()
    given, answer = asked.given, asked.given.answer
    if type(likelihood) in _OF_COMPARISONS:
        # of cell e, 3 e is a choice of its first option, 3 e + 1 of its second, 3 e + 2 of neither
        outcome = np.array([0, 1] if asked.sizes[0] == 2 else [0, 2, 1])
        answer = OUTCOMES * asked.question[answer] + outcome[answer % len(outcome)]
    order = np.lexsort((answer, given.respondent))
    start = np.searchsorted(given.respondent, np.arange(len(given.respondents) + 1))
    place = _PLACES[type(likelihood)](data, likelihood)
    rows = answer[order].astype(np.int64), given.times[order]
    return ClassAnswers(start.astype(np.int64), *rows, place.astype(np.int64))


def _places_of_pairs(data: Any, pairs: Any) -> np.ndarray:
    """Three times the flat position of each pair, or cell, among the blocks of its first option,
    plus 0, 1 and 2."""
    cells = data.cells
    owner = np.repeat(np.arange(data.n_options), np.diff(pairs.start) * WIDTH)
    key = owner * (data.n_options + 1) + pairs.neighbour.ravel().astype(np.int64)
    wanted = cells.first * (data.n_options + 1) + cells.second
    slot = np.empty(len(wanted), np.int64)
    order = np.argsort(key, kind="stable")  # the cells of a pair stand there in their order
    slot[np.argsort(wanted, kind="stable")] = order[np.isin(key[order], wanted)]
    return (OUTCOMES * slot[:, None] + np.arange(OUTCOMES)).ravel()


def _sets_of_places(data: Any, sets: Any) -> np.ndarray:
    """Of each place its set."""
    return np.repeat(np.arange(sets.start.size - 1), np.diff(sets.start))


_OF_COMPARISONS = (*_OF_PAIRS_ALONE, *WITH_COVARIATES)
_PLACES: dict[type[Any], Callable[[Any, Any], np.ndarray]] = {
    **dict.fromkeys(_OF_COMPARISONS, _places_of_pairs),
    OfferedSets: _sets_of_places,
}
