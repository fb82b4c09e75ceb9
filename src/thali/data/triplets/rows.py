"""From questions about objects, or sets of them, to distinct sets of pairs with counts of the pair that was chosen."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import as_label, checked_labels, plural, shorten, suggest
from thali.errors import Argument, DataError

from ..checks import checked_counts
from ..coded import in_order

if TYPE_CHECKING:
    import pandas as pd

Pair = tuple[str, str]
Where = Callable[[int], str]  # a row in words
MAX_OBJECTS = 2**31  # so that two of them make a number


class Questions(NamedTuple):
    """Questions of the same number of pairs."""

    pairs: np.ndarray  # (questions, m) int64: first * n + second of each pair, first < second
    chosen: np.ndarray  # (questions,) which of them was chosen
    times: np.ndarray  # (questions,)


def of_objects(n: int, members: np.ndarray, first: np.ndarray, second: np.ndarray, times: np.ndarray) -> Questions:
    """Sets of objects (questions, size), of which two positions (first, second) were chosen: all pairs of a set."""
    a, b = np.triu_indices(members.shape[1], k=1)
    number = np.zeros((members.shape[1],) * 2, np.int64)
    number[a, b] = number[b, a] = np.arange(len(a))
    return Questions(pair_keys(n, members[:, a], members[:, b]), number[first, second], times)


def pair_keys(n: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A number for each pair of objects."""
    return np.minimum(a, b).astype(np.int64) * n + np.maximum(a, b)


def refuse_repeated(members: np.ndarray, labels: Sequence[str], where: Where) -> None:
    """Raise if a set of objects names one twice."""
    ordered = np.sort(members, axis=1)
    twice = (np.diff(ordered, axis=1) == 0).any(axis=1)
    if twice.any():
        k = int(twice.argmax())
        repeated = ordered[k][1:][np.diff(ordered[k]) == 0][0]
        raise DataError(
            f"{labels[repeated]!r} is named twice {where(k)}; a question compares different objects, so correct the "
            "row or remove it."
        )


def added_up(n: int, parts: Iterable[Questions]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The distinct sets of pairs, small ones first, and how often each of their pairs was chosen."""
    sizes, keys, counts = [], [], []
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
    if not sizes:
        raise DataError("There is not a single answer; give one question or more.")
    start = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    key = np.concatenate(keys)
    return start, key // n, key % n, np.concatenate(counts)


def distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The number of each row among the distinct ones, in lexicographic order, and one row of each."""
    code = np.zeros(len(rows), np.int64)
    for column in rows.T:
        _, column = np.unique(column, return_inverse=True)
        _, code = np.unique(code * (int(column.max()) + 1) + column, return_inverse=True)
    _, shown = np.unique(code, return_index=True)
    return code, shown


def refuse_other_sets(parts: Iterable[tuple[Questions, np.ndarray]], n: int, labels: Any, where: Where) -> None:
    """Raise if two answers to one question, by its name, are out of different sets; with each part its names."""
    seen: dict[Any, tuple[tuple[int, ...], int]] = {}
    row = 0
    for questions, names in parts:
        for pairs, name in zip(np.sort(questions.pairs, axis=1).tolist(), names.tolist(), strict=True):
            known = seen.setdefault(name, (tuple(pairs), row))
            if known[0] != tuple(pairs):
                raise DataError(
                    f"Question {name!r} has different sets: {_objects(known[0], n, labels)} {where(known[1])}, "
                    f"{_objects(pairs, n, labels)} {where(row)}; give different questions different names."
                )
            row += 1


def _objects(pairs: Iterable[int], n: int, labels: Sequence[str]) -> str:
    """The objects of some pairs, in words."""
    objects = sorted({side for key in pairs for side in divmod(key, n)})
    return f"({shorten([labels[i] for i in objects])})"


def encoded(columns: Sequence["pd.Series"], labels: Iterable[Any] | None) -> tuple[np.ndarray, tuple[str, ...]]:
    """Columns of objects as positions (rows, columns), and the labels."""
    import pandas as pd

    if not len(columns[0]):
        raise DataError("There is not a single question; the table has no rows.")
    index, names = columns[0].index, [str(column.name) for column in columns]
    values = np.stack([column.to_numpy(dtype=object) for column in columns], axis=1).ravel()
    codes, distinct = pd.factorize(values)
    texts = [as_label(value) for value in distinct]
    empty = (codes < 0) | np.isin(codes, [k for k, text in enumerate(texts) if not text])
    m = len(columns)

    def place(k: int) -> str:
        return f"in row {index[k // m]}, column {names[k % m]!r}"

    if empty.any():
        raise DataError(f"An object is missing {place(int(empty.argmax()))}; fill it in or remove the row.")
    known = in_order(list(dict.fromkeys(texts))) if labels is None else checked_labels(labels)
    position = {label: k for k, label in enumerate(known)}
    numbers = np.array([position.get(text, -1) for text in texts], np.int64)[codes]
    if (numbers < 0).any():
        k = int((numbers < 0).argmax())
        text = texts[codes[k]]
        raise DataError(f"{text!r} {place(k)} is not among `labels`.{suggest(text, known)}")
    return numbers.reshape(-1, m), known


def positions(array: np.ndarray, labels: Iterable[Any] | None, where: Where) -> tuple[np.ndarray, tuple[str, ...]]:
    """Rows of objects, as whole numbers that are positions or as names, as positions, and the labels."""
    if array.dtype.kind in "iu" or (array.dtype.kind == "f" and np.array_equal(array, np.floor(array))):
        numbers = array.astype(np.int64)
        known = None if labels is None else checked_labels(labels)
        most = min(MAX_OBJECTS, 10 * numbers.size + 1000) if known is None else len(known)
        wrong = ((numbers < 0) | (numbers >= most)).any(axis=1)
        if wrong.any():
            k = int(wrong.argmax())
            bad = next(int(x) for x in numbers[k] if not 0 <= x < most)
            upto = f"0 to {most - 1}, positions among `labels`" if known is not None else "0 or more"
            if known is None and bad >= most:
                upto = f"positions, 0 to {most - 1} for so few answers; give ids as texts"
            raise DataError(f"{bad} {where(k)} is not the number of an object; numbers are {upto}.")
        return numbers, known or tuple(map(str, range(int(numbers.max()) + 1)))
    if array.dtype.kind == "f":
        raise DataError(
            "`triplets` holds numbers that are not whole; give objects by their positions or their names. A table of "
            "similarities goes into Similarities(matrix)."
        )
    import pandas as pd

    index = pd.RangeIndex(len(array))
    return encoded([pd.Series(column, index, name=k) for k, column in enumerate(array.T)], labels)


def times_of(counts: Any, rows: int, where: Where) -> np.ndarray:
    """How often each question was answered so; once each by default."""
    if counts is None:
        return np.ones(rows)
    times = checked_counts(counts, where)
    if times.shape != (rows,):
        raise DataError(f"`counts` must have one number for each of the {rows:,} rows; got {len(times):,}.")
    return times


def three_columns(triplets: Any) -> np.ndarray:
    """An array (rows, 3)."""
    if hasattr(triplets, "columns"):
        raise DataError("`triplets` is a table with named columns; read it with Triplets.from_frame.")
    try:
        rows: Any = np.asarray(triplets)
    except ValueError:  # rows of several lengths
        rows = np.empty((0,))
    if rows.ndim == 2 and rows.shape[1] == 3 and len(rows):
        return rows.astype(object) if rows.dtype.kind in "US" else rows
    square = rows.ndim == 2 and rows.shape[0] == rows.shape[1] and len(rows)
    hint = " A square table of similarities goes into Similarities(matrix)." if square else ""
    if rows.ndim == 2 and rows.shape[1] > 3 and not square:
        hint = " Larger sets go into Triplets.from_sets(sets, chosen)."
    raise DataError(
        f"`triplets` must have a row (i, j, k) for each question, k the odd one out; got shape {rows.shape}.{hint}"
    )


def agreed(responses: Any, rows: int) -> np.ndarray:
    """Whether each response names the nearer one."""
    values = np.asarray(responses)
    if values.shape != (rows,):
        raise DataError(
            Argument("responses"), f" must have one entry for each of the {rows:,} questions; got shape {values.shape}."
        )
    if values.dtype == bool:
        return values
    if values.dtype.kind not in "iuf" or not np.isfinite(values).all() or (values == 0).any():
        raise DataError(
            Argument("responses"), " must be True or above 0 for `nearer`, and False or below 0 for `farther`."
        )
    return values > 0


def row_name(k: int) -> str:
    """A row of an array, in words."""
    return f"in row {k}"


def questions_of_sets(
    sets: Iterable[Iterable[Any]], chosen: Iterable[Iterable[Any]], labels: Iterable[Any] | None, counts: Any
) -> tuple[tuple[str, ...], list[Questions]]:
    """The labels, and the questions of each number of pairs."""
    asked = [pairs_in(number, each) for number, each in enumerate(sets)]
    answers = [tuple(map(as_label, pair)) for pair in chosen]
    if len(answers) != len(asked):
        raise DataError(f"There are {len(asked):,} sets, but {len(answers):,} chosen pairs; give one for each set.")
    names = _names_in(asked, labels)
    place, n = {label: k for k, label in enumerate(names)}, len(names)
    times, parts = times_of(counts, len(asked), row_name), []
    for m in sorted({len(pairs) for pairs in asked}):
        rows = [k for k, pairs in enumerate(asked) if len(pairs) == m]
        keys = np.array([[_key(place, n, pair, k) for pair in asked[k]] for k in rows], np.int64)
        wanted = np.array([_key(place, n, answers[k], k) for k in rows], np.int64)
        if (twice := (np.diff(np.sort(keys, axis=1), axis=1) == 0).any(axis=1)).any():
            raise DataError(f"A pair is named twice {row_name(rows[int(twice.argmax())])}; give different pairs.")
        held = keys == wanted[:, None]
        if (absent := ~held.any(axis=1)).any():
            k = rows[int(absent.argmax())]
            raise DataError(f"The pair {answers[k]} {row_name(k)} is not of its set; correct the pair or the set.")
        parts.append(Questions(keys, held.argmax(axis=1), times[rows]))
    return names, parts


def pairs_in(number: int, members: Iterable[Any]) -> list[Pair]:
    """The pairs of a set that is given as objects or as pairs; `number` says which set it is."""
    entries = list(members)
    if entries and all(isinstance(entry, tuple | list) for entry in entries):
        if len(entries) < 2 or any(len(entry) != 2 for entry in entries):
            raise DataError(f"Set {number} must be two pairs (a, b) or more, or three objects or more.")
        pairs = [(as_label(a), as_label(b)) for a, b in entries]
    else:
        names = [as_label(entry) for entry in entries]
        if len(names) < 3:
            raise DataError(
                f"Set {number} has {plural(len(names), 'object')}; a most similar pair takes three or more."
            )
        if len(set(names)) < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise DataError(f"Set {number} names {twice!r} twice; give different objects.")
        pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    for a, b in pairs:
        if a == b or not a or not b:
            raise DataError(f"Set {number} holds the pair ({a!r}, {b!r}); a pair is two different objects with names.")
    return pairs


def _names_in(asked: list[list[Pair]], labels: Iterable[Any] | None) -> tuple[str, ...]:
    """The labels, or all names in their order."""
    if labels is not None:
        return checked_labels(labels)
    return in_order(list(dict.fromkeys(name for pairs in asked for pair in pairs for name in pair)))


def _key(place: dict[str, int], n: int, pair: tuple[str, ...], row: int) -> int:
    """The number of a pair of labels."""
    if len(pair) != 2:
        raise DataError(f"The chosen pair {row_name(row)} is {pair}; give two objects.")
    for name in pair:
        if name not in place:
            raise DataError(f"{name!r} {row_name(row)} is not an object of the sets.{suggest(name, list(place))}")
    return int(pair_keys(n, *(np.array(place[name]) for name in pair)))
