"""The names that columns of pair lists go by, compared in lower case without blanks and punctuation."""

import re

SIDES = (("a", "b"), ("i", "j"), ("1", "2"), ("first", "second"), ("left", "right"), ("home", "away"))
OPTION = ("{0}", "option{0}", "item{0}", "alternative{0}", "stimulus{0}", "object{0}", "player{0}", "team{0}")
OPTION += ("{0}option", "{0}item", "{0}team")
WEIGHTS = ("weight", "weights")  # counts that may be fractional
COUNTS = ("count", "counts", "n", "freq", "frequency", "times", *WEIGHTS)

LOSSES = ("loss", "losses", "lose", "loses", "lost", "defeats")
TIES = ("tie", "ties", "tied", "draw", "draws", "drawn", "undecided", "nopreference", "indifferent", "equal", "both")
TIES += ("neither", "unentschieden", "gleich", "remis")

ROW_COLUMN = (("row", "column"), ("row", "col"), ("rows", "columns"))
SIMILARITY = ("similarity", "similarities", "sim", "sij", "meansimilarity", "similarityrating", "proximity", "affinity")
VAGUE_SIMILARITY = ("s", "rating", "meanrating", "score", "value")  # that may be something else beside choices
DISSIMILARITY = ("dissimilarity", "dissimilarities", "distance", "dist", "d", "dij")


def plain(name: str) -> str:
    """The name as it is compared."""
    return re.sub(r"[\s._-]+", "", name.casefold())


def by_plain_name(names: list[str]) -> dict[str, str]:
    """Plain name -> the first of the names that has it."""
    own: dict[str, str] = {}
    for name in names:
        own.setdefault(plain(name), name)
    return own
