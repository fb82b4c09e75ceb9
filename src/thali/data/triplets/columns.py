"""Tables of triplets: which columns hold the objects of a question, and which say what was answered."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import as_label, shorten
from thali.errors import DataError

from ..columns import column, count_column
from ..roles import ANCHOR, COUNT, FARTHER, NEARER, ODD, SIMILAR_TWO, by_plain_name, plain
from .rows import Questions, encoded, of_objects, pair_keys, refuse_other_sets, refuse_repeated

if TYPE_CHECKING:
    import pandas as pd

ODD_BY_PLACE = ("choice", "chosen", "response", "answer")  # of image1, image2, image3, as THINGS has them
OBJECTS = ("object", "image", "item", "stimulus", "stim", "concept", "word", "picture", "thing", "option", "face")
OBJECTS += ("objekt", "objet", "objeto", "bild", "wort", "mot", "")
LETTERS = (("a", "b", "c"), ("i", "j", "k"), ("first", "second", "third"), ("left", "middle", "right"))
LETTERS += (("left", "center", "right"), ("left", "centre", "right"), ("links", "mitte", "rechts"))
LETTERS += (("gauche", "milieu", "droite"), ("izquierda", "centro", "derecha"))
EXPECTED = (
    "three objects a row, in columns 'object1', 'object2', 'object3' (or image1, item1, a, b, c), and the one that "
    "does not belong to the others in 'odd'; or the columns 'anchor', 'nearer' and 'farther'; or a set of objects "
    "and the most similar two of them in 'chosen1' and 'chosen2'"
)


class TripletColumns(NamedTuple):
    """The columns of a table of triplets."""

    objects: tuple[str, ...]  # of a set; or anchor, nearer, farther
    odd: str | None = None
    chosen: tuple[str, str] | None = None
    count: str | None = None  # type: ignore[override]
    question: str | None = None

    @property
    def used(self) -> set[str | None]:
        """All of them."""
        return {*self.objects, self.odd, *(self.chosen or ()), self.count, self.question}

    def __str__(self) -> str:
        counted = f", counted by {self.count!r}" if self.count else ""
        if self.odd is None and self.chosen is None:
            anchor, nearer, farther = self.objects
            return f"a question a row, {nearer!r} rather than {farther!r} is like {anchor!r}{counted}"
        named = f"{self.objects[0]!r} to {self.objects[-1]!r}"
        if self.odd is not None:
            return f"a triplet a row, {named}, of which {self.odd!r} is the odd one out{counted}"
        a, b = self.chosen or ("", "")
        return f"a set a row, {named}, of which {a!r} and {b!r} are the most similar two{counted}"


def triplet_columns(names: list[str], given: Mapping[str, Any] | None = None) -> TripletColumns | None:
    """The columns by their usual names, but for those given; None if they are not those of triplets."""
    given = {name: value for name, value in (given or {}).items() if value is not None}
    own = by_plain_name(names)
    count = given.get("count") or COUNT.among(own)
    rest: dict[str, Any] = {"count": count, "question": given.get("question")}
    if "anchor" in given or not {"objects", "odd", "chosen"} & set(given):
        sides = [given.get(role.name) or role.among(own) or "" for role in (ANCHOR, NEARER, FARTHER)]
        if all(sides):
            return TripletColumns(tuple(sides), **rest)
    odd = given.get("odd") or ODD.among(own)
    pairs = [(own[a], own[b]) for a, b in SIMILAR_TWO if a in own and b in own]
    chosen = given.get("chosen") or (None if "odd" in given else pairs[0] if pairs else None)
    taken = {plain(name) for name in (odd, count, *(chosen or ())) if name is not None}
    objects = given.get("objects") or _series({name: each for name, each in own.items() if name not in taken})
    if not objects and "odd" in given:  # it may be one of the three
        objects = _series({name: each for name, each in own.items() if each != count})
    if objects and odd is None and chosen is None and len(objects) == 3 and plain(objects[0]).startswith("image"):
        odd = next((own[name] for name in ODD_BY_PLACE if name in own), None)
    if not objects or (odd is None) == (chosen is None):
        return None
    return TripletColumns(tuple(objects), odd, None if chosen is None else (chosen[0], chosen[1]), **rest)


def incomplete_columns(names: list[str]) -> tuple[tuple[str, ...], str | None]:
    """Three columns that are called as the objects of a triplet, and the column that is called as the odd one out."""
    own = by_plain_name(names)
    odd = ODD.among(own)
    objects = _series({name: each for name, each in own.items() if name not in ODD.sure})
    return (objects if len(objects) == 3 else ()), odd


def _series(own: Mapping[str, str]) -> tuple[str, ...]:
    """Three columns or more that are numbered from 1 or 0, or called a, b, c and the like."""
    for stem in OBJECTS:
        numbered = {int(m[1]): name for short, name in own.items() if (m := re.fullmatch(rf"{stem}(\d{{1,2}})", short))}
        first = 0 if 0 in numbered else 1
        found = [numbered[k] for k in range(first, first + len(numbered)) if k in numbered]
        if len(found) > 2 and len(found) == len(numbered):
            return tuple(found)
    for letters in LETTERS:
        for stem in OBJECTS:
            if all(f"{stem}{letter}" in own for letter in letters):
                return tuple(own[f"{stem}{letter}"] for letter in letters)
    return ()


def answers_in(
    frame: "pd.DataFrame", columns: TripletColumns, labels: Any, weights: bool = False
) -> tuple[tuple[str, ...], Questions]:
    """Labels, and the question of each row with its answer."""
    sides = [column(frame, name) for name in columns.objects]

    def where(row: int) -> str:
        return f"in row {frame.index[row]}"

    members, names = encoded(sides, labels)
    refuse_repeated(members, names, where)
    times = np.ones(len(frame)) if columns.count is None else count_column(frame, columns.count, weights)
    n = len(names)
    if columns.odd is not None:
        if members.shape[1] != 3:
            raise DataError(
                f"An odd one out is of three objects; {len(sides)} columns hold objects, {shorten(columns.objects)}. "
                "Name the two columns of the pair that was chosen instead."
            )
        odd = _place_of(frame, columns.odd, members, names, columns.objects)
        questions = of_objects(n, members, (odd + 1) % 3, (odd + 2) % 3, times)
    elif columns.chosen is not None:
        first, second = (_place_of(frame, name, members, names, columns.objects) for name in columns.chosen)
        if (same := first == second).any():
            k = int(same.argmax())
            raise DataError(f"The two chosen objects {where(k)} are one, {names[members[k, first[k]]]!r}; give a pair.")
        questions = of_objects(n, members, first, second, times)
    else:
        questions = anchored(n, members, times)
    if columns.question is not None:
        asked = column(frame, columns.question).to_numpy(dtype=object)
        refuse_other_sets([(questions, asked)], n, names, where)
    return names, questions


def anchored(n: int, members: np.ndarray, times: np.ndarray) -> Questions:
    """Anchor, nearer and farther object a row: of two pairs with the anchor the first was chosen."""
    pairs = np.stack([pair_keys(n, members[:, 0], members[:, k]) for k in (1, 2)], axis=1)
    return Questions(pairs, np.zeros(len(members), np.int64), times)


def _place_of(
    frame: "pd.DataFrame", name: str, members: np.ndarray, names: Sequence[str], objects: Sequence[str]
) -> np.ndarray:
    """Which object of its row a cell names: by its label, by the name of its column, or by its number from 1."""
    import pandas as pd

    codes, distinct = pd.factorize(column(frame, name).to_numpy(dtype=object))
    texts = [as_label(value) for value in distinct]
    label_at = {label: k for k, label in enumerate(names)}
    number = np.array([*(label_at.get(text, -1) for text in texts), -1], np.int64)[codes]
    is_it = members == number[:, None]
    if is_it.any(axis=1).all():
        return is_it.argmax(axis=1)
    column_at = {plain(each): k for k, each in enumerate(objects)}
    by_name = np.array([*(column_at.get(plain(text), -1) for text in texts), -1], np.int64)[codes]
    by_number = np.array([*(_number(text, len(objects)) for text in texts), -1], np.int64)[codes]
    for place in (by_name, by_number):
        if (place >= 0).all():
            return place
    k = int((~is_it.any(axis=1)).argmax())
    found = texts[codes[k]] if codes[k] >= 0 else ""
    listed = ", ".join(repr(names[i]) for i in members[k])
    what = f"{found!r}, column {name!r}, is not" if found else f"column {name!r} is empty, but must name one"
    raise DataError(
        f"In row {frame.index[k]} {what} of the objects asked about, {listed}; correct the row or remove it."
    )


def _number(text: str, most: int) -> int:
    """A number from 1 to `most` as a position; -1 for anything else."""
    return int(text) - 1 if text.isdecimal() and 1 <= int(text) <= most else -1
