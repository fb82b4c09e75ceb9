"""From questions about objects, or sets of them, to distinct sets of pairs with counts of the pair
that was chosen."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.indexing import part_bounds
from thali._labels import (
    as_label,
    checked_labels,
    places_among,
    plural,
    positions,
    shorten,
    suggest,
)
from thali.errors import Argument, DataError

from ..checks import are_integers, check_counts
from ..columns import get_column, read_counts, sort_texts, find_label_positions, number_pairs
from ..roles import (
    ANCHOR,
    COUNT,
    FARTHER,
    NEARER,
    ODD,
    RESPONDENT,
    SIMILAR_TWO,
    map_plain_names,
    simplify_name,
)

if TYPE_CHECKING:
    import pandas as pd

Pair = tuple[str, str]
Where = Callable[[int], str]  # a row in words
MAX_OBJECTS = 2**31  # so that two of them make a number


class TripletQuestions(NamedTuple):
    """Questions of the same number of pairs."""

    pairs: np.ndarray  # (questions, m) int64: first * n + second of each pair, first < second
    chosen: np.ndarray  # (questions,) which of them was chosen
    times: np.ndarray  # (questions,)


def of_objects(
    n: int, members: np.ndarray, first: np.ndarray, second: np.ndarray, times: np.ndarray
) -> TripletQuestions:
    """Sets of objects (questions, size), of which two positions (first, second) were chosen: all
    pairs of a set."""
    a, b = np.triu_indices(members.shape[1], k=1)
    number = np.zeros((members.shape[1],) * 2, np.int64)
    number[a, b] = number[b, a] = np.arange(len(a))
    return TripletQuestions(
        number_pairs(n, members[:, a], members[:, b]), number[first, second], times
    )


def refuse_repeated(members: np.ndarray, labels: Sequence[str], where: Where) -> None:
    """Raise if a set of objects names one twice."""
    ordered = np.sort(members, axis=1)
    twice = (np.diff(ordered, axis=1) == 0).any(axis=1)
    if twice.any():
        k = int(twice.argmax())
        repeated = ordered[k][1:][np.diff(ordered[k]) == 0][0]
        raise DataError(
            f"{labels[repeated]!r} is listed twice {where(k)}; give different objects, or remove"
            " the row."
        )


def added_up(
    n: int, parts: Iterable[TripletQuestions]
) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], list]:
    """The distinct sets of pairs, small ones first, and how often each of their pairs was chosen;
    of each part that was asked, small sets first, the places of the pairs that its rows chose."""
    sizes, keys, counts, places, before = [], [], [], [], 0
    for questions in sorted(parts, key=lambda part: part.pairs.shape[1]):
        asked = questions.times > 0
        if not asked.any():
            continue
        pairs, chosen, m = questions.pairs[asked], questions.chosen[asked], questions.pairs.shape[1]
        order = np.argsort(pairs, axis=1, kind="stable")
        pairs = np.take_along_axis(pairs, order, axis=1)
        place = (order == chosen[:, None]).argmax(axis=1)
        which, shown = distinct_rows(pairs)
        sizes.append(np.full(len(shown), m))
        keys.append(pairs[shown].ravel())
        counts.append(np.bincount(which * m + place, questions.times[asked], m * len(shown)))
        places.append(before + which * m + place)
        before += m * len(shown)
    if not sizes:
        raise DataError("There are no answers; give at least one answered question.")
    start = part_bounds(np.concatenate(sizes))
    key = np.concatenate(keys)
    return (start, key // n, key % n, np.concatenate(counts)), places


def distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The number of each row among the distinct ones, in lexicographic order, and one row of
    each."""
    code = np.zeros(len(rows), np.int64)
    for values in rows.T:
        _, values = np.unique(values, return_inverse=True)
        _, code = np.unique(code * (int(values.max()) + 1) + values, return_inverse=True)
    _, shown = np.unique(code, return_index=True)
    return code, shown


def refuse_other_sets(
    parts: Iterable[tuple[TripletQuestions, np.ndarray]], n: int, labels: Any, where: Where
) -> None:
    """Raise if two answers to one question, by its name, are out of different sets; with each part
    its names."""
    seen: dict[Any, tuple[tuple[int, ...], int]] = {}
    row = 0
    for questions, names in parts:
        for pairs, name in zip(
            np.sort(questions.pairs, axis=1).tolist(), names.tolist(), strict=True
        ):
            known = seen.setdefault(name, (tuple(pairs), row))
            if known[0] != tuple(pairs):
                raise DataError(
                    f"Question {name!r} has different sets: {_objects(known[0], n, labels)}"
                    f" {where(known[1])}, {_objects(pairs, n, labels)} {where(row)}; use different"
                    " names for different questions."
                )
            row += 1


def _objects(pairs: Iterable[int], n: int, labels: Sequence[str]) -> str:
    """The objects of some pairs, in words."""
    objects = sorted({side for key in pairs for side in divmod(key, n)})
    return f"({shorten([labels[i] for i in objects])})"


def encoded(
    columns: Sequence["pd.Series"], labels: Iterable[Any] | None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Columns of objects as positions (rows, columns), and the labels."""
    import pandas as pd

    if not len(columns[0]):
        raise DataError("The table has no rows, so it contains no questions.")
    index, names = columns[0].index, [str(column.name) for column in columns]
    values = np.stack([column.to_numpy(dtype=object) for column in columns], axis=1).ravel()
    codes, distinct = pd.factorize(values)
    texts = [as_label(value) for value in distinct]
    m = len(columns)

    def place(k: int) -> str:
        return f"in row {index[k // m]}, column {names[k % m]!r}"

    known = sort_texts(list(dict.fromkeys(texts))) if labels is None else checked_labels(labels)
    return find_label_positions(codes, texts, known, place, "The name of an object").reshape(
        -1, m
    ), known


def object_positions(
    array: np.ndarray, labels: Iterable[Any] | None, where: Where
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Rows of objects, as whole numbers that are positions or as names, as positions, and the
    labels."""
    if array.dtype.kind in "iu" or (array.dtype.kind == "f" and are_integers(array)):
        numbers = array.astype(np.int64)
        known = None if labels is None else checked_labels(labels)
        most = min(MAX_OBJECTS, 10 * numbers.size + 1000) if known is None else len(known)
        wrong = ((numbers < 0) | (numbers >= most)).any(axis=1)
        if wrong.any():
            k = int(wrong.argmax())
            bad = next(int(x) for x in numbers[k] if not 0 <= x < most)
            upto = f"positions in `labels`, from 0 to {most - 1}" if known is not None else ">= 0"
            if known is None and bad >= most:
                upto = (
                    f"positions, which range from 0 to {most - 1} for so few answers; give IDs"
                    " as strings"
                )
            raise DataError(
                f"{bad} {where(k)} is not a valid object number; object numbers are {upto}."
            )
        return numbers, known or tuple(map(str, range(int(numbers.max()) + 1)))
    if array.dtype.kind == "f":
        raise DataError(
            "`triplets` contains non-integer numbers; give positions or names of objects. For a"
            " table of similarities, use Similarities(matrix)."
        )
    import pandas as pd

    index = pd.RangeIndex(len(array))
    return encoded([pd.Series(column, index, name=k) for k, column in enumerate(array.T)], labels)


def times_of(counts: Any, rows: int, where: Where) -> np.ndarray:
    """How often each question was answered so; once each by default."""
    if counts is None:
        return np.ones(rows)
    times = check_counts(counts, where)
    if times.shape != (rows,):
        raise DataError(
            f"`counts` must have one number per row; got {len(times):,} for {plural(rows, 'row')}."
        )
    return times


def three_columns(triplets: Any) -> np.ndarray:
    """An array (rows, 3)."""
    if hasattr(triplets, "columns"):
        raise DataError(
            "`triplets` is a table with column names; read it with Triplets.from_frame."
        )
    try:
        rows: Any = np.asarray(triplets)
    except ValueError:  # rows of several lengths
        rows = np.empty((0,))
    if rows.ndim == 2 and rows.shape[1] == 3 and len(rows):
        return rows.astype(object) if rows.dtype.kind in "US" else rows
    square = rows.ndim == 2 and rows.shape[0] == rows.shape[1] and len(rows)
    hint = " For a square table of similarities, use Similarities(matrix)." if square else ""
    if rows.ndim == 2 and rows.shape[1] > 3 and not square:
        hint = " For larger sets, use Triplets.from_sets(sets, chosen)."
    raise DataError(
        "`triplets` must have one row (i, j, k) per question, with k the odd one out; got shape"
        f" {rows.shape}.{hint}"
    )


def agreed(responses: Any, rows: int) -> np.ndarray:
    """Whether each response names the nearer one."""
    values = np.asarray(responses)
    if values.shape != (rows,):
        raise DataError(
            Argument("responses"),
            f" must have one entry per question; got shape {values.shape} for"
            f" {plural(rows, 'question')}.",
        )
    if values.dtype == bool:
        return values
    if values.dtype.kind not in "iuf" or not np.isfinite(values).all() or (values == 0).any():
        raise DataError(
            Argument("responses"),
            " must be True or positive for `nearer`, and False or negative for `farther`.",
        )
    return values > 0


def row_name(k: int) -> str:
    """A row of an array, in words."""
    return f"in row {k}"


def questions_of_sets(
    sets: Iterable[Iterable[Any]],
    chosen: Iterable[Iterable[Any]],
    labels: Iterable[Any] | None,
    counts: Any,
) -> tuple[tuple[str, ...], list[TripletQuestions]]:
    """The labels, and the questions of each number of pairs."""
    asked = [pairs_in(number, each) for number, each in enumerate(sets)]
    answers = [tuple(map(as_label, pair)) for pair in chosen]
    if len(answers) != len(asked):
        raise DataError(
            f"Each set requires one chosen pair, but there are {plural(len(asked), 'set')} and"
            f" {plural(len(answers), 'pair')}."
        )
    names = _names_in(asked, labels)
    place, n = positions(names), len(names)
    times, parts = times_of(counts, len(asked), row_name), []
    for m in sorted({len(pairs) for pairs in asked}):
        rows = [k for k, pairs in enumerate(asked) if len(pairs) == m]
        keys = np.array([[_key(place, n, pair, k) for pair in asked[k]] for k in rows], np.int64)
        wanted = np.array([_key(place, n, answers[k], k) for k in rows], np.int64)
        if (twice := (np.diff(np.sort(keys, axis=1), axis=1) == 0).any(axis=1)).any():
            raise DataError(
                f"A pair is listed twice {row_name(rows[int(twice.argmax())])}; give different"
                " pairs."
            )
        held = keys == wanted[:, None]
        if (absent := ~held.any(axis=1)).any():
            k = rows[int(absent.argmax())]
            raise DataError(
                f"The pair {answers[k]} {row_name(k)} is not in its set; correct the pair or the"
                " set."
            )
        parts.append(TripletQuestions(keys, held.argmax(axis=1), times[rows]))
    return names, parts


def pairs_in(number: int, members: Iterable[Any]) -> list[Pair]:
    """The pairs of a set that is given as objects or as pairs; `number` says which set it is."""
    entries = list(members)
    if entries and all(isinstance(entry, tuple | list) for entry in entries):
        if len(entries) < 2 or any(len(entry) != 2 for entry in entries):
            raise DataError(
                f"Set {number} must contain at least two pairs (a, b) or three objects."
            )
        pairs = [(as_label(a), as_label(b)) for a, b in entries]
    else:
        names = [as_label(entry) for entry in entries]
        if len(names) < 3:
            raise DataError(
                f"Set {number} has {plural(len(names), 'object')}; choosing the most similar pair"
                " requires at least three."
            )
        if len(set(names)) < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise DataError(f"Set {number} contains {twice!r} twice; give different objects.")
        pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    for a, b in pairs:
        if a == b or not a or not b:
            raise DataError(
                f"Set {number} contains the pair ({a!r}, {b!r}); pairs must be two different"
                " objects with names."
            )
    return pairs


def _names_in(asked: list[list[Pair]], labels: Iterable[Any] | None) -> tuple[str, ...]:
    """The labels, or all names in their order."""
    if labels is not None:
        return checked_labels(labels)
    return sort_texts(list(dict.fromkeys(name for pairs in asked for pair in pairs for name in pair)))


def _key(place: dict[str, int], n: int, pair: tuple[str, ...], row: int) -> int:
    """The number of a pair of labels."""
    if len(pair) != 2:
        raise DataError(f"The chosen pair {row_name(row)} is {pair}; give two objects.")
    for name in pair:
        if name not in place:
            raise DataError(
                f"{name!r} {row_name(row)} is not an object in the"
                f" sets.{suggest(name, list(place))}"
            )
    return int(number_pairs(n, *(np.array(place[name]) for name in pair)))


# Tables of triplets: which columns hold the objects of a question, and which say what was answered


# of image1, image2, image3, as THINGS has them
ODD_BY_PLACE = ("choice", "chosen", "response", "answer")
OBJECTS = (
    "object",
    "image",
    "item",
    "stimulus",
    "stim",
    "concept",
    "word",
    "picture",
    "thing",
    "option",
    "face",
)
OBJECTS += ("objekt", "objet", "objeto", "bild", "wort", "mot", "")
LETTERS = (
    ("a", "b", "c"),
    ("i", "j", "k"),
    ("first", "second", "third"),
    ("left", "middle", "right"),
)
LETTERS += (("left", "center", "right"), ("left", "centre", "right"), ("links", "mitte", "rechts"))
LETTERS += (("gauche", "milieu", "droite"), ("izquierda", "centro", "derecha"))
EXPECTED = (
    "three objects per row, in the columns 'object1', 'object2', 'object3' (or 'image1', 'item1',"
    " 'a', 'b', 'c'), with the odd one out in 'odd'; or the columns 'anchor', 'nearer' and"
    " 'farther'; or a set of objects with the most similar pair in 'chosen1' and 'chosen2'"
)


class TripletColumns(NamedTuple):
    """The columns of a table of triplets."""

    objects: tuple[str, ...]  # of a set; or anchor, nearer, farther
    odd: str | None = None
    chosen: tuple[str, str] | None = None
    count: str | None = None  # type: ignore[override]
    question: str | None = None
    who: str | None = None  # answered

    @property
    def used(self) -> set[str | None]:
        """All of them."""
        return {*self.objects, self.odd, *(self.chosen or ()), self.count, self.question, self.who}

    def __str__(self) -> str:
        counted = f", counts in {self.count!r}" if self.count else ""
        if self.odd is None and self.chosen is None:
            anchor, nearer, farther = self.objects
            return (
                f"one question per row, {nearer!r} closer than {farther!r} to {anchor!r}{counted}"
            )
        named = f"{self.objects[0]!r} to {self.objects[-1]!r}"
        if self.odd is not None:
            return f"one triplet per row, {named}, with {self.odd!r} the odd one out{counted}"
        a, b = self.chosen or ("", "")
        return f"one set per row, {named}, with {a!r} and {b!r} the most similar pair{counted}"


def triplet_columns(names: list[str], given: Mapping[str, Any] | None) -> TripletColumns | None:
    """The columns by their usual names, but for those given; None if they are not those of
    triplets."""
    given = {name: value for name, value in (given or {}).items() if value is not None}
    own = map_plain_names(names)
    count = given.get("count") or COUNT.among(own)
    rest: dict[str, Any] = {"count": count, "question": given.get("question")}

    def with_who(found: TripletColumns) -> TripletColumns:
        who = given.get("respondent") or next(RESPONDENT.surely(own, found.used), None)
        return found._replace(who=who)

    if "anchor" in given or not {"objects", "odd", "chosen"} & set(given):
        sides = [
            given.get(role.name) or role.among(own) or "" for role in (ANCHOR, NEARER, FARTHER)
        ]
        if all(sides):
            return with_who(TripletColumns(tuple(sides), **rest))
    odd = given.get("odd") or ODD.among(own)
    pairs = [(own[a], own[b]) for a, b in SIMILAR_TWO if a in own and b in own]
    chosen = given.get("chosen") or (None if "odd" in given else pairs[0] if pairs else None)
    taken = {simplify_name(name) for name in (odd, count, *(chosen or ())) if name is not None}
    objects = given.get("objects") or _series(
        {name: each for name, each in own.items() if name not in taken}
    )
    if not objects and "odd" in given:  # it may be one of the three
        objects = _series({name: each for name, each in own.items() if each != count})
    if (
        objects
        and odd is None
        and chosen is None
        and len(objects) == 3
        and simplify_name(objects[0]).startswith("image")
    ):
        odd = next((own[name] for name in ODD_BY_PLACE if name in own), None)
    if not objects or (odd is None) == (chosen is None):
        return None
    return with_who(
        TripletColumns(
            tuple(objects), odd, None if chosen is None else (chosen[0], chosen[1]), **rest
        )
    )


def incomplete_columns(names: list[str]) -> tuple[tuple[str, ...], str | None]:
    """Three columns that are called as the objects of a triplet, and the column that is called as
    the odd one out."""
    own = map_plain_names(names)
    odd = ODD.among(own)
    objects = _series({name: each for name, each in own.items() if name not in ODD.sure})
    return (objects if len(objects) == 3 else ()), odd


def _series(own: Mapping[str, str]) -> tuple[str, ...]:
    """Three columns or more that are numbered from 1 or 0, or called a, b, c and the like."""
    for stem in OBJECTS:
        numbered = {
            int(m[1]): name
            for short, name in own.items()
            if (m := re.fullmatch(rf"{stem}(\d{{1,2}})", short))
        }
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
    frame: "pd.DataFrame", columns: TripletColumns, labels: Any, weights: bool
) -> tuple[tuple[str, ...], TripletQuestions]:
    """Labels, and the question of each row with its answer."""
    sides = [get_column(frame, name) for name in columns.objects]

    def where(row: int) -> str:
        return f"in row {frame.index[row]}"

    members, names = encoded(sides, labels)
    refuse_repeated(members, names, where)
    times = read_counts(frame, columns.count, weights)
    n = len(names)
    if columns.odd is not None:
        if members.shape[1] != 3:
            raise DataError(
                f"An odd one out requires three objects, but {len(sides)} columns contain objects"
                f" ({shorten(columns.objects)}). Name the two columns of the chosen pair instead."
            )
        odd = _place_of(frame, columns.odd, members, names, columns.objects)
        questions = of_objects(n, members, (odd + 1) % 3, (odd + 2) % 3, times)
    elif columns.chosen is not None:
        first, second = (
            _place_of(frame, name, members, names, columns.objects) for name in columns.chosen
        )
        if (same := first == second).any():
            k = int(same.argmax())
            raise DataError(
                f"The two chosen objects {where(k)} are both {names[members[k, first[k]]]!r}; give"
                " a pair."
            )
        questions = of_objects(n, members, first, second, times)
    else:
        questions = anchored(n, members, times)
    if columns.question is not None:
        asked = get_column(frame, columns.question).to_numpy(dtype=object)
        refuse_other_sets([(questions, asked)], n, names, where)
    return names, questions


def anchored(n: int, members: np.ndarray, times: np.ndarray) -> TripletQuestions:
    """Anchor, nearer and farther object a row: of two pairs with the anchor the first was
    chosen."""
    pairs = np.stack([number_pairs(n, members[:, 0], members[:, k]) for k in (1, 2)], axis=1)
    return TripletQuestions(pairs, np.zeros(len(members), np.int64), times)


def _place_of(
    frame: "pd.DataFrame",
    name: str,
    members: np.ndarray,
    names: Sequence[str],
    objects: Sequence[str],
) -> np.ndarray:
    """Which object of its row a cell names: by its label, by the name of its column, or by its
    number from 1."""
    import pandas as pd

    codes, distinct = pd.factorize(get_column(frame, name).to_numpy(dtype=object))
    texts = [as_label(value) for value in distinct]
    number = np.append(places_among(texts, names), -1)[codes]
    is_it = members == number[:, None]
    if is_it.any(axis=1).all():
        return is_it.argmax(axis=1)
    column_at = {simplify_name(each): k for k, each in enumerate(objects)}
    by_name = np.array([*(column_at.get(simplify_name(text), -1) for text in texts), -1], np.int64)[codes]
    by_number = np.array([*(_number(text, len(objects)) for text in texts), -1], np.int64)[codes]
    for place in (by_name, by_number):
        if (place >= 0).all():
            return place
    k = int((~is_it.any(axis=1)).argmax())
    found = texts[codes[k]] if codes[k] >= 0 else ""
    what = f"contains {found!r}, which is not one" if found else "is empty, but must contain one"
    listed = shorten([names[int(i)] for i in members[k]])
    raise DataError(
        f"Row {frame.index[k]}, column {name!r}, {what} of the objects shown, {listed}; correct or"
        " remove the row."
    )


def _number(text: str, most: int) -> int:
    """A number from 1 to `most` as a position; -1 for anything else."""
    return int(text) - 1 if text.isdecimal() and 1 <= int(text) <= most else -1
