"""What a row of a check is of: the words for it in sentences and pictures, one entry a kind of row."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas

PAIR, TIED, MOST_SIMILAR = "pair", "pair with ties", "pair of triplets"
MEMBER, ANSWER, SIMILARITY = "member of a set", "option that is named", "similarity"
ROWS = "rows"  # the key in `attrs` of a table


class Checked(NamedTuple):
    """The words for rows of one kind."""

    options: tuple[str, ...]  # the columns that name options
    met: str  # what was observed so often
    seen: str  # what a row is an instance of
    what: str  # rows, in a picture
    quantity: str  # what the axis of a picture is
    said: Callable[[Any, Mapping[str, str]], str]  # of a row, by the names of its options


def _two(between: str, after: str = "") -> Callable[[Any, Mapping[str, str]], str]:
    return lambda row, names: f"{names[row.a]}{between}{names[row.b]}{after}"


def _or_tied(row: Any, names: Mapping[str, str]) -> str:
    return (_two(" and ", " tied") if row.tied else _two(" over "))(row, names)


_COMPARED, _OFFERED, _PROPORTION = "pairs were compared", "sets were offered", "observed proportion"
CHECKED = {
    PAIR: Checked(
        ("a", "b"), _COMPARED, _PROPORTION, "pairs", "proportion in which the first was chosen", _two(" over ")
    ),
    TIED: Checked(
        ("a", "b"),
        _COMPARED,
        _PROPORTION,
        "choices and ties of pairs",
        "proportion in which the first, or neither, was chosen",
        _or_tied,
    ),
    MOST_SIMILAR: Checked(
        ("a", "b"),
        _OFFERED,
        _PROPORTION,
        "pairs",
        "proportion in which it was called the most similar",
        _two(" and "),
    ),
    MEMBER: Checked(
        ("alternative",),
        _OFFERED,
        _PROPORTION,
        "members of sets",
        "proportion in which it was chosen",
        lambda row, names: f"{names[row.alternative]} out of {row.offered}",
    ),
    ANSWER: Checked(
        ("option",),
        _OFFERED,
        _PROPORTION,
        "options",
        "proportion in which it was named",
        lambda row, names: f"{names[row.option]} named the {row.named}",
    ),
    SIMILARITY: Checked(
        ("object", "other"),
        _COMPARED,
        "observed similarity",
        "pairs",
        "similarity",
        lambda row, names: f"{names[row.object]} and {names[row.other]}",
    ),
}


def checked_in(table: "pandas.DataFrame") -> Checked:
    """The words for the rows of a check."""
    return CHECKED[table.attrs[ROWS]]


def options_in(table: "pandas.DataFrame") -> list[str]:
    """The labels of all options that its rows name, in the order in which they appear, column by column."""
    return list(dict.fromkeys(label for name in checked_in(table).options for label in table[name]))
