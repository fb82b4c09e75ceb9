"""Layouts of card sorts: one card, one respondent or one sort of all respondents per row."""

import re

import numpy as np
import pandas as pd

from thali._data.column_guesses import ColumnsRead
from thali._data.column_readers import describe_columns, note_omission
from thali._data.column_roles import (
    CARD,
    CARD_GROUP,
    RESPONDENT,
    has_numbers,
    list_name_words,
    map_plain_names,
)
from thali._data.kinds import SIMILARITIES
from thali._data.similarities import Similarities
from thali._labels import format_label, shorten
from thali.errors import Argument, DataError, Message, Setting

from ..table_files import RawTable
from ..table_layout import Reading, Shape

NAME = "table of card sorts"
_MEANING = "share of the respondents who put two cards in one group"


def match_card_sorts(
    table: RawTable,
    respondent: str | None = None,
    card: str | None = None,
    card_group: str | None = None,
) -> Reading | None:
    """Return a `Reading` of a card sort (respondent, card, group); None for other tables."""
    name_by_simplified = map_plain_names(table.names)
    group_column = card_group or CARD_GROUP.find_column(name_by_simplified, (respondent, card))
    card_column = card or CARD.find_column(name_by_simplified, (respondent, group_column))
    respondent_column = respondent or RESPONDENT.find_column(
        name_by_simplified, (group_column, card_column)
    )
    if card is not None and group_column is None:
        return _match_judges(table, card, is_sure=True)
    if card_column is None or group_column is None:
        return _match_cards(table, respondent_column) or _match_judges(table, table.names[0])
    is_card = card_column in CARD.find_certain_columns(name_by_simplified)
    if respondent_column is None and is_card:
        respondent_column = _find_sorter(table.frame, card_column, group_column)
    if respondent_column is None:
        return None
    columns = [respondent_column, card_column, group_column]
    sorts = table.frame.loc[:, columns].map(format_label)
    sorts = sorts.set_axis(["respondent", "card", "group"], axis=1)
    if (sorts.groupby("respondent")["group"].nunique() < 2).all() or len(
        {*sorts["card"]} - {""}
    ) < 3:
        return None
    description = (
        f"card sorts, {group_column!r} contains the group of {card_column!r}"
        f"{describe_columns(None, respondent_column)}"
    )
    roles = ColumnsRead(
        (card_column,), (group_column,), (), respondent_column, answer=(respondent_column,)
    )
    question = None
    is_named = is_card or card_group is not None
    if not is_named and (sorts.groupby("card")["group"].nunique() == 1).all():
        question = Message(
            f"Column {group_column!r} has the same cell for each {card_column!r}, whoever the"
            " respondent is. If it describes the cards, drop it with ",
            Setting("without", [group_column]),
            "; if all respondents sorted them equally, name it with ",
            Argument("card_group"),
            ".",
        )
    return _build_reading(table, sorts, description, roles, question)


def _build_reading(
    table: RawTable,
    sorts: pd.DataFrame,
    description: str,
    roles: ColumnsRead,
    question: Message | None = None,
    is_sure: bool = True,
) -> Reading:
    """Build the `Reading` of sorts with the columns respondent, card and group."""

    def convert() -> tuple[Similarities, str]:
        """Return similarities from the card sort, and a sentence on them."""
        if question is not None and not is_sure:
            raise DataError(question)
        is_sorted = (sorts != "").all(axis=1)
        note_omission(int((~is_sorted).sum()))
        cards = sorts.loc[is_sorted]
        if (is_repeated := cards.duplicated(["respondent", "card"])).any():
            repeated_row = cards.loc[is_repeated].iloc[0]
            raise DataError(
                f"Respondent {repeated_row.respondent!r} sorted {repeated_row.card!r} twice, the"
                f" second time in row {repeated_row.name}; keep one sort per respondent."
            )
        cards = cards.assign(place=np.arange(len(cards)))
        card_pairs = cards.merge(cards, on="respondent")
        card_pairs = card_pairs.loc[card_pairs.place_x < card_pairs.place_y]
        card_pairs = card_pairs.assign(
            similarity=(card_pairs.group_x == card_pairs.group_y).astype(float)
        )
        data = Similarities.from_frame(
            card_pairs, "card_x", "card_y", "similarity", None, "respondent"
        )
        return data, f"{description}: {data}, {_MEANING}"

    return Reading(
        SIMILARITIES, NAME, description, table, convert, is_sure, roles=roles, doubt=question
    )


def _find_sorter(frame: pd.DataFrame, card_column: str, group_column: str) -> str | None:
    """Return the first column whose values each have several different cards; else None."""
    for name in frame.columns.drop([card_column, group_column]):
        n_values = frame[name].nunique()
        if 1 < n_values <= len(frame) / 2 and not frame.duplicated([name, card_column]).any():
            return name
    return None


# A column per card, or a column per respondent ----------------------------------------------------


_CHECKED_ROWS = 2_000  # rows that show whether a table contains sorts
_SCALE_WORDS = {
    *"agree disagree yes no never rarely sometimes often always very somewhat not neutral".split(),
    *"none low medium high poor fair good excellent satisfied likely important".split(),
}


def _match_cards(table: RawTable, respondent: str | None) -> Reading | None:
    """Return a `Reading` of one respondent per row, one column per card; None for others.

    Cells contain words for groups, each used for several cards.
    """
    names = [n for n in table.names if n != respondent and not has_numbers(table.frame[n])]
    texts = table.frame.loc[:, names].head(_CHECKED_ROWS).map(format_label)
    labels_by_column = {name: {*texts[name]} - {""} for name in texts}
    card_columns = [
        name
        for name, labels in labels_by_column.items()
        if any(labels & labels_by_column[other] for other in labels_by_column if other != name)
    ]
    groups = set().union(*(labels_by_column[name] for name in card_columns))
    n_groups = texts[card_columns].nunique(axis=1)
    if (
        len(card_columns) < 4
        or len(groups) < 3
        or any(len(group) < 3 or _SCALE_WORDS & {*list_name_words(group)} for group in groups)
        or any(re.search(r"\d$", name) or name in groups for name in card_columns)
        or not n_groups.between(2, len(card_columns) - 1).all()
    ):
        return None
    people = table.frame.index
    if respondent is not None:
        people = table.frame[respondent].map(format_label)
    cells = table.frame[card_columns].map(format_label)
    sorts = _stack(cells, people, ["respondent", "card", "group"])
    description = (
        f"card sorts, one column per card, {shorten(card_columns, 4)}, with the name of its group"
        f"{describe_columns(None, respondent)}"
    )
    roles = ColumnsRead(tuple(card_columns), (), (), respondent)
    return _build_reading(table, sorts, description, roles, is_sure=False)


def _match_judges(table: RawTable, card_column: str, is_sure: bool = False) -> Reading | None:
    """Return a `Reading` of one card per row, one column of groups per respondent.

    Return None for other tables.
    """
    frame = table.frame
    groups = frame.drop(columns=card_column)
    names = list(groups)
    if not is_sure and not (
        3 < len(frame) <= _CHECKED_ROWS
        and not has_numbers(frame[card_column])
        and frame[card_column].is_unique
        and table.square is None
        and len(names) > 1
        and RESPONDENT.find_column(map_plain_names([card_column])) is None
        and all(_has_group_numbers(groups[name]) for name in names)
    ):
        return None
    question = None
    if not is_sure:
        question = Message(
            f"Column {card_column!r} has a different cell in each row, and the other columns"
            " contain 1, 2, ... They may be ratings. If each of"
            f" {shorten(names, 4)} contains the groups into which one respondent sorted"
            f" {card_column!r}, name this column with ",
            Argument("card"),
            ".",
        )
    sorts = _stack(
        groups.map(format_label),
        frame[card_column].map(format_label),
        ["card", "respondent", "group"],
    )
    description = (
        f"card sorts, one column per respondent, {shorten(names, 4)}, with the group of"
        f" {card_column!r}"
    )
    roles = ColumnsRead((card_column,), tuple(names))
    return _build_reading(table, sorts, description, roles, question, is_sure)


def _has_group_numbers(column: pd.Series) -> bool:
    """Return whether a column contains 1, 2, ..., k, some of them several times."""
    numbers = {*column}
    return 1 < len(numbers) < len(column) and numbers == {*range(1, len(numbers) + 1)}


def _stack(groups: pd.DataFrame, row_labels: "pd.Series | pd.Index", names: list[str]):
    """Return one row per cell: the label of its row, its column, and the group in it."""
    n_rows, n_columns = groups.shape
    cells = (np.repeat(row_labels, n_columns), np.tile(groups.columns, n_rows), groups.to_numpy())
    cell_rows = dict(zip(names, (np.ravel(part) for part in cells), strict=True))
    return pd.DataFrame(cell_rows, np.repeat(groups.index, n_columns))


SHAPE = Shape(
    NAME,
    SIMILARITIES,
    match_card_sorts,
    expected="one card per row, with the columns 'respondent', 'card' and 'group'",
    roles=(RESPONDENT, CARD, CARD_GROUP),
    needs="no cards and groups",
)
