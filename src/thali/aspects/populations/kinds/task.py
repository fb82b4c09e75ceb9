"""Joins a prior, the comparisons of people of unknown kinds, and a sampler of kinds."""

from typing import Any

from thali._arguments import whole
from thali.data.choices import Choices
from thali.data.pairs import PairedComparisons
from thali.errors import Argument, ArgumentError, DataError, InPython, Message, Setting

from ...group_state import people_of
from ...samplers.task import build_task
from ..groups_chain import COMMON, check_weights, joined
from .chain import KindTask

MOST = 20  # kinds


def check_kinds(kinds: Any, weights: Any) -> None:
    """Raise for a number of kinds that cannot be, and for weights that kinds cannot have."""
    number = whole("kinds", kinds, 1)
    if number > MOST:
        raise ArgumentError(Argument("kinds"), f" must be {MOST} at most; got {number}.")
    check_weights(weights, True)
    if weights == COMMON:
        raise ArgumentError(
            Setting("weights", COMMON),
            " knows no kinds, which differ in their weights; leave out ",
            Argument("kinds"),
            ", or ",
            Argument("weights"),
            ".",
        )


def people_answered(data: Any, number: int) -> PairedComparisons:
    """The comparisons of people who are told apart, if so many kinds of them can be looked for."""
    if isinstance(data, Choices) and data.is_paired and data.worst is None:
        data = data.to_comparisons()
    if not isinstance(data, PairedComparisons):
        got = InPython(type(data).__name__, "other data")
        raise DataError(Argument("kinds"), " of people are for paired comparisons; got ", got, ".")
    if data.answers is None:
        raise DataError(
            Argument("kinds"),
            " of people need comparisons that say who answered; name the column of who did ",
            InPython("when reading the table", Message("by ", Argument("respondent"))),
            ".",
        )
    if number > len(data.subjects):
        raise ArgumentError(
            Setting("kinds", number), f" are more than the people, of whom there are {len(data.subjects):,}."
        )
    if data.covariates is not None:
        raise ArgumentError(
            Argument("kinds"),
            " of people are for comparisons without covariates; set ",
            Setting("covariates", []),
            " to leave them out.",
        )
    if data.n_ties:
        raise ArgumentError(
            Argument("kinds"),
            f" of people are for comparisons without ties, and {data.n_ties:,} are ties; set ",
            Setting("ties", "half"),
            " or ",
            Setting("ties", "drop"),
            ".",
        )
    return data


def build_kind_task(
    data: PairedComparisons, kinds: int, draws: int, tune: int, thin: Any, weights: Any, **parts: Any
) -> KindTask:
    """Check everything and put it into the form that the chains read."""
    if parts["sampler"] == "paper":
        raise ArgumentError(
            Setting("sampler", "paper"),
            " knows no kinds of people; set ",
            Setting("sampler", None),
            ", or leave it out.",
        )
    task = build_task(data=data, draws=draws, tune=tune, thin=thin, **parts)
    each = parts["likelihood"].compiled(data, task.model.weights)
    groups = joined(task, [each] * kinds, parts["likelihood"], weights)
    return KindTask(**vars(groups), people=people_of(data, each[0]))
