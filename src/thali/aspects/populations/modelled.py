"""Which data are modelled of which population: one table, and one sentence for what is not in it.

The kinds of data of a population are those whose `DataSpec` has a name for them (`groups`, `kinds`); what such data may
not have stands here. A new cell is a name in the spec, or a word less in the table.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from thali.data.choices import Choices
from thali.data.kinds import GROUPED, OF_KINDS, SPECS
from thali.errors import Argument, ArgumentError, DataError, InPython
from thali.posterior.view import GROUPS, KINDS, ONE


class Lack(NamedTuple):
    """What data may not have."""

    has: Callable[[Any], Any]  # how many of it data have; 0 or "": none
    sentence: Callable[[Any], tuple[Any, ...]]  # that goes on after "kinds of people are for comparisons"


WORST = Lack(
    lambda data: isinstance(data, Choices) and data.worst is not None,
    lambda data: (
        " and choices of one option, and of these the best and the worst are named; leave out ",
        Argument("kinds"),
        ".",
    ),
)


class Modelled(NamedTuple):
    """The data that a population is modelled of."""

    kinds: Sequence[str]  # of `thali.data.kinds`
    lacks: tuple[Lack, ...] = ()


MODELLED = {
    ONE: Modelled([spec.kind for spec in SPECS]),
    GROUPS: Modelled([*GROUPED]),
    KINDS: Modelled([*OF_KINDS.values()], (WORST,)),
}
_ASKED = {GROUPS: Argument("group"), KINDS: Argument("kinds")}  # by what a population is asked for


def refuse_unmodelled(population: str, data: Any) -> None:
    """Raise for data, of one group, that are not modelled of this population."""
    modelled = MODELLED[population]
    if data.kind not in modelled.kinds:
        *first, last = modelled.kinds
        wanted = f"{', '.join(first)} or {last}"
        got = InPython(type(data).__name__, data.kind)
        raise DataError(_ASKED[population], f" of people are for {wanted}; got ", got, ".")
    for lack in modelled.lacks:
        if lack.has(data):
            raise ArgumentError(_ASKED[population], " of people are for comparisons", *lack.sentence(data))


def refuse_groups_of_own() -> None:
    """Raise where an open combination meets groups of people, which it is not fitted to."""
    raise DataError(
        "A prior joined with a likelihood is fitted to the data of one group of people, and these are of several; fit "
        "it to each, or take EliminationByAspects or AdditiveClustering."
    )
