"""Votes of any source as counted paired comparisons or choices."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.base_classes import Judged, explain_unpaired_data
from thali._data.choices import Choices
from thali._data.kinds import CHOICES, PAIRS
from thali._data.number_checks import are_integers
from thali._data.pairs import PairedComparisons
from thali._data.pairs.covariates import ORDER
from thali._data.pairs.table_constructors import build_fields
from thali._data.suspicious_data import find_similar_labels
from thali._inference.index_arithmetic import count_pairs
from thali._inference.user_warnings import warn
from thali._labels import format_plural, shorten
from thali.errors import Argument, ArgumentError, DataError, DataWarning, Setting

if TYPE_CHECKING:
    from thali._reading.large_tables import ComparisonTable


Judgements = PairedComparisons | Choices
DAVIDSON = "davidson"  # ties are a third outcome


def convert_to_comparisons(data: Any) -> PairedComparisons:
    """Return data, choices from pairs or a count table as `PairedComparisons`."""
    if isinstance(data, Judged):
        return data.to_comparisons()
    if isinstance(data, np.ndarray | list | tuple) or hasattr(data, "columns"):
        return PairedComparisons(data)
    raise DataError(explain_unpaired_data(data))


def convert_to_judgements(data: Any) -> Judgements:
    """Return data as paired comparisons, or as choices if sets are larger."""
    if isinstance(data, Choices) and (data.worst is not None or not data.is_paired):
        return data
    return convert_to_comparisons(data)


def treat_ties(data: Judgements, ties: str) -> Judgements:
    """Return the data with ties converted as `ties` asks, or kept for Davidson's model."""
    if ties == DAVIDSON:
        return data
    return data.without_ties(ties)


def merge_judgements(old: Judgements, new: Judgements, ties: str) -> Judgements:
    """Merge two data sets; pairs become sets if the other has larger sets."""
    if bool(old.respondents) != bool(new.respondents):
        subject = "earlier"
        if old.respondents:
            subject = "new"
        warn(
            DataWarning(
                f"The {subject} answers do not identify users, so users are ignored in all votes;"
                " name the column of users with ",
                Argument("respondent"),
                ".",
            )
        )
    if isinstance(old, PairedComparisons) and isinstance(new, PairedComparisons):
        merged = old.with_more(new)
    else:
        merged = _convert_to_choices(old, ties).with_more(_convert_to_choices(new, ties))
    if (similar_labels := find_similar_labels(merged.labels)) and not any(
        find_similar_labels(data.labels) for data in (old, new)
    ):
        warn(DataWarning(similar_labels))  # labels within one data set were checked by its reader
    return merged


def _convert_to_choices(data: Judgements, ties: str) -> Choices:
    """Return comparisons as choices from sets of two."""
    if isinstance(data, Choices):
        return data
    if data.covariates is not None or data.dates is not None:
        text = "dates"
        absent = "dates"
        if data.covariates is not None:
            names = data.covariate_names
            text = f"the covariate{'s' * (len(names) > 1)} {shorten(names)}"
            absent = "covariates"
        raise DataError(
            f"Paired comparisons with {text} cannot be combined with choices from larger sets,"
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
    counted: Any = treat_ties(data, ties)
    return Choices.from_comparisons(counted)


def prepare_pairs(data: Any, ties: bool = False, used_covariate: str = "") -> PairedComparisons:
    """Return paired comparisons; raise for ties or covariates not allowed."""
    pairs = convert_to_comparisons(data)
    if not ties:
        pairs.refuse_ties()
    return drop_covariate(pairs, used_covariate)


def drop_covariate(data: PairedComparisons, used_covariate: str) -> PairedComparisons:
    """Return comparisons without `used_covariate`; raise DataError if they have another."""
    data.refuse_dates()
    if names := [name for name in data.covariate_names if name != used_covariate]:
        raise DataError(
            "This analysis requires comparisons without covariates, but these have"
            f" {shorten(names)}; fit a model instead, or remove the covariates with"
            " data.with_covariates([])."
        )
    return data.with_covariates(())


def read_comparisons(frame: Any, *other_kinds: str, **columns: Any) -> Any:
    """Return the comparisons in a data frame of any recognised layout.

    `other_kinds`: additional kinds of data to accept.
    """
    return read_rows_of_frame(frame, columns, other_kinds).build()[0]


def read_rows_of_frame(
    frame: Any, columns: dict[str, Any], other_kinds: tuple[str, ...]
) -> "ComparisonTable":
    """Return the selected rows of a data frame as a `ComparisonTable`."""
    from thali._reading.large_tables import ComparisonTable
    from thali._reading.read import read_frame
    from thali._reading.row_filter import RowFilter

    table = read_frame(frame)
    column_names = {name: column for name, column in columns.items() if name != "where"}
    return ComparisonTable(
        table.filter_rows(RowFilter.parse(columns.get("where"))), column_names, others=other_kinds
    )


def split_by_order(data: Any) -> list[PairedComparisons]:
    """Return two data sets, by whether the earlier label was shown first.

    `data` identify the first option, are such a data frame, or are the two parts already.
    """
    if isinstance(data, tuple | list) and len(data) == 2:
        return prepare_groups(data, "two orders of presentation", ties=True)
    if hasattr(data, "columns"):
        data = read_comparisons(data)
    return list(prepare_pairs(data, True, ORDER).by_order())


def merge_orders(forward: PairedComparisons, backward: PairedComparisons) -> PairedComparisons:
    """Merge comparisons of both orders, with the covariate "order"."""
    rows = []
    for data, is_forward in ((forward, True), (backward, False)):
        was_first = np.full(data.n_pairs, is_forward)
        rows.append((data.first, data.second, data.wins, data.tied, was_first))
        rows.append((data.second, data.first, data.losses, 0.0 * data.tied, ~was_first))
    winner, loser, counts, tied, in_order = (
        np.concatenate(column) for column in zip(*rows, strict=True)
    )
    fields = build_fields(forward.labels, winner, loser, counts, tied, None, in_order)
    return PairedComparisons._from_fields(*fields).with_order()


def prepare_groups(groups: Any, noun: str, ties: bool = False) -> list[PairedComparisons]:
    """Return the data sets of groups, which must have the same options.

    `ties`: whether ties are allowed.
    """
    if hasattr(groups, "values") and callable(groups.values):
        groups = groups.values()
    if hasattr(groups, "columns") or not isinstance(groups, Iterable):
        return [prepare_pairs(groups, ties)]
    data_sets = [prepare_pairs(data_set, ties) for data_set in groups]
    if not data_sets:
        raise DataError(f"There are no {noun}; give at least one data set.")
    for number, data_set in enumerate(data_sets):
        if data_set.labels != data_sets[0].labels:
            raise DataError(
                f"The {noun} must have the same options in the same order. The first has"
                f" {shorten(data_sets[0].labels)}, but number {number + 1} has"
                f" {shorten(data_set.labels)}; align the options with subset(labels)."
            )
    return data_sets


def list_group_names(groups: Any, count: int, noun: str) -> list[str]:
    """Return the keys of a mapping of groups, else "judge 1", "judge 2", ..."""
    if hasattr(groups, "keys") and not hasattr(groups, "columns"):
        return [str(key) for key in groups.keys()]
    return [f"{noun} {number + 1}" for number in range(count)]


def pool_groups(groups: list[PairedComparisons]) -> PairedComparisons:
    """Return the comparisons of all groups added up."""
    if len(groups) == 1:
        return groups[0]
    return groups[0].together(groups[1:], groups[0].labels)


def find_pair_indices(data: PairedComparisons, pooled_data: PairedComparisons) -> np.ndarray:
    """Return where each pair of `data` is among the pairs of `pooled_data`."""
    index_of_pair = {pair: k for k, pair in enumerate(_iterate_pairs(pooled_data))}
    return np.array([index_of_pair[pair] for pair in _iterate_pairs(data)])


def _iterate_pairs(data: PairedComparisons) -> Iterable[tuple[int, int]]:
    """Return (first, second) option indices of each pair."""
    return zip(data.first.tolist(), data.second.tolist(), strict=True)


def check_complete(data: PairedComparisons) -> None:
    """Raise DataError if some pair was never compared."""
    if data.n_pairs < count_pairs(data.n_options):
        compared = set(_iterate_pairs(data))
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


def check_integer_counts(data: PairedComparisons) -> None:
    """Raise DataError if counts are fractional, as with half wins."""
    if not (are_integers(data.wins) and are_integers(data.wins + data.losses)):
        raise DataError(
            "Kendall's u requires integer counts, but the counts of"
            f" {format_plural(data.n_pairs, 'pair')}"
            " include fractions; round the counts or use another test."
        )


def choice_proportions(data: PairedComparisons) -> np.ndarray:
    """Return proportions of row over column, NaN if never compared, (n, n)."""
    table = np.full((data.n_options, data.n_options), np.nan)
    total = data.wins + data.losses
    table[data.first, data.second] = data.wins / total
    table[data.second, data.first] = data.losses / total
    return table


# Counts of a file, a data frame or data, with parts -----------------------------------------------


class CountedComparisons(NamedTuple):
    """Counted votes of a source, by part, with how they were read."""

    data: Any  # whatever `convert_to_judgements` takes
    parts: dict[str, dict[str, Judgements]]  # by column and value
    # hashes of the identifiers of all rows; None: no identifier column was named
    ids: np.ndarray | None = None
    repeated: int = 0  # answers skipped because their identifier was counted before
    read_as: str = ""  # description of how a table was read
    files: tuple[str, ...] = ()  # the tables, by the names of their files


def list_names_argument(names: Any) -> list[str]:
    """Return column names as a list, given one name, several or None."""
    if isinstance(names, str):
        return [names]
    return list(names or ())


def count_votes(
    source: Any,
    progressbar: bool,
    column_arguments: dict[str, Any],
    known_ids: np.ndarray | None = None,
) -> CountedComparisons:
    """Count the votes of any source, skipping rows counted before."""
    from thali._reading.layout_recognition import check_names

    columns = {
        name: value
        for name, value in column_arguments.items()
        if name not in ("covariates", "by", "id")
    }
    covariates = column_arguments["covariates"]
    by = list_names_argument(column_arguments["by"])
    identifier = list_names_argument(column_arguments["id"])
    check_names(columns, PAIRS, CHOICES)
    if isinstance(source, Judgements | np.ndarray | list | tuple):
        if covariates is not None and isinstance(source, Judgements):
            names = list_names_argument(covariates)
            source = convert_to_judgements(source).with_covariates(names)
        if columns or identifier:
            raise ArgumentError(
                f"leaderboard has no argument {next(iter(columns), 'id')!r} for"
                f" {type(source).__name__}; column names apply to files and data frames only."
            )
        return CountedComparisons(
            source,
            {column: dict(convert_to_judgements(source).by_group(column)) for column in by},
        )
    if names := list_names_argument(covariates):
        columns["covariates"] = names
    if isinstance(source, str | Path):
        from thali._reading.large_tables import read_rows

        extra_columns = [*by, *identifier, *filter(None, [columns.get("respondent")])]
        rows = read_rows(
            source, extra_columns, progressbar, columns.pop("where", None), columns, (CHOICES,)
        )
        return count_rows(rows, by, identifier, known_ids)
    if by or identifier:
        return count_rows(
            read_rows_of_frame(source, columns, (CHOICES,)), by, identifier, known_ids
        )
    return CountedComparisons(read_comparisons(source, CHOICES, **columns), {})


def count_rows(
    rows: "ComparisonTable", by: Sequence[str], identifier: Any, known_ids: np.ndarray | None
) -> CountedComparisons:
    """Count the comparisons in the rows of a table, in all and by part."""
    ids, repeated = None, 0
    if identifier:
        if not len(rows.table.frame):
            raise DataError(f"{rows.table.file}: the table has no rows; give at least one vote.")
        if known_ids is None:
            known_ids = np.zeros(0, np.uint64)
        rows, ids, repeated = rows.drop_known_answers(identifier[0], known_ids)
        if not len(rows.table.frame):
            subject = "The vote was"
            if repeated != 1:
                subject = f"All {repeated:,} votes were"
            raise DataError(
                f"{rows.table.file}: {subject} already counted, according to column"
                f" {identifier[0]!r}."
            )
        if identifier[0] not in by:
            rows = rows.drop_column(identifier[0])
    # so that the sentence does not call the columns of parts unused
    table = replace(rows.table, filter_columns=(*rows.table.filter_columns, *by))
    data, read_as = rows._replace(table=table).build()
    return CountedComparisons(
        data,
        {column: rows.split_by(column) for column in by},
        ids,
        repeated,
        read_as,
        (rows.table.file,),
    )


def name_parts(parts: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, Any]]:
    """Return {name of a part: (column, its data)}."""
    parts_by_name = {}
    for column, parts_of_column in parts.items():
        for value, part in parts_of_column.items():
            name = str(value)
            if len(parts) > 1:
                name = f"{column} {value}"
            parts_by_name[name] = column, part
    return parts_by_name
