"""Columns that come in twos: the same name, but for a mark of the side."""

from collections.abc import Iterator
from typing import NamedTuple

from .roles import MORE_SIDES, SIDES, THIRD, by_plain_name


class Sides(NamedTuple):
    """Two columns with the same name but for their side."""

    stem: str  # what the two names have in common, in plain letters
    side: tuple[str, str]  # the marks, such as ("left", "right")
    columns: tuple[str, str]


def side_columns(names: list[str]) -> list[Sides]:
    """All such columns, but for those of three or more with the marks a, b, c and the like."""
    own = by_plain_name(names)
    found: dict[tuple[str, str], Sides] = {}
    for side in (*SIDES, *MORE_SIDES):
        for stem, first, second, third in _spelled(own, side):
            if second in own and third not in own:
                found.setdefault((own[first], own[second]), Sides(stem, side, (own[first], own[second])))
    return list(found.values())


def _spelled(own: dict[str, str], side: tuple[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """Stem, first, second and third of every plain name that begins or ends with the mark of the first side."""
    mark, other = side
    after = THIRD.get(other, "")
    for name in own:
        if name == mark:
            yield "", mark, other, after
        elif name.endswith(mark):
            stem = name[: -len(mark)]
            yield stem, name, stem + other, stem + after if after else ""
        elif name.startswith(mark) and len(mark) > 1:
            stem = name[len(mark) :]
            yield stem, name, other + stem, after + stem if after else ""
