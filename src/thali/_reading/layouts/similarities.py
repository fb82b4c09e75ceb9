"""Layouts of similarities: square, sheets of squares, list of pairs."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from thali._data.base_classes import build_from_fields
from thali._data.column_guesses import (
    ColumnsRead,
    asks_for_odd,
    can_be_measure,
    find_side_columns,
    has_both_signs,
)
from thali._data.column_readers import get_column
from thali._data.column_roles import (
    CHOSEN_OF_TWO,
    DISSIMILARITY,
    FIRST,
    RESPONDENT,
    RESPONDENT_OF_TASKS,
    SECOND,
    SIMILARITY,
    has_numbers,
    list_name_words,
    map_plain_names,
    simplify_name,
)
from thali._data.kinds import SIMILARITIES
from thali._data.number_checks import check_numbers
from thali._data.pairs.column_recognition import list_readings
from thali._data.pairs.wide_table import match_pair_names
from thali._data.similarities import Similarities
from thali._data.similarities.similarities import build_similarity_fields
from thali._data.similarities.similarity_tables import (
    SimilarityColumns,
    are_similarity_columns,
    compute_similarities,
    convert_dissimilarities,
    find_pair_columns,
    question_similarity,
    read_measured_pairs,
)
from thali._inference.user_warnings import warn
from thali._labels import format_label, list_names, shorten
from thali.errors import Argument, DataError, DataWarning, Message, Setting, prefix_errors

from ..square_table import Square, describe_non_square, find_square
from ..table_files import RawTable
from ..table_layout import OF_DISTANCES, Lack, Reading, Shape, keep_given, raise_error
from .card_sorts import SHAPE as CARD_SORTS

# Similarities as a square table, complete or one triangle -----------------------------------------


_SQUARE = "square matrix of similarities"


def match_square(
    table: RawTable, symmetrize: str | None = None, dissimilarities: str | None = None
) -> Reading | None:
    """Return a `Reading` of a square of similarities; None for other tables.

    `symmetrize`: "mean" averages both sides of the diagonal where they differ. `dissimilarities`:
    how to convert dissimilarities.
    """
    if table.sheets:
        return None
    square = table.square
    has_list_names = table.named and are_similarity_columns(table.names, accept_vague=True)
    if square is None:
        if has_list_names or not table.named:
            return None
        mismatch = describe_non_square(table.frame)
        if not mismatch:
            return None
        convert = partial(raise_error, mismatch)
        return Reading(SIMILARITIES, _SQUARE, "square table", table, convert, sure=False)
    if has_list_names and not square.is_symmetric:
        return None
    conversion = dissimilarities
    if conversion is None and square.has_distances:
        conversion = "linear"
    is_sure = table.is_triangle or square.has_similarities or square.has_shares
    is_sure |= conversion is not None
    convert = partial(_read_square, table, square, symmetrize, conversion)
    question = _question_distances(square, conversion)
    return Reading(SIMILARITIES, _SQUARE, "square table", table, convert, is_sure, doubt=question)


def _question_distances(square: Square, conversion: str | None) -> Message | None:
    """Return a question if a square may contain distances, unless converted; else None."""
    if conversion is not None or square.numbers is None or not square.is_symmetric:
        return None
    diagonal = {format_label(cell) for cell in np.diag(square.values)}
    if not diagonal <= {"0"} or np.nanmin(square.numbers, initial=np.inf) <= 0:
        return None
    return Message(
        "The diagonal is 0 and all other numbers are larger, as in a table of distances",
        OF_DISTANCES,
        ". For similarities, leave the diagonal empty.",
    )


def _read_square(
    table: RawTable, square: Square, symmetrize: str | None, conversion: str | None
) -> tuple[Similarities, str]:
    """Read a square of similarities; also return a sentence on it."""
    if table.is_triangle and conversion is None and not square.has_diagonal:
        text = "The triangle has no diagonal; it is read as similarities"
        warn(DataWarning(Message(text, OF_DISTANCES, ".")))
    measured_pairs = read_measured_pairs(square.cells, square.labels, symmetrize)
    if conversion is not None:
        measured_pairs = measured_pairs._replace(
            values=convert_dissimilarities(measured_pairs, conversion), lowest_diagonal=False
        )
    data = build_from_fields(Similarities, *build_similarity_fields(measured_pairs))
    description = measured_pairs.layout
    if conversion is not None:
        description += f" of dissimilarities ({conversion})"
        if square.has_distances:
            description += ", because the diagonal is 0 (for similarities, leave it empty)"
    if measured_pairs.zeros_not_read:
        description += " (zeros on the other side of the diagonal ignored)"
    elif symmetrize is not None and not square.is_symmetric:
        description += ", average of the two halves"
    return data, f"{data}, {description}; diagonal ignored"


def find_square_lack(table: RawTable) -> Lack | None:
    """Return that the labels are in the second column of a square, as in SPSS's matrix files."""
    if len(table.names) != len(table.frame) + 2:
        return None
    square = find_square(table.frame.iloc[:, 1:], True)
    if square is None or square.is_bare:
        return None
    return Lack(f"labels in its first column (drop {table.names[0]!r})", near=4)


SQUARE = Shape(
    _SQUARE,
    SIMILARITIES,
    match_square,
    expected="a square table of similarities whose first column repeats the labels of the header",
    settings=("symmetrize", "dissimilarities"),
    lacks=find_square_lack,
)


# Similarities as a workbook with one square per respondent, on separate sheets --------------------


_SHEETS = "workbook with one square matrix of similarities per respondent"
# of a table made of the ratings of several respondents
_COLUMNS = SimilarityColumns("first", "second", "similarity", None, "respondent")


def match_sheets(
    table: RawTable, symmetrize: str | None = None, dissimilarities: str | None = None
) -> Reading | None:
    """Return a `Reading` of several sheets with squares of similarities; None for other tables.

    The reading of integers is sure only if each is largest on the diagonal.
    """
    square_by_title = {title: sheet.square for title, sheet in table.sheets}
    squares = list(filter(None, square_by_title.values()))
    if not squares:
        return None
    count_sheets = [
        title
        for title, square in square_by_title.items()
        if square is None or (square.has_counts and not square.has_symmetric_counts)
    ]
    has_similarities = any(square.has_similarities for square in squares)
    if count_sheets and has_similarities:
        similarity_sheets = [title for title in square_by_title if title not in count_sheets]
        raise DataError(
            f"Some sheets contain similarities ({shorten(similarity_sheets)}), but others do not"
            f" ({shorten(count_sheets)}); keep one kind of sheet."
        )
    is_sure = has_similarities or all(square.has_shares for square in squares)
    question = _question_distances(squares[0], dissimilarities)
    description = "one sheet per respondent, each with a square matrix of similarities"

    def convert() -> tuple[Similarities, str]:
        """Return the means over respondents, and a sentence on how they were read."""
        frames = []
        for title, square in square_by_title.items():
            assert square is not None
            with prefix_errors(f"Sheet {title!r}"):
                measures = read_measured_pairs(square.cells, square.labels, symmetrize)
            labels = np.array(measures.labels, object)
            pairs = {"first": labels[measures.first], "second": labels[measures.second]}
            frames.append(pd.DataFrame(pairs).assign(similarity=measures.values, respondent=title))
        rows = pd.concat(frames, ignore_index=True)
        words = f"{description}; means over respondents, diagonals ignored"
        return _read_list(rows, _COLUMNS, dissimilarities, words)

    return Reading(SIMILARITIES, _SHEETS, description, table, convert, is_sure, doubt=question)


SHEETS = Shape(
    _SHEETS,
    SIMILARITIES,
    match_sheets,
    settings=("symmetrize", "dissimilarities"),
)


# Similarities as a list: two objects and their similarity per row ---------------------------------


_LIST = "list of similarities"


def match_list(
    table: RawTable,
    known: bool = False,
    symmetrize: str | None = None,
    dissimilarities: str | None = None,
    similarity: str | None = None,
    first: str | None = None,
    second: str | None = None,
    respondent: str | None = None,
) -> Reading | None:
    """Return a `Reading` of a list of similarities; None for other tables.

    `known`: the data are similarities, so an unclear column of similarities is an error.
    `symmetrize` applies to squares only. `dissimilarities`: how to convert dissimilarities.
    """
    if not table.named:
        return None
    find_columns: Any = partial(
        find_pair_columns, table.names, first, second, respondent_column=respondent
    )
    if similarity is None and table.square is None:
        is_dissimilarity = dissimilarities is not None
        similarity = _find_measure(table, find_columns, known or is_dissimilarity, is_dissimilarity)
    if similarity is not None:
        return _build_list_reading(table, find_columns(similarity=similarity), dissimilarities)
    if not are_similarity_columns(table.names, accept_vague=True):
        plain_names = map_plain_names(table.names)
        measure = DISSIMILARITY.find_column(plain_names)
        if known:
            measure = measure or SIMILARITY.find_column(plain_names)
        if measure is None or not (known or find_side_columns(table.names)):
            return None
        return Reading(SIMILARITIES, _LIST, "table of pairs", table, find_columns, sure=False)
    square = table.square
    if square is not None and square.is_symmetric:
        return None
    count_readings = list_readings(table.names)
    if are_similarity_columns(table.names, accept_vague=False):
        is_sure = all(len(columns.times) < 2 for columns in count_readings)
    else:  # texts are not ratings or scores
        scores: Any = table.frame[find_pair_columns(table.names).similarity]
        is_sure = has_numbers(scores) and not scores.isin((0, 0.5, 1)).all()
        is_sure &= not count_readings
    if square is not None and square.numbers is not None:
        is_sure &= square.is_bare and square.has_diagonal
    columns = find_columns()
    question = _question_measure(table, columns)
    return replace(_build_list_reading(table, columns), sure=is_sure, doubt=question)


def _question_measure(table: RawTable, columns: SimilarityColumns) -> Message | None:
    """Return a question if numbers may be preferences or dissimilarities; else None."""
    if simplify_name(columns.similarity) in SIMILARITY.sure:
        return None
    numbers = get_column(table.frame, columns.similarity)
    if has_both_signs(numbers):  # as of a slider between two options
        return Message(
            f"Column {columns.similarity!r} has numbers from {numbers.min():g} to"
            f" {numbers.max():g}, which may show how much {columns.first!r} or {columns.second!r}"
            " was preferred; if so, replace each number with the chosen option, or 'tie'. If they"
            " are similarities, give the name of the column with ",
            Argument("similarity"),
            ".",
        )
    for name in table.names:
        texts = get_column(table.frame, name).unique()
        if len(texts) == 1 and asks_for_odd(format_label(texts[0])):
            return Message(
                f"Column {name!r} asks for a difference, so that {columns.similarity!r} may be a"
                " dissimilarity. If it is, set ",
                Setting("dissimilarities", "linear"),
                "; if it is a similarity, give its name with ",
                Argument("similarity"),
                ".",
            )
    return None


def _build_list_reading(
    table: RawTable, columns: SimilarityColumns, conversion: str | None = None
) -> Reading:
    """Build the `Reading` of a list of similarities; convert nothing yet."""
    if conversion is None:
        _refuse_distances(table.frame, columns)
    roles = ColumnsRead(
        (columns.first, columns.second),
        (columns.similarity,),
        keep_given(columns.count),
        columns.respondent,
    )
    convert = partial(_read_list, table.frame, columns, conversion, str(columns))
    return Reading(SIMILARITIES, _LIST, str(columns), table, convert, roles=roles)


def _refuse_distances(frame: pd.DataFrame, columns: SimilarityColumns) -> None:
    """Raise DataError if a list seems to contain distances, by name or 0 for equal objects only."""
    name = columns.similarity
    first, second = (
        get_column(frame, column).map(format_label).astype(object) for column in columns[:2]
    )
    is_equal = (first == second) & (first != "")
    has_name = not _DISTANCE_WORDS.isdisjoint([simplify_name(name), *list_name_words(name)])
    if has_name or (
        simplify_name(name) not in SIMILARITY.sure
        and is_equal.any()
        and get_column(frame, name).eq(0).equals(is_equal)
    ):
        raise DataError(
            f"Column {name!r} may contain distances, by its name or its zeros for equal objects",
            OF_DISTANCES,
            ". If larger numbers mean more similar objects, rename the column 'similarity'.",
        )


_DISTANCE_WORDS = {*DISSIMILARITY.sure, "difference", "dod"} - {"d"}
_SIMILARITY_WORDS = {*SIMILARITY.sure, "human", "simlex", "simverb"}
_SPREAD_WORDS = {"sd", "se", "sem", "std", "stdev", "var", "variance"}


def _find_measure(
    table: RawTable,
    find_columns: Callable[..., SimilarityColumns],
    is_known: bool,
    is_dissimilarity: bool,
) -> str | None:
    """Return the column of similarities (or dissimilarities) in a list; else None."""
    # if it is not known that the table contains one, its name must have a word for similarity
    plain_names = map_plain_names(table.names)
    named_column = DISSIMILARITY.find_column(plain_names) or SIMILARITY.find_column(plain_names)
    if named_column and is_dissimilarity:
        return named_column
    if named_column:
        return None
    try:
        columns = find_columns(similarity="")
    except DataError:
        return None
    measure_columns = [
        name
        for name in table.names
        if name not in columns
        and simplify_name(name) not in RESPONDENT_OF_TASKS.synonyms
        and can_be_measure(name, get_column(table.frame, name))
    ]
    words_by_name = {
        name: words
        for name in measure_columns
        if not _SPREAD_WORDS & (words := {*list_name_words(name)})
        and get_column(table.frame, name).nunique() > 2
    }
    similar_columns = [name for name, words in words_by_name.items() if words & _SIMILARITY_WORDS]
    distance_columns = [
        name
        for name, words in words_by_name.items()
        if words & _DISTANCE_WORDS and get_column(table.frame, name).min() >= 0
    ]
    if is_dissimilarity or not similar_columns:
        similar_columns = distance_columns or similar_columns
    if similar_columns or not is_known:
        measure_columns = similar_columns
    else:  # such as "response", if the kind was given
        used_columns = columns[:2]
        if measure_columns:
            used_columns = columns
        measure_columns += [
            name
            for name in table.names
            if name not in used_columns
            and simplify_name(name) in CHOSEN_OF_TWO.synonyms
            and has_numbers(table.frame[name])
        ]
    if len(measure_columns) > 1:
        raise DataError(*question_similarity(measure_columns))
    return next(iter(measure_columns), None)


def _read_list(
    frame: pd.DataFrame, columns: SimilarityColumns, conversion: str | None, description: str
) -> tuple[Similarities, str]:
    """Read a list of similarities; also return a sentence on it, with this description."""
    conversion_note = ""
    if conversion is not None:
        is_different = frame[columns.first].map(format_label) != frame[columns.second].map(
            format_label
        )
        measured_cells = get_column(frame, columns.similarity).astype(object)
        numbers = check_numbers(
            measured_cells.to_numpy(), lambda k: f"in row {frame.index[k]}", "dissimilarity"
        )
        distances = pd.Series(numbers, frame.index).loc[is_different].dropna()
        similarities = compute_similarities(
            distances.to_numpy(float), conversion, lambda k: f"row {distances.index[k]}"
        )
        frame = frame.assign(**{columns.similarity: pd.Series(similarities, distances.index)})
        conversion_note = f", converted from dissimilarities ({conversion})"
    data = Similarities.from_frame(frame, **columns._asdict())
    return data, f"{data}, {description}{conversion_note}"


def find_list_lack(table: RawTable) -> Lack | None:
    """Return the missing measure of a table of all pairs, also of each object with itself."""
    for side in find_side_columns(table.names):
        first, second = (get_column(table.frame, name).map(format_label) for name in side.columns)
        if (first == second).sum() == first.nunique() > 2:
            columns = " and ".join(map(repr, side.columns))
            return Lack(f"a column called 'similarity' or 'distance' (of {columns})", near=4)
    return None


LIST = Shape(
    _LIST,
    SIMILARITIES,
    match_list,
    expected="one pair per row, with columns such as 'first', 'second' and 'similarity'",
    roles=(SIMILARITY, FIRST, SECOND, RESPONDENT),
    settings=("known", "symmetrize", "dissimilarities"),
    lacks=find_list_lack,
)


# Similarities as ratings: one respondent per row, one column per pair -----------------------------


_RATINGS = "table of rated pairs"
_MAX_CHOICE = 3  # higher numbers are no codes of choices
_PREFERENCE = re.compile(r">|(?:\b|_)(?:vs|versus|over)(?:\b|_)")  # in names of pairs


def match_ratings(
    table: RawTable, dissimilarities: str | None = None, respondent: str | None = None
) -> Reading | None:
    """Return a `Reading` of ratings, one column per pair or per respondent; else None."""
    pairs = match_pair_names(table.names)
    if not pairs:
        return _match_raters(table, dissimilarities)
    who = respondent or RESPONDENT.find_column(map_plain_names(table.names), pairs)
    if (
        len(pairs) < 3
        or any(map(_PREFERENCE.search, pairs))
        or not all(has_numbers(table.frame[name]) for name in pairs)
    ):
        return None
    numbers: Any = table.frame.set_index(who or table.frame.index)[[*pairs]].stack()
    if numbers.min() < 0 or numbers.isin(range(_MAX_CHOICE + 1)).mean() > 0.75:
        return None
    rows = numbers.rename_axis(["respondent", "pair"]).rename("similarity").reset_index()
    rows[["first", "second"]] = [pairs[name] for name in rows["pair"]]
    description = f"one respondent per row, one rating per pair, {shorten([*pairs], 3)}"
    convert = partial(_read_list, rows.drop(columns="pair"), _COLUMNS, dissimilarities, description)
    roles = ColumnsRead(tuple(pairs), (), (), who)
    return Reading(SIMILARITIES, _RATINGS, description, table, convert, roles=roles)


_RATER = re.compile(f"(?:{'|'.join(RESPONDENT.sure)}|[rsp])[0-9]+")


def _match_raters(table: RawTable, dissimilarities: str | None) -> Reading | None:
    """Return a `Reading` of two objects per row, one column of ratings per respondent; or None."""
    raters = [name for name in table.names if _RATER.fullmatch(simplify_name(name))]
    other_names = [name for name in table.names if name not in raters]
    sides = [each.columns for each in find_side_columns(other_names)]
    if len(raters) < 3 or len(sides) != 1 or SIMILARITY.find_column(map_plain_names(other_names)):
        return None
    have_numbers = all(has_numbers(table.frame[name]) for name in raters)
    if not have_numbers or any(has_numbers(table.frame[name]) for name in sides[0]):
        return None
    first, second = sides[0]
    rows = table.frame.melt([first, second], raters, "respondent", "similarity")
    question = None
    codes = {*rows["similarity"].dropna()}
    if codes in ({1, 2}, {0, 1, 2}, {-1, 0, 1}):
        numbers = list_names(f"{code:g}" for code in sorted(codes))
        question = Message(
            f"The numbers {numbers} in {shorten(raters, 3)} may say that {first!r} or {second!r}"
            " was chosen. If they do, write one row per answer, with columns 'respondent' and"
            " 'choice'; if they are ratings, set ",
            Setting("kind", "similarities"),
            ".",
        )
    columns = _COLUMNS._replace(first=first, second=second)
    description = f"one pair per row, one rating per respondent, {shorten(raters, 3)}"
    convert = partial(_read_list, rows, columns, dissimilarities, description)
    roles = ColumnsRead(sides[0], tuple(raters))
    return Reading(SIMILARITIES, _RATINGS, description, table, convert, roles=roles, doubt=question)


RATINGS = Shape(
    _RATINGS,
    SIMILARITIES,
    match_ratings,
    roles=(RESPONDENT,),
    settings=("dissimilarities",),
)


SHAPES = SQUARE, SHEETS, LIST, RATINGS, CARD_SORTS
