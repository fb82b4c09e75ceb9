"""Layout of tables of scores of options on the same items, which leaderboards read."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import pandas as pd

from thali._data.column_readers import add_note, check_columns, get_column
from thali._data.column_roles import (
    ITEM,
    OPTION,
    RESPONDENT,
    RUN,
    SCORE,
    SCORE_PART,
    SCORED_OPTION,
    Role,
    has_numbers,
    map_plain_names,
)
from thali._data.kinds import PAIRS
from thali._data.pairs import PairedComparisons
from thali._labels import format_label, format_plural, shorten
from thali.errors import Argument, DataError, Message, Setting

from ..table_files import RawTable
from ..table_layout import Reading, Shape

NAME = "table of scores"
_MEANING = (
    "on each item, every two options are compared: the higher score wins, and equal scores are ties"
)
# words of evaluation programs for scores
_GRADES = {"c": 1, "correct": 1, "pass": 1, "passed": 1, "true": 1, "yes": 1}
_GRADES |= {"i": 0, "incorrect": 0, "fail": 0, "failed": 0, "false": 0, "no": 0, "n": 0, "p": 0.5}


class _ScoreColumns(NamedTuple):
    """Columns of a table of scores: one row per score, or one column per option."""

    items: list[str]  # together they identify an item; []: each row is an item
    options: list[str]  # one column per option, or the column of options
    runs: list[str]
    score: str | None = None  # None: one column per option, or per item
    is_turned: bool = False  # whether `items` has one column per item
    doubt: Message | None = None

    def __str__(self) -> str:
        item_text = " and ".join(map(repr, self.items))
        rows = f"one column per option ({shorten(self.options, 4)}), items in {item_text}"
        if self.score is not None:
            rows = f"options in {self.options[0]!r}, items in {item_text}, scores in {self.score!r}"
        elif self.is_turned:
            rows = f"options in {self.options[0]!r}, one column per item ({shorten(self.items, 4)})"
        elif not self.items:
            rows = f"one column per option ({shorten(self.options, 4)}), one item per row"
        return f"{NAME}, {rows}"


def match_scores(
    table: RawTable, item: str | None = None, option: str | None = None, score: str | None = None
) -> Reading | None:
    """Return a `Reading` of scores of options on items; None for other tables."""
    check_columns(table.frame, (item, option, score))
    columns = _find_long_columns(table, item, option, score)
    if columns is None and score is None:
        columns = _find_wide_columns(table, item, option)
    if columns is None:
        return None
    used_columns = (*columns.items, *columns.runs, *columns.options, columns.score)

    def convert() -> tuple[PairedComparisons, str]:
        """Return comparisons of the scores, and a sentence on how they were read."""
        if columns.doubt is not None:
            raise DataError(columns.doubt)
        cells = _list_scores(table.frame, columns)
        cells = cells.loc[cells["score"].notna() & (cells["option"] != "")]
        _refuse_unnamed_runs(table.frame, cells, columns)
        sums = cells.groupby(["item", "option"], sort=False)["score"].mean()
        n_repeated = len(cells) - len(sums)
        scores = sums.unstack("option")
        scores = scores.loc[scores.count(axis=1) > 1]
        if n_alone := cells["item"].nunique() - len(scores):
            add_note(f"; {format_plural(n_alone, 'item')} with one score or none not used")
        labels, items = (tuple(map(str, axis)) for axis in (scores.columns, scores.index))
        data = PairedComparisons._of_scores(labels, items, scores.to_numpy(float))
        mean_text = ""
        if n_repeated:
            mean_text = f"; {format_plural(n_repeated, 'repeated score')} averaged within items"
        return data, f"{columns}: {data}; {_MEANING}{mean_text}"

    return Reading(
        PAIRS, NAME, str(columns), table, convert, sure=False, extra_columns=used_columns
    )


def describe_scores(table: RawTable) -> str:
    """Return how a table that plainly contains scores of options is read; "" for others."""
    columns = _find_long_columns(table, None, None, None) or _find_wide_columns(table, None, None)
    if columns is None or columns.doubt is not None:
        return ""
    return str(columns)


def _find_long_columns(
    table: RawTable, item: str | None, option: str | None, score: str | None
) -> _ScoreColumns | None:
    """Return the columns of one row per option and item; None for other tables."""
    score_columns = [score or ""]
    if score is None:
        score_columns = _list_columns(SCORE, table, (item, option))
    option_columns = _list_columns(SCORED_OPTION, table, (item, *score_columns), option)
    used_columns = (*option_columns, *score_columns)
    parts = _list_columns(SCORE_PART, table, (item, *used_columns))
    item_columns = _list_columns(ITEM, table, used_columns, item) or parts[:1]
    if not option_columns or not item_columns or not score_columns:
        return None
    doubt = None
    if len(score_columns) > 1:
        doubt = Message(
            f"Several columns may contain the scores: {shorten(score_columns)}; name one with ",
            Argument("score"),
            ".",
        )
    items = list(dict.fromkeys([*parts, *item_columns]))
    runs = _list_columns(RUN, table, items)
    return _ScoreColumns(items, option_columns[:1], runs, score_columns[0], doubt=doubt)


def _list_columns(
    role: Role, table: RawTable, used_columns: Collection[str | None], named: str | None = None
) -> list[str]:
    """Return the named column, or all unused columns whose names mean this role."""
    if named is not None:
        return [named]
    columns = role.find_certain_columns(map_plain_names(table.names), used_columns)
    if role is SCORE_PART:
        return [name for name in columns if get_column(table.frame, name).nunique() > 1]
    return list(columns)


def _find_wide_columns(
    table: RawTable, item: str | None, option: str | None
) -> _ScoreColumns | None:
    """Return the columns of one row per item, or per option; None for other tables."""
    frame = table.frame
    parts = _list_columns(SCORE_PART, table, (item, option))
    items = _list_columns(ITEM, table, (option,), item)
    options = _list_columns(SCORED_OPTION, table, (item,), option)
    first_column = get_column(frame, table.names[0])
    if not items and not options and not has_numbers(first_column) and first_column.is_unique:
        items = [table.names[0]]
    items = list(dict.fromkeys([*parts, *items]))
    runs = _list_columns(RUN, table, (*items, *options))
    used_columns = {*items, *options, *runs, *table.filter_columns}
    score_columns = [
        name
        for name in table.names
        if name not in used_columns and _contains_scores(get_column(frame, name))
    ]
    if len(score_columns) < 2:
        return None
    doubt = None
    if item is None and option is None:
        scores = pd.DataFrame({name: _read_scores(frame, name) for name in score_columns})
        doubt = _question_scores(scores, items or options, table)
    if options and (option is not None or not items):
        return _ScoreColumns(score_columns, options[:1], runs, is_turned=True, doubt=doubt)
    return _ScoreColumns(items, score_columns, runs, doubt=doubt)


def _question_scores(
    scores: pd.DataFrame, label_columns: list[str], table: RawTable
) -> Message | None:
    """Return a question unless the columns are plainly scores of the same items; else None."""
    low, high = scores.min(), scores.max()
    is_share = (low >= 0.0) & (high <= 1.0)
    is_mark = scores.isin([0.0, 1.0, np.nan]).all()
    respondents = _list_columns(RESPONDENT, table, ())
    reason = ""
    if respondents:
        reason = f"column {respondents[0]!r} contains respondents"
    elif not label_columns and not is_share.all():
        reason = "no column contains the items"
    elif is_mark.any() and not is_mark.all():
        reason = f"only {shorten(list(scores.columns[is_mark]), 4)} are all 0 or 1"
    elif is_share.any() and not is_share.all():
        reason = f"only {shorten(list(scores.columns[is_share]), 4)} are between 0 and 1"
    elif low.max() > high.min():
        reason = f"{low.idxmax()!r} and {high.idxmin()!r} have no values in common"
    if not reason:
        return None
    return Message(
        f"The columns {shorten(list(scores.columns), 4)} may be scores of options on the same"
        f" items, but {reason}; if they are, name the column of items with ",
        Argument("item"),
        ", or the column of options with ",
        Argument("option"),
        "; if some are not, remove these with ",
        Argument("without"),
        ".",
    )


def _list_scores(frame: pd.DataFrame, columns: _ScoreColumns) -> pd.DataFrame:
    """Return one row per score with the columns item, option, score and row of the table."""
    frame = frame.reset_index(drop=True)
    label_columns = columns.items
    if columns.is_turned:
        label_columns = columns.options
    labels = pd.Series(np.arange(1, len(frame) + 1).astype(str))
    for k, name in enumerate(label_columns):
        texts = get_column(frame, name).map(format_label)
        labels = labels + " / " + texts if k else texts
    if columns.score is not None:
        cells = pd.DataFrame({"item": labels, "row": frame.index})
        cells["option"] = get_column(frame, columns.options[0]).map(format_label)
        return cells.assign(score=_read_scores(frame, columns.score))
    names = ("item", "option")
    value_columns = columns.options
    if columns.is_turned:
        names = ("option", "item")
        value_columns = columns.items
    scores = pd.DataFrame({name: _read_scores(frame, name) for name in value_columns})
    cells = scores.melt(ignore_index=False, var_name=names[1], value_name="score")
    return cells.assign(row=cells.index, **{names[0]: labels.reindex(cells.index)})


def _contains_scores(column: pd.Series) -> bool:
    """Return whether a column contains numbers, or words for right and wrong."""
    if has_numbers(column):
        return bool(column.notna().any())
    words = set(column.map(format_label).str.casefold()) - {""}
    return bool(words) and words <= _GRADES.keys()


def _read_scores(frame: pd.DataFrame, name: str) -> np.ndarray:
    """Read a column of numbers, yes and no, or words for right and wrong."""
    column = get_column(frame, name)
    if has_numbers(column):
        return column.to_numpy(float)
    texts = column.map(format_label).str.casefold()
    numbers = texts.map(_GRADES)
    if (unknown := texts[numbers.isna() & (texts != "")]).size:
        raise DataError(
            f"Column {name!r} must contain scores, but row {unknown.index[0]} contains"
            f" {unknown.iloc[0]!r}; replace words by numbers, such as 1 for right and 0 for wrong."
        )
    return numbers.to_numpy(float)


def _refuse_unnamed_runs(frame: pd.DataFrame, cells: pd.DataFrame, columns: _ScoreColumns) -> None:
    """Raise DataError if an unused column distinguishes repeated scores of an item."""
    is_repeated = cells.duplicated(["item", "option"], keep=False)
    if columns.runs or not is_repeated.any():
        return
    repeated = cells.loc[is_repeated]
    used = {*columns.items, *columns.options, columns.score}
    for name in frame.columns.difference(list(used), sort=False):
        texts = get_column(frame, name).map(format_label).to_numpy(object)[repeated["row"]]
        if not repeated.assign(cell=texts).duplicated(["item", "option", "cell"]).any():
            raise DataError(
                f"Item {repeated['item'].iloc[0]!r} has several scores of"
                f" {repeated['option'].iloc[0]!r}, which differ in column {name!r}; to average"
                f" them, remove the column with ",
                Setting("without", str(name)),
                "; to use some of them, select rows with ",
                Argument("where"),
                ".",
            )


SHAPE = Shape(
    NAME,
    PAIRS,
    match_scores,
    expected="one item per row and one column of scores per option, or the columns 'item', 'model'"
    " and 'score'",
    roles=(ITEM, OPTION, SCORE),
    main=(ITEM.name, OPTION.name, SCORE.name),
    named_by=(ITEM.name, SCORE.name),
    needs="no columns of scores",
)
