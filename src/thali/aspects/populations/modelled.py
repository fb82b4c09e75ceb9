"""Which data are modelled of which population: one table, and one sentence for what is not in it.

The kinds of data of a population are those whose `DataSpec` has a name for them (`groups`, `kinds`). A new cell is a
name in the spec.
"""

from typing import Any

from thali.data.kinds import GROUPED, OF_KINDS, SPECS
from thali.errors import Argument, DataError, InPython
from thali.posterior.view import GROUPS, KINDS, ONE

MODELLED: dict[str, list[str]] = {  # of each population the kinds of data, of `thali.data.kinds`
    ONE: [spec.kind for spec in SPECS],
    GROUPS: [*GROUPED],
    KINDS: [*OF_KINDS.values()],
}
_ASKED = {GROUPS: Argument("group"), KINDS: Argument("kinds")}  # by what a population is asked for


def refuse_unmodelled(population: str, data: Any) -> None:
    """Raise for data, of one group, that are not modelled of this population."""
    if data.kind not in MODELLED[population]:
        *first, last = MODELLED[population]
        wanted = f"{', '.join(first)} or {last}"
        got = InPython(type(data).__name__, data.kind)
        raise DataError(_ASKED[population], f" of people are for {wanted}; got ", got, ".")


def refuse_groups_of_own() -> None:
    """Raise where an open combination meets groups of people, which it is not fitted to."""
    raise DataError(
        "A prior joined with a likelihood is fitted to the data of one group of people, and these are of several; fit "
        "it to each, or take EliminationByAspects or AdditiveClustering."
    )
