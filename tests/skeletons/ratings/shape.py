"""The shape of table: a rating a row, with the column of what was rated."""

from thali._data.column_roles import ALTERNATIVE, NUMBER, Role, map_plain_names
from thali._reading.table_files import RawTable
from thali._reading.table_layout import Lack, Reading, Shape

from .data import Ratings
from .spec import KIND

NAME = "list of ratings"
RATED = ALTERNATIVE.but(
    name="option", meaning="what was rated", vague=f"object objects {ALTERNATIVE.vague}"
)
RATING = Role(
    "rating",
    "the rating",
    NUMBER,
    "rating stars",
    "bewertung sterne",
    "note",
    "nota",
    vague="score",
)


def match(table: RawTable, option: str | None = None, rating: str | None = None) -> Reading | None:
    """A table with both columns, by their names or named; nothing is converted, and nothing is
    raised."""
    own = map_plain_names(table.names)
    rated, rating = option or RATED.find_column(own), rating or RATING.find_column(own)
    if not table.named or rated is None or rating is None:
        return None
    how = f"one rating per row, {rating!r} of {rated!r}"
    return Reading(KIND, NAME, how, table, lambda: _converted(table, rated, rating))


def _converted(table: RawTable, rated: str, rating: str) -> tuple[Ratings, str]:
    data = Ratings.from_frame(table.frame, rated, rating)
    return data, f"one rating per row, {rating!r} of {rated!r}: {data}"


def lacks(table: RawTable) -> Lack | None:
    """The rating beside what was rated."""
    rated = RATED.find_column(map_plain_names(table.names))
    return None if rated is None else Lack(f"a column of ratings for {rated!r}", "rating", 2)


SHAPES = (
    Shape(
        NAME,
        KIND,
        match,
        expected="the columns 'object' (item, option) and 'rating'",
        roles=(RATED, RATING),
        named_by=("rating",),
        lacks=lacks,
    ),
)
