"""Layouts of paired comparisons: square, list, trials, games, one column per pair."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from thali._data.choice_marks import (
    are_often_equal,
    compute_share_equal,
    has_marks,
    is_free_text,
)
from thali._data.choices.best_worst_tables import find_best_columns
from thali._data.column_guesses import (
    ColumnsRead,
    can_be_measure,
    list_labelled_sides,
    refuse_questions_of_less,
)
from thali._data.column_readers import check_columns, get_column, refuse_thousands, split_lists
from thali._data.column_roles import (
    AWAY,
    CHOSEN_OF_TWO,
    COUNT,
    FIRST,
    HOME,
    LOSSES,
    PROBABILITY,
    REJECTED,
    RESPONDENT,
    RESULT,
    SECOND,
    has_numbers,
    map_plain_names,
    simplify_name,
)
from thali._data.kinds import PAIRS, SIMILARITIES, TRIPLETS
from thali._data.pairs import PairedComparisons
from thali._data.pairs.column_recognition import (
    PairColumns,
    find_missing_column,
    find_pair_columns,
    find_rejected_column,
    find_respondent_column,
    find_ties_column,
    is_uncounted,
    list_count_columns,
    list_readings,
    refuse_several_readings,
)
from thali._data.pairs.covariates import list_covariate_columns
from thali._data.pairs.table_constructors import build_comparisons, read_list, read_trials
from thali._data.pairs.trial_rows import (
    compares_attributes,
    describe_missing,
    find_trial_columns,
    has_side_attributes,
    list_score_columns,
    refuse_unlike_scores,
)
from thali._data.pairs.wide_table import (
    are_all_pairs,
    find_numbered_answers,
    find_wide_columns,
    match_pair_names,
    read_wide_outcomes,
    refuse_unclear_codes,
    refuse_unclear_pairs,
)
from thali._data.similarities.similarity_tables import are_similarity_columns
from thali._data.suspicious_data import find_percentages, warn_each
from thali._labels import format_label, format_plural, is_number, shorten
from thali.errors import Argument, Clause, DataError, Message, Setting, prefix_errors

from ..square_table import Square, describe_non_square
from ..table_files import RawTable
from ..table_layout import OF_DISTANCES, Lack, Reading, Shape, keep_given, raise_error
from ..text_cells import MISSING
from .triplets import find_anchor, has_anchor_name

# Paired comparisons as a square table: times that the row was chosen over the column --------------


_SQUARE = "square matrix of counts"
_SQUARE_HOW = "square count matrix, row over column"


def match_square(table: RawTable, weights: bool = False) -> Reading | None:
    """Return a `Reading` of a square of counts; None for other tables.

    `weights`: fractional counts are intended.
    """
    square = table.square
    if table.sheets and square is not None and not square.has_similarities:
        return None  # match_sheets reads all squares
    if square is None:
        if not (mismatch := describe_non_square(table.frame)):
            return None
        return Reading(
            PAIRS, _SQUARE, _SQUARE_HOW, table, lambda: raise_error(mismatch), sure=False
        )
    if table.is_triangle or (square.has_similarities and not weights):
        return None
    # a list of counts may have equally many numeric columns and rows, with a filled "diagonal"
    is_sure = not (square.is_bare and table.named and square.has_diagonal)
    is_sure &= not (square.has_distances or square.has_shares)
    other_kind = ""
    if square.numbers is not None and (square.is_symmetric or not square.has_counts):
        other_kind = SIMILARITIES
    question = _question_square(square)

    def convert() -> tuple[PairedComparisons, str]:
        """Return the comparisons, and a sentence on how they were read."""
        if not weights:
            refuse_thousands(table.frame, *table.names)
        if not weights and square.games is not None:
            data = PairedComparisons.from_frame(
                square.games,
                "first",
                "second",
                "wins",
                losses="losses",
                ties="ties",
                labels=square.labels,
            )
            return data, f"{_SQUARE_HOW}, a half for a draw: {data}"
        cells, diagonal_note = _clear_diagonal(square)
        data = PairedComparisons(cells, square.labels, weights=weights)
        warn_each(diagonal_note, find_percentages(data.wins, data.losses))
        return data, f"{_SQUARE_HOW}: {data}"

    return Reading(PAIRS, _SQUARE, _SQUARE_HOW, table, convert, is_sure, other_kind, doubt=question)


def _question_square(square: Square) -> Message | None:
    """Return a question if counts may be similarities or confusions; else None."""
    if square.has_symmetric_counts:
        return Message(
            "The matrix is symmetric; as counts of choices, it would tie every pair 50:50. It"
            " may contain distances or similarities",
            OF_DISTANCES,
            ".",
        )
    if not square.has_largest_diagonal:
        return None
    return Message(
        "Each cell of the diagonal is the largest of its row and column, as in a confusion matrix:"
        " the table may contain similarities",
        Clause(" (to average the two halves, set ", Setting("symmetrize", "mean"), ")"),
        OF_DISTANCES,
        ". For choices (row chosen over column), leave the diagonal empty.",
    )


def _clear_diagonal(square: Square) -> tuple[np.ndarray, str | None]:
    """Return the square's cells with an empty diagonal, and a note if it was not empty."""
    if square.numbers is not None and square.values.dtype == object and not square.has_counts:
        return square.numbers, None
    # Labels and asymmetry must show that the cells are counts.
    if square.is_bare or not square.has_diagonal or not square.has_counts or square.is_symmetric:
        return square.values, None
    diagonal_texts = [format_label(cell) for cell in np.diag(square.values)]
    k = next(k for k, cell in enumerate(diagonal_texts) if cell not in MISSING | {"0"})
    cleared_cells = square.values.copy()
    np.fill_diagonal(cleared_cells, 0)
    if not is_number(diagonal_texts[k]):
        return cleared_cells, None
    diagonal_label = format_label((square.labels or ())[k])
    return cleared_cells, (
        f"The diagonal ({diagonal_texts[k]} for {diagonal_label!r}) compares an option with"
        " itself; it was ignored."
    )


SQUARE = Shape(
    _SQUARE,
    PAIRS,
    match_square,
    settings=("weights",),
)


# Paired comparisons as a workbook with one square of counts per respondent, on separate sheets ----


_SHEETS = "workbook with one square matrix per respondent"


def match_sheets(table: RawTable, weights: bool = False) -> Reading | None:
    """Return a `Reading` of several sheets with squares of counts; None for other tables."""
    sheet_squares: Any = [sheet.square for _, sheet in table.sheets]
    if not sheet_squares or any(
        square is None or square.has_similarities for square in sheet_squares
    ):
        return None
    questions = list(filter(None, map(_question_square, sheet_squares)))
    question = None
    if 2 * len(questions) > len(sheet_squares):
        question = questions[0]
    description = "one sheet per respondent, each with a square count matrix, row over column"

    def convert() -> tuple[PairedComparisons, str]:
        """Return the comparisons of all respondents, and a sentence on how they were read."""
        rows = []
        labels = None
        for (title, _), square in zip(table.sheets, sheet_squares, strict=True):
            with prefix_errors(f"Sheet {title!r}"):
                data = PairedComparisons(square.values, square.labels, weights=weights)
            labels = labels or data.labels
            rows.append(
                data.to_frame().astype({"chosen": str, "rejected": str}).assign(respondent=title)
            )
        data = PairedComparisons.from_frame(
            pd.concat(rows), respondent="respondent", labels=labels, weights=weights
        )
        return data, f"{description}: {data}"

    is_sure = not all(square.has_shares for square in sheet_squares)
    return Reading(PAIRS, _SHEETS, description, table, convert, is_sure, doubt=question)


SHEETS = Shape(
    _SHEETS,
    PAIRS,
    match_sheets,
    settings=("weights",),
)


# Paired comparisons as a list: a winner and a loser per row, or a pair per row with the counts of
# both


_LIST = "list of comparisons"


def match_list(
    table: RawTable,
    chosen: str | None = None,
    rejected: str | None = None,
    count: str | None = None,
    losses: str | None = None,
    respondent: str | None = None,
    probability: str | None = None,
    weights: bool = False,
    covariates: Sequence[str] | None = None,
    date: str | None = None,
) -> Reading | None:
    """Return a `Reading` of a list of winners and losers; None for other tables.

    `weights`: fractional counts are intended. Covariates require columns that show which option was
    first, and counts of both options.
    """
    if chosen is not None and rejected is None and covariates is None:
        rejected = find_rejected_column(table.names)
    named_columns: dict[str, Any] = {
        "count": count,
        "losses": losses,
        "respondent": respondent,
        "covariates": covariates,
        "date": date,
        "rejected": rejected,
        "probability": probability,
    }
    if rejected is not None and chosen is None and "chosen" not in table.names:
        chosen = CHOSEN_OF_TWO.find_column(map_plain_names(table.names), (rejected,))
        if chosen is None:  # a side, or one of two other columns
            return TRIAL_TABLE.match(table, weights=weights, **named_columns)
    if rejected is not None and covariates is None:
        options = (chosen or "chosen", rejected)
        count_columns = [()]
        if count is probability is None:
            whole_numbers = [
                name
                for name in table.names
                if has_numbers(table.frame[name])
                and not (get_column(table.frame, name).to_numpy(float) % 1 > 0).any()
            ]
            count_columns = list_count_columns(whole_numbers, {losses, respondent, date})
        ties = find_ties_column(table.names)
        readings = [PairColumns(options, times, ties) for times in count_columns]
        refuse_several_readings(readings)
        return _build_list_reading(table, readings, named_columns, weights)
    readings = []
    if table.named and chosen is None:
        text_columns = [name for name in table.names if not has_numbers(table.frame[name])]
        used_columns = (count, losses, respondent, probability)
        # texts such as answers of models, beside the names of the models
        short_names = [
            name for name in table.names if not is_free_text(get_column(table.frame, name))
        ]
        arguments = (used_columns, text_columns, probability)
        readings = list_readings(short_names, *arguments) or list_readings(table.names, *arguments)
    if covariates is not None:
        readings = [columns for columns in readings if columns.in_order and len(columns.times) == 2]
    has_two_counts = any(len(columns.times) == 2 for columns in readings)
    if (
        not readings
        or any(_are_ratings(table, columns) for columns in readings)
        or (not has_two_counts and are_similarity_columns(table.names, accept_vague=False))
        # squares have priority: their options may include I, J and N, the names of a list
        or _is_square(table)
    ):
        return None
    return _build_list_reading(table, readings, named_columns, weights)


def _is_square(table: RawTable) -> bool:
    """Return whether a table is a square with labels, or with an empty diagonal."""
    square = table.square
    return square is not None and not (square.is_bare and square.has_diagonal)


def _are_ratings(table: RawTable, columns: PairColumns) -> bool:
    """Return whether two columns contain numbers that are often equal, or items of a scale."""
    if not all(has_numbers(get_column(table.frame, name)) for name in columns.options):
        return False
    other_items = [
        name
        for name in table.names
        if name not in columns.used
        and _ITEM_NAME.fullmatch(name)
        and has_numbers(table.frame[name])
    ]
    return len(other_items) >= _MIN_ITEMS or are_often_equal(table.frame, columns.options)


_ITEM_NAME = re.compile("[A-Za-z]+[0-9]+")  # such as A3 of a questionnaire with A1 to O5
_MIN_ITEMS = 4  # other numbered columns of numbers
_CHECKED_ROWS = 500  # rows whose cells show whether they are lists


def _build_list_reading(
    table: RawTable, readings: list[PairColumns], named_columns: dict[str, Any], weights: bool
) -> Reading | None:
    """Build the `Reading` of a list of comparisons; None for a list of triplets."""
    check_columns(table.frame, [named_columns["date"]])
    probability = named_columns["probability"]
    if probability is not None:
        times = (probability, probability)
        readings = [*dict.fromkeys(columns._replace(times=times) for columns in readings)]
    description = "; or ".join(map(str, readings))
    convert = partial(_read_list, table, readings, named_columns, weights)
    pair_columns = _fill_column_roles(readings[0], table, named_columns)
    count_columns = keep_given(*pair_columns.times, pair_columns.ties, pair_columns.repeats)
    roles = None
    if len(readings) == 1:
        roles = ColumnsRead(pair_columns.options, (), count_columns, pair_columns.respondent)
    extra_columns = (*(named_columns["covariates"] or ()), named_columns["date"])
    question = None
    if not named_columns["count"] and not named_columns["rejected"]:
        question = _question_list(table, pair_columns)
    reading = Reading(
        PAIRS,
        _LIST,
        description,
        table,
        convert,
        roles=roles,
        extra_columns=extra_columns,
        doubt=question,
    )
    if len(pair_columns.times) == 2:
        return reading
    return _question_anchor(
        reading, table, pair_columns.options, {*pair_columns.used, *extra_columns}
    )


def _question_anchor(
    reading: Reading,
    table: RawTable,
    options: tuple[str, str],
    used_columns: Collection[str | None],
) -> Reading | None:
    """Return a reading with a question if a third option is in each row; None for triplets."""
    anchor = find_anchor(table, options, used_columns)
    if anchor is None:
        return reading
    if has_anchor_name(anchor):
        return None
    first, second = options
    question = Message(
        f"In every row, column {anchor!r} contains an option that differs from those in columns"
        f" {first!r} and {second!r}. If those two options were compared with the one in {anchor!r},"
        " the data are triplets; set ",
        Setting("anchor", anchor),
        ". Otherwise, drop the column with ",
        Setting("without", [anchor]),
        ".",
    )
    return replace(reading, other_kind=TRIPLETS, doubt=question)


def _question_list(table: RawTable, pair_columns: PairColumns) -> Message | None:
    """Return a question if columns i and j may be similar objects; else None."""
    if pair_columns.times or tuple(map(simplify_name, pair_columns.options)) != ("i", "j"):
        return None
    measure_columns = [
        name
        for name in table.names
        if name not in pair_columns.used and can_be_measure(name, get_column(table.frame, name))
    ]
    if not measure_columns:
        return None
    return Message(
        f"Columns 'i' and 'j', with numbers in {shorten(measure_columns)}, can be read in three"
        " ways",
        OF_DISTANCES,
        ". For similarities, rename the column of numbers to 'similarity'. For choices of 'i' over"
        " 'j', give the names of the columns with ",
        Argument("chosen"),
        " and ",
        Argument("rejected"),
        Clause(", plus ", Argument("count"), " if the numbers are counts"),
        ".",
    )


def _fill_column_roles(
    columns: PairColumns, table: RawTable, named_columns: dict[str, Any]
) -> PairColumns:
    """Return the columns with those named by the user, and the respondent column."""
    columns = columns.with_named(
        *(named_columns[role] for role in ("count", "losses", "respondent"))
    )
    respondent = columns.respondent or find_respondent_column(table.names, columns.times)
    return columns._replace(respondent=respondent)


def _read_list(
    table: RawTable, readings: list[PairColumns], named_columns: dict[str, Any], weights: bool
) -> tuple[PairedComparisons, str]:
    """Read a list of comparisons; also return a sentence on it."""
    columns = readings[0]
    if len(readings) > 1:
        columns = find_pair_columns(table.names, named_columns.values())
    columns = _fill_column_roles(columns, table, named_columns)
    _refuse_lists(table.frame, columns.options)
    data = read_list(
        PairedComparisons,
        table.frame,
        columns,
        weights=weights or columns.weighted,
        covariates=named_columns["covariates"],
        date=named_columns["date"],
    )
    n_empty = int(is_uncounted(table.frame, columns).sum())
    sentence = str(columns)
    if data.covariates is not None:
        sentence += f", covariates {shorten(data.covariates.names)}"
    sentence += f": {data}"
    if n_empty:
        sentence += f"; {format_plural(n_empty, 'row')} without counts dropped"
    return data, sentence


def _refuse_lists(frame: pd.DataFrame, option_columns: tuple[str, str]) -> None:
    """Raise DataError if the cells of both columns list several options, as those of teams do."""
    rows = frame.head(_CHECKED_ROWS)
    cells = pd.concat([get_column(rows, name) for name in option_columns], ignore_index=True)
    row_numbers = pd.Series(np.tile(np.arange(len(rows)), 2))
    labels = split_lists(cells, row_numbers)
    if labels is not None:
        example = cells[labels.index[labels.index.duplicated()][0]]
        raise DataError(
            f"Columns {option_columns[0]!r} and {option_columns[1]!r} list several options in a"
            f" cell, such as {format_label(example)!r}; expected one option in each cell. If the"
            " members do not matter, give each team a separate name."
        )


LIST = Shape(
    _LIST,
    PAIRS,
    match_list,
    expected="one comparison per row, with columns such as 'winner' and 'loser'",
    roles=(CHOSEN_OF_TWO, REJECTED, COUNT, LOSSES, RESPONDENT, PROBABILITY),
    settings=("weights", "covariates", "date"),
    named_by=("rejected", "losses", "probability"),
    lacks=lambda table: find_missing_column(table.names),
    main=("chosen", "rejected", "count"),
)


# Paired comparisons as trials, or results of games: each row names both options and the chosen one,
# as arena logs do, or both sides and the result or goals


# of the columns of trials, in the order of the roles of their layouts
ROLES = ("first", "second", "chosen", "respondent", "count", "rejected")


def _match_sides(
    is_game: bool,
    table: RawTable,
    coding: Mapping[Any, str] | None = None,
    weights: bool = False,
    covariates: Sequence[str] | None = None,
    date: str | None = None,
    **columns: str | None,
) -> Reading | None:
    """Return a `Reading` of trials or games: two options and an outcome; None for other tables."""
    shape = TRIAL_TABLE
    rows = "one trial per row"
    if is_game:
        shape = RESULT_TABLE
        rows = "one game per row"
    named_columns = {
        name: columns.get(role.name) for name, role in zip(ROLES, shape.roles, strict=False)
    }
    is_named = any(columns.get(argument) is not None for argument in shape.named_by)
    data_options = {"weights": weights, "covariates": covariates, "date": date}

    def convert() -> tuple[PairedComparisons, str]:
        """Return the comparisons, and a sentence on how they were read."""
        data, how = read_trials(
            PairedComparisons, table.frame, named_columns, is_game, coding, **data_options
        )
        return data, f"{rows}, {how}: {data}"

    try:
        side_columns = find_trial_columns(table.frame, named_columns, is_game)
    except DataError:
        if not is_named or not table.named:
            return None
        return Reading(PAIRS, shape.name, shape.name, table, convert)
    if side_columns.game != is_game or (table.square is not None and not is_named):
        return None
    option_columns = side_columns.first, side_columns.second
    if not is_named and (
        # marks of a first and a second choice
        all(has_marks(get_column(table.frame, name)) for name in option_columns)
        # A vs C, B vs C and A vs B
        or are_all_pairs([*option_columns, *side_columns.verdict])
    ):
        return None
    refuse_unlike_scores(table.frame, side_columns)
    verb = "won"
    if side_columns.rejects:
        verb = "lost"
    options = " against ".join(map(repr, option_columns))
    description = f"{options}, {verb} by {side_columns.verdict[-1]!r}"
    is_sure = is_named or not has_side_attributes(table.frame, side_columns)
    if not is_sure and compares_attributes(table.frame, side_columns):
        return None
    count_columns = keep_given(side_columns.count)
    extra_columns = list_covariate_columns(covariates, table.names, option_columns)
    if date in table.names:
        extra_columns.append(date)
    scores = chain(*list_score_columns(table.names))
    answer_columns = (
        *option_columns,
        *side_columns.verdict,
        *scores,
        *extra_columns,
        *count_columns,
    )
    roles = ColumnsRead(
        option_columns,
        side_columns.verdict,
        count_columns,
        side_columns.respondent,
        judged=not is_game,
    )

    def check_and_convert() -> tuple[PairedComparisons, str]:
        """Return what `convert` does, unless the columns may mean something else."""
        if not is_named:
            _refuse_equal_labels(table.frame, option_columns)
        if not (is_game or named_columns["chosen"] or side_columns.rejects):
            answer = side_columns.verdict[0]
            refuse_questions_of_less(table.frame, side_columns.used, answer, of_two=True)
        return convert()

    reading = Reading(
        PAIRS,
        shape.name,
        description,
        table,
        check_and_convert,
        is_sure,
        roles=roles,
        extra_columns=tuple(extra_columns),
    )
    reading = _question_anchor(reading, table, option_columns, {*roles.all, *answer_columns})
    if reading is None or not reading.other_kind:
        return reading
    if find_best_columns(table.frame, {"best": columns.get("chosen")}):
        return None  # the third option of a set
    return reading


def _refuse_equal_labels(frame: pd.DataFrame, columns: tuple[str, str]) -> None:
    """Raise DataError if two columns are equal in many rows, as the labels of two coders are."""
    share = compute_share_equal(frame, columns)
    if not _MAX_EQUAL < share < 1:
        return
    first, second = columns
    raise DataError(
        f"Columns {first!r} and {second!r} are equal in {100 * share:.0f} % of the rows, as the"
        " labels of two coders or the levels of two profiles are, unlike the options of"
        " comparisons. If each row compares two options, set ",
        Setting("first", first),
        " and ",
        Setting("second", second),
        "; rows of an option with itself are then dropped.",
    )


_MAX_EQUAL = 0.5  # of rows; options that also meet themselves are equal in fewer


TRIAL_TABLE = Shape(
    "table of trials",
    PAIRS,
    partial(_match_sides, False),
    expected="one trial per row, with columns such as 'left', 'right' and 'chosen'",
    roles=(FIRST, SECOND, CHOSEN_OF_TWO, RESPONDENT, COUNT, REJECTED),
    settings=("coding", "weights", "covariates", "date"),
    named_by=("first", "second"),
    lacks=lambda table: describe_missing(table.frame, False),
    main=("first", "second", "chosen"),
)
RESULT_TABLE = Shape(
    "table of results",
    PAIRS,
    partial(_match_sides, True),
    expected="one game per row, with columns such as 'home', 'away' and 'result'",
    roles=(HOME, AWAY, RESULT, RESPONDENT, COUNT),
    settings=("coding", "weights", "covariates", "date"),
    named_by=("home", "away", "result"),
    lacks=lambda table: describe_missing(table.frame, True),
    main=("home", "away", "result"),
)


# Paired comparisons as a wide table: one column per pair, one row per respondent or per counted
# pattern of answers


_WIDE = "table with one column per pair"


def match_wide(
    table: RawTable,
    coding: Mapping[Any, str] | None = None,
    weights: bool = False,
    **named_columns: str | None,
) -> Reading | None:
    """Return a `Reading` of a table with one column per pair; None for other tables.

    The reading is sure if the names match.
    """
    if not table.named:
        return None
    # equally many respondents and pairs look like a square, but with answers on the diagonal
    if _is_square(table):
        return None
    wide_columns = find_wide_columns(table.frame, named_columns, coding)
    if wide_columns is None:
        return None
    if wide_columns.order == "numbered" and list_labelled_sides(table.frame):
        return None  # answers of respondents on the pair in each row
    description = f"one column per pair, {shorten(list(wide_columns.pairs), 3)}"
    roles = ColumnsRead(
        tuple(wide_columns.pairs), (), keep_given(wide_columns.count), wide_columns.respondent
    )

    def convert() -> tuple[PairedComparisons, str]:
        """Return the comparisons, and a sentence on how they were read."""
        if coding is None:
            refuse_unclear_codes(table.frame, wide_columns)
            refuse_unclear_pairs(table.frame, wide_columns)
        data, how = build_comparisons(
            PairedComparisons, read_wide_outcomes(table.frame, wide_columns, coding, None, weights)
        )
        row = "one answer pattern per row"
        if data.respondents:
            row = "one respondent per row"
        return data, f"{row}, {how}: {data}"

    return Reading(
        PAIRS, _WIDE, description, table, convert, sure=wide_columns.order == "named", roles=roles
    )


def find_wide_lack(table: RawTable) -> Lack | None:
    """Return what a table with one column per pair lacks; else None."""
    if pair_names := match_pair_names(table.names):
        return Lack(
            f"answers (1 and 2; 1, -1 and 0; or the chosen label) in {shorten([*pair_names], 3)}",
            near=3,
        )
    if numbered_columns := find_numbered_answers(table.frame):
        first_name = numbered_columns[0]
        last_name = numbered_columns[-1]
        return Lack(
            f"some pairs: {len(numbered_columns)} columns from {first_name!r} to {last_name!r} are"
            " not all pairs of options (3, 6, 10 and so on)",
            near=3,
        )
    return None


WIDE = Shape(
    _WIDE,
    PAIRS,
    match_wide,
    expected="one respondent per row, with columns of all pairs, such as 'tea > milk' or 'V12'",
    roles=(RESPONDENT, COUNT),
    settings=("coding", "weights"),
    lacks=find_wide_lack,
    main=("respondent",),
)


SHAPES = SQUARE, SHEETS, LIST, TRIAL_TABLE, RESULT_TABLE, WIDE
