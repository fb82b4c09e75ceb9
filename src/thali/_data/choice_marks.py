"""Columns of a long table found by content: the choice, the sets of rows, the alternatives."""

import re
from collections.abc import Collection, Iterable, Sequence
from os.path import commonprefix
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import format_label, is_number

from .column_guesses import asks_for_odd, encode_cells
from .column_readers import FIRST_ROWS, classify_yes_no, find_filled_cells, get_column
from .column_roles import (
    ALTERNATIVE,
    AVAILABLE,
    BEST,
    CHOSEN,
    CHOSEN_OF_TWO,
    RANK,
    RESPONDENT_OF_TASKS,
    RESPONSE_TIME,
    RESULT,
    TASK,
    TIES,
    VERSION,
    WORST,
    column_names,
    find_no_answers,
    has_numbers,
    list_name_words,
    map_plain_names,
    mentions_rejection,
    simplify_name,
)
from .respondent_table import has_adjacent_rows, is_constant_within, varies_within

if TYPE_CHECKING:
    import pandas as pd


def number_sets(frame: "pd.DataFrame", key_columns: Sequence[str]) -> np.ndarray:
    """Return the number of each row's set, the rows with equal cells in the key columns."""
    import pandas as pd

    set_numbers = np.zeros(len(frame), int)
    for name in key_columns:
        codes, values = pd.factorize(frame[name], use_na_sentinel=False)
        set_numbers = pd.factorize(set_numbers * len(values) + codes)[0]
    return set_numbers


def share_of_marked_sets(column: "pd.Series", set_numbers: np.ndarray) -> float:
    """Return the share of answered sets with exactly one yes; 0 for a column of other cells.

    Sets whose cells are all empty are unanswered; a column with more than half of them is another.
    Where every filled cell is a yes, such as an x, an empty cell is a no.
    """
    is_filled = column.notna().to_numpy()
    is_yes, is_wrong = read_set_marks(column, set_numbers)
    if (is_wrong & is_filled).any() or is_yes.all():
        return 0.0
    if is_yes[is_filled].all():
        is_filled = np.ones(len(column), bool)
    is_answered = np.bincount(set_numbers, is_filled) > 0.0
    if is_answered.mean() < _MIN_ANSWERED:
        return 0.0
    return float((np.bincount(set_numbers, is_yes)[is_answered] == 1.0).mean())


def read_set_marks(column: "pd.Series", set_numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which cells mean yes, and which neither yes nor no, from words or from the sets.

    Of two other codes, such as SPSS's 1 and 2, the one that is once in each set means yes. Sets of
    two rows have both once, so they do not show it. Of 1 and -1, the former means yes.
    """
    is_yes, is_wrong = classify_yes_no(column)
    if {*map(format_label, column.unique())} == {"1", "-1"}:
        return is_yes, np.zeros(len(is_yes), bool)
    codes = encode_cells(column)
    if not is_wrong.any() or codes.max() != 1 or set_numbers.max() < _MIN_SETS:
        return is_yes, is_wrong
    n_marks = np.array([np.bincount(set_numbers, codes == code) for code in (0, 1)])
    is_mark = (n_marks == 1.0).all(axis=1)
    if is_mark.sum() != 1:
        return is_yes, is_wrong
    return codes == is_mark.argmax(), np.zeros(len(codes), bool)


def _read_marks(column: "pd.Series") -> tuple[np.ndarray, np.ndarray]:
    """Return which cells mean yes, and which neither yes, no nor no answer."""
    is_yes, is_wrong = classify_yes_no(column)
    return is_yes, is_wrong & column.notna().to_numpy()


def marks_one_row(column: "pd.Series", set_numbers: np.ndarray) -> bool:
    """Return whether a column of yes and no has exactly one yes in each set."""
    return share_of_marked_sets(column, set_numbers) == 1.0


def marks_same_rows(column: "pd.Series", marks: "pd.Series") -> bool:
    """Return whether a column has its yes in the same rows as another."""
    is_yes, is_wrong = _read_marks(column)
    return not is_wrong.any() and np.array_equal(is_yes, classify_yes_no(marks)[0])


def repeats_marks(column: "pd.Series", marks: "pd.Series") -> bool:
    """Return whether a column marks the chosen rows, or is called a choice and marks others.

    The latter are second choices, or the chosen rows and others. A column that marks all rows but
    the chosen ones may describe two products, unless its name rejects them.
    """
    if marks_same_rows(column, marks):
        return True
    is_yes, is_wrong = _read_marks(column)
    is_chosen = classify_yes_no(marks)[0]
    if is_wrong.any():
        return False
    if np.array_equal(is_yes, ~is_chosen):
        return mentions_rejection(str(column.name))
    if not mentions_choice(str(column.name)):
        return False
    is_second_choice = is_yes.sum() == is_chosen.sum() and not is_yes[is_chosen].any()
    return bool(is_yes[is_chosen].all() or is_second_choice)


def marks_one_choice(column: "pd.Series", answers: "pd.Series") -> bool:
    """Return whether a column of yes and no marks exactly the rows of one answer, as chose_A does.

    In a few rows an attribute may do so by chance, so that the name must mention a choice.
    """
    if not has_marks(column) or not (len(column) > _MIN_SETS or mentions_choice(str(column.name))):
        return False
    is_yes = classify_yes_no(column)[0]
    marked_answers = {*answers[is_yes]}
    return len(marked_answers) == 1 and marked_answers.isdisjoint(answers[~is_yes])


def find_marked_column(
    frame: "pd.DataFrame", key_columns: Iterable[str | None], used_columns: Collection[str | None]
) -> str | None:
    """Return the unused column with exactly one yes in each set; None for none or several.

    Of several, the only one whose name contains a word for a choice. No other name counts in a
    table of few sets or without a column of tasks: an attribute may also be 1 once in each set.
    No column counts whose yes is always in the same place. Without such a column, the only column
    of yes and no counts that has such a name, or that has one yes in each set of a further key.
    """
    keys = list(dict.fromkeys(name for name in key_columns if name is not None))
    if not keys:
        return None
    name_by_simplified = map_plain_names(column_names(frame))
    excluded_columns = {*keys, *used_columns}
    for role in (RANK, AVAILABLE, BEST, WORST):
        excluded_columns.update(role.find_certain_columns(name_by_simplified))
    mark_columns = [
        name
        for name in column_names(frame)
        if name not in excluded_columns
        and not asks_for_odd(name)
        and has_marks(get_column(frame, name))
    ]
    if not mark_columns:
        return None
    named_columns = list(filter(mentions_first_choice, mark_columns))
    set_numbers = number_sets(frame, keys)
    places = frame.groupby(set_numbers).cumcount().to_numpy()
    marked_columns = [  # with one yes in each set
        name for name in mark_columns if marks_one_row(get_column(frame, name), set_numbers)
    ]
    candidates = [
        name
        for name in marked_columns
        if len(np.unique(places[classify_yes_no(get_column(frame, name))[0]])) > 1
    ]
    has_few_sets = len(keys) < 2 or not _MIN_SETS <= set_numbers.max() < len(frame) / 2
    if len(candidates) != 1 or has_few_sets:
        candidates = [name for name in candidates if name in named_columns]
    candidates = candidates or named_columns
    if not candidates and len(keys) == 1:  # the tasks are not known either
        candidates = [
            name
            for name in mark_columns
            if name not in marked_columns
            and find_key_column(frame, keys, name, used_columns) is not None
        ]
    answers = [get_column(frame, name) for name in candidates]
    if not answers or not all(marks_same_rows(answer, answers[0]) for answer in answers):
        return None
    if mentions_rejection(candidates[0]):  # a yes for each that was not chosen
        return None
    return candidates[0]


def has_marks(column: "pd.Series") -> bool:
    """Return whether a column contains only yes and no."""
    if column.iloc[:FIRST_ROWS].nunique() > 2:
        return False
    is_yes, is_wrong = _read_marks(column)
    return not is_wrong.any() and 0 < is_yes.sum() < column.count()


def is_answer(frame: "pd.DataFrame", name: str) -> bool:
    """Return whether a column has yes and no in mixed rows, as answers have, not respondents."""
    column = get_column(frame, name)
    return has_marks(column) and not has_adjacent_rows(encode_cells(column))


def find_keys(
    frame: "pd.DataFrame",
    respondent: str | None,
    task: str | None,
    chosen: str,
    alternative: str | None,
) -> tuple[str | None, str | None]:
    """Return the columns of respondent and task; one of them is found from the other.

    A respondent who chose once is a task; each task may have another respondent.
    """
    known_key = respondent or task
    if known_key is None:  # of each respondent one task, numbered by a column such as family_id
        key = find_key_column(frame, [], chosen, [alternative])
        if key is not None and simplify_name(key).endswith("id"):
            known_key = respondent = key
    if known_key is None or (respondent is not None and task is not None):
        return respondent, task
    other_key = known_key
    if not marks_one_row(get_column(frame, chosen), number_sets(frame, [known_key])):
        other_key = find_key_column(frame, [known_key], chosen, [alternative])
        if respondent is None and other_key is not None and may_be_groups(frame, other_key):
            return None, task
    elif respondent is None:
        candidates = list_respondents_of_tasks(frame, known_key)
        other_key = next(iter(candidates), known_key)
        tasks = frame.drop_duplicates(known_key)
        n_tasks = np.bincount(encode_cells(get_column(tasks, other_key)))
        # nearly all respondents have the same number of tasks; cities or ages have different ones
        is_usual = n_tasks == np.bincount(n_tasks).argmax()
        if (
            len(candidates) != 1
            or n_tasks.max() > len(n_tasks)
            or is_usual.mean() < _MOST
            or may_be_groups(frame, other_key)
        ):
            other_key = known_key
    if task is None:
        return respondent, other_key
    return order_keys(other_key or task, task)


def has_recurring_cells(frame: "pd.DataFrame", name: str) -> bool:
    """Return whether each cell of a column is in two rows or more on average."""
    return 2 * get_column(frame, name).nunique() <= len(frame)


def may_be_groups(frame: "pd.DataFrame", name: str) -> bool:
    """Return whether a column may contain groups of respondents: words, or few of many rows."""
    labels = get_column(frame, name).unique()
    return len(frame) > _MAX_ROWS * len(labels) or not any(
        map(_DIGIT.search, map(format_label, labels))
    )


_MAX_ROWS = 300  # of a respondent
_MOST = 0.9  # share of respondents with the usual number of tasks


def list_respondents_of_tasks(frame: "pd.DataFrame", task: str) -> list[str]:
    """List the columns that may contain respondents, with several adjacent tasks each."""
    task_codes = encode_cells(get_column(frame, task))
    is_first = ~get_column(frame, task).duplicated().to_numpy()
    blocks = {*VERSION.find_possible_columns(map_plain_names(column_names(frame)))}
    respondents: dict[bytes, str] = {}  # of several that divide the tasks equally, the first
    for name in column_names(frame):
        codes = encode_cells(get_column(frame, name))
        codes_of_tasks = codes[is_first]
        if name in blocks or codes.max() < 2 or np.bincount(codes_of_tasks).min() < 2:
            continue
        if has_adjacent_rows(codes_of_tasks) and is_constant_within(codes, task_codes):
            respondents.setdefault(codes_of_tasks.tobytes(), name)
    return list(respondents.values())


def order_keys(respondent: str, task: str) -> tuple[str | None, str]:
    """Return the columns of respondent and task; a block is a task, or no respondent is known."""
    if simplify_name(respondent) not in VERSION.sure:
        return respondent, task
    if simplify_name(task) in TASK.sure:
        return None, task
    return task, respondent


def find_key_column(
    frame: "pd.DataFrame",
    known_keys: Sequence[str],
    chosen: str,
    used_columns: Collection[str | None],
) -> str | None:
    """Return the unused column that with known ones forms sets with exactly one yes; else None.

    The first of several that form the same sets; None if they form different ones.
    """
    answers = get_column(frame, chosen)
    key_column = None
    key_numbers = np.zeros(0)
    for name in column_names(frame):
        if name in (*known_keys, chosen, *used_columns):
            continue
        set_numbers = number_sets(frame, [*known_keys, name])
        if np.bincount(set_numbers).min() < 2 or not marks_one_row(answers, set_numbers):
            continue
        if key_column is None:
            key_column, key_numbers = name, set_numbers
        elif not np.array_equal(set_numbers, key_numbers):
            return None
    return key_column


def find_repeated_numbering(frame: "pd.DataFrame") -> tuple[str, str, str] | None:
    """Return the columns of blocks, respondents, and tasks numbered anew in each; else None."""
    name_by_simplified = map_plain_names(column_names(frame))
    roles = (RESPONDENT_OF_TASKS, TASK, CHOSEN)
    columns: list[Any] = [role.find_column(name_by_simplified) for role in roles]
    if None in columns or len({*columns}) < len(roles):
        return None
    respondent, task, chosen = columns
    set_numbers = number_sets(frame, [respondent, task])
    n_marks = np.bincount(set_numbers, classify_yes_no(get_column(frame, chosen))[0])
    if n_marks.max() < 2:
        return None
    block = find_key_column(frame, [respondent, task], chosen, ())
    if block is None:
        return None
    return block, respondent, task


def list_differing_traits(frame: "pd.DataFrame", block: str, respondent: str) -> list[str]:
    """List the traits that differ between blocks for the same number of a respondent.

    The list is empty if the rows of a number are adjacent, as are those of one person. A block that
    has a name, such as a country, is a trait itself, and so is one of several with people from 1 to
    different numbers.
    """
    codes = encode_cells(get_column(frame, respondent))
    if has_adjacent_rows(codes):
        return []
    keys = (codes, encode_cells(get_column(frame, block)), number_sets(frame, [block, respondent]))
    codes_by_name = {name: encode_cells(get_column(frame, name)) for name in column_names(frame)}
    traits = [
        name
        for name, cells in codes_by_name.items()
        if name not in (block, respondent)
        and [is_constant_within(cells, key) for key in keys] == [False, False, True]
    ]
    is_group = not any(map(_DIGIT.search, map(format_label, frame[block].unique())))
    people: Any = frame.groupby(block)[respondent]
    n_people = people.nunique()
    if has_numbers(frame[respondent]) and n_people.nunique() > 1:
        is_group |= bool((people.max() == n_people).all())
    if not traits and is_group and simplify_name(block) not in VERSION.synonyms:
        return [block]
    return traits


_DIGIT = re.compile(r"\d")


# words in the names of columns that number the products of a set
PLACE_WORDS = set("package bundle profile card option item product vignette candidate".split())
ORDER_WORDS = {"position", "order", "slot"}  # of those that may do so in any order


def find_alternative_column(
    frame: "pd.DataFrame", key_columns: Sequence[str], chosen: str
) -> str | None:
    """Return the column that numbers the alternatives of each set, or names their places.

    It counts up in each set, or its name is one of alternatives and it has as many different cells
    as the largest set, each at most once in a set: numbers, or texts in the same place of each set.
    Texts of brands and modes are attributes.
    """
    set_numbers = number_sets(frame, key_columns)
    sets = frame.groupby(set_numbers)
    places = sets.cumcount().to_numpy()
    is_marked = classify_yes_no(get_column(frame, chosen))[0]
    candidates = [name for name in column_names(frame) if name not in (*key_columns, chosen)]
    counting_columns = [name for name in candidates if counts_up(get_column(frame, name), places)]
    varying_columns = [name for name in candidates if varies_within(sets, name)]
    # otherwise the rows are in the order of the answer, or products have no other attribute
    has_other_order = len(np.unique(places[is_marked])) > 1
    if counting_columns and has_other_order and set(varying_columns) > set(counting_columns):
        return counting_columns[0]
    largest_set = places.max(initial=0) + 1
    for name in candidates:
        column = get_column(frame, name)
        is_place = not (PLACE_WORDS | ORDER_WORDS).isdisjoint(list_name_words(name))
        if has_numbers(column):
            is_place = is_place or simplify_name(name) in ALTERNATIVE.synonyms
        else:
            is_place = is_place and is_constant_within(places, encode_cells(column))
        is_place = is_place and column.nunique() == largest_set
        if is_place and not frame.duplicated([*key_columns, name]).any():
            return name
    return None


# words in the names of columns that measure an answer, and of ratings
_MEASURES = {"dwell", "fixation", "fixations", "gaze", "latency", "rt", "pupil", "saccades"}
_RATINGS = {"rating", "ratings", "rate", "rated", "score", "likert", "support", "favorability"}
_FREE_TEXTS = 30  # more texts than this are no levels if most of them are different


def is_response_time(name: str) -> bool:
    """Return whether a column's name is that of response times."""
    return simplify_name(name) in RESPONSE_TIME.synonyms


def measures_answers(name: str) -> bool:
    """Return whether a column's name is that of response times or looks at the alternative."""
    if is_response_time(name):
        return True
    return not _MEASURES.isdisjoint(list_name_words(name))


def is_called_rating(name: str) -> bool:
    """Return whether a column's name is that of ratings, of the answer or of a product."""
    return not _RATINGS.isdisjoint(list_name_words(name))


def is_rank_name(name: str) -> bool:
    """Return whether a column's name is that of ranks, where 1 is the best."""
    return simplify_name(name) in RANK.synonyms


def is_free_text(column: "pd.Series") -> bool:
    """Return whether cells are texts, not numbers, of which most are different."""
    if has_numbers(column) or column.dtype.name == "category":
        return False
    texts = list(map(format_label, find_filled_cells(column)))
    if len(texts) <= _FREE_TEXTS or 2 * len(texts) <= column.count():
        return False
    return not any(map(is_number, texts))


def are_often_equal(frame: "pd.DataFrame", columns: Sequence[str]) -> bool:
    """Return whether two columns have equal cells in many rows, unlike the options of pairs."""
    return compute_share_equal(frame, columns) > _MAX_EQUAL


def compute_share_equal(frame: "pd.DataFrame", columns: Sequence[str]) -> float:
    """Return the share of rows, among the first ones, with equal cells in two columns."""
    first, second = (get_column(frame, name).iloc[:FIRST_ROWS].astype(object) for name in columns)
    return float((first == second).mean())


def find_label_column(
    frame: "pd.DataFrame", respondent: str | None, task: str, chosen: str
) -> str | None:
    """Return the column of texts that labels the options of each set; None if products differ.

    There are many sets with one choice. The labels differ within sets, and determine all other
    columns that vary within sets, but numbers of rows, free texts, measures of the answer and
    ratings. Identifiers that occur in several sets are labels if nothing else varies.
    """
    keys = list(dict.fromkeys(name for name in (respondent, task) if name is not None))
    set_numbers = number_sets(frame, keys)
    has_few_sets = set_numbers.max(initial=-1) < _MIN_SETS
    if has_few_sets or not marks_one_row(get_column(frame, chosen), set_numbers):
        return None
    sets = frame.groupby(set_numbers)
    places = sets.cumcount().to_numpy()
    varying_columns = [
        name
        for name in column_names(frame)
        if name not in (*keys, chosen)
        and varies_within(sets, name)
        and not counts_up(get_column(frame, name), places)
        and not frame[name].is_unique
        and not (measures_answers(name) or is_called_rating(name))
        and not is_free_text(get_column(frame, name))
    ]
    for name in varying_columns:
        is_label = not has_numbers(frame[name]) and not simplify_name(name).endswith("id")
        if varying_columns == [name] and list_name_words(name)[-1:] == ["id"]:
            is_label = has_recurring_cells(frame, name)
        if not is_label or frame.duplicated([*keys, name]).any():
            continue
        n_cells = frame.groupby(name)[varying_columns].nunique()
        if (n_cells.to_numpy() <= 1).all():
            return name
    return None


def ranks_rows(cells: Any, sets: Any) -> bool:
    """Return whether a column contains 0, 1, ... or 1, 2, ... in any order in each set."""
    if cells.dtype.kind not in "iuf":
        return False
    cells_of_sets = sets[cells.name]
    lowest = cells_of_sets.transform("min")
    highest = cells_of_sets.transform("max")
    set_sizes = cells_of_sets.transform("size")
    return bool(
        lowest.isin((0, 1)).all()
        and (highest - lowest == set_sizes - 1).all()
        and (cells_of_sets.transform("nunique") == set_sizes).all()
    )


def is_result(cells: Any, sets: Any) -> bool:
    """Return whether numbers are probabilities, which add up to 1 in each set, or utilities."""
    if cells.dtype.kind != "f" or (cells % 1 == 0).all():
        return False
    is_called_result = not _RESULTS.isdisjoint(list_name_words(cells.name))
    return is_called_result or bool((abs(sets[cells.name].sum() - 1) < _MAX_DEVIATION).all())


_RESULTS = {"utility", "utilities", "fitted", "predicted"}
_MAX_DEVIATION = 0.02  # of a sum of rounded probabilities from 1


def counts_up(column: "pd.Series", places: np.ndarray) -> bool:
    """Return whether a column contains 0, 1, ... or 1, 2, ... in each set."""
    import pandas as pd

    # the first cells rule out nearly all columns, and converting texts is slow
    for n_rows in (_FIRST_CELLS, len(places)):
        numbers = np.asarray(pd.to_numeric(column.iloc[:n_rows], errors="coerce"))
        if not any(np.array_equal(numbers, places[:n_rows] + first) for first in (0, 1)):
            return False
    return True


_CHOICE_WORDS = {
    *CHOSEN.synonyms,
    *"purchase purchased bought buy booking booked click clicked pick vote voted".split(),
    *"prefer prefers preferred preference decision".split(),
} - {"y", "response"}


def mentions_choice(name: str) -> bool:
    """Return whether a word of a column's name means a choice, as in Chosen_Immigrant."""
    return simplify_name(name) not in TIES.sure and not _CHOICE_WORDS.isdisjoint(
        list_name_words(name)
    )


def mentions_first_choice(name: str) -> bool:
    """Return whether a word of a column's name means a choice that is not a later one."""
    return mentions_choice(name) and _LATER_CHOICES.isdisjoint(list_name_words(name))


def clear_no_answers(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table with empty cells for NA and the like in columns of answers that are marks."""
    import pandas as pd

    for name in column_names(frame):
        column = get_column(frame, name)
        if not _names_answer(name) or has_numbers(column):
            continue
        words = find_no_answers(map(format_label, column.unique()), ())
        if not words:
            continue
        answers = column.mask(column.isin(words))
        numbers: Any = pd.to_numeric(answers, errors="coerce")  # 1.0 beside NA is a text
        if numbers.count() == answers.count():
            answers = numbers
        if has_marks(answers):
            frame = frame.assign(**{name: answers})
    return frame


def _names_answer(name: str) -> bool:
    """Return whether a column's name means a choice, an answer or a result."""
    return mentions_choice(name) or simplify_name(name) in _ANSWERS


_ANSWERS = {*CHOSEN.synonyms, *CHOSEN_OF_TWO.synonyms, *RESULT.synonyms, "sel", "ch"}


def join_marks(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table whose marks chosen_1, chosen_2, ... are a column chosen of 1, 2, ...

    Each row has exactly one yes; other tables are unchanged.
    """
    names = list_marks(frame)
    chosen = commonprefix(names).strip("_. ")
    if not mentions_choice(chosen):
        names = _list_marks_of_products(frame)
        chosen = CHOSEN.name
    marked_index = _find_row_marks(frame, names)
    if marked_index is None:
        return frame
    stem = commonprefix(names)
    labels = np.array([name.removeprefix(stem) for name in names], object)
    return frame.drop(columns=names).assign(**{chosen: labels[marked_index]})


def _find_row_marks(frame: "pd.DataFrame", names: Sequence[str]) -> np.ndarray | None:
    """Return which of the columns marks each row; None unless each row has one yes."""
    columns = [get_column(frame, name) for name in names]
    if not all(map(has_marks, columns)):
        return None
    marks = np.array([classify_yes_no(column)[0] for column in columns])
    if not (marks.sum(axis=0) == 1).all():
        return None
    return marks.argmax(axis=0)


def _list_marks_of_products(frame: "pd.DataFrame") -> list[str]:
    """Return marks y_1, y_2, ..., one yes in each row, beside two attributes so numbered."""
    names = column_names(frame)
    names_by_stem: dict[str, list[str]] = {}
    for match in filter(None, map(_NUMBERED.fullmatch, names)):
        names_by_stem.setdefault(match[1], []).append(match[0])
    all_marks = [
        series
        for stem, series in names_by_stem.items()
        if (_names_answer(stem.strip("_. ")) or "best" in list_name_words(stem))
        and len(series) > 1
        and _find_row_marks(frame, series) is not None
    ]
    if len(all_marks) != 1:
        return []
    (marks,) = all_marks
    n_attributes = [*map(len, names_by_stem.values())].count(len(marks)) - 1
    other_names = {*names}.difference(marks)
    if n_attributes < _MIN_ATTRIBUTES or any(map(_names_answer, other_names)):
        return []
    return marks


_NUMBERED = re.compile(r"(.*?)[1-9]")  # as price_1
_MIN_ATTRIBUTES = 2  # beside marks of products


def list_marks(frame: "pd.DataFrame") -> list[str]:
    """Return several columns of yes and no whose names begin or end with a word for a choice."""
    names = [
        name
        for name in column_names(frame)
        if mentions_choice(name) and has_marks(get_column(frame, name))
    ]
    ending = commonprefix([name[::-1] for name in names])[::-1]
    if len(names) > 1 and any(map(mentions_choice, (commonprefix(names), ending))):
        return names
    return []


# words in the names of second choices, and of what is chosen without an answer
_LATER_CHOICES = {"second", "third", "last", "nd", "rd", "default"}
_MIN_ANSWERED = 0.5  # share of answered sets in a column of choices
_MIN_SETS = 10  # from which on one yes in each set is not due to chance
_FIRST_CELLS = 20
_MAX_EQUAL = 0.05  # share of rows of comparisons that may compare an option with itself
