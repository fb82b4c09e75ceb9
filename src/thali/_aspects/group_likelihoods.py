"""Likelihoods of several groups of respondents, stacked as arrays with a group axis.

A likelihood for groups registers `select_group_likelihood`, which selects one group, and a function
in `_STACKERS`, which stacks the likelihoods of all groups. If groups have different numbers of
answers, arrays are padded with answers that have count 0 and that no move uses.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from thali._data.respondent_answers import OUTCOMES
from thali._inference.index_arithmetic import part_indices

from .group_state import ClassAnswers, select_group_likelihood
from .likelihoods.elimination_kernels import OfferedSets, make_set_cache
from .likelihoods.most_similar_pair_probabilities import AnsweredPairSets
from .likelihoods.pair_blocks import PAIR_CLASSES, WIDTH
from .likelihoods.pair_covariates import COVARIATE_PAIR_CLASSES
from .likelihoods.similarity_residuals import Judgements


def _register_pair_selection(cls: Any) -> None:
    """Register how to select one group's pairs from stacked pairs of class `cls`."""

    @select_group_likelihood.register(cls)
    def _pairs(pairs: Any, g: Any) -> Any:
        """Return the pairs of group g."""
        return cls(
            pairs.start[g],
            pairs.neighbour[g],
            pairs.transposed[g],
            pairs.wins[g],
            pairs.losses[g],
            pairs.scale,
            pairs.base,
        )


def _register_covariate_selection(cls: Any) -> None:
    """Register how to select one group's pairs with covariates, of class `cls`."""

    @select_group_likelihood.register(cls)
    def _pairs(pairs: Any, g: Any) -> Any:
        """Return the pairs with covariates of group g."""
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


@select_group_likelihood.register(Judgements)
def _select_judgements(judgements: Any, g: Any) -> Any:
    """Return the similarities of group g from those of all groups."""
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


@select_group_likelihood.register(OfferedSets)
def _select_sets(sets: Any, g: Any) -> Any:
    """Return the choice sets of group g from those of all groups."""
    return OfferedSets(
        sets.start[g], sets.member[g], sets.count[g], sets.first[g], sets.within[g], sets.lapse
    )


@select_group_likelihood.register(AnsweredPairSets)
def _select_pair_sets(sets: Any, g: Any) -> Any:
    """Return the sets of pairs (triplets) of group g from those of all groups."""
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


COVARIATE_CLASSES = tuple(COVARIATE_PAIR_CLASSES.values())
_PAIR_CLASSES = tuple(PAIR_CLASSES.values())
for _cls in _PAIR_CLASSES:
    _register_pair_selection(_cls)
for _cls in COVARIATE_CLASSES:
    _register_covariate_selection(_cls)

_JUDGEMENT_FIELDS = (
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
_SET_FIELDS = ("member", "count", "first", "within")
_PAIR_SET_FIELDS = (
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
_PAIR_FIELDS = ("start", "neighbour", "transposed", "wins", "losses")


def stack_likelihoods(likelihoods: Sequence[Any]) -> Any:
    """Stack the groups' likelihoods, all of one class, into one with a group axis."""
    return _STACKERS[type(likelihoods[0])](likelihoods)


def _stack_fields(likelihoods: Sequence[Any], names: Sequence[str]) -> Any:
    """Stack the named arrays of all groups, padded with 0, into a likelihood."""
    return likelihoods[0]._replace(
        **{
            name: _pad_and_stack([np.asarray(getattr(part, name)) for part in likelihoods])
            for name in names
        }
    )


def _stack_judgements(likelihoods: Sequence[Any]) -> Any:
    """Stack the similarities of all groups along a new first axis."""
    return likelihoods[0]._replace(
        **{
            name: np.array([getattr(part, name) for part in likelihoods])
            for name in _JUDGEMENT_FIELDS
        }
    )


def _stack_sets(likelihoods: Sequence[Any]) -> Any:
    """Stack the choice sets of all groups along a new first axis."""
    return _stack_fields(likelihoods, _SET_FIELDS)._replace(
        start=_pad_and_stack([part.start for part in likelihoods], pad_mode="edge")
    )


def _stack_pair_sets(likelihoods: Sequence[Any]) -> Any:
    """Stack the sets of pairs of all groups, padded to equal numbers of sets."""
    return _stack_fields(_add_rows(likelihoods, "pair", [0]), _PAIR_SET_FIELDS)


def _add_rows(likelihoods: Sequence[Any], name: str, row: list[int]) -> list[Any]:
    """Pad each group with sets without answers to the same number of sets."""
    # The field `name` of a new set contains `row`.
    max_size = max(likelihood.start.size for likelihood in likelihoods)
    padded_parts = []
    for likelihood in likelihoods:
        n_missing, entries = max_size - likelihood.start.size, getattr(likelihood, name)
        new_field = {
            name: np.concatenate([entries, np.tile(np.array(row, entries.dtype), n_missing)])
        }
        new_ends = likelihood.start[-1] + len(row) * np.arange(1, n_missing + 1)
        new_times = np.concatenate([likelihood.times, np.zeros(n_missing)])
        padded_parts.append(
            likelihood._replace(
                start=np.concatenate([likelihood.start, new_ends]), times=new_times, **new_field
            )
        )
    return padded_parts


def _stack_pairs(likelihoods: Sequence[Any]) -> Any:
    """Stack the compared pairs of all groups, padded to equal numbers of blocks."""
    max_blocks = max(pairs.neighbour.shape[0] for pairs in likelihoods)
    return _stack_fields([_add_blocks(pairs, max_blocks) for pairs in likelihoods], _PAIR_FIELDS)


def _stack_covariate_pairs(likelihoods: Sequence[Any]) -> Any:
    """Stack the pairs with covariates of all groups, padded to equal sizes."""
    n_blocks = max(part.x.shape[1] for part in likelihoods)
    x = np.stack(
        [np.pad(part.x, [(0, 0), (0, n_blocks - part.x.shape[1]), (0, 0)]) for part in likelihoods]
    )
    return _stack_pairs(likelihoods)._replace(x=x)


_STACKERS: dict[type[Any], Callable[[Sequence[Any]], Any]] = {
    Judgements: _stack_judgements,
    OfferedSets: _stack_sets,
    AnsweredPairSets: _stack_pair_sets,
    **dict.fromkeys(_PAIR_CLASSES, _stack_pairs),
    **dict.fromkeys(COVARIATE_CLASSES, _stack_covariate_pairs),
}


def make_caches(group_likelihoods: Sequence[tuple[Any, Any]]) -> list[Callable[..., Any]]:
    """Return one function per group that makes its cache, all of equal shapes."""
    if not isinstance(group_likelihoods[0][0], OfferedSets):
        return [make_cache for _, make_cache in group_likelihoods]
    max_set_size = max(int(np.diff(sets.start).max()) for sets, _ in group_likelihoods)
    return [partial(make_set_cache, largest=max_set_size)] * len(group_likelihoods)


def _pad_and_stack(arrays: Sequence[np.ndarray], pad_mode: Any = "constant") -> np.ndarray:
    """Stack arrays of different lengths, padded with 0 or with their last element."""
    # A repeated last element of set starts means sets without options.
    max_length = max(array.shape[0] for array in arrays)
    pad_widths = [
        [(0, max_length - array.shape[0])] + [(0, 0)] * (array.ndim - 1) for array in arrays
    ]
    return np.stack(
        [
            np.pad(array, width, mode=pad_mode)
            for array, width in zip(arrays, pad_widths, strict=True)
        ]
    )


def _add_blocks(pairs: Any, n_blocks: int) -> Any:
    """Pad compared pairs with empty blocks, which belong to no option."""
    n_missing, n = n_blocks - pairs.neighbour.shape[0], pairs.start.size - 1
    no_counts = np.zeros((n_missing, WIDTH))
    new_slots = np.arange(pairs.neighbour.size, n_blocks * WIDTH, dtype=np.uint64)
    return pairs._replace(
        neighbour=np.concatenate([pairs.neighbour, np.full((n_missing, WIDTH), n, np.uint64)]),
        transposed=np.concatenate([pairs.transposed, new_slots.reshape(-1, WIDTH)]),
        wins=np.concatenate([pairs.wins, no_counts]),
        losses=np.concatenate([pairs.losses, no_counts]),
    )


# Positions of respondents' answers in a likelihood ------------------------------------------------


def build_class_answers(data: Any, likelihood: Any) -> ClassAnswers:
    """Return all respondents' answers as kernels of latent classes read them."""
    questions = data.questions()
    given_answers, answer_place = questions.given, questions.given.answer
    if type(likelihood) in _COMPARISON_CLASSES:
        # in cell e, 3 e is a choice of the first option, 3 e + 1 of the second, 3 e + 2 of neither
        outcome_codes = np.array([0, 2, 1])
        if questions.sizes[0] == 2:
            outcome_codes = np.array([0, 1])
        answer_place = (
            OUTCOMES * questions.question[answer_place]
            + outcome_codes[answer_place % len(outcome_codes)]
        )
    answer_order = np.lexsort((answer_place, given_answers.respondent))
    respondent_starts = np.searchsorted(
        given_answers.respondent, np.arange(len(given_answers.respondents) + 1)
    )
    answer_positions = _PLACE_FINDERS[type(likelihood)](data, likelihood)
    places_and_times = (
        answer_place[answer_order].astype(np.int64),
        given_answers.times[answer_order],
    )
    return ClassAnswers(
        respondent_starts.astype(np.int64), *places_and_times, answer_positions.astype(np.int64)
    )


def _find_pair_places(data: Any, pairs: Any) -> np.ndarray:
    """Return the place of each outcome of each comparison in the blocks of pairs."""
    # They are three times the position of the cell in the blocks of its first option, plus 0, 1 and
    # 2.
    comparison_cells = data.cells
    block_option = np.repeat(np.arange(data.n_options), np.diff(pairs.start) * WIDTH)
    slot_key = block_option * (data.n_options + 1) + pairs.neighbour.ravel().astype(np.int64)
    cell_key = comparison_cells.first * (data.n_options + 1) + comparison_cells.second
    cell_slot = np.empty(len(cell_key), np.int64)
    key_order = np.argsort(slot_key, kind="stable")  # keeps the order of the cells of a pair
    cell_slot[np.argsort(cell_key, kind="stable")] = key_order[
        np.isin(slot_key[key_order], cell_key)
    ]
    return (OUTCOMES * cell_slot[:, None] + np.arange(OUTCOMES)).ravel()


def _find_sets(data: Any, sets: Any) -> np.ndarray:
    """Return the set that each entry of `sets.member` belongs to."""
    return part_indices(sets.start)


_COMPARISON_CLASSES = (*_PAIR_CLASSES, *COVARIATE_CLASSES)
_PLACE_FINDERS: dict[type[Any], Callable[[Any, Any], np.ndarray]] = {
    **dict.fromkeys(_COMPARISON_CLASSES, _find_pair_places),
    OfferedSets: _find_sets,
}
