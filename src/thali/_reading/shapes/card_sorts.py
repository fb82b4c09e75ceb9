"""Layout of card sorts: one row per card, with the group in which a respondent put it."""

import numpy as np

from thali._data.column_roles import CARD, CARD_GROUP, RESPONDENT, map_plain_names
from thali._data.columns import describe_columns, note_omission
from thali._data.described_columns import ColumnsRead
from thali._data.kinds import SIMILARITIES
from thali._data.similarities import Similarities
from thali._labels import format_label
from thali.errors import DataError

from ..shape import Reading, Shape
from ..table_files import RawTable

NAME = "table of card sorts"


def match_card_sorts(table: RawTable, respondent: str | None = None) -> Reading | None:
    """Return a `Reading` of a card sort (respondent, card, group); None for other tables."""
    names = map_plain_names(table.names)
    group = CARD_GROUP.find_column(names, (respondent,))
    card = CARD.find_column(names, (respondent, group))
    respondent_column = respondent or RESPONDENT.find_column(names, (group, card))
    if respondent_column is None or card is None or group is None:
        return None
    frame = table.frame.loc[:, [respondent_column, card, group]].map(format_label)
    if (frame.groupby(respondent_column)[group].nunique() < 2).all() or len(
        {*frame[card]} - {""}
    ) < 3:
        return None
    meaning = "share of the respondents who put two cards in one group"
    description = (
        f"card sorts, {group!r} contains the group of {card!r}"
        f"{describe_columns(None, respondent_column)}"
    )

    def convert() -> tuple[Similarities, str]:
        """Return similarities from the card sort, and a sentence on them."""
        sorts = frame.set_axis(["respondent", "card", "group"], axis=1)
        is_sorted = (sorts != "").all(axis=1)
        note_omission(int((~is_sorted).sum()))
        sorts = sorts.loc[is_sorted]
        if (is_repeated := sorts.duplicated(["respondent", "card"])).any():
            row = sorts.loc[is_repeated].iloc[0]
            raise DataError(
                f"Respondent {row.respondent!r} sorted {row.card!r} twice, the second time in row"
                f" {row.name}; keep one sort per respondent."
            )
        sorts = sorts.assign(place=np.arange(len(sorts)))
        pairs = sorts.merge(sorts, on="respondent")
        pairs = pairs.loc[pairs.place_x < pairs.place_y]
        pairs = pairs.assign(similarity=(pairs.group_x == pairs.group_y).astype(float))
        data = Similarities.from_frame(pairs, "card_x", "card_y", "similarity", None, "respondent")
        return data, f"{description}: {data}, {meaning}"

    roles = ColumnsRead((card,), (group,), (), respondent_column, answer=(respondent_column,))
    return Reading(SIMILARITIES, NAME, description, table, convert, roles=roles)


SHAPE = Shape(
    NAME,
    SIMILARITIES,
    match_card_sorts,
    expected="one card per row, with the columns 'respondent', 'card' and 'group'",
    roles=(RESPONDENT,),
    needs="no cards and groups",
)
