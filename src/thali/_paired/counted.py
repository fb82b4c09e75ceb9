"""Paired comparisons in the form that the tools read."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.checks import are_integers
from thali._data.choices import Choices
from thali._data.judged import Judged, explain_unpaired_data
from thali._data.kinds import CHOICES, PAIRS
from thali._data.pairs import PairedComparisons
from thali._data.pairs.covariates import ORDER
from thali._data.pairs.tables import build_fields
from thali._data.suspicious import find_similar_labels
from thali._inference.warn import warn
from thali._labels import format_plural, shorten
from thali.errors import Argument, ArgumentError, DataError, DataWarning, Setting

if TYPE_CHECKING:
    from thali._reading.large_tables import ComparisonTable


Judgements = PairedComparisons | Choices
DAVIDSON = "davidson"  # ties are a third outcome


def comparisons_of(data: Any) -> PairedComparisons:
    """Paired comparisons from themselves, from choices between pairs, or from a table of counts
    (row over column)."""
    if isinstance(data, Judged):
        return data.to_comparisons()
    if isinstance(data, np.ndarray | list | tuple) or hasattr(data, "columns"):
        return PairedComparisons(data)
    raise DataError(explain_unpaired_data(data))


def judgements_of(data: Any) -> Judgements:
    """The same, or choices out of larger sets, rankings among them, or best and worst of sets."""
    if isinstance(data, Choices) and (data.worst is not None or not data.is_paired):
        return data
    return comparisons_of(data)


def counting_ties(data: Judgements, ties: str) -> Judgements:
    """The same whose ties count as asked."""
    return data if ties == DAVIDSON else data.without_ties(ties)


def with_more(old: Judgements, new: Judgements, ties: str) -> Judgements:
    """All of both; comparisons of two are choices from sets where either has those, and ties count
    there as asked."""
    if bool(old.respondents) != bool(new.respondents):
        which = "new answers do" if old.respondents else "earlier answers do"
        warn(
            DataWarning(
                f"The {which} not identify users, so users are ignored in all votes; name the"
                " column of users with ",
                Argument("respondent"),
                ".",
            )
        )
    if isinstance(old, PairedComparisons) and isinstance(new, PairedComparisons):
        found = old.with_more(new)
    else:
        found = _as_choices(old, ties).with_more(_as_choices(new, ties))
    if (alike := find_similar_labels(found.labels)) and not any(
        find_similar_labels(each.labels) for each in (old, new)
    ):
        warn(DataWarning(alike))  # of either its reading did
    return found


def _as_choices(data: Judgements, ties: str) -> Choices:
    """The same as choices from sets, which have neither ties, nor covariates, nor dates."""
    if isinstance(data, Choices):
        return data
    if data.covariates is not None or data.dates is not None:
        names = data.covariate_names
        what = (
            "dates"
            if data.covariates is None
            else f"the covariate{'s' * (len(names) > 1)} {shorten(names)}"
        )
        absent = "dates" if data.covariates is None else "covariates"
        raise DataError(
            f"Paired comparisons with {what} cannot be combined with choices from larger sets,"
            f" which have no {absent}; make separate leaderboards."
        )
    if data.n_ties and ties == DAVIDSON:
        raise DataError(
            f"{data.n_ties:,} of {data.answers_in_words} are ties, which cannot be merged with"
            " choices from larger sets; set ",
            Setting("ties", "half"),
            " or ",
            Setting("ties", "drop"),
            ".",
        )
    counted: Any = counting_ties(data, ties)
    return Choices.from_comparisons(counted)


def as_pairs(data: Any, ties: bool = False, known: str = "") -> PairedComparisons:
    """The same; `ties`: those with ties are welcome; covariates but the one `known` are refused."""
    pairs = comparisons_of(data)
    if not ties:
        pairs.refuse_ties()
    return without_covariates(pairs, known)


def without_covariates(data: PairedComparisons, known: str) -> PairedComparisons:
    """Comparisons without the covariate `known`, which is used elsewhere; others are refused."""
    data.refuse_dates()
    names = (
        ()
        if data.covariates is None
        else tuple(name for name in data.covariates.names if name != known)
    )
    if names:
        raise DataError(
            "This analysis requires comparisons without covariates, but these have"
            f" {shorten(names)}; fit a model instead, or remove the covariates with"
            " data.with_covariates([])."
        )
    return data.with_covariates(())


def of_frame(frame: Any, *others: str, **columns: Any) -> Any:
    """The comparisons in a data frame of any shape that `thali fit` reads; some of its columns
    named perhaps.

    `others`: kinds of data that it may hold besides.
    """
    return rows_of(frame, columns, others).build()[0]


def rows_of(frame: Any, columns: dict[str, Any], others: tuple[str, ...] = ()) -> "ComparisonTable":
    """The rows of a data frame that count, and what is known of its columns; `others`: see
    `Rows`."""
    from thali._reading.large_tables import ComparisonTable
    from thali._reading.read import read_frame
    from thali._reading.row_filter import RowFilter

    table = read_frame(frame)
    named = {name: value for name, value in columns.items() if name != "where"}
    return ComparisonTable(
        table.filter_rows(RowFilter.parse(columns.get("where"))), named, others=others
    )


def by_order(data: Any, ties: bool = False) -> list[PairedComparisons]:
    """The comparisons in which the earlier of two labels was first, or at home, and those in which
    the later one was.

    `data` know that, are a data frame that does, or are these two. `ties`: those with ties are
    welcome.
    """
    if isinstance(data, tuple | list) and len(data) == 2:
        return as_groups(data, "two orders of presentation", ties)
    pairs = of_frame(data) if hasattr(data, "columns") else data
    return list(as_pairs(pairs, ties, ORDER).by_order())


def with_order(forward: PairedComparisons, backward: PairedComparisons) -> PairedComparisons:
    """All comparisons with the covariate "order", from those in which the earlier option was first,
    and the others."""
    rows = [
        (first, second, counts, tied, was_first)
        for each, was_first in ((forward, True), (backward, False))
        for first, second, counts, tied, was_first in (
            (each.first, each.second, each.wins, each.tied, np.full(each.n_pairs, was_first)),
            (
                each.second,
                each.first,
                each.losses,
                0.0 * each.tied,
                np.full(each.n_pairs, not was_first),
            ),
        )
    ]
    winner, loser, counts, tied, in_order = (
        np.concatenate(column) for column in zip(*rows, strict=True)
    )
    fields = build_fields(forward.labels, winner, loser, counts, tied, None, in_order)
    return PairedComparisons._from_fields(*fields).with_order()


def as_groups(groups: Any, what: str, ties: bool = False) -> list[PairedComparisons]:
    """Several data sets of the same options; a mapping gives its values. `ties`: those with ties
    are welcome."""
    if hasattr(groups, "values") and callable(groups.values):
        groups = groups.values()
    if hasattr(groups, "columns") or not isinstance(groups, Iterable):
        return [as_pairs(groups, ties)]
    several = [as_pairs(one, ties) for one in groups]
    if not several:
        raise DataError(f"There are no {what}; give at least one data set.")
    for number, one in enumerate(several):
        if one.labels != several[0].labels:
            raise DataError(
                f"The {what} must have the same options in the same order. The first has"
                f" {shorten(several[0].labels)}, but number {number + 1} has"
                f" {shorten(one.labels)}; align the options with subset(labels)."
            )
    return several


def names_of(groups: Any, count: int, what: str) -> list[str]:
    """The names in a mapping, else "judge 1" and so on."""
    if hasattr(groups, "keys") and not hasattr(groups, "columns"):
        return [str(key) for key in groups.keys()]
    return [f"{what} {number + 1}" for number in range(count)]


def pooled(groups: list[PairedComparisons]) -> PairedComparisons:
    """All comparisons of all groups together."""
    return groups[0] if len(groups) == 1 else groups[0].together(groups[1:], groups[0].labels)


def pair_places(data: PairedComparisons, together: PairedComparisons) -> np.ndarray:
    """Return where pairs of data are among those of several data sets together."""
    place = {pair: k for k, pair in enumerate(_pairs(together))}
    return np.array([place[pair] for pair in _pairs(data)])


def _pairs(data: PairedComparisons) -> Iterable[tuple[int, int]]:
    """Return both options of each pair."""
    return zip(data.first.tolist(), data.second.tolist(), strict=True)


def refuse_incomplete(data: PairedComparisons) -> None:
    """Raise a DataError that names a pair if not all pairs were compared."""
    if data.n_pairs < data.n_options * (data.n_options - 1) // 2:
        compared = set(_pairs(data))
        i, j = next(
            (i, j)
            for i in range(data.n_options)
            for j in range(i + 1, data.n_options)
            if (i, j) not in compared
        )
        raise DataError(
            f"Counting circular triads requires every pair compared, but {data.labels[i]!r} was"
            f" never compared with {data.labels[j]!r}; use subset(labels) of options that were all"
            " compared."
        )


def whole(data: PairedComparisons, what: str) -> None:
    """Raise a DataError if counts are fractional."""
    if not (are_integers(data.wins) and are_integers(data.wins + data.losses)):
        raise DataError(
            f"{what} requires integer counts, but the counts of"
            f" {format_plural(data.n_pairs, 'pair')}"
            " include fractions; round the counts or use another test."
        )


def proportions(data: PairedComparisons) -> np.ndarray:
    """The proportion in which row was chosen over column; NaN where never compared."""
    table = np.full((data.n_options, data.n_options), np.nan)
    total = data.wins + data.losses
    table[data.first, data.second] = data.wins / total
    table[data.second, data.first] = data.losses / total
    return table


# What is counted of a file, a data frame or data, with its parts ----------------------------------


class CountedComparisons(NamedTuple):
    """What a leaderboard is made of."""

    data: Any  # whatever `judgements_of` takes
    parts: dict[str, dict[str, Judgements]]  # by column and value
    # hashes of the identifiers of all rows; None: no column of them was named
    ids: np.ndarray | None
    repeated: int  # answers that were left out, because one with their identifier was there
    read_as: str = ""  # how a table was read
    files: tuple[str, ...] = ()  # the tables, by the names of their files


def listed(names: Any) -> list[str]:
    """The names of columns; one name, several, or None."""
    return [names] if isinstance(names, str) else list(names or ())


def count(
    source: Any, progressbar: bool, named: dict[str, Any], known: np.ndarray | None = None
) -> CountedComparisons:
    """What is counted of whatever was given: files and data frames are read, rows that are `known`
    are left out."""
    from thali._reading.recognise import check_names

    columns = {
        name: value for name, value in named.items() if name not in ("covariates", "by", "id")
    }
    covariates = None if named["covariates"] is None else listed(named["covariates"])
    by, identifier = listed(named["by"]), listed(named["id"])
    check_names(columns, PAIRS, CHOICES)
    if isinstance(source, Judgements | np.ndarray | list | tuple):
        if covariates is not None and isinstance(source, Judgements):
            source = judgements_of(source).with_covariates(covariates)
        if columns or identifier:
            raise ArgumentError(
                f"leaderboard has no argument {next(iter(columns), 'id')!r} for"
                f" {type(source).__name__}; column names apply to files and data frames only."
            )
        return CountedComparisons(
            source, {column: dict(judgements_of(source).by_group(column)) for column in by}, None, 0
        )
    if covariates:
        columns["covariates"] = list(covariates)
    if isinstance(source, str | Path):
        from thali._reading.large_tables import read_rows

        besides = [*by, *identifier, *filter(None, [columns.get("respondent")])]
        rows = read_rows(
            source, besides, progressbar, columns.pop("where", None), columns, (CHOICES,)
        )
        return counted_rows(rows, by, identifier, known)
    if by or identifier:
        return counted_rows(rows_of(source, columns, (CHOICES,)), by, identifier, known)
    return CountedComparisons(of_frame(source, CHOICES, **columns), {}, None, 0)


def counted_rows(
    rows: "ComparisonTable", by: Sequence[str], identifier: Any, known: np.ndarray | None
) -> CountedComparisons:
    """What is counted of the rows of a table."""
    ids, repeated = None, 0
    if identifier:
        if not len(rows.table.frame):
            raise DataError(f"{rows.table.file}: the table has no rows; give at least one vote.")
        rows, ids, repeated = rows.drop_known_answers(
            identifier[0], np.zeros(0, np.uint64) if known is None else known
        )
        if not len(rows.table.frame):
            all_of = "The vote was" if repeated == 1 else f"All {repeated:,} votes were"
            raise DataError(
                f"{rows.table.file}: {all_of} already counted, according to column"
                f" {identifier[0]!r}."
            )
        if identifier[0] not in by:
            rows = rows.drop_column(identifier[0])
    data, read_as = rows.build()
    return CountedComparisons(
        data,
        {column: rows.split_by(column) for column in by},
        ids,
        repeated,
        read_as,
        (rows.table.file,),
    )


def named_parts(parts: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, Any]]:
    """Return the column and the part of each name: the value, or column and value of several
    columns."""
    found = {}
    for column, own in parts.items():
        begin = f"{column} " if len(parts) > 1 else ""
        found |= {f"{begin}{value}": (column, part) for value, part in own.items()}
    return found
