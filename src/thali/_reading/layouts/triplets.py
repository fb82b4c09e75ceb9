"""Layout of triplets: three objects per row and the odd one out, or the like."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd

from thali._data.choice_marks import has_marks
from thali._data.choices.best_worst_tables import find_best_columns
from thali._data.column_guesses import ColumnsRead, asks_for_odd, guess_question
from thali._data.column_readers import get_column, note_omission
from thali._data.column_roles import (
    ANCHOR,
    CHOSEN_OF_TWO,
    COUNT,
    FARTHER,
    FIRST,
    NEARER,
    OBJECTS,
    ODD,
    RESPONDENT,
    SECOND,
    hide_numbers,
    list_name_words,
    map_plain_names,
    simplify_name,
)
from thali._data.kinds import TRIPLETS
from thali._data.pairs.column_recognition import list_readings
from thali._data.pairs.trial_rows import decode_column, find_trial_columns
from thali._data.triplets import Triplets
from thali._data.triplets.triplet_tables import (
    EXPECTED,
    TripletColumns,
    are_stimuli,
    find_incomplete_columns,
    find_triplet_columns,
)
from thali._labels import format_label, shorten
from thali.errors import Argument, DataError, Setting

from ..table_files import RawTable
from ..table_layout import Lack, Reading, Shape, keep_given

NAME = "table of triplets"


def match_triplets(
    table: RawTable,
    coding: Mapping[Any, str] | None = None,
    weights: bool = False,
    known: bool = False,
    **named_columns: Any,
) -> Reading | None:
    """Return a `Reading` of a table of triplets; None for other tables.

    `coding` defines answers which of two objects is nearer to an anchor. `known`: the data are
    triplets, so an anchor is found under any name.
    """
    plain_names = map_plain_names(table.names)
    columns = find_triplet_columns(table.names, named_columns | {"chosen": None})
    is_set = named_columns.get("objects") or named_columns.get("odd")
    if columns is None and table.named and not is_set:
        columns = _find_anchored_columns(table, named_columns, known) or _find_chosen(table)
    if columns is None:
        return None
    is_asked = not known and not is_set and columns.odd not in (None, ODD.find_column(plain_names))
    if is_asked and (
        named_columns.get("chosen") or guess_question(table.frame, columns.objects) == "best"
    ):
        return None
    if not is_set:
        _refuse_triplets_in_one_row(table.names, columns)
    if table.has_guessed_names and not known:
        first_line = " ".join(map(format_label, table.frame.iloc[0]))
        raise DataError(
            f"The table has no header (its first line is {first_line!r}). If each line"
            " contains three objects, the last of them the odd one out, set ",
            Setting("kind", "triplets"),
            "; otherwise add a header such as 'object1', 'object2', 'odd'.",
        )
    answer_columns = keep_given(columns.odd, columns.nearer, *(columns.chosen or ()))
    roles = ColumnsRead(columns.objects, answer_columns, keep_given(columns.count), columns.who)

    def convert() -> tuple[Triplets, str]:
        """Return the triplets, and a sentence on how they were read."""
        frame = table.frame
        if columns.nearer is not None:
            frame = _write_nearer_first(frame, columns, coding)
        object_columns: Any = dict(
            zip(("anchor", "nearer", "farther"), columns.objects, strict=False)
        )
        if columns.odd is not None or columns.chosen is not None:
            object_columns = {"objects": columns.objects}
        is_weight = columns.count is not None and columns.count.casefold().startswith("weight")
        data = Triplets.from_frame(
            frame,
            odd=columns.odd,
            chosen=columns.chosen,
            count=columns.count,
            respondent=columns.who,
            weights=weights or is_weight,
            **object_columns,
        )
        return data, f"{columns}: {data}"

    return Reading(TRIPLETS, NAME, str(columns), table, convert, roles=roles)


def _refuse_triplets_in_one_row(names: list[str], columns: TripletColumns) -> None:
    """Raise DataError if rows contain several triplets, as t1_a, t1_odd and t2_a, t2_odd do."""
    if columns.odd is None:
        return
    patterns = {*map(hide_numbers, columns.objects)}
    odd_pattern = hide_numbers(columns.odd)
    odd_columns = [name for name in names if hide_numbers(name) == odd_pattern]
    objects = [name for name in names if hide_numbers(name) in patterns]
    if len(odd_columns) < 2 or len(objects) == len(columns.objects):
        return
    raise DataError(
        f"Columns {shorten(odd_columns)} contain answers to several triplets in one row; write one"
        " row per triplet (pandas.wide_to_long), or drop the other columns with ",
        Argument("without"),
        ".",
    )


def _find_chosen(table: RawTable) -> TripletColumns | None:
    """Return the columns of three things and the chosen one, which may be the odd one out."""
    odd_column = next(filter(asks_for_odd, table.names), None)
    for columns in find_best_columns(table.frame, {"best": odd_column}):
        if odd_column is not None or are_stimuli(columns.options):
            return TripletColumns(
                columns.options, columns.best, count=columns.count, who=columns.respondent
            )
    return None


# Choices of the one of two objects that is more similar to an anchor ------------------------------


_CHECKED_ROWS = 2_000  # rows that show whether a column contains an anchor


def find_anchor(
    table: RawTable, option_columns: tuple[str, ...], used_columns: Collection[str | None]
) -> str | None:
    """Return an unused column of options that are never the two compared ones; else None.

    Columns whose names mean an anchor come first; only these may contain numbers or objects that
    were not compared. Raise DataError for an anchor that is one of the two, as in a duo-trio test.
    """
    frame = table.frame.iloc[:_CHECKED_ROWS]
    first, second = (frame[name].map(format_label).astype(object) for name in option_columns)
    options = {*first, *second}
    for name in sorted(table.names, key=has_anchor_name, reverse=True):
        is_named = has_anchor_name(name)
        if name in used_columns or not (is_named or frame[name].dtype.kind in "OSU"):
            continue
        labels = frame[name].map(format_label).astype(object)
        if labels.nunique() < 2:
            continue
        is_option = (labels == first) | (labels == second)
        others = {*first[labels != first], *second[labels != second]}
        # each option is the reference of some rows; a standard is compared with variants
        is_match = is_option.all() and is_named and others <= {*labels}
        if is_match and "target" not in list_name_words(name):  # the correct one
            raise _build_match_error(name, option_columns)
        share = labels.isin(options).mean()
        if share >= 1.0 - 0.5 * is_named and not is_option.any():
            return name
    return None


def _build_match_error(anchor: str, option_columns: tuple[str, ...]) -> DataError:
    """Return the error that which of two options matches a third one is no preference."""
    first, second = option_columns
    return DataError(
        f"In every row, column {anchor!r} contains the option in {first!r} or in {second!r}. If"
        f" respondents chose the option that matches the one in {anchor!r}, as in a duo-trio test,"
        " their answers are right or wrong and no comparisons. If they chose the one that they"
        " prefer, drop the column with ",
        Setting("without", [anchor]),
        ".",
    )


def has_anchor_name(column: str) -> bool:
    """Return whether the name of a column means an anchor."""
    if simplify_name(column) in ANCHOR.synonyms:
        return True
    return not set(ANCHOR.sure).isdisjoint(list_name_words(column))


def _find_anchored_columns(
    table: RawTable, named_columns: dict[str, Any], is_known: bool
) -> TripletColumns | None:
    """Return the columns of an anchor, two objects and the nearer one; None for other tables."""
    anchor = named_columns.get("anchor")
    answer_column = named_columns.get("chosen") or NEARER.find_column(map_plain_names(table.names))
    try:
        first, second, verdict, who, count, _, rejects = find_trial_columns(
            table.frame.iloc[:_CHECKED_ROWS], named_columns | {"chosen": answer_column}, game=False
        )
        if rejects:
            return None
        columns = TripletColumns((first, second), count=count, who=who, nearer=verdict[0])
    except DataError:
        pairs = list_readings(table.names)
        if not pairs and anchor is not None:
            raise
        if not pairs or len(pairs[0].times) > 1:
            return None
        columns = TripletColumns(pairs[0].options, who=pairs[0].respondent)
    anchor_column = anchor or find_anchor(table, columns.objects, columns.used)
    if anchor_column is None or not (anchor or is_known or has_anchor_name(anchor_column)):
        return None
    return columns._replace(objects=(anchor_column, *columns.objects))


def _write_nearer_first(
    frame: pd.DataFrame, columns: TripletColumns, coding: Mapping[Any, str] | None
) -> pd.DataFrame:
    """Return the answered rows, with the nearer of the two objects in the first column."""
    _, first, second = columns.objects
    verdicts = decode_column(
        frame, (first, second), str(columns.nearer), coding, False, columns.count
    )
    is_answered = np.abs(verdicts.outcome) == 1.0
    note_omission(int((~is_answered).sum()), (*verdicts.unknown, *verdicts.ties))
    is_second = verdicts.outcome < 0.0
    nearer = frame[first].mask(is_second, frame[second])
    farther = frame[second].mask(is_second, frame[first])
    frame = frame.drop(columns=str(columns.nearer)).assign(**{first: nearer, second: farther})
    return frame.loc[is_answered]


def find_triplets_lack(table: RawTable) -> Lack | None:
    """Return the missing column of a table of triplets; else None."""
    objects, odd = find_incomplete_columns(table.names)
    if objects and odd is None:
        if are_stimuli(objects):
            text = f"a column with the odd or the best one of {shorten(objects)}"
            return Lack(text, "odd chosen", 3)
        return Lack(f"a column with the odd one out of {shorten(objects)}", "odd", 2)
    mark = next(filter(asks_for_odd, table.names), None)
    if mark is not None and has_marks(get_column(table.frame, mark)):
        return Lack(f"one row per set: {mark!r} is yes or no for one object per row", near=3)
    if odd is not None:
        return Lack(f"three columns of objects, from which {odd!r} was chosen", "objects", 3)
    return None


SHAPE = Shape(
    NAME,
    TRIPLETS,
    match_triplets,
    expected=EXPECTED,
    roles=(
        OBJECTS,
        ODD,
        ANCHOR,
        NEARER,
        FARTHER,
        FIRST,
        SECOND,
        CHOSEN_OF_TWO,
        COUNT,
        RESPONDENT,
    ),
    settings=("coding", "weights", "known"),
    named_by=("objects", "odd", "anchor", "nearer", "farther"),
    lacks=find_triplets_lack,
)


SHAPES = (SHAPE,)
