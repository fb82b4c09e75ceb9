"""The shapes of table that hold paired comparisons: squares, lists, trials, results, a column a
pair."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from thali._data.columns import column, refuse_thousands
from thali._data.described_columns import ColumnsRead, may_measure
from thali._data.kinds import PAIRS, SIMILARITIES
from thali._data.pairs import PairedComparisons
from thali._data.pairs.columns import (
    PairColumns,
    choice_columns,
    lacking,
    respondent_column,
    the_columns,
    ties_column,
    uncounted,
)
from thali._data.pairs.covariates import columns_of_covariates
from thali._data.pairs.trials import described_sides, near_trials, trial_columns
from thali._data.pairs.wide import (
    WideColumns,
    called_like_pairs,
    numbered_answers,
    outcomes_of_wide,
    wide_columns,
)
from thali._data.roles import (
    AWAY,
    CHOSEN_OF_TWO,
    COUNT,
    FIRST,
    HOME,
    LOSSES,
    REJECTED,
    RESPONDENT,
    RESULT,
    SECOND,
    plain,
)
from thali._data.similarities.tables import tells_similarities
from thali._data.suspicious import percentages, warn_of
from thali._labels import as_label, plural, shorten
from thali.errors import Argument, Clause, DataError, Message, Setting, Value

from ..cells import MISSING
from ..shape import Lack, Reading, Shape, raise_error
from ..square import Square, describe_label_mismatch
from ..table import RawTable

# Paired comparisons as a square table: how often the row was chosen over the column ---------------


_SQUARE = "square matrix of counts"
_SQUARE_HOW = "square count matrix, row over column"


def match_square(table: RawTable, weights: bool = False) -> Reading | None:
    """A square of numbers that are not surely similarities; `weights`: fractional counts are
    meant."""
    square = table.square
    if table.sheets and square is not None and not square.has_similarities:
        return None  # squares_by_sheet reads all of them
    if square is None:
        if not (wrong := describe_label_mismatch(table.frame)):
            return None
        return Reading(PAIRS, _SQUARE, _SQUARE_HOW, table, lambda: raise_error(wrong), sure=False)
    if square.has_similarities and not weights:
        return None
    # a list of counts may have as many columns of numbers as rows, and then its "diagonal" holds
    # numbers
    sure = not (square.is_bare and table.named and square.has_diagonal)
    doubtful = square.numbers is not None and (square.is_symmetric or not square.has_counts)
    could_be = SIMILARITIES if doubtful else ""
    convert, doubt = partial(_read_square, table, square, weights), _doubt_of_square(square)
    return Reading(PAIRS, _SQUARE, _SQUARE_HOW, table, convert, sure, could_be, doubt=doubt)


_OF_DISTANCES = Clause(
    "; for distances set ",
    Setting("dissimilarities", "linear"),
    " or ",
    Value("dissimilarities", "exponential"),
)


def _doubt_of_square(square: Square) -> Message | None:
    """Ask about a square of whole numbers that is symmetric, or of confusions."""
    if square.has_symmetric_counts:
        what = (
            "The matrix is symmetric; as counts of choices, it would tie every pair 50:50. It"
            " may contain"
        )
        return Message(f"{what} distances or similarities", _OF_DISTANCES, ".")
    if not square.has_confusions:
        return None
    return Message(
        "The diagonal of the table dominates and all rows have the same sum, as in a confusion"
        " matrix; the table may contain similarities",
        Clause(" (to average the two halves, set ", Setting("symmetrize", "mean"), ")"),
        _OF_DISTANCES,
        "; for choices (row chosen over column), leave the diagonal empty.",
    )


def _read_square(table: RawTable, square: Square, weights: bool) -> tuple[PairedComparisons, str]:
    if not weights:
        refuse_thousands(table.frame, *table.names)
    values, left_out = _without_diagonal(square)
    data = PairedComparisons(values, square.labels, weights=weights)
    warn_of(left_out, percentages(data.wins, data.losses))
    return data, f"{_SQUARE_HOW}: {data}"


def _without_diagonal(square: Square) -> tuple[np.ndarray, str | None]:
    """The cells, where labels and asymmetry show what they are without counts of an option and
    itself; what of that."""
    if square.is_bare or not square.has_diagonal or not square.has_counts or square.is_symmetric:
        return square.values, None
    diagonal = [as_label(value) for value in np.diag(square.values)]
    k = next(k for k, value in enumerate(diagonal) if value not in MISSING | {"0"})
    values = square.values.copy()
    np.fill_diagonal(values, 0)
    named = as_label((square.labels or ())[k])
    return values, (
        f"The diagonal ({diagonal[k]} for {named!r}) compares an option with itself; it was"
        " ignored."
    )


SQUARE = Shape(
    _SQUARE,
    PAIRS,
    match_square,
    expected="a square table of counts (row over column; the first column repeats the labels of the"
    " header)",
    settings=("weights",),
    needs="no square matrix",
)


# Paired comparisons as a workbook with a square of counts for every respondent, a sheet each ------


_SHEETS = "workbook with one square matrix per respondent"


def match_sheets(table: RawTable, weights: bool = False) -> Reading | None:
    """Several sheets that hold squares of counts."""
    squares = [sheet.square for _, sheet in table.sheets]
    if not squares or any(square is None or square.has_similarities for square in squares):
        return None
    how = "one sheet per respondent, each with a square count matrix, row over column"
    return Reading(PAIRS, _SHEETS, how, table, lambda: _read_sheets(table, how, weights))


def _read_sheets(table: RawTable, how: str, weights: bool) -> tuple[PairedComparisons, str]:
    """Each sheet is checked by itself, and all are added up."""
    rows, labels = [], None
    for title, sheet in table.sheets:
        square = sheet.square
        assert square is not None
        try:
            data = PairedComparisons(square.values, square.labels, weights=weights)
        except DataError as error:
            raise DataError(f"Sheet {title!r}: ", error) from None
        labels = labels or data.labels
        rows.append(
            data.to_frame().astype({"chosen": str, "rejected": str}).assign(respondent=title)
        )
    data = PairedComparisons.from_frame(
        pd.concat(rows), respondent="respondent", labels=labels, weights=weights
    )
    return data, f"{how}: {data}"


SHEETS = Shape(
    _SHEETS,
    PAIRS,
    match_sheets,
    expected="a workbook with such a table on one sheet per respondent",
    settings=("weights",),
    needs="no sheets with square matrices",
)


# Paired comparisons as a list: a winner and a loser a row, or a pair a row with the times each was
# chosen


_LIST = "list of comparisons"


def match_list(
    table: RawTable,
    chosen: str | None = None,
    rejected: str | None = None,
    count: str | None = None,
    losses: str | None = None,
    respondent: str | None = None,
    weights: bool = False,
    covariates: Any = None,
    date: str | None = None,
) -> Reading | None:
    """A table whose columns have the names of such a list, or were named; `weights`: fractional
    counts are meant.

    Covariates are those of pairs of which the columns say which option was first, and how often
    each was chosen.
    """
    given = {
        "count": count,
        "losses": losses,
        "respondent": respondent,
        "covariates": covariates,
        "date": date,
    }
    given |= {"rejected": rejected}
    if rejected is not None and covariates is None:
        found = [PairColumns((chosen or "chosen", rejected), (), ties_column(table.names))]
        return _list_reading(table, found, given, weights)
    found = (
        choice_columns(table.names, (count, losses, respondent))
        if table.named and chosen is None
        else []
    )
    if covariates is not None:
        found = [columns for columns in found if columns.in_order and len(columns.times) == 2]
    both_ways = any(len(columns.times) == 2 for columns in found)
    if not found or (not both_ways and tells_similarities(table.names, vaguely=False)):
        return None
    # squares come first: among the options of one may be I, J and N, which would also make a list
    if table.square is not None and not (table.square.is_bare and table.square.has_diagonal):
        return None
    return _list_reading(table, found, given, weights)


def _list_reading(
    table: RawTable, found: list[PairColumns], given: dict[str, Any], weights: bool
) -> Reading:
    for name in ("count", "losses", "respondent", "date"):
        if given[name] is not None:
            column(table.frame, given[name])
    how = "; or ".join(map(str, found))
    convert = partial(_read_list, table, found, given, weights)
    one = _completed(found[0], table, given)
    counts = tuple(filter(None, (*one.times, one.ties)))
    roles = ColumnsRead(one.options, (), counts, one.respondent) if len(found) == 1 else None
    counted, besides = _counted(found, given), (*(given["covariates"] or ()), given["date"])
    doubt = None if given["count"] or given["rejected"] else _doubt_of_list(table, one)
    return Reading(
        PAIRS,
        _LIST,
        how,
        table,
        convert,
        countable=counted,
        roles=roles,
        extra_columns=besides,
        doubt=doubt,
    )


def _doubt_of_list(table: RawTable, one: PairColumns) -> Message | None:
    """Ask about columns i and j beside a column of numbers that is no count, as lists of distances
    have."""
    if one.times or tuple(map(plain, one.options)) != ("i", "j"):
        return None
    measures = [
        name
        for name in table.names
        if name not in one.used and may_measure(name, column(table.frame, name))
    ]
    if not measures:
        return None
    return Message(
        f"Columns 'i' and 'j' with numbers in {shorten(measures)} can be read in three ways: as"
        " distances between objects, as similarities between objects, or as choices of 'i' over"
        " 'j'",
        _OF_DISTANCES,
        "; for choices name ",
        Argument("chosen"),
        " and ",
        Argument("rejected"),
        Clause(", and ", Argument("count"), " if the numbers are counts"),
        "; for similarities, call the column of numbers 'similarity'.",
    )


def _completed(columns: PairColumns, table: RawTable, given: dict[str, Any]) -> PairColumns:
    """The columns with those that were named, and that of who answered."""
    times = (
        given["count"] or next(iter(columns.times), None),
        given["losses"] or next(iter(columns.times[1:]), None),
    )
    respondent = given["respondent"] or columns.respondent or respondent_column(table.names, times)
    return columns._replace(times=tuple(filter(None, times)), respondent=respondent)


def _counted(
    found: list[PairColumns], given: dict[str, Any]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The columns that comparisons are made of, and which of them are counts; a tie alone in its
    row is no count."""
    if (
        given["covariates"] is not None
        or len(found) > 1
        or (found[0].ties is not None and not (found[0].times or given["count"]))
    ):
        return None
    one = found[0]
    counts = dict.fromkeys(filter(None, (*one.times, given["count"], given["losses"], one.ties)))
    return (*one.options, *filter(None, (given["date"],)), *counts), tuple(counts)


def _read_list(
    table: RawTable, found: list[PairColumns], given: dict[str, Any], weights: bool
) -> tuple[PairedComparisons, str]:
    """The comparisons in a list, and how it was read."""
    columns = _completed(
        found[0] if len(found) == 1 else the_columns(table.names, given.values()), table, given
    )
    known: dict[str, Any] = {"covariates": given["covariates"], "date": given["date"]}
    data = PairedComparisons._of_list(
        table.frame, columns, weights=weights or columns.weighted, **known
    )
    empty = int(uncounted(table.frame, columns).sum())
    ignored = f"; {plural(empty, 'row')} without counts dropped" if empty else ""
    named = f", covariates {shorten(data.covariates.names)}" if data.covariates is not None else ""
    return data, f"{columns}{named}: {data}{ignored}"


def list_lacks(table: RawTable) -> Lack | None:
    """The column that is missing beside one of a pair."""
    found = lacking(table.names)
    return None if found is None else Lack(*found)


LIST = Shape(
    _LIST,
    PAIRS,
    match_list,
    expected=(
        "the columns 'chosen' and 'rejected' (or 'winner', 'loser'; 'i', 'j'), with 'count' (or"
        " 'n', 'freq', 'weight') if rows are counts; or 'a', 'b', 'a_over_b', 'b_over_a' (or"
        " 'item1', 'item2', 'wins1', 'wins2') and 'ties'"
    ),
    roles=(CHOSEN_OF_TWO, REJECTED, COUNT, LOSSES, RESPONDENT),
    settings=("weights", "covariates", "date"),
    named_by=("rejected", "losses"),
    lacks=list_lacks,
    main=("chosen", "rejected", "count"),
)


# Paired comparisons as trials: a row names both options and says which was chosen; so do logs of
# arenas


_TRIALS = "table of trials"


def match_trials(
    table: RawTable,
    coding: Any = None,
    weights: bool = False,
    covariates: Any = None,
    date: str | None = None,
    **columns: str | None,
) -> Reading | None:
    """A table with two columns of options and one that says which was chosen, some of them named
    perhaps."""
    return _match_sides(_TRIALS, False, table, columns, coding, weights, covariates, date)


def _match_sides(
    name: str,
    game: bool,
    table: RawTable,
    columns: dict[str, str | None],
    coding: Any,
    weights: bool,
    covariates: Any,
    date: str | None,
) -> Reading | None:
    """A table of trials or of games; sure if its cells say so, too."""
    given = {
        role: columns.get(each)
        for role, each in zip(ROLES, RESULTS if game else ROLES, strict=True)
    }
    named = any(columns.get(each) is not None for each in (GAMES_BY if game else TRIALS_BY))
    convert = partial(_read_trials, table, given, game, coding, weights, covariates, date)
    try:
        found = trial_columns(table.frame, given, game)
    except DataError:
        if not named or not table.named:
            return None
        return Reading(PAIRS, name, name, table, convert)
    if found.game != game or (table.square is not None and not named):
        return None
    how = f"{found.first!r} against {found.second!r}, won by {found.verdict[-1]!r}"
    sure = named or not described_sides(table.frame, found)
    counts = () if found.count is None else (found.count,)
    described = columns_of_covariates(covariates, table.names, (found.first, found.second))
    described += [date] if date in table.names else []
    counted = (found.first, found.second, *found.verdict, *described, *counts), counts
    roles = ColumnsRead(
        (found.first, found.second), found.verdict, counts, found.respondent, judged=not game
    )
    return Reading(
        PAIRS,
        name,
        how,
        table,
        convert,
        sure,
        countable=counted,
        roles=roles,
        extra_columns=tuple(described),
    )


def _read_trials(
    table: RawTable,
    given: dict[str, str | None],
    game: bool,
    coding: Any,
    weights: bool,
    covariates: Any,
    date: str | None,
) -> tuple[PairedComparisons, str]:
    known: dict[str, Any] = {"weights": weights, "covariates": covariates, "date": date}
    data, how = PairedComparisons._of_trials(table.frame, given, game, coding, **known)
    return data, f"{GAMES if game else TRIALS}, {how}: {data}"


ROLES = ("first", "second", "chosen", "respondent", "count")
RESULTS = ("home", "away", "result", "respondent", "count")
TRIALS_BY, GAMES_BY = ("first", "second"), ("home", "away", "result")
TRIALS, GAMES = "one trial per row", "one game per row"


def _sides_lack(table: RawTable, game: bool) -> Lack | None:
    """What trials or games lack: the outcome, one of the two options, or their names."""
    found = near_trials(table.frame, game)
    if found is None:
        return None
    options = RESULTS if game else ROLES
    return Lack(found.what, options[ROLES.index(found.role)], found.near)


TRIAL_TABLE = Shape(
    _TRIALS,
    PAIRS,
    match_trials,
    expected=(
        "one trial per row, with the columns 'left', 'right' (or 'a', 'b'; 'option1', 'option2';"
        " 'model_a', 'model_b') and 'chosen' (or 'winner', 'response'), which contains the chosen"
        " option, its side or 'tie'"
    ),
    roles=(FIRST, SECOND, CHOSEN_OF_TWO, RESPONDENT, COUNT),
    settings=("coding", "weights", "covariates", "date"),
    named_by=TRIALS_BY,
    lacks=partial(_sides_lack, game=False),
    main=("first", "second", "chosen"),
)


# Paired comparisons as results of games: a row names both sides and says who won, by a result or by
# goals


_RESULTS = "table of results"


def match_results(
    table: RawTable,
    coding: Any = None,
    weights: bool = False,
    covariates: Any = None,
    date: str | None = None,
    **columns: str | None,
) -> Reading | None:
    """A table with two columns of sides and their result, some of them named perhaps."""
    return _match_sides(_RESULTS, True, table, columns, coding, weights, covariates, date)


RESULTS_OF_GAMES = Shape(
    _RESULTS,
    PAIRS,
    match_results,
    expected=(
        "one game per row, with the columns 'home', 'away' and 'result' (H, D, A; 1, X, 2; 1, 0,"
        " -1) or the goals of both sides"
    ),
    roles=(HOME, AWAY, RESULT, RESPONDENT, COUNT),
    settings=("coding", "weights", "covariates", "date"),
    named_by=GAMES_BY,
    lacks=partial(_sides_lack, game=True),
    main=("home", "away", "result"),
)


# Paired comparisons as a wide table: one column a pair, one row a respondent or a pattern of
# answers with its count


_WIDE = "table with one column per pair"


def match_wide(
    table: RawTable,
    respondent: str | None = None,
    count: str | None = None,
    coding: Any = None,
    weights: bool = False,
) -> Reading | None:
    """A table whose columns are called like pairs, or hold answers to pairs; sure if it is their
    names."""
    if not table.named:
        return None
    # as many people as pairs look like a square, but not with answers on the diagonal
    if table.square is not None and not (table.square.is_bare and table.square.has_diagonal):
        return None
    given = {"respondent": respondent, "count": count}
    for name in filter(None, given.values()):
        column(table.frame, name)
    found = wide_columns(table.frame, given, coding)
    if found is None:
        return None
    how = f"one column per pair, {shorten(list(found.pairs), 3)}"
    roles = ColumnsRead(
        tuple(found.pairs), (), tuple(filter(None, (found.count,))), found.respondent
    )
    convert = partial(_read_wide, table, found, coding, weights)
    return Reading(PAIRS, _WIDE, how, table, convert, sure=found.order == "named", roles=roles)


def _read_wide(
    table: RawTable, found: WideColumns, coding: Any, weights: bool
) -> tuple[PairedComparisons, str]:
    data, how = PairedComparisons._of_outcomes(
        outcomes_of_wide(table.frame, found, coding, None, weights)
    )
    row = "one respondent per row" if data.respondents else "one pattern of answers per row"
    return data, f"{row}, {how}: {data}"


def wide_lacks(table: RawTable) -> Lack | None:
    """What columns lack that are called like pairs, or hold codes of answers."""
    if called := called_like_pairs(table.names):
        return Lack(
            f"answers (1 and 2; 1, -1 and 0; or the chosen label) in {shorten(called, 3)}", near=3
        )
    if numbered := numbered_answers(table.frame):
        first, last = numbered[0], numbered[-1]
        what = (
            f"some pairs: the number of columns from {first!r} to {last!r} is not 3, 6, 10, 15, ..."
        )
        return Lack(what, near=3)
    return None


WIDE = Shape(
    _WIDE,
    PAIRS,
    match_wide,
    expected=(
        "one respondent per row and one column per pair, called 'tea > milk', 'tea:milk' or 'V12',"
        " which contains 1 and 2, or 1, -1 and 0 for a tie, or the chosen label, or other values"
        " defined by a coding"
    ),
    roles=(RESPONDENT, COUNT),
    settings=("coding", "weights"),
    lacks=wide_lacks,
    main=("respondent",),
    needs="no columns of pairs",
)


SHAPES = SQUARE, SHEETS, LIST, TRIAL_TABLE, RESULTS_OF_GAMES, WIDE
