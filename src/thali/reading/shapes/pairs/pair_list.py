"""Paired comparisons as a list: a winner and a loser a row, or a pair a row with the times each was chosen."""

from functools import partial
from typing import Any

from thali._labels import plural, shorten
from thali.data.columns import column
from thali.data.described_columns import ColumnsRead
from thali.data.kinds import PAIRS
from thali.data.pairs import PairedComparisons
from thali.data.pairs.columns import (
    PairColumns,
    choice_columns,
    lacking,
    subject_column,
    the_columns,
    ties_column,
    uncounted,
)
from thali.data.roles import CHOSEN_OF_TWO, COUNT, LOSSES, REJECTED, RESPONDENT
from thali.data.similarities.listed import tells_similarities

from ...shape import Lack, Reading, Shape
from ...table import Table

_LIST = "list of comparisons"


def match_list(
    table: Table,
    chosen: str | None = None,
    rejected: str | None = None,
    count: str | None = None,
    losses: str | None = None,
    respondent: str | None = None,
    weights: bool = False,
    covariates: Any = None,
) -> Reading | None:
    """A table whose columns have the names of such a list, or were named; `weights`: fractional counts are meant.

    Covariates are those of pairs of which the columns say which option was first, and how often each was chosen.
    """
    given = {"count": count, "losses": losses, "subject": respondent, "covariates": covariates}
    if rejected is not None and covariates is None:
        found = [PairColumns((chosen or "chosen", rejected), (), ties_column(table.names))]
        return _list_reading(table, found, given, weights)
    found = choice_columns(table.names, (count, losses, respondent)) if table.named and chosen is None else []
    if covariates is not None:
        found = [columns for columns in found if columns.in_order and len(columns.times) == 2]
    both_ways = any(len(columns.times) == 2 for columns in found)
    if not found or (not both_ways and tells_similarities(table.names, vaguely=False)):
        return None
    # squares come first: among the options of one may be I, J and N, which would also make a list
    if table.square is not None and not (table.square.bare and table.square.has_diagonal):
        return None
    return _list_reading(table, found, given, weights)


def _list_reading(table: Table, found: list[PairColumns], given: dict[str, Any], weights: bool) -> Reading:
    for name in ("count", "losses", "subject"):
        if given[name] is not None:
            column(table.frame, given[name])
    how = "; or ".join(map(str, found))
    convert = partial(_read_list, table, found, given, weights)
    one = _completed(found[0], table, given)
    counts = tuple(filter(None, (*one.times, one.ties)))
    roles = ColumnsRead(one.options, (), counts, one.subject) if len(found) == 1 else None
    return Reading(PAIRS, _LIST, how, table, convert, counted=_counted(found, given), roles=roles)


def _completed(columns: PairColumns, table: Table, given: dict[str, Any]) -> PairColumns:
    """The columns with those that were named, and that of who answered."""
    times = (given["count"] or next(iter(columns.times), None), given["losses"] or next(iter(columns.times[1:]), None))
    subject = given["subject"] or columns.subject or subject_column(table.names, times)
    return columns._replace(times=tuple(filter(None, times)), subject=subject)


def _counted(found: list[PairColumns], given: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The columns that comparisons are made of, and which of them are counts; a tie alone in its row is no count."""
    if (
        given["covariates"] is not None
        or len(found) > 1
        or (found[0].ties is not None and not (found[0].times or given["count"]))
    ):
        return None
    one = found[0]
    counts = dict.fromkeys(filter(None, (*one.times, given["count"], given["losses"], one.ties)))
    return (*one.options, *counts), tuple(counts)


def _read_list(
    table: Table, found: list[PairColumns], given: dict[str, Any], weights: bool
) -> tuple[PairedComparisons, str]:
    """The comparisons in a list, and how it was read."""
    columns = _completed(found[0] if len(found) == 1 else the_columns(table.names, given.values()), table, given)
    described = given["covariates"]
    data = PairedComparisons._of_list(table.frame, columns, weights=weights or columns.weighted, covariates=described)
    people = () if data.people is None else data.people.columns
    unused = [
        name
        for name in table.names
        if name not in {*columns.used, *people, *(described or ())} and not name.startswith("column ")
    ]
    empty = int(uncounted(table.frame, columns).sum())
    ignored = f"; {plural(empty, 'row')} without counts left out" if empty else ""
    ignored += f"; columns not used: {shorten(unused)}" if unused else ""
    named = f", covariates {shorten(data.covariates.names)}" if data.covariates is not None else ""
    return data, f"{columns}{named}: {data}{ignored}"


def list_lacks(table: Table) -> Lack | None:
    """The column that is missing beside one of a pair."""
    found = lacking(table.names)
    return None if found is None else Lack(*found)


LIST = Shape(
    _LIST,
    PAIRS,
    match_list,
    expected=(
        "the columns 'chosen' and 'rejected' (winner, loser; i, j) and 'count' (n, freq, weight) if rows stand for "
        "several, or 'a', 'b', 'a_over_b', 'b_over_a' (item1, item2, wins1, wins2) and 'ties'"
    ),
    roles=(CHOSEN_OF_TWO, REJECTED, COUNT, LOSSES, RESPONDENT),
    settings=("weights", "covariates"),
    named_by=("rejected", "losses"),
    lacks=list_lacks,
    main=("chosen", "rejected", "count"),
)
