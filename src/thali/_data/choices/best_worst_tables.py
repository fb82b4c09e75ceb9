"""Reading best-worst (MaxDiff) choices from wide and long tables."""

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product, repeat, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import find_first
from thali._labels import format_label, has_repeats, shorten
from thali.errors import Argument, DataError, Setting

from ..choice_marks import find_keys, find_label_column
from ..column_readers import (
    LIST_SEPARATORS,
    add_note,
    check_columns,
    choose_labels,
    count_from_one,
    describe_columns,
    encode_column,
    get_column,
    list_texts,
    note_omission,
    number_labelled_sets,
    read_counts,
    refuse_empty,
    select_answered_rows,
)
from ..column_roles import (
    ALTERNATIVE,
    BEST,
    CHOSEN,
    CHOSEN_OF_TWO,
    COUNT,
    ODD,
    RANK,
    RESPONDENT,
    STEMS,
    TASK,
    WORST,
    column_names,
    find_named_columns,
    has_numbers,
    list_name_words,
    map_plain_names,
    simplify_name,
)
from ..respondent_answers import read_any_respondents
from ..respondent_table import is_constant_within
from .long_and_wide_tables import RawOccasions, encode_row_labels
from .rankings import RANK_STEMS

if TYPE_CHECKING:
    import pandas as pd

_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_MIDDLE = {"middle", "center", "centre"}
_SERIES_MARKS = (
    "abcdefghijklmnopqrstuvwxyz",
    list(map(str, range(1, 40))),
    list(map(str, range(40))),
    *(["left", middle, "right"] for middle in sorted(_MIDDLE)),
    ["top", "middle", "bottom"],
    ["first", "second", "third", "fourth", "fifth"],
)
_WORD_MARKS = {mark for marks in _SERIES_MARKS[3:] for mark in marks}


class BestWorstColumns(NamedTuple):
    """Names of the columns of a wide best-worst table, one set per row."""

    best: str
    worst: str | None
    options: tuple[str, ...]
    respondent: str | None
    count: str | None  # type: ignore[override]

    @property
    def used(self) -> set[str | None]:
        """Set of all column names that are not None."""
        return {self.best, self.worst, *self.options, self.respondent, self.count}

    def __str__(self) -> str:
        choice_columns = f"choice in {self.best!r}"
        if self.worst is not None:
            choice_columns = f"choices in {self.best!r} and {self.worst!r}"
        first_column = self.options[0]
        last_column = self.options[-1]
        return (
            f"one set per row, options in {first_column!r} to {last_column!r}, {choice_columns}"
            f"{describe_columns(None, self.respondent)}"
        )


def find_best_worst_columns(
    frame: "pd.DataFrame",
    named_columns: Mapping[str, str | None],
    options: Sequence[str] | None = None,
) -> BestWorstColumns:
    """Find the columns of best, worst, offered options, respondent and count.

    Names in `named_columns` and `options` are taken as given. Raises DataError if one is missing.
    """
    all_columns = column_names(frame)
    check_columns(frame, (*named_columns.values(), *(options or ())))
    best_column, worst_column = _find_answer_columns(all_columns, named_columns)
    respondent_column, count_column = find_named_columns(
        map_plain_names(all_columns), named_columns, (RESPONDENT, COUNT)
    )
    for role, name in (("best", best_column), ("worst", worst_column)):
        if name is None:
            raise DataError(
                f"No column of {role} options was recognised; if the table has one, give its name"
                " with ",
                Argument(role),
                ".",
            )
    role_columns = (best_column, worst_column, respondent_column, count_column)
    option_series = find_column_series([name for name in all_columns if name not in role_columns])
    if options is not None:
        option_series = [tuple(options)]
    if not option_series:
        raise DataError(
            "No columns such as 'option1', 'option2', 'option3' contain the options offered in"
            f" addition to {best_column!r} and {worst_column!r}; rename those columns, or give"
            " their names with `options`."
        )
    fitting_series = (
        group for group in option_series if _is_best_offered(frame, group, best_column)
    )
    return BestWorstColumns(
        best_column,
        worst_column,
        next(fitting_series, option_series[0]),
        respondent_column,
        count_column,
    )


def _find_answer_columns(
    names: list[str], named_columns: Mapping[str, str | None]
) -> tuple[Any, Any]:
    """Return the best and the worst column, or those of the only trait."""
    best_column, worst_column = find_named_columns(
        map_plain_names(names), named_columns, (BEST, WORST)
    )
    worded_pairs = [*list_traits(names).values()]
    if len(worded_pairs) == 1 and best_column is None and worst_column is None:
        return worded_pairs[0]
    return best_column, worst_column


_BEST_WORST_WORDS = (("pos", "neg"), ("best", "worst"), ("most", "least"))


def list_traits(
    names: list[str], words: Iterable[tuple[str, str]] = _BEST_WORST_WORDS
) -> dict[str, tuple[str, str]]:
    """Return the columns of best and worst options by trait: yield of yield_pos and yield_neg."""
    name_by_simplified = map_plain_names(names)
    columns_by_trait: dict[str, tuple[str, str]] = {}
    for name, (best, worst) in product(name_by_simplified, words):
        for partner in {name.removesuffix(best) + worst, worst + name.removeprefix(best)}:
            if partner not in name_by_simplified or {name, partner} == {best, worst}:
                continue
            best_column = name_by_simplified[name]
            trait = re.sub(f"^{best}|{best}$", "", best_column, flags=re.I).strip("_.- ")
            # yield_pos rather than a measured yield beside yield_neg
            if trait != best_column or trait not in columns_by_trait:
                columns_by_trait[trait] = (best_column, name_by_simplified[partner])
    return columns_by_trait


def find_best_columns(
    frame: "pd.DataFrame", named_columns: Mapping[str, str | None]
) -> list[BestWorstColumns]:
    """Find three or more columns of offered options, with each column of choices among them.

    The list is empty for other tables, and for tables with the worst option or the odd one out.
    """
    all_columns = column_names(frame)
    name_by_simplified = map_plain_names(all_columns)
    if list_traits(all_columns) or any(
        role.find_column(name_by_simplified) for role in (WORST, ODD)
    ):
        return []
    checked_rows = frame.head(_CHECKED_ROWS)
    first_texts = {
        str(name): list(map(format_label, cells)) for name, cells in frame.head(_FIRST_SETS).items()
    }
    for options in find_column_series(all_columns):
        if len(options) < 3:
            continue
        answers = _list_answers(checked_rows, options, named_columns.get("best"), first_texts)
        if simplify_name(options[0])[:-1] in RANK.sure:  # of a ranking, unless they are positions
            answers = [name for name in answers if answers_by_place(frame, name, options)]
        other_columns = [name for name in all_columns if name not in (*options, *answers)]
        respondent_column, count_column = find_named_columns(
            map_plain_names(other_columns), named_columns, (RESPONDENT, COUNT)
        )
        if answers:
            return [
                BestWorstColumns(answer, None, options, respondent_column, count_column)
                for answer in answers
            ]
    return []


def answers_by_place(frame: "pd.DataFrame", answer: str, options: Sequence[str]) -> bool:
    """Return whether each answer is in a column of options, but not always in the same."""
    option_rows = frame[[*options]].to_numpy(object)
    is_answer = option_rows == frame[answer].to_numpy(object)[:, None]
    if not is_answer.any(axis=1).all() or is_answer.all(axis=0).any():
        return False
    # any option is in the row of a complete ranking, such as the brand that a respondent owns
    return len({*option_rows.ravel()}) > len(options)


_CHOICE_WORDS = {*BEST.synonyms, *CHOSEN.synonyms, *CHOSEN_OF_TWO.synonyms, "pick", "clicked"}
_CHECKED_ROWS = 2_000  # rows that show whether a column contains choices from the row's set
UNANSWERED = -1  # position of the chosen option in rows without an answer


def expand_lists(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the table with a column of sets such as "a;b;c" divided into a column an option.

    Each set contains the cell of a column that is named for a choice.
    """
    answer_columns = [name for name in column_names(frame) if simplify_name(name) in _CHOICE_WORDS]
    for name, separator, answer in product(column_names(frame), LIST_SEPARATORS, answer_columns):
        cells = frame[name].head(_CHECKED_ROWS)
        if name == answer or has_numbers(cells) or not all(separator in str(c) for c in cells):
            continue
        sets = [_split_set(text, separator) for text in list_texts(frame, name)]
        if all(map(operator.contains, sets, list_texts(frame, answer))):
            options = [{f"{name} {k}": option for k, option in enumerate(row, 1)} for row in sets]
            return frame.drop(columns=name).join(type(frame)(options, frame.index))
    return frame


def _split_set(text: str, separator: str) -> list[str]:
    """Split a text such as "a;b" or "['a', 'b']" into labels."""
    return [option.strip(" '\"") for option in text.strip("[](){}").split(separator)]


def _list_answers(
    frame: "pd.DataFrame",
    options: tuple[str, ...],
    chosen: str | None,
    first_texts: Mapping[str, list[str]],
) -> list[str]:
    """List the columns that contain an option of each row's set, the one named for it first."""
    # `first_texts` are the texts of each column in the first rows.
    # Where the name means nothing else, a cell may be a position, and some cells may be wrong.
    names = [name for name in column_names(frame) if name not in options and chosen in (None, name)]
    called_answers = _list_called_answers(names, chosen)
    first_rows = list(zip(*(first_texts[name] for name in options), strict=True))
    possible_answers = [
        name
        for name in names
        if None not in map(find_position, first_texts[name], first_rows, repeat(()))
    ]
    if not called_answers and not possible_answers:
        return []
    option_rows = list_rows(frame, options)
    are_numbers = all(_NUMBER.fullmatch(cell) for row in option_rows for cell in row if cell)
    repeated_rows = sum(has_repeats(list(filter(None, row))) for row in option_rows)
    if are_rank_rows(option_rows) or (are_numbers and repeated_rows):
        return []  # ranks or ratings
    if repeated_rows > _MAX_REPEATED * len(option_rows):
        return []  # numbered attributes of a product
    positions_by_column = {
        name: list(map(find_position, list_texts(frame, name), option_rows, repeat(())))
        for name in possible_answers
    }
    answers = [
        name
        for name, positions in positions_by_column.items()
        if None not in positions and _are_choices(positions, options)
    ]
    named_answers = [
        name
        for name in answers
        if name == chosen or not _CHOICE_WORDS.isdisjoint(list_name_words(name))
    ]
    if len(named_answers) == 1:
        chosen_positions = positions_by_column[named_answers[0]]
        return named_answers + [
            name
            for name in answers
            if not any(map(operator.eq, positions_by_column[name], chosen_positions))
        ]
    if named_answers or (are_numbers and simplify_name(options[0])[:-1] not in STEMS):
        return named_answers
    for name in called_answers:
        texts = count_from_one(list_texts(frame, name), options)
        positions = list(map(find_position, texts, option_rows, repeat(options)))
        if _are_choices(positions, options) and 2 * positions.count(None) < len(positions):
            return [name]
    return []


_FIRST_SETS = 50  # rows that show that most columns contain no choices
_MAX_REPEATED = 0.2  # share of sets in which an option may occur twice by mistake


def _list_called_answers(names: list[str], chosen: str | None) -> list[str]:
    """List the columns that are named for a choice, or given as that of choices."""
    best_columns = list(BEST.find_certain_columns(map_plain_names(names)))
    return [
        name
        for name in names
        if name in (chosen, *best_columns) or simplify_name(name) in _CHOICE_WORDS
    ]


def _are_choices(positions: list[int | None], options: tuple[str, ...]) -> bool:
    """Return whether positions may be choices: not only the first, also the middle one."""
    # in a ranking the first is always chosen, in triplets the one in the middle never
    chosen_positions = {*positions} - {None, UNANSWERED}
    if simplify_name(options[0])[:-1] in RANK_STEMS:
        chosen_positions.discard(0)
    has_middle = not _MIDDLE.isdisjoint(list_name_words(options[1]))
    return bool(chosen_positions) and (1 in chosen_positions or not has_middle)


def are_rank_rows(rows: Iterable[Sequence[str]]) -> bool:
    """Return whether each row is a permutation of 1, 2, ..., so that cells are ranks."""
    filled_rows = [[cell for cell in row if cell] for row in rows]
    return all(sorted(map(str, range(1, len(row) + 1))) == sorted(row) for row in filled_rows)


def find_column_series(names: list[str]) -> list[tuple[str, ...]]:
    """Find series of columns such as item_a, item_b, ... or item1, item2, ...

    The series are a, b, ...; 1, 2, ...; or 0, 1, ...
    """
    name_by_simplified = map_plain_names(names)
    all_series = []
    for name in name_by_simplified:
        for series_marks in _SERIES_MARKS:
            prefix, mark, suffix = name.rpartition(series_marks[0])
            if not mark or (suffix and (prefix or len(mark) < 2)):
                continue  # only words may begin a name
            names_of_series = takewhile(
                name_by_simplified.__contains__, (prefix + mark + suffix for mark in series_marks)
            )
            series_columns = tuple(map(name_by_simplified.__getitem__, names_of_series))
            if len(series_columns) > 1:
                all_series.append(series_columns)
    return all_series


def _is_best_offered(
    frame: "pd.DataFrame", option_columns: tuple[str, ...], best_column: str
) -> bool:
    """Return whether the best option of every row is in one of these columns."""
    try:
        frame = select_answered_rows(frame, [best_column], option_columns, is_reported=False)
    except DataError:
        return False
    option_rows = list_rows(frame, option_columns)
    texts = list_texts(frame, best_column)
    return None not in map(find_position, texts, option_rows, repeat(option_columns))


def list_rows(frame: "pd.DataFrame", columns: tuple[str, ...]) -> list[list[str]]:
    """Return the texts of these columns as one list per table row."""
    return list(map(list, zip(*(list_texts(frame, name) for name in columns), strict=True)))


def _find_named_column(
    text: str, offered_labels: list[str], columns: tuple[str, ...]
) -> int | None:
    """Return the index of the column that a cell names, such as "option2" or "B"; else None."""
    # A cell may contain the name of the column, its letter or its number. Return None for other
    # cells.
    for k, column in enumerate(columns):
        option_number = k + 1
        if final_digits := re.search(r"(?<!\d)\d{1,9}$", column):
            option_number = int(final_digits[0])
        position_marks = (_SERIES_MARKS[0][k], str(option_number))
        plain_text = simplify_name(text)
        if offered_labels[k] and (
            plain_text
            in (simplify_name(column), *_WORD_MARKS.intersection(list_name_words(column)))
            or any(
                plain_text.endswith(mark) and plain_text.removesuffix(mark) in STEMS
                for mark in position_marks
            )
        ):
            return k
    return None


def find_position(
    text: str, offered_labels: list[str], columns: tuple[str, ...], is_by_position: bool = False
) -> int | None:
    """Return the index of the option that an answer names by label or column; else None."""
    if not text:
        return UNANSWERED
    if text in offered_labels and not is_by_position:
        return offered_labels.index(text)
    return _find_named_column(text, offered_labels, columns)


def find_positions(
    frame: "pd.DataFrame",
    columns: BestWorstColumns,
    option_rows: list[list[str]],
    marked_texts: Sequence[list[str]],
) -> np.ndarray:
    """Return the index of each answer's option in its row, shape (rows, answers).

    An index is UNANSWERED for an empty text. Raise DataError for texts that name no option of the
    row, and if the best and the worst of a row are the same option.
    """
    answers = [
        (text, row)
        for texts in marked_texts
        for text, row in zip(texts, option_rows, strict=True)
        if text
    ]
    # all answers name columns rather than labels of options
    is_by_position = not all(text in row for text, row in answers) and all(
        _find_named_column(text, row, columns.options) is not None for text, row in answers
    )
    positions = np.full((len(option_rows), len(marked_texts)), UNANSWERED)
    for k, (row_options, *texts) in enumerate(zip(option_rows, *marked_texts, strict=True)):
        row_label = frame.index[k]
        for mark, text in enumerate(texts):
            position = find_position(text, row_options, columns.options, is_by_position)
            if position is None:
                name = (columns.best, str(columns.worst))[mark]
                raise _build_answer_error(text, row_options, row_label, name)
            positions[k, mark] = position
        if positions[k].min() >= 0 and has_repeats(positions[k].tolist()):
            raise DataError(
                f"{row_options[positions[k, 0]]!r} is both the best and the worst in row"
                f" {row_label}; correct one of them."
            )
    return positions


def _build_answer_error(
    text: str, offered_labels: list[str], row_label: str | int, column_name: str
) -> DataError:
    """Build the error for an answer that is no option of its row."""
    cell_text = "an empty cell"
    condition = f"{column_name!r} is not missing"
    if text:
        cell_text = repr(text)
        condition = f"{column_name!r} != {text!r}"
    return DataError(
        f"Found {cell_text} in row {row_label}, column {column_name!r}; expected one of"
        f" {shorten(list(filter(None, offered_labels)))}. Correct it, or leave such rows out with ",
        Setting("where", condition),
        ".",
    )


def read_best_worst_occasions(
    frame: "pd.DataFrame", columns: BestWorstColumns, labels: Iterable[Any] | None, weights: bool
) -> RawOccasions:
    """Read a wide best-worst table into one row per offered option."""
    refuse_empty(frame, "choices")
    frame = select_answered_rows(frame, (columns.best, columns.worst), columns.options)
    option_rows = list_rows(frame, columns.options)
    marked_columns = list(filter(None, (columns.best, columns.worst)))
    marked_texts = [list_texts(frame, name) for name in marked_columns]
    if columns.worst is None and None in map(
        find_position, marked_texts[0], option_rows, repeat(())
    ):
        position_texts = count_from_one(marked_texts[0], columns.options)
        if position_texts != marked_texts[0]:
            marked_texts = [position_texts]
            add_note(f"{columns.best!r} counts the options of a set from 0")
    positions = find_positions(frame, columns, option_rows, marked_texts)
    if (row := find_first((positions == UNANSWERED).any(axis=1))) is not None:
        name = marked_columns[(positions[row] == UNANSWERED).argmax()]
        raise _build_answer_error("", option_rows[row], frame.index[row], name)
    cells = np.array(option_rows, object)
    occasion, place = np.nonzero(cells != "")
    option_texts = cells[occasion, place]
    option_labels = choose_labels(labels, option_texts)
    alternative = encode_row_labels(frame, occasion, option_texts, option_labels)
    is_best, *is_worst = (place[:, None] == positions[occasion]).T
    row_respondents = read_any_respondents(frame, columns.respondent, columns.used)
    return RawOccasions(
        option_labels,
        occasion,
        alternative,
        is_best,
        row_respondents.select_rows(occasion),
        read_counts(frame, columns.count, weights)[occasion],
        lambda row_index: f"row {frame.index[row_index]}",
        next(iter(is_worst), None),
    )


# Long tables of best-worst choices: one row per option of each set, with marks for best and worst


ROLES = ("respondent", "count")  # columns that are constant within a set
_CHOSEN = {"1", "1.0", "true", "yes", "x"}
_BLANKS = {"", "0", "0.0", "false", "no"}


class LongBestWorst(NamedTuple):
    """Names of the columns of a long best-worst table, one offered option per row."""

    best: str
    worst: str
    option: str
    task: str
    respondent: str | None
    count: str | None  # type: ignore[override]

    def __str__(self) -> str:
        return (
            f"one option ({self.option!r}) of a set ({self.task!r}) per row, marked in"
            f" {self.best!r} and {self.worst!r}{describe_columns(None, self.respondent)}"
        )


def find_long_columns(
    frame: "pd.DataFrame", named_columns: Mapping[str, str | None]
) -> LongBestWorst | None:
    """Find the columns of a long best-worst table; None if the layout differs."""
    name_by_simplified = map_plain_names(column_names(frame))
    best_column, worst_column = _find_answer_columns(column_names(frame), named_columns)
    if best_column is None or worst_column is None:
        return None
    task_column = TASK.find_column(name_by_simplified)
    option_column = ALTERNATIVE.find_column(
        name_by_simplified, (best_column, worst_column, task_column)
    )
    respondent_column = named_columns.get("respondent") or RESPONDENT.find_column(
        name_by_simplified, (best_column, worst_column, task_column, option_column)
    )
    if task_column is None:
        task_column = find_keys(frame, respondent_column, None, best_column, option_column)[1]
    if task_column is None:
        return None
    if option_column is None:
        offers = frame.drop(columns=worst_column)
        option_column = find_label_column(offers, respondent_column, task_column, best_column)
    if option_column is None:
        return None
    distinct_marks = {
        format_label(value).lower()
        for name in (best_column, worst_column)
        for value in get_column(frame, name)
    }
    if not distinct_marks <= _CHOSEN | _BLANKS:
        return None
    count_column = named_columns.get("count") or COUNT.find_column(
        name_by_simplified,
        (best_column, worst_column, task_column, option_column, respondent_column),
    )
    return LongBestWorst(
        best_column, worst_column, option_column, task_column, respondent_column, count_column
    )


def widen_table(
    frame: "pd.DataFrame", columns: LongBestWorst
) -> tuple["pd.DataFrame", BestWorstColumns]:
    """Convert a long best-worst table to a wide one; return it and its columns.

    A row has the number of the first row of its set.
    """
    import pandas as pd

    keys = filter(None, (columns.task, columns.respondent))
    first_rows, set_index = number_labelled_sets(frame, keys)
    option_codes, option_names = encode_column(frame, columns.option)
    options = np.array(option_names, object)[option_codes]
    # a set has the number of its first row
    rows = pd.DataFrame({"set": first_rows[set_index], "option": options})
    if (is_repeated := rows.duplicated()).any():
        first_row = frame.index[rows.loc[is_repeated, "set"].min()]
        raise DataError(
            f"An option is listed twice in the set that starts in row {first_row}; list each once."
        )
    places = rows.assign(place=rows.groupby("set").cumcount())
    sets: Any = places.pivot(index="set", columns="place", values="option")
    option_columns = [f"option {k + 1}" for k in sets.columns]
    sets.columns = option_columns
    for role, name in (("best", columns.best), ("worst", columns.worst)):
        is_marked = [format_label(value).lower() in _CHOSEN for value in frame[name]]
        marked_rows = rows[is_marked]
        n_marked = np.bincount(marked_rows["set"])
        if (row := find_first(n_marked > 1)) is not None:
            raise DataError(
                f"{n_marked[row]} options are marked in column {name!r} of the set that"
                f" starts in row {frame.index[row]}; mark one as the {role}. If ties are meant,"
                " replace the marks in all sets by a column 'rank': 1 for the best options, 2"
                " for those between, and 3 for the worst."
            )
        sets[role] = marked_rows.set_index("set")["option"]
    marked_sets = sets.dropna(subset=["best", "worst"])
    if marked_sets.empty:
        raise DataError(
            f"No set has an option marked in {columns.best!r} and another in {columns.worst!r};"
            " mark the best and the worst option of each set with 1."
        )
    note_omission(len(sets) - len(marked_sets), noun="set")
    role_columns = {role: name for role in ROLES if (name := getattr(columns, role)) is not None}
    used_columns = {*columns, *sets.columns, *role_columns}
    constant_columns = {
        name: name
        for name in frame.columns
        if name not in used_columns and is_constant_within(pd.factorize(frame[name])[0], set_index)
    }
    wide_frame = marked_sets.set_axis(frame.index[marked_sets.index], axis=0)
    for key, name in (role_columns | constant_columns).items():
        wide_frame[key] = frame[name].iloc[marked_sets.index].tolist()
    wide_columns = BestWorstColumns("best", "worst", tuple(option_columns), None, None)
    return wide_frame, wide_columns._replace(**{role: role for role in role_columns})
