"""Layout of card sorts: one row per card, with the group in which a respondent put it."""

import numpy as np

from thali._data.column_guesses import ColumnsRead
from thali._data.column_readers import describe_columns, note_omission
from thali._data.column_roles import CARD, CARD_GROUP, RESPONDENT, map_plain_names
from thali._data.kinds import SIMILARITIES
from thali._data.similarities import Similarities
from thali._labels import format_label
from thali.errors import DataError

from ..table_files import RawTable
from ..table_layout import Reading, Shape

NAME = "table of card sorts"


def match_card_sorts(table: RawTable, respondent: str | None = None) -> Reading | None:
    """Return a `Reading` of a card sort (respondent, card, group); None for other tables."""
    name_by_simplified = map_plain_names(table.names)
    group_column = CARD_GROUP.find_column(name_by_simplified, (respondent,))
    card_column = CARD.find_column(name_by_simplified, (respondent, group_column))
    respondent_column = respondent or RESPONDENT.find_column(
        name_by_simplified, (group_column, card_column)
    )
    if respondent_column is None or card_column is None or group_column is None:
        return None
    frame = table.frame.loc[:, [respondent_column, card_column, group_column]].map(format_label)
    if (frame.groupby(respondent_column)[group_column].nunique() < 2).all() or len(
        {*frame[card_column]} - {""}
    ) < 3:
        return None
    meaning_text = "share of the respondents who put two cards in one group"
    description = (
        f"card sorts, {group_column!r} contains the group of {card_column!r}"
        f"{describe_columns(None, respondent_column)}"
    )

    def convert() -> tuple[Similarities, str]:
        """Return similarities from the card sort, and a sentence on them."""
        sorts = frame.set_axis(["respondent", "card", "group"], axis=1)
        is_sorted = (sorts != "").all(axis=1)
        note_omission(int((~is_sorted).sum()))
        sorts = sorts.loc[is_sorted]
        if (is_repeated := sorts.duplicated(["respondent", "card"])).any():
            repeated_row = sorts.loc[is_repeated].iloc[0]
            raise DataError(
                f"Respondent {repeated_row.respondent!r} sorted {repeated_row.card!r} twice, the"
                f" second time in row {repeated_row.name}; keep one sort per respondent."
            )
        sorts = sorts.assign(place=np.arange(len(sorts)))
        card_pairs = sorts.merge(sorts, on="respondent")
        card_pairs = card_pairs.loc[card_pairs.place_x < card_pairs.place_y]
        card_pairs = card_pairs.assign(
            similarity=(card_pairs.group_x == card_pairs.group_y).astype(float)
        )
        data = Similarities.from_frame(
            card_pairs, "card_x", "card_y", "similarity", None, "respondent"
        )
        return data, f"{description}: {data}, {meaning_text}"

    roles = ColumnsRead(
        (card_column,), (group_column,), (), respondent_column, answer=(respondent_column,)
    )
    return Reading(SIMILARITIES, NAME, description, table, convert, roles=roles)


SHAPE = Shape(
    NAME,
    SIMILARITIES,
    match_card_sorts,
    expected="one card per row, with the columns 'respondent', 'card' and 'group'",
    roles=(RESPONDENT,),
    needs="no cards and groups",
)
