"""Reading choices from long tables (one row per offered option) and wide tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.index_arithmetic import find_first
from thali._labels import check_labels, find_label_indices, format_label, shorten, suggest
from thali.errors import Argument, DataError

from ..choice_marks import (
    find_keys,
    find_label_column,
    find_marked_column,
    is_answer,
    number_sets,
    read_set_marks,
)
from ..column_readers import (
    convert_frame,
    encode_column,
    get_column,
    list_categories,
    list_texts,
    read_counts,
    read_flags,
    refuse_empty,
    select_answered_rows,
    sort_texts,
)
from ..column_roles import (
    ALTERNATIVE,
    AVAILABLE,
    CHOSEN,
    COUNT,
    RESPONDENT_OF_TASKS,
    TASK,
    column_names,
    map_plain_names,
)
from ..respondent_answers import RowRespondents, read_any_respondents

if TYPE_CHECKING:
    import pandas as pd

# the roles in a long table
LONG_ROLES = ("choice_id", "alternative", "chosen", "available", "respondent", "count")


@dataclass
class RawOccasions:
    """Rows of a long table of choices, encoded as integers, before any checks."""

    labels: tuple[str, ...]
    occasion: np.ndarray  # (rows,) int64
    alternative: np.ndarray  # (rows,) int64 positions in labels
    chosen: np.ndarray  # (rows,) bool
    respondents: RowRespondents
    count: np.ndarray  # (rows,) number of such occasions
    name: Callable[[int], str]  # describes an occasion in errors
    worst: np.ndarray | None = None  # (rows,) bool: the worst option, for best-worst choices
    has_ties: bool = False  # whether several may be chosen together
    available: np.ndarray | None = None  # (rows,) bool; None: all rows were offered


def read_long_occasions(
    frame: "pd.DataFrame", names: dict[str, str | None], labels: Iterable[Any] | None, weights: bool
) -> RawOccasions:
    """Read a long table of choices, one row per offered option, as integers.

    `names` gives the columns; None for columns to find by their usual names.
    """
    frame = convert_frame(frame)
    refuse_empty(frame, "choices")
    column_by_role = find_columns(frame, names)
    frame = _select_answered(frame, column_by_role, True)
    alternative, option_labels = encode_column(frame, column_by_role["alternative"], labels)
    task_codes, task_names = encode_column(frame, column_by_role["choice_id"])
    row_respondents = read_any_respondents(
        frame, column_by_role["respondent"], column_by_role.values()
    )
    # the same number may name occasions of several respondents
    row_keys = (row_respondents.number + 1) * len(task_names) + task_codes
    distinct_keys, occasion = np.unique(row_keys, return_inverse=True)
    is_task_per_respondent = column_by_role["respondent"] not in (None, column_by_role["choice_id"])

    def describe_occasion(occasion_number: int) -> str:
        """Describe choice occasion `occasion_number` in error messages."""
        respondent_number, task_index = divmod(int(distinct_keys[occasion_number]), len(task_names))
        description = f"choice set {task_names[task_index]!r}"
        if is_task_per_respondent:
            description += f" of respondent {row_respondents.names[respondent_number - 1]!r}"
        return description

    is_chosen = _read_chosen(frame, column_by_role, alternative, option_labels)
    available = None
    if column_by_role["available"] is not None:
        available = read_flags(frame, column_by_role["available"])
    return RawOccasions(
        option_labels,
        occasion,
        alternative,
        is_chosen,
        row_respondents,
        read_occasion_counts(frame, column_by_role["count"], weights, occasion, describe_occasion),
        describe_occasion,
        available=available,
    )


def _select_answered(
    frame: "pd.DataFrame", column_by_role: Mapping[str, Any], is_reported: bool
) -> "pd.DataFrame":
    """Return the rows of answered choice occasions; if `is_reported`, note the others."""
    task_columns = column_by_role["choice_id"], column_by_role["respondent"]
    return select_answered_rows(
        frame,
        [column_by_role["chosen"]],
        [column_by_role["alternative"]],
        task_columns=task_columns,
        is_reported=is_reported,
    )


def read_wide_occasions(
    frame: "pd.DataFrame",
    chosen: str | None,
    alternatives: Sequence[str] | None,
    available: Mapping[Any, str] | None,
    other_columns: dict[str, str | None],
    labels: Iterable[Any] | None,
    weights: bool,
) -> RawOccasions:
    """Read a wide table of choices, one row per occasion, as rows of a long table."""
    frame = convert_frame(frame)
    refuse_empty(frame, "choices")
    _check_offers(alternatives, available)
    column_by_role = find_columns(frame, {"chosen": chosen, **other_columns})
    answer_column = column_by_role["chosen"]
    alternatives = alternatives or ()
    available = available or {}
    offered_columns = alternatives
    if not alternatives and not available:
        offered_columns = [answer_column]
    frame = select_answered_rows(
        frame, [answer_column], offered_columns, map(format_label, available)
    )
    chosen_labels = _list_chosen_labels(frame, answer_column)
    offered_by_column = _list_offers(frame, alternatives, available)
    if labels is not None:
        option_labels = check_labels(labels)
    else:
        option_labels = _list_wide_labels(
            frame, answer_column, chain(chosen_labels, *offered_by_column)
        )
    if not offered_by_column:
        offered_by_column = [[label] * len(frame) for label in option_labels]
    cells = np.array(offered_by_column, object).T
    occasion, place = np.nonzero(cells != "")
    if not len(occasion):
        raise DataError(
            "No alternative was offered in any row; check the columns that mark offers."
        )
    alternative = encode_row_labels(frame, occasion, cells[occasion, place], option_labels)
    chosen_index = encode_row_labels(frame, range(len(frame)), chosen_labels, option_labels)
    used_columns = (*column_by_role.values(), *alternatives, *available.values())
    row_respondents = read_any_respondents(frame, column_by_role["respondent"], used_columns)
    row_counts = read_counts(frame, column_by_role["count"], weights)
    is_chosen = alternative == chosen_index[occasion]
    if (row := find_first(np.bincount(occasion, is_chosen, len(frame)) == 0.0)) is not None:
        raise DataError(
            f"{chosen_labels[row]!r} was chosen in row {frame.index[row]}, but was not available;"
            " correct or remove the row."
        )
    return RawOccasions(
        option_labels,
        occasion,
        alternative,
        is_chosen,
        row_respondents.select_rows(occasion),
        row_counts[occasion],
        lambda number: f"row {frame.index[number]}",
    )


def _list_chosen_labels(frame: "pd.DataFrame", answer_column: str) -> list[str]:
    """Return the label chosen in each row; raise DataError where it is missing."""
    chosen_labels = list_texts(frame, answer_column)
    if "" in chosen_labels:
        raise DataError(
            f"Row {frame.index[chosen_labels.index('')]} has no chosen alternative; fill it in or"
            " remove the row."
        )
    return chosen_labels


def _list_offers(
    frame: "pd.DataFrame", alternatives: Iterable[str], available: Mapping[Any, str]
) -> list[list[str]]:
    """Return the labels offered in each row, by column; "" where not offered."""
    labels_by_column = [list_texts(frame, column) for column in alternatives]
    for label, column in available.items():
        labels_by_column.append(
            np.where(read_flags(frame, column), format_label(label), "").tolist()
        )
    return labels_by_column


def encode_row_labels(
    frame: "pd.DataFrame", rows: Sequence[int] | np.ndarray, texts: Any, labels: tuple[str, ...]
) -> np.ndarray:
    """Return the index among the labels of each text, which is in this row; raise if unknown."""
    label_indices = find_label_indices(texts, labels)
    if (k := find_first(label_indices < 0)) is not None:
        raise DataError(
            f"{texts[k]!r} in row {frame.index[rows[k]]} is not in"
            f" `labels`.{suggest(texts[k], labels)}"
        )
    return label_indices


def _check_offers(alternatives: Any, available: Any) -> None:
    """Raise if `alternatives` and `available` are both given or have wrong types."""
    if alternatives is not None and available is not None:
        raise DataError(
            "`alternatives` (columns with the options offered) and `available` cannot be combined;"
            " remove one."
        )
    if isinstance(alternatives, str):
        raise DataError(
            f"`alternatives` must be a list of columns; got the string {alternatives!r}."
        )
    if not isinstance(available, Mapping | None):
        raise DataError(
            "`available` must map each alternative to a column, {label: column}; got"
            f" {available!r}."
        )


def _list_wide_labels(
    frame: "pd.DataFrame", chosen_column: str, all_texts: Iterable[str]
) -> tuple[str, ...]:
    """Return all option labels of a wide table: chosen ones first, then others."""
    distinct_texts = dict.fromkeys(filter(None, all_texts))
    categories = list_categories(get_column(frame, chosen_column))
    if not categories:
        return sort_texts([*distinct_texts])
    return tuple(dict.fromkeys([*categories, *distinct_texts]))


def find_columns(frame: "pd.DataFrame", names: Mapping[str, str | None]) -> dict[str, Any]:
    """Find the columns of choice occasion, option, choice and others in a long table.

    Columns that may be missing are None; raise if another column is missing.
    """
    role_by_name = {
        role.name: role
        for role in (TASK, ALTERNATIVE, CHOSEN, AVAILABLE, RESPONDENT_OF_TASKS, COUNT)
    }
    name_by_simplified = map_plain_names(column_names(frame))
    column_by_role: dict[str, Any] = {}
    used_columns = set(names.values())
    for role, name in names.items():
        if name is None:
            candidates = list(
                role_by_name[role].find_possible_columns(name_by_simplified, used_columns)
            )
            # a long table has several rows per respondent and task, unlike row numbers
            if role == "respondent" and "choice_id" in names:
                tasks = [*filter(None, [column_by_role["choice_id"]])]
                candidates = [
                    column
                    for column in candidates
                    if frame.duplicated([column, *tasks]).any() and not is_answer(frame, column)
                ]
            name = next(iter(candidates), None)
        used_columns.add(name)
        column_by_role[role] = name
    if "choice_id" in names:
        column_by_role |= _find_by_content(frame, column_by_role)
    for role in ("choice_id", "alternative", "chosen"):
        if role in column_by_role and column_by_role[role] is None:
            raise DataError(
                f"No column was recognised as {role!r}; if the table has one, give its name with ",
                Argument(role),
                f". The columns are {shorten(column_names(frame), 12)}.",
            )
    return column_by_role


def _find_by_content(
    frame: "pd.DataFrame", column_by_role: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Find columns of choices, choice sets and options by their cells, where names show none."""
    respondent, task, alternative, chosen = (
        column_by_role[role] for role in ("respondent", "choice_id", "alternative", "chosen")
    )
    if chosen is None:
        used_columns = [name for role, name in column_by_role.items() if role != "chosen"]
        chosen = find_marked_column(frame, (respondent, task), used_columns)
    if chosen is not None and task is None:
        task = find_keys(frame, respondent, None, chosen, alternative)[1]
    if task is None:
        task = respondent
    if alternative is None and task is not None and chosen is not None:
        alternative = find_label_column(frame, respondent, task, chosen)
    return {"choice_id": task, "alternative": alternative, "chosen": chosen}


def is_long_table(frame: "pd.DataFrame", names: Mapping[str, str | None] | None = None) -> bool:
    """Return whether column names and cells fit a long table of choices.

    `names` are the columns that the user named.
    """
    try:
        column_by_role = find_columns(frame, dict.fromkeys(LONG_ROLES) | dict(names or {}))
        frame = _select_answered(frame, column_by_role, False)
        alternative, option_labels = encode_column(frame, column_by_role["alternative"])
        encode_column(frame, column_by_role["choice_id"])
        is_chosen = _read_chosen(frame, column_by_role, alternative, option_labels)
    except DataError:
        return False
    return bool(is_chosen.any() and not is_chosen.all())


def read_occasion_counts(
    frame: "pd.DataFrame",
    count: str | None,
    weights: bool,
    occasion: np.ndarray,
    describe_occasion: Callable[[int], str],
) -> np.ndarray:
    """Read each row's count; raise DataError if rows of one choice occasion differ."""
    import pandas as pd

    if count is None:
        return np.ones(len(frame))
    count_column = get_column(frame, count)
    first_rows = np.unique(occasion, return_index=True)[1][occasion]
    count_codes, _ = pd.factorize(count_column)
    if (k := find_first(count_codes != count_codes[first_rows])) is not None:
        count_texts = " and ".join(
            format_label(count_column.iloc[row]) or "none" for row in (first_rows[k], k)
        )
        raise DataError(
            f"The counts in column {count!r} differ between the rows of"
            f" {describe_occasion(occasion[k])} ({count_texts}); give all its rows the same count,"
            " or rename the column if it describes the alternatives."
        )
    return read_counts(frame, count, weights)


def _read_chosen(
    frame: "pd.DataFrame",
    column_by_role: Mapping[str, Any],
    option_index: np.ndarray,
    option_labels: tuple[str, ...],
) -> np.ndarray:
    """Return whether each row's option was chosen, shape (rows,), from marks or labels."""
    # It is marked by 1, or by the label of the chosen alternative in every row of an occasion.
    answer_column = get_column(frame, column_by_role["chosen"])
    keys = dict.fromkeys(column_by_role[role] for role in ("respondent", "choice_id"))
    set_numbers = number_sets(frame, list(filter(None, keys)))
    is_yes, is_wrong = read_set_marks(answer_column, set_numbers)
    if not is_wrong.any():
        return is_yes
    answer_texts = np.array(list(map(format_label, answer_column)))
    if set(answer_texts) <= set(option_labels):
        return answer_texts == np.array(option_labels)[option_index]
    return read_flags(frame, column_by_role["chosen"])
