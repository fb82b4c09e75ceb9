"""Votes of any source as counted paired comparisons or choices."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.base_classes import Judged, build_from_fields, explain_unpaired_data
from thali._data.choices import Choices
from thali._data.kinds import CHOICES, PAIRS
from thali._data.number_checks import are_integers
from thali._data.pairs import PairedComparisons
from thali._data.pairs.comparison_rows import build_fields, list_pair_rows, stack_orders
from thali._data.pairs.covariates import ORDER
from thali._data.suspicious_data import find_similar_labels
from thali._inference.index_arithmetic import count_pairs
from thali._inference.user_warnings import warn
from thali._labels import format_plural, shorten
from thali.errors import Argument, ArgumentError, DataError, DataWarning, Setting

if TYPE_CHECKING:
    from thali._reading.comparison_table import ComparisonTable


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


def choose_tie_rule(data: Judgements) -> str:
    """Return the default treatment of ties: "half" for scores, else Davidson's model."""
    if data.scores is None:
        return DAVIDSON
    return "half"


def treat_ties(data: Judgements, ties: str) -> Judgements:
    """Return the data with ties converted as `ties` asks, or kept for Davidson's model."""
    if ties == DAVIDSON:
        return data
    return data.without_ties(ties)


def merge_judgements(old_data: Judgements, new_data: Judgements, ties: str) -> Judgements:
    """Merge two data sets; pairs become sets if the other has larger sets."""
    if bool(old_data.respondents) != bool(new_data.respondents):
        subject_words = "earlier"
        if old_data.respondents:
            subject_words = "new"
        warn(
            DataWarning(
                f"The {subject_words} answers do not identify users, so users are ignored in all"
                " votes;"
                " give the name of the column of users with ",
                Argument("respondent"),
                ".",
            )
        )
    if isinstance(old_data, PairedComparisons) and isinstance(new_data, PairedComparisons):
        merged_data = old_data.with_more(new_data)
    else:
        merged_data = _convert_to_choices(old_data, ties).with_more(
            _convert_to_choices(new_data, ties)
        )
    if (similar_labels := find_similar_labels(merged_data.labels)) and not any(
        find_similar_labels(data.labels) for data in (old_data, new_data)
    ):
        warn(DataWarning(similar_labels))  # labels within one data set were checked by its reader
    return merged_data


def _convert_to_choices(data: Judgements, ties: str) -> Choices:
    """Return comparisons as choices from sets of two."""
    if isinstance(data, Choices):
        return data
    if data.covariates is not None or data.dates is not None:
        unusable_words = "dates"
        absent_words = "dates"
        if data.covariates is not None:
            covariate_names = data.covariate_names
            unusable_words = (
                f"the covariate{'s' * (len(covariate_names) > 1)} {shorten(covariate_names)}"
            )
            absent_words = "covariates"
        raise DataError(
            f"Paired comparisons with {unusable_words} cannot be combined with choices from larger"
            " sets,"
            f" which have no {absent_words}; make separate leaderboards."
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
    counted_pairs: Any = treat_ties(data, ties)
    return Choices.from_comparisons(counted_pairs)


def prepare_pairs(data: Any, ties: bool = False, used_covariate: str = "") -> PairedComparisons:
    """Return paired comparisons; raise for ties or covariates not allowed."""
    comparisons = convert_to_comparisons(data)
    if not ties:
        comparisons.refuse_ties()
    return drop_covariate(comparisons, used_covariate)


def drop_covariate(data: PairedComparisons, used_covariate: str) -> PairedComparisons:
    """Return comparisons without `used_covariate`; raise DataError if they have another."""
    data.refuse_dates()
    if other_covariates := [name for name in data.covariate_names if name != used_covariate]:
        raise DataError(
            "This analysis requires comparisons without covariates, but these have"
            f" {shorten(other_covariates)}; fit a model instead, or remove the covariates with"
            " data.with_covariates([])."
        )
    return data.with_covariates(())


def merge_orders(data: Any) -> tuple[PairedComparisons, str]:
    """Return comparisons with the covariate "order", and a caveat if respondents are known.

    `data` identify the first option, are such a data frame, or are two data sets, by whether the
    earlier label was shown first.
    """
    if isinstance(data, tuple | list) and len(data) == 2:
        parts = sources = prepare_groups(data, "two orders of presentation", ties=True)
    else:
        if hasattr(data, "columns"):
            from thali._reading.layout_recognition import recognise
            from thali._reading.read import read_frame

            data, _ = recognise(read_frame(data), PAIRS, asks=True).build()
        sources = [prepare_pairs(data, True, ORDER)]
        parts = list(sources[0].by_order())
    caveat = ""
    if any(source.respondents for source in sources):
        caveat = " The answers of each respondent are treated as independent."
    forward, backward = parts
    rows = stack_orders(list_pair_rows(forward), list_pair_rows(backward))
    comparisons = build_from_fields(
        PairedComparisons, *build_fields(forward.labels, rows, knows_order=True)
    )
    return comparisons.with_order(), caveat


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
    for group_index, data_set in enumerate(data_sets):
        if data_set.labels != data_sets[0].labels:
            raise DataError(
                f"The {noun} must have the same options in the same order. The first has"
                f" {shorten(data_sets[0].labels)}, but number {group_index + 1} has"
                f" {shorten(data_set.labels)}; align the options with subset(labels)."
            )
    return data_sets


def list_group_names(groups: Any, n_groups: int, noun: str) -> list[str]:
    """Return the keys of a mapping of groups, else "judge 1", "judge 2", ..."""
    if hasattr(groups, "keys") and not hasattr(groups, "columns"):
        return [str(key) for key in groups.keys()]
    return [f"{noun} {group_index + 1}" for group_index in range(n_groups)]


def pool_groups(groups: list[PairedComparisons]) -> PairedComparisons:
    """Return the comparisons of all groups added up."""
    if len(groups) == 1:
        return groups[0]
    return groups[0].together(groups[1:])


def find_pair_indices(data: PairedComparisons, pooled_data: PairedComparisons) -> np.ndarray:
    """Return the index of each pair of `data` among the pairs of `pooled_data`."""
    index_of_pair = {pair: k for k, pair in enumerate(_iterate_pairs(pooled_data))}
    return np.array([index_of_pair[pair] for pair in _iterate_pairs(data)])


def _iterate_pairs(data: PairedComparisons) -> Iterable[tuple[int, int]]:
    """Return (first, second) option indices of each pair."""
    return zip(data.first.tolist(), data.second.tolist(), strict=True)


def check_complete(data: PairedComparisons) -> None:
    """Raise DataError if some pair was never compared."""
    if data.n_pairs < count_pairs(data.n_options):
        compared_pairs = set(_iterate_pairs(data))
        i, j = next(
            (i, j)
            for i in range(data.n_options)
            for j in range(i + 1, data.n_options)
            if (i, j) not in compared_pairs
        )
        raise DataError(
            f"Counting circular triads requires all pairs to be compared, but {data.labels[i]!r}"
            f" was never compared with {data.labels[j]!r}; use subset(labels) of options that were"
            " all compared."
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
    proportions = np.full((data.n_options, data.n_options), np.nan)
    n_by_pair = data.wins + data.losses
    proportions[data.first, data.second] = data.wins / n_by_pair
    proportions[data.second, data.first] = data.losses / n_by_pair
    return proportions


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


def list_names_argument(names: str | Iterable[str] | None) -> list[str]:
    """Return column names as a list, given one name, several or None."""
    if isinstance(names, str):
        return [names]
    return list(names or ())


def count_votes(
    source: Any,
    column_arguments: dict[str, Any],
    known_ids: np.ndarray | None = None,
) -> CountedComparisons:
    """Count the votes of any source, skipping rows counted before."""
    from thali._reading.comparison_table import read_rows
    from thali._reading.layout_recognition import check_names
    from thali._reading.layouts import BOARD_SHAPES

    given_columns = {
        name: value
        for name, value in column_arguments.items()
        if name not in ("covariates", "by", "id")
    }
    covariates = column_arguments["covariates"]
    part_columns = list_names_argument(column_arguments["by"])
    id_columns = list_names_argument(column_arguments["id"])
    finds_date = given_columns.pop("finds_date", False)
    check_names(given_columns, PAIRS, CHOICES, shapes=BOARD_SHAPES)
    if isinstance(source, Judgements | np.ndarray | list | tuple):
        if covariates is not None and isinstance(source, Judgements):
            covariate_names = list_names_argument(covariates)
            source = convert_to_judgements(source).with_covariates(covariate_names)
        if given_columns or id_columns:
            raise ArgumentError(
                f"leaderboard has no argument {next(iter(given_columns), 'id')!r} for"
                f" {type(source).__name__}; column names apply to files and data frames only."
            )
        return CountedComparisons(
            source,
            {
                column: dict(convert_to_judgements(source).by_group(column))
                for column in part_columns
            },
        )
    if covariate_names := list_names_argument(covariates):
        given_columns["covariates"] = covariate_names
    given_columns["finds_date"] = finds_date
    rows = read_rows(source, given_columns, [*part_columns, *id_columns])
    return count_rows(rows, part_columns, id_columns, known_ids)


def count_rows(
    comparison_table: "ComparisonTable",
    part_columns: Sequence[str],
    id_columns: Sequence[str],
    known_ids: np.ndarray | None,
) -> CountedComparisons:
    """Count the comparisons in the rows of a table, in all and by part."""
    answer_ids = None
    n_repeated = 0
    if id_columns:
        if not len(comparison_table.table.frame):
            raise DataError(
                f"{comparison_table.table.file}: the table has no rows; give at least one vote."
            )
        if known_ids is None:
            known_ids = np.zeros(0, np.uint64)
        comparison_table, answer_ids, n_repeated = comparison_table.drop_known_answers(
            id_columns[0], known_ids
        )
        if not len(comparison_table.table.frame):
            subject_words = "The vote was"
            if n_repeated != 1:
                subject_words = f"All {n_repeated:,} votes were"
            raise DataError(
                f"{comparison_table.table.file}: {subject_words} already counted, according to"
                " column"
                f" {id_columns[0]!r}."
            )
        if id_columns[0] not in part_columns:
            comparison_table = comparison_table.drop_column(id_columns[0])
    # so that the sentence does not call the columns of parts unused
    table = replace(
        comparison_table.table,
        filter_columns=(*comparison_table.table.filter_columns, *part_columns),
    )
    comparison_table = comparison_table._replace(table=table)
    data, layout = comparison_table.build()
    return CountedComparisons(
        data,
        {column: comparison_table.split_by(column) for column in part_columns},
        answer_ids,
        n_repeated,
        layout,
        (comparison_table.table.file,),
    )


def name_parts(parts: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, Any]]:
    """Return {name of a part: (column, its data)}."""
    parts_by_name = {}
    for column, parts_of_column in parts.items():
        for part_value, part_data in parts_of_column.items():
            part_name = str(part_value)
            if len(parts) > 1:
                part_name = f"{column} {part_value}"
            parts_by_name[part_name] = column, part_data
    return parts_by_name
