"""Layouts of card sorts: one card, one respondent or one sort of all respondents per row."""

import operator
from collections import Counter
from itertools import chain, product
from typing import Any

import numpy as np
import pandas as pd

from thali._data.choices.best_worst_tables import list_traits
from thali._data.column_guesses import ColumnsRead, find_side_columns
from thali._data.column_readers import describe_columns, note_omission, split_lists
from thali._data.column_roles import (
    CARD,
    CARD_GROUP,
    RESPONDENT,
    has_numbers,
    list_name_words,
    map_plain_names,
    simplify_name,
)
from thali._data.kinds import SIMILARITIES
from thali._data.similarities import Similarities
from thali._labels import format_label, shorten
from thali.errors import Argument, DataError, InPython, Message, Setting

from ..table_files import RawTable
from ..table_layout import Reading, Shape

NAME = "table of card sorts"
_MEANING = "the similarity is the share of respondents who grouped two cards together"


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
    other_columns = {*table.names} - {group_column, respondent_column}
    if len(table.names) == 3 and len(other_columns) == 1:
        (card_column,) = other_columns
    if card is not None and group_column is None:
        return _match_judges(table, card, is_named=True)
    if card_column is None or group_column is None:
        return _match_cards(table, respondent_column) or _match_judges(
            table, table.names[0], is_named=False
        )
    if respondent_column is None:
        return None
    columns = [respondent_column, card_column, group_column]
    sorts = table.frame.loc[:, columns].map(format_label)
    sorts = sorts.set_axis(["respondent", "card", "group"], axis=1)
    cards = split_lists(sorts["card"], sorts["respondent"])
    if cards is not None:
        sorts = sorts.loc[cards.index].assign(card=cards.to_numpy())
    n_groups = sorts.groupby("respondent")["group"].nunique()
    if n_groups.max() < 2 or len({*sorts["card"]} - {""}) < 3:
        return None
    description = (
        f"card sorts, cards in {card_column!r}, groups in {group_column!r}"
        f"{describe_columns(None, respondent_column)}"
    )
    roles = ColumnsRead(
        (card_column,), (group_column,), (), respondent_column, answer=(respondent_column,)
    )
    question = None
    is_named = card_group is not None or simplify_name(card_column) in CARD.sure
    if not is_named and (sorts.groupby("card")["group"].nunique() == 1).all():
        question = Message(
            f"Column {group_column!r} has the same value for each {card_column!r}, regardless"
            " of the respondent. If it describes the cards, drop it with ",
            Setting("without", [group_column]),
            "; if all respondents formed the same groups, give its name with ",
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
        for row in cards.loc[cards.duplicated(["respondent", "card"])].itertuples():
            raise DataError(
                f"Respondent {row.respondent!r} sorted {row.card!r} twice, the second time in row"
                f" {row.Index}; keep one sort per respondent."
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


# A column per card, or a column per respondent ----------------------------------------------------


_CHECKED_ROWS = 500  # rows that show whether a table contains sorts
_SCALE_WORDS = {
    *"agree disagree yes no never rarely sometimes often always very somewhat not neutral".split(),
    *"none low medium high poor fair good excellent satisfied likely important".split(),
}


def _match_cards(table: RawTable, respondent: str | None) -> Reading | None:
    """Return a `Reading` of one respondent per row, one column per card; None for others."""
    # cells contain words for groups, each used for several cards
    texts = table.frame.iloc[:_CHECKED_ROWS].select_dtypes(exclude="number")
    if len(texts.columns) < 4:
        return None
    cells = texts[[name for name in texts if name != respondent]].map(format_label)
    cells = cells.replace("", np.nan)
    n_columns = Counter(chain(*(cells[name].dropna().unique() for name in cells)))
    shared = {group for group, n in n_columns.items() if n > 1}
    cells = cells[[name for name in cells if shared.intersection(cells[name])]]
    groups = set().union(*(cells[name].dropna() for name in cells))
    n_cards = len(cells.columns)
    if (
        n_cards < 4
        or not 3 <= len(groups) <= cells.nunique().sum() / 2
        or not cells.nunique(axis=1).between(2, n_cards - 1).all()
        or any(name[-1:].isdigit() or name in groups for name in cells)
        or any(len(group) < 3 or _SCALE_WORDS & {*list_name_words(group)} for group in groups)
        or not _are_put_together(cells)
        or list_traits(table.names)
        or _have_answers(cells, texts)
    ):
        return None
    cards = table.frame.set_index(respondent or table.frame.index)[[*cells]]
    description = f"card sorts, one column per card, {shorten([*cards], 4)}, with its group"
    roles = ColumnsRead(tuple(cards), (), (), respondent)
    return _build_reading(table, _melt(cards), description, roles, is_sure=False)


def _are_put_together(cells: pd.DataFrame) -> bool:
    """Return whether each card is in a group with another one in some row."""
    is_together = np.zeros(len(cells.columns), bool)
    for groups in cells.to_numpy(object):
        is_together |= pd.Series(groups).duplicated(keep=False).to_numpy() & ~pd.isna(groups)
    return bool(is_together.all())


def _have_answers(cells: pd.DataFrame, texts: pd.DataFrame) -> bool:
    """Return whether rows show options, and one or two columns that contain one of them."""
    # a cell lists the options, or three columns differ in each row
    lists = texts.map(format_label)
    for name, shown in product(cells, lists):
        is_list = lists[shown].ne(lists[name]).to_numpy().all()
        if is_list and all(map(operator.contains, lists[shown], lists[name])):
            return True
    options: list[str] = []
    for name in cells:
        if not any((cells[name] == cells[other]).any() for other in options):
            options.append(name)
    answers = [
        cells[options].eq(cells[name], axis=0).to_numpy().any(axis=1).all()
        for name in cells
        if name not in options
    ]
    has_options = len(options) > 2 or bool(find_side_columns(options))
    return has_options and len(answers) < 3 and all(answers)


def _match_judges(table: RawTable, card_column: str, is_named: bool) -> Reading | None:
    """Return a `Reading` of one card per row, one column per respondent; None for others."""
    # if the cards are not named, this is a question for columns of 1, 2, ..., or of words
    question = None
    judges = table.frame.iloc[:_CHECKED_ROWS].set_index(card_column)
    if not is_named:
        # numbered judges, each with several cards in a group
        are_words = (
            len(judges.columns) > 2
            and len({name.rstrip("0123456789") for name in judges}) == 1
            and not any(map(has_numbers, [judges[name] for name in judges]))
            and judges.nunique().between(2, len(judges) - 1).all()
        )
        if (
            not 3 < len(table.frame) == len(judges)
            or has_numbers(table.frame[card_column])
            or not judges.index.is_unique
            or RESPONDENT.find_column(map_plain_names([card_column]))
            or not (are_words or (groups := {*judges.stack()}) == {*range(1, len(groups) + 1)})
        ):
            return None
        question = Message(
            f"Column {card_column!r} has a different value in each row, and the other columns"
            f" contain {'words' if are_words else '1, 2, ...'}, which may be ratings. If each of"
            f" {shorten([*judges], 4)} contains the groups into which a respondent sorted"
            f" {card_column!r}, name this column with ",
            Argument("card"),
            "; if they are scores, use ",
            InPython("th.leaderboard", "thali leaderboard"),
            ".",
        )
    description = f"card sorts, one column per respondent, {shorten([*judges], 4)}, with groups"
    roles = ColumnsRead((card_column,), tuple(judges))
    return _build_reading(table, _melt(judges.T), description, roles, question, is_named)


def _melt(sorts: Any) -> pd.DataFrame:
    """Convert a table of respondents by cards to rows of respondent, card and group."""
    sorts = sorts.map(format_label).rename_axis(index="respondent", columns="card")
    return sorts.stack().rename("group").reset_index()


SHAPE = Shape(
    NAME,
    SIMILARITIES,
    match_card_sorts,
    roles=(RESPONDENT, CARD, CARD_GROUP),
)
