"""Guesses at the meaning of columns that no reader uses: respondents, covariates."""

import math
import re
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, count, takewhile
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._labels import format_label
from thali.errors import Argument, DataError, Message, Setting

from .column_readers import find_filled_cells, get_column, is_row_number, list_labels, list_texts
from .column_roles import (
    ALTERNATIVE,
    BEST,
    CHOSEN_OF_TWO,
    COLOURS,
    DISSIMILARITY,
    GOALS,
    LOCAL_SIDES,
    MORE_SIDES,
    RESPONSE_TIME,
    RESULT,
    SHORT_GOALS,
    SIDES,
    SIMILARITY,
    STEMS_OF_SIDES,
    THIRD,
    TRIAL,
    WORST,
    column_names,
    find_column_pairs,
    has_numbers,
    list_name_words,
    map_plain_names,
    simplify_name,
)
from .respondent_table import has_adjacent_rows, is_constant_within, list_differing_columns

if TYPE_CHECKING:
    import pandas as pd


class SideColumns(NamedTuple):
    """Two columns whose names differ only in their side, such as left_x and right_x."""

    stem: str  # the text that both names share, in plain letters
    side: tuple[str, str]  # the marks, such as ("left", "right")
    columns: tuple[str, str]


def find_side_columns(names: list[str]) -> list[SideColumns]:
    """Find pairs of columns named for the two options of a comparison.

    Series of three or more columns (a, b, c) are skipped.
    """
    name_by_simplified = map_plain_names(names)
    side_columns: dict[tuple[str, str], SideColumns] = {}
    for side_marks in (*SIDES, *MORE_SIDES, *LOCAL_SIDES):
        first_mark, second_mark = side_marks
        third_mark = THIRD.get(second_mark)
        for plain_name, first in name_by_simplified.items():
            for before, after in _split_at_mark(plain_name, first, first_mark):
                second = name_by_simplified.get(before + second_mark + after)
                if second is None:
                    continue
                if third_mark and before + third_mark + after in name_by_simplified:
                    continue
                pair = SideColumns(after or before, side_marks, (first, second))
                if side_marks in COLOURS and names.index(first) > names.index(second):
                    pair = SideColumns(pair.stem, (second_mark, first_mark), (second, first))
                side_columns.setdefault((first, second), pair)
    return list(side_columns.values())


def list_labelled_sides(frame: "pd.DataFrame") -> list[tuple[str, str]]:
    """Return the columns of two sides that contain texts, some of which are repeated."""
    return [
        pair.columns
        for pair in find_side_columns(column_names(frame))
        if not any(has_numbers(get_column(frame, name)) for name in pair.columns)
        and not frame[[*pair.columns]].stack().is_unique
    ]


def _split_at_mark(plain_name: str, name: str, mark: str) -> Iterator[tuple[str, str]]:
    """Yield the texts before and after the mark of a side in a simplified name."""
    if plain_name.endswith(mark):
        yield plain_name.removesuffix(mark), ""
    # a single letter is an initial only before a separator, such as A_model
    is_word = len(mark) > 1
    if plain_name.startswith(mark) and (is_word or name[1:2] in {"_", ".", " ", "-"}):
        yield "", plain_name.removeprefix(mark)
    sheet, separator, sheet_name = plain_name.partition(":")  # Spreadsheet: LeftImage
    if is_word and sheet_name.startswith(mark):
        yield sheet + separator, sheet_name.removeprefix(mark)


_NUMBERED = tuple(
    name.format("") for name in STEMS_OF_SIDES if name.format("") and name.endswith("{0}")
)


def find_option_columns(names: Iterable[str]) -> list[str]:
    """Find the columns of a design that contain the options shown in each row.

    Their names are sides or numbered. The list is empty for a design of products.

    Examples
    --------
    >>> (
    ...     find_option_columns(["version", "task", "option1", "option2", "option3"]),
    ...     find_option_columns(["Nr", "links", "rechts"]),
    ... )
    (['option1', 'option2', 'option3'], ['links', 'rechts'])
    """
    name_by_simplified = map_plain_names(names)
    if next(ALTERNATIVE.find_certain_columns(name_by_simplified), None) is not None:
        return []
    for stem in _NUMBERED:
        numbered_names = takewhile(
            name_by_simplified.__contains__, (f"{stem}{k}" for k in count(1))
        )
        if len(numbered_columns := [name_by_simplified[name] for name in numbered_names]) > 1:
            return numbered_columns
    words = [pair for pair in (*SIDES, *MORE_SIDES) if not pair[0].isdigit() and len(pair[0]) > 1]
    return list(chain(*find_column_pairs(name_by_simplified, words)[:1]))


# Columns that a reader uses, and columns that describe people or comparisons


_MAX_CHANCE = (
    1e-3  # numbers that rise from row to row with a lower probability are not due to chance
)
# a column of respondents has at least this number of different values, and rows of each
_MIN_PEOPLE = 5
_MIN_ANSWERS = 2
_MAX_CHECKED_CELLS = 100  # cells that must be dates
_MAX_CHECKED_ROWS = 10_000  # rows checked for a column of respondents
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|\d{1,2}:\d{2}")
_OUTCOMES = {*chain(*SHORT_GOALS)}.union(
    *(role.synonyms for role in (CHOSEN_OF_TWO, RESULT, GOALS, RESPONSE_TIME, TRIAL))
)


class ColumnsRead(NamedTuple):
    """Names of the columns that a reader uses, by their role."""

    options: tuple[str, ...]  # the compared or offered options
    outcome: tuple[str, ...] = ()  # the outcomes, if they are in other columns
    counts: tuple[str, ...] = ()  # the number of answers that a row represents
    who: str | None = None  # the respondents
    judged: bool = True  # False for results of games
    # columns that identify the answer of a row; None: each row is one answer
    answer: tuple[str, ...] | None = None

    @property
    def all(self) -> set[str]:
        """Set of all column names that the reader uses."""
        return {*self.options, *self.outcome, *self.counts, *filter(None, [self.who])}


class Lack(NamedTuple):
    """The column that a table lacks to have a layout."""

    missing: str
    option: str = ""  # arguments of the shape that can name such a column, between blanks
    near: int = 1  # number of matching parts; errors name the nearest shape


def list_people_columns(people: "pd.DataFrame | None") -> list[str]:
    """List the columns that can divide respondents into groups.

    Dates and unique texts are excluded.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame(
    ...     {"sex": ["f", "m", "f"], "name": ["A", "B", "C"], "age": [9, 8, 7], "city": "x"}
    ... )
    >>> list_people_columns(people)
    ['sex', 'age']
    """
    if people is None:
        return []
    grouping_columns = []
    for column in list_differing_columns(people):
        cells = get_column(people, column)
        is_unique_text = not has_numbers(cells) and cells.is_unique
        if not is_unique_text and not _is_date(cells):
            grouping_columns.append(column)
    return grouping_columns


def list_comparison_columns(frame: "pd.DataFrame", roles: ColumnsRead) -> list[str]:
    """List the columns that may be covariates of the comparison in each row.

    Excluded are columns of respondents, options, outcomes and response times, also under other
    names; columns that describe respondents; trial numbers, dates, and columns that are constant or
    different in every row.
    """
    option_labels = list_labels(frame, roles.options)
    used_codes = [
        *_encode_columns(frame, roles.all).values(),
        *(_encode_outcome_side(frame, name, roles) for name in roles.outcome),
    ]
    respondent_codes = np.zeros(len(frame), np.int64)
    if roles.who is not None:
        respondent_codes = encode_cells(get_column(frame, roles.who))
    codes_by_column = _encode_unused_columns(frame, roles)
    return [
        name
        for name, cell_codes in codes_by_column.items()
        if not any(_are_equivalent(cell_codes, other_codes) for other_codes in used_codes)
        and not is_constant_within(cell_codes, respondent_codes)
        and not _is_comment_or_option(get_column(frame, name), option_labels)
        and not _is_rising(get_column(frame, name), respondent_codes)
    ]


def guess_respondent_column(
    frame: "pd.DataFrame", roles: ColumnsRead, excluded: Collection[str] = ()
) -> str | None:
    """Guess which unused column identifies respondents, from its cells; else None.

    The rows of a value are adjacent, or another column is constant within them. Of several columns,
    the one with the most values is returned.
    """
    codes_by_column = _encode_unused_columns(frame, roles)
    max_codes = {name: cell_codes.max() for name, cell_codes in codes_by_column.items()}
    candidates = [
        name
        for name in list_respondent_candidates(frame, roles)
        if name not in excluded
        and max_codes[name] >= _MIN_PEOPLE - 1
        and np.bincount(codes_by_column[name]).min() >= _MIN_ANSWERS
        and (
            has_adjacent_rows(codes_by_column[name])
            or any(
                is_constant_within(codes_by_column[coarser_column], codes_by_column[name])
                for coarser_column in max_codes
                if max_codes[coarser_column] < max_codes[name]
            )
        )
    ]
    return max(candidates, key=max_codes.__getitem__, default=None)


def list_respondent_candidates(frame: "pd.DataFrame", roles: ColumnsRead) -> list[str]:
    """List unused columns whose cells may identify respondents.

    The list is empty if there is a column of respondents, answers are counted, or these are games.
    """
    if roles.who is not None or roles.counts or not roles.judged:
        return []
    all_rows = frame
    frame = frame.head(_MAX_CHECKED_ROWS)
    option_labels = list_labels(frame, roles.options)
    used_codes = _encode_columns(frame, roles.all).values()
    codes_by_column = _encode_unused_columns(frame, roles)
    return [
        name
        for name, cell_codes in codes_by_column.items()
        if _has_few_labels(get_column(all_rows, name))
        and not any(_are_equivalent(cell_codes, other_codes) for other_codes in used_codes)
        and not _is_comment_or_option(get_column(frame, name), option_labels)
    ]


def find_divided_columns(frame: "pd.DataFrame", column: str, names: Iterable[str]) -> list[str]:
    """List the named columns that are finer than `column`, which is constant for each value."""
    codes = encode_cells(get_column(frame, column))
    codes_by_name = _encode_columns(frame, names)
    return [
        name
        for name, finer_codes in codes_by_name.items()
        if is_constant_within(codes, finer_codes) and not is_constant_within(finer_codes, codes)
    ]


def question_respondent(trait: str, respondent: str) -> Message:
    """Return the question which of two columns contains the respondents."""
    return Message(
        f"Column {trait!r} may contain the respondents, or a trait of the respondents in"
        f" {respondent!r}; give the name of the column of respondents with ",
        Argument("respondent"),
        ".",
    )


def can_be_measure(name: str, series: "pd.Series") -> bool:
    """Return whether a numeric column may contain similarities or other measurements.

    Trials, times and row numbers are excluded by name.
    """
    if not has_numbers(series) or _is_outcome_name(name):
        return False
    if series.head(_MAX_CHECKED_ROWS).nunique() == 1 == series.nunique():
        return False
    return simplify_name(name) in (
        *SIMILARITY.synonyms,
        *DISSIMILARITY.synonyms,
    ) or not is_row_number(series)


def has_both_signs(series: "pd.Series") -> bool:
    """Return whether a column has numbers below -1 and above 1, as a slider between two options."""
    return has_numbers(series) and bool(series.min() < -1 and series.max() > 1)


def _has_few_labels(series: "pd.Series") -> bool:
    """Return whether cells are texts or integers that repeat at least twice on average."""
    if series.isna().any():
        return False
    n_labels = series.nunique()
    if not has_numbers(series):
        return 2 <= n_labels <= len(series) / 2
    # integers that count up, such as trial numbers, are excluded
    is_integer = series.dtype.kind in "iu" and np.mean(np.diff(series) == 1) < 0.5
    return 3 <= n_labels <= len(series) / 2 and bool(is_integer)


def _encode_unused_columns(frame: "pd.DataFrame", roles: ColumnsRead) -> dict[str, np.ndarray]:
    """Encode columns that are unused, not constant, and no outcomes or dates."""
    all_columns = column_names(frame)
    goal_columns = {
        name
        for pair in find_side_columns(all_columns)
        if pair.stem in GOALS.synonyms
        for name in pair.columns
    }
    used_columns = roles.all | goal_columns
    return {
        name: encode_cells(get_column(frame, name))
        for name in all_columns
        if name not in used_columns
        and not _is_outcome_name(name)
        and get_column(frame, name).nunique() > 1
        and not _is_date(get_column(frame, name))
    }


def _is_outcome_name(name: str) -> bool:
    """Return whether a column name means an outcome, response time or trial number."""
    plain_name = simplify_name(re.sub(r"[(\[].*?[)\]]", "", name))  # without a unit
    return plain_name in _OUTCOMES or plain_name.endswith(
        ("thisn", "thistrialn", "thisrepn", "thisindex")
    )


def _encode_columns(frame: "pd.DataFrame", columns: Iterable[str]) -> dict[str, np.ndarray]:
    """Encode each column's distinct cells as integers."""
    return {name: encode_cells(get_column(frame, name)) for name in columns}


def encode_cells(series: "pd.Series") -> np.ndarray:
    """Return an integer for each cell, equal for equal cells; empty cells share one."""
    import pandas as pd

    return pd.factorize(series, use_na_sentinel=False)[0]


def _are_equivalent(first_codes: np.ndarray, second_codes: np.ndarray) -> bool:
    """Return whether two columns group the rows equally."""
    have_equal_counts = first_codes.max() == second_codes.max() < len(first_codes) - 1
    return (
        have_equal_counts
        and is_constant_within(first_codes, second_codes)
        and is_constant_within(second_codes, first_codes)
    )


def _encode_outcome_side(
    frame: "pd.DataFrame", outcome_column: str, roles: ColumnsRead
) -> np.ndarray:
    """Encode each row's outcome by the position of the chosen option."""
    import pandas as pd

    outcomes = np.array(list_texts(frame, outcome_column), object)
    for side_index, option in enumerate(roles.options):
        is_chosen = outcomes == np.array(list_texts(frame, option), object)
        outcomes[is_chosen] = side_index  # a number, as labels are texts
    return encode_cells(pd.Series(outcomes))


def _is_date(series: "pd.Series") -> bool:
    """Return whether the cells are dates or times of day."""
    import datetime

    if series.dtype.kind in "mM":
        return True
    if has_numbers(series):
        return False
    cells = list(find_filled_cells(series)[:_MAX_CHECKED_CELLS])
    time_types = (datetime.date, datetime.time, datetime.timedelta)
    return bool(cells) and all(
        isinstance(cell, time_types) or _DATE.match(str(cell).strip()) for cell in cells
    )


def _is_comment_or_option(series: "pd.Series", option_labels: Collection[str]) -> bool:
    """Return whether texts are labels of options, or comments that rarely repeat."""
    if has_numbers(series):
        return False
    cells = series.dropna()
    cell_labels = {format_label(value) for value in cells.unique()}
    return cell_labels <= set(option_labels) or 2 * len(cell_labels) > len(cells)


def _is_rising(series: "pd.Series", respondent_codes: np.ndarray) -> bool:
    """Return whether numbers rise from row to row of each respondent, as trial numbers do."""
    # Trial numbers and clock times do; without people all rows are one group.
    if not has_numbers(series):
        return False
    sort_order = np.argsort(respondent_codes, kind="stable")
    numbers = series.to_numpy(float, na_value=np.nan)[sort_order]
    sorted_people = respondent_codes[sort_order]
    is_same_person = sorted_people[1:] == sorted_people[:-1]
    log_chance = -sum(math.lgamma(n_rows + 1) for n_rows in np.bincount(respondent_codes))
    return log_chance < math.log(_MAX_CHANCE) and bool((np.diff(numbers)[is_same_person] > 0).all())


# Which of three things a respondent was asked to choose -------------------------------------------


_ODD = (
    r"(?<![a-z])odd|different|unlike|belong|least.?similar|dissimilar|outlier|passt.*nicht|unähnlich"
    r"|intru|différent|diferente"
)
_QUESTIONS = {
    "odd": re.compile(rf"{_ODD}|triplet|similar|ähnlich", re.I),
    "best": re.compile(
        r"prefer|favou?rite|(?<![a-z])(?:best|better|winner)|you like|attractive|appealing"
        r"|gef[aä]ll|bevorzug|lieb(?:er|st|ling)|préf[éè]r|mejor|gusta",
        re.I,
    ),
}


def guess_question(frame: "pd.DataFrame", used_columns: Collection[str]) -> str:
    """Return "odd" or "best" if names of columns, or texts of all rows, ask for it; else ""."""
    names = [name for name in column_names(frame) if name not in used_columns]
    constants = [cells[0] for name in names if len(cells := find_filled_cells(frame[name])) == 1]
    texts = [*names, *map(format_label, constants)]
    found = [question for question, words in _QUESTIONS.items() if any(map(words.search, texts))]
    if len(found) != 1:
        return ""
    return found[0]


def asks_for_odd(name: str) -> bool:
    """Return whether the name of a column of answers asks for the odd one out."""
    return any(re.search(_ODD, text, re.I) for text in (name, *list_name_words(name)))


# Whether respondents were asked for the less preferred option -------------------------------------


_LESS = re.compile(
    r"(?<![a-z])(?:less|(?<!at )least|worse|worst|dislike|weniger|schlechte|unwichtig|(?<!au )moins"
    r"|pire|(?<!al )menos|peor)",
    re.I,
)
_ASKS = re.compile(
    r"\?|which|choose|select|pick|click|welche|wähl|quel|choisi|cu[aá]l|eli[gj]|seleccion", re.I
)
_BARE_WORDS = {*BEST.sure, *WORST.sure, *"more less mehr weniger plus moins mas menos".split()}
_MAX_QUESTIONS = 6  # different texts; prompts of models are more


def refuse_questions_of_less(
    frame: "pd.DataFrame", used_columns: Collection[str | None], answer: str, of_two: bool
) -> None:
    """Raise DataError if an unused column asks in some rows for the less preferred option."""
    for name in column_names(frame):
        if name in used_columns or has_numbers(frame[name]):
            continue
        texts = [*frame[name].head(_MAX_CHECKED_ROWS).dropna().map(format_label).unique()]
        if len(texts) > _MAX_QUESTIONS:
            continue
        are_bare = {*map(simplify_name, texts)} <= _BARE_WORDS
        less_texts = [
            text for text in texts if _LESS.search(text) and (are_bare or _ASKS.search(text))
        ]
        if not less_texts:
            continue
        remedy: tuple[Setting | Argument | str, ...] = ()
        if len(less_texts) < len(texts):
            remedy = (" First select the rows of one question with ", Argument("where"), ".")
        if of_two:
            remedy += (" If it names the option that lost, set ", Setting("rejected", answer), ".")
        elif remedy:
            remedy += (" The best and the worst of a set may also be two columns of one row.",)
        raise DataError(
            f"Column {name!r} contains {less_texts[0]!r}, so {answer!r} may not name the preferred"
            " option.",
            *remedy,
            " If it names the preferred option, set ",
            Setting("chosen", answer),
            ".",
        )
