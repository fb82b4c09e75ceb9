"""Tables of similarities: symmetric squares, and lists of pairs."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.warn import warn
from thali._labels import as_label, plural, shorten
from thali.errors import Clause, DataError, DataWarning, InPython, Setting, Value

from ..answers import JudgedValues, RowRespondents, read_respondents
from ..checks import MAX_EXACT_COUNT, are_integers, check_numbers
from ..columns import get_column, read_counts, encode_labels, note, number_pairs
from ..roles import (
    COUNT,
    DISSIMILARITY,
    RESPONDENT,
    ROW_COLUMN,
    SIDES,
    SIMILARITY,
    STEMS_OF_SIDES,
    map_plain_names,
)
from ..squares import SquareTableWords, describe_cell, read_square_table

if TYPE_CHECKING:
    import pandas as pd


MATRIX = SquareTableWords("matrix", "object", "Use Similarities.from_frame for long tables.")
JUDGEMENTS = SquareTableWords(
    "judgements", "object", "It must contain the number of judgements for each cell of `matrix`."
)
ROUNDING = 1e-8  # of the range: below it, s_ij and s_ji differ by how they were written


class Measured(NamedTuple):
    """The measured pairs, first < second, row by row, each the mean of so many judgements; which
    part of the table held them; what else was seen."""

    labels: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    values: np.ndarray
    judgements: np.ndarray
    layout: str
    zeros_not_read: bool = False
    lowest_diagonal: bool = False


def from_condensed(matrix: Any) -> Any:
    """The square that SciPy's condensed vector stands for, its diagonal empty; anything else as it
    is."""
    if hasattr(matrix, "columns") or hasattr(matrix, "shape") and len(matrix.shape) != 1:
        return matrix
    values = np.asarray(matrix, dtype=object)
    if values.ndim != 1 or any(isinstance(value, list | tuple | np.ndarray) for value in values):
        return matrix
    n = round((1 + (1 + 8 * len(values)) ** 0.5) / 2)
    if n < 2 or n * (n - 1) // 2 != len(values):
        raise DataError(
            f"A vector of {len(values):,} similarities does not match any number of pairs of"
            " objects (1, 3, 6, 10, ...); give a square table, or the condensed vector of"
            " scipy.spatial.distance."
        )
    square = np.full((n, n), None, dtype=object)
    square[np.triu_indices(n, k=1)] = values
    square.T[np.triu_indices(n, k=1)] = values
    return square


def measured_pairs(
    matrix: Any, labels: Iterable[Any] | None, symmetrize: str | None, judgements: Any = None
) -> Measured:
    """The pairs of a labelled square table; the diagonal is not read, whatever it holds."""
    if hasattr(matrix, "tocoo"):
        raise DataError(
            "In a sparse matrix, absent similarities could be 0 or missing; pass an array with NaN"
            " for missing similarities (matrix.toarray() fills in 0)."
        )
    refuse_triplets(matrix)
    names, table = read_square_table(from_condensed(matrix), labels, MATRIX)
    n = len(names)
    diagonal = [_lenient(table[k, k]) for k in range(n)]
    if table.dtype.kind not in "biuf":
        table = table.astype(object)
        np.fill_diagonal(table, None)
    table = check_numbers(table, lambda k: describe_cell(names, k // n, k % n), "similarity").reshape(n, n)
    np.fill_diagonal(table, np.nan)
    if np.isinf(table).any():
        k = int(np.isinf(table).argmax())
        raise DataError(
            f"The similarity {describe_cell(names, k // n, k % n)} is infinite; enter finite numbers, or"
            " NaN for pairs that were not measured."
        )
    layout, zeros = _layout(table)
    i, j = np.triu_indices(n, k=1)
    above, below = table[i, j], table[j, i]
    if not zeros and symmetrize is None:
        _check_symmetry(names, table)
    numbers, share = np.ones(len(i)), 0.5  # share of the judgements that are above the diagonal
    if judgements is not None:
        counted = judgement_table(judgements, names)
        # each side has judgements of its own
        if symmetrize is not None and not is_symmetric(table):
            counted[np.isnan(table)] = 0.0
            numbers = counted[i, j] + counted[j, i]
            share = counted[i, j] / np.where(numbers > 0, numbers, 1.0)
        else:
            numbers = agreed(names, counted)[i, j]
    both = share * above + (1.0 - share) * below
    values = np.where(np.isnan(above), below, np.where(np.isnan(below), above, both))
    there = np.flatnonzero(~np.isnan(values))
    first, second, values, numbers = (
        i[there].astype(np.int64),
        j[there].astype(np.int64),
        values[there],
        numbers[there],
    )
    refuse_unknown(names, first, second, numbers)
    lowest = _lowest(np.array(diagonal), first, second, values)
    return Measured(names, first, second, values, numbers, layout, zeros, lowest)


def refuse_triplets(matrix: Any) -> None:
    """Raise for rows of three whole numbers or names, which are triplets and no square."""
    shape = getattr(matrix, "shape", ())
    if hasattr(matrix, "columns") or len(shape) != 2 or shape[1] != 3 or shape[0] == 3:
        return
    kind = matrix.dtype.kind
    if kind in "iuUS" or (kind == "f" and are_integers(matrix)):
        raise DataError(
            f"`matrix` must be a square matrix; got shape {shape}. For rows of three objects with"
            " the odd one last, use Triplets(rows)."
        )


def from_dissimilarities(found: Measured, how: str | Callable[[np.ndarray], Any]) -> np.ndarray:
    """The similarities of the measured pairs: "linear", "exponential" or what a function makes of
    the vector."""
    pairs = found.first, found.second
    return similar(
        found.values,
        how,
        lambda k: "{!r} and {!r}".format(*(found.labels[side[k]] for side in pairs)),
    )


def similar(
    distance: np.ndarray, how: str | Callable[[np.ndarray], Any], pair: Callable[[int], str]
) -> np.ndarray:
    """The same of a vector of dissimilarities; `pair` names the objects of one."""
    if (wrong := (distance < 0) | np.isinf(distance)).any():
        k = int(wrong.argmax())
        what = "negative" if distance[k] < 0 else "infinite"
        raise DataError(
            f"The dissimilarity of {pair(k)} is {distance[k]:g}, which is {what}; dissimilarities"
            " must be >= 0."
        )
    if callable(how):
        return _returned(how(distance.copy()), len(distance))
    if how == "linear":
        return (1.0 if distance.max() <= 1.0 else distance.max()) - distance
    if not distance.any():
        raise DataError(
            'All dissimilarities are 0, so they have no scale; how="exponential" requires at least'
            " one positive value."
        )
    return np.exp(-distance / distance.mean())


def is_symmetric(table: np.ndarray) -> bool:
    """Whether the two sides of the diagonal agree wherever both are there."""
    with np.errstate(invalid="ignore"):  # infinite numbers are refused later
        return _largest_difference(table)[0] <= _tolerance(table)


def _layout(table: np.ndarray) -> tuple[str, bool]:
    """Which part of the table holds the similarities, and whether zeros beside it were cleared."""
    # A triangle of nothing but zeros beside one that holds other numbers is empty: nobody measured
    # it.
    n = len(table)
    upper = np.triu(np.ones((n, n), dtype=bool), k=1)
    for empty, side in ((upper, "lower triangle"), (upper.T, "upper triangle")):
        if np.isnan(table[empty]).all():
            return side, False
        if not table[empty].any() and np.nan_to_num(table[empty.T]).any():
            table[empty] = np.nan
            return side, True
    return "square table", False


def _check_symmetry(names: tuple[str, ...], table: np.ndarray) -> None:
    difference, i, j = _largest_difference(table)
    if difference > _tolerance(table):
        raise DataError(
            f"Similarities must be symmetric; the largest difference is {difference:.6g}, between"
            f" {table[i, j]:g} {describe_cell(names, i, j)} and {table[j, i]:g} {describe_cell(names, j, i)}. To"
            " average the two halves, set ",
            Setting("symmetrize", "mean"),
            ".",
        )


def _largest_difference(table: np.ndarray) -> tuple[float, int, int]:
    difference = np.nan_to_num(np.abs(table - table.T))
    if not difference.size:
        return 0.0, 0, 0
    i, j = divmod(int(difference.argmax()), len(table))
    return float(difference[i, j]), i, j


def _tolerance(table: np.ndarray) -> float:
    measured = table[~np.isnan(table) & ~np.eye(len(table), dtype=bool)]
    return ROUNDING * float(np.ptp(measured)) if measured.size else 0.0


def _lenient(value: Any) -> float:
    """The value as a number, NaN if it is none."""
    if isinstance(value, np.complexfloating):
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan


def _lowest(
    diagonal: np.ndarray, first: np.ndarray, second: np.ndarray, values: np.ndarray
) -> bool:
    """Whether the diagonal is the minimum of every row, and in most rows alone: so it is with
    distances."""
    # A diagonal of 0 that stands for "not measured" beside similarities of which many are 0 is not
    # meant.
    smallest = np.full(len(diagonal), np.inf)
    np.minimum.at(smallest, first, values)
    np.minimum.at(smallest, second, values)
    return bool(np.all(diagonal <= smallest) and 2 * np.sum(diagonal < smallest) > len(diagonal))


def _returned(similarity: Any, pairs: int) -> np.ndarray:
    try:
        values = np.array(similarity, dtype=np.float64)
        got = (
            f"an array of shape {values.shape}"
            if values.shape != (pairs,)
            else "some values that are not finite"
        )
    except (TypeError, ValueError):
        values, got = np.empty(0), type(similarity).__name__
    if values.shape != (pairs,) or not np.isfinite(values).all():
        raise DataError(
            f"`how` must return {pairs:,} finite numbers, one similarity per dissimilarity; got"
            f" {got}."
        )
    return values


def judgement_table(judgements: Any, names: tuple[str, ...]) -> np.ndarray:
    """The numbers of judgements, objects by objects in this order; NaN where there are none, and on
    the diagonal."""
    if hasattr(judgements, "tocoo"):
        judgements = judgements.toarray()
    own, table = read_square_table(judgements, None, JUDGEMENTS)
    n = len(names)
    if len(own) != n:
        raise DataError(
            f"`judgements` must have the shape of `matrix`, {n} by {n}; got {len(own)} by"
            f" {len(own)}."
        )
    if hasattr(judgements, "columns") and own != tuple(map(str, range(n))):
        if set(own) != set(names):
            raise DataError(
                "`judgements` must have the same labels as `matrix`; only one of the tables has"
                f" {shorten(sorted({*own} ^ {*names}))}."
            )
        place = [own.index(name) for name in names]
        table = table[np.ix_(place, place)]
    if table.dtype.kind not in "biuf":
        table = table.astype(object)
        np.fill_diagonal(table, None)
    table = check_numbers(
        table, lambda k: describe_cell(names, k // n, k % n), "number of judgements"
    ).reshape(n, n)
    np.fill_diagonal(table, np.nan)
    wrong = (table < 0) | (table > MAX_EXACT_COUNT)
    if wrong.any():
        k = int(wrong.argmax())
        raise DataError(
            f"The number of judgements {describe_cell(names, k // n, k % n)} is {table.flat[k]:g}; it must"
            " be positive and at most 2^53 for measured similarities, and 0 or empty elsewhere."
        )
    table[table == 0] = np.nan
    return table


def agreed(names: tuple[str, ...], table: np.ndarray) -> np.ndarray:
    """The number of each pair, objects by objects; NaN where neither side of the diagonal has one.

    Where only one of n_ij and n_ji is there, it is the pair's.
    """
    differ = ~np.isnan(table) & ~np.isnan(table.T) & (table != table.T)
    if differ.any():
        i, j = divmod(int(differ.argmax()), len(table))
        raise DataError(
            f"`judgements` must be symmetric, like the similarities; it is {table[i, j]:g}"
            f" {describe_cell(names, i, j)} and {table[j, i]:g} {describe_cell(names, j, i)}."
        )
    return np.where(np.isnan(table), table.T, table)


def refuse_unknown(
    names: tuple[str, ...], first: np.ndarray, second: np.ndarray, numbers: np.ndarray
) -> None:
    """Raise the error for a measured similarity without its number of judgements."""
    unknown = np.isnan(numbers)
    if unknown.any():
        k = int(unknown.argmax())
        raise DataError(
            f"The similarity {describe_cell(names, int(first[k]), int(second[k]))} was measured, but"
            " `judgements` is empty or 0 there; enter the number of judgements, or make the"
            " similarity empty (NaN)."
        )


def mean_of_respondents(
    matrices: Any, labels: Iterable[Any] | None, symmetrize: str | None, sigma: Any
) -> tuple[Measured, float | None, JudgedValues]:
    """The mean over those who judged a pair, sigma of the kind named, None if it is unknown, and
    who judged what.

    A "deviation" is that of the mean itself, however many judged the pair.
    """
    labels = None if labels is None else tuple(labels)
    named = (
        {as_label(name): each for name, each in matrices.items()}
        if isinstance(matrices, Mapping)
        else None
    )
    if named is not None and len(named) < len(matrices):
        raise DataError(
            f"Respondents must have unique names; got {shorten(list(map(as_label, matrices)))}."
        )
    listed = _listed(matrices if named is None else list(named.values()))
    respondents = (
        tuple(str(number + 1) for number in range(len(listed))) if named is None else tuple(named)
    )
    people = [
        _of_one(number, each, labels, symmetrize) for number, each in enumerate(listed, start=1)
    ]
    names = people[0].labels
    n = len(names)
    judged = np.full((len(people), n, n), np.nan)
    for number, (person, one) in enumerate(zip(judged, people, strict=True), start=1):
        if set(one.labels) != set(names):
            raise DataError(
                f"All tables must have the same labels; respondent {number} has"
                f" {shorten(one.labels)}, but respondent 1 has {shorten(names)}."
            )
        place = np.array([names.index(label) for label in one.labels])
        a, b = place[one.first], place[one.second]
        person[a, b] = person[b, a] = one.values
    i, j = np.triu_indices(n, k=1)
    pairs = judged[:, i, j]
    there = ~np.isnan(pairs).all(axis=0)
    first, second, pairs = i[there].astype(np.int64), j[there].astype(np.int64), pairs[:, there]
    mean = np.nanmean(pairs, axis=0) if pairs.size else np.empty(0)
    lowest = all(person.lowest_diagonal for person in people)
    layout, zeros = next(
        ((one.layout, True) for one in people if one.zeros_not_read),
        ("mean over respondents", False),
    )
    judges = (~np.isnan(pairs)).sum(axis=0)
    numbers = np.ones(len(mean)) if sigma == "deviation" else judges.astype(float)
    found = Measured(names, first, second, mean, numbers, layout, zeros, lowest)
    empirical = _sigma(pairs, mean, judges, sigma) if pairs.size else None
    return found, empirical, JudgedValues.of_table(respondents, pairs)


def _listed(matrices: Any) -> list[Any]:
    if hasattr(matrices, "ndim") and (matrices.ndim != 3 or not len(matrices)):
        raise DataError(
            "`matrices` must be a list of square tables, or an array (respondents, objects,"
            f" objects); got shape {tuple(matrices.shape)}."
        )
    try:
        people = list(matrices)
    except TypeError:
        raise DataError(
            f"`matrices` must be a list of square tables; got {type(matrices).__name__}."
        ) from None
    if not people:
        raise DataError("`matrices` is empty; give the table of at least one respondent.")
    return people


def _of_one(
    number: int, matrix: Any, labels: tuple[Any, ...] | None, symmetrize: str | None
) -> Measured:
    try:
        return measured_pairs(matrix, labels, symmetrize)
    except DataError as error:
        raise DataError(f"Respondent {number}: ", error) from None


def _sigma(pairs: np.ndarray, mean: np.ndarray, judges: np.ndarray, kind: Any) -> float | None:
    squares = np.nansum((pairs - mean) ** 2, axis=0)
    several = judges > 1
    if not several.any():
        return None
    if kind == "deviation":
        sigma = float(np.sqrt(squares[several] / (judges[several] - 1)).mean())
        return _above_rounding(sigma, mean)
    return _of_a_judgement(squares, mean, judges)


def _of_a_judgement(squares: np.ndarray, mean: np.ndarray, judges: np.ndarray) -> float | None:
    """Sigma of one judgement about the mean of its pair, from the sum of squares in each; None if
    all agree."""
    return _above_rounding(float(np.sqrt(squares.sum() / (judges - 1).sum())), mean)


def _above_rounding(sigma: float, mean: np.ndarray) -> float | None:
    """A sigma that is more than how the numbers were written."""
    return sigma if sigma > ROUNDING * max(float(np.ptp(mean)), float(np.abs(mean).max())) else None


# Lists of pairs with their similarity: which columns hold them, and the mean of repeated rows -----


EXPECTED = (
    "expected a square table of similarities (the first column repeats the labels of the header),"
    " complete or only one triangle, or the columns 'first', 'second' and 'similarity' (or 'a' and"
    " 'b', 'i' and 'j', 'item1' and 'item2', 'row' and 'column'; 'sim', 'rating', 'proximity'),"
    " with 'count' if rows are means of several judgements"
)


class SimilarityColumns(NamedTuple):
    """Which columns hold the two objects, their similarity, how many judgements a row stands for,
    and who judged."""

    first: str
    second: str
    similarity: str
    count: str | None  # type: ignore[override]
    who: str | None = None

    def __str__(self) -> str:
        by = f" by {self.who!r}" if self.who else ""
        weighted = f", rows weighted by {self.count!r}" if self.count else ""
        return (
            f"table of pairs, {self.similarity!r} of {self.first!r} and"
            f" {self.second!r}{by}{weighted}"
        )


def pair_columns(
    names: list[str],
    first: str | None = None,
    second: str | None = None,
    similarity: str | None = None,
    count: str | None = None,
    who: str | None = None,
) -> SimilarityColumns:
    """The columns of a list of pairs: those named, and for the others those that bear one of the
    usual names."""
    own = map_plain_names(names)
    if (first is None) != (second is None):
        raise DataError(
            "Only one column of objects is named; give both `first` and `second`, or neither."
        )
    if first is None or second is None:
        pairs = [(a.format(side), a.format(other)) for side, other in SIDES for a in STEMS_OF_SIDES]
        found = [(own[a], own[b]) for a, b in (*pairs, *ROW_COLUMN) if a in own and b in own]
        if not found:
            raise DataError(*_not_similarities(names, own))
        _only_one([f"{a!r} and {b!r}" for a, b in found], "the two objects")
        first, second = found[0]
    free = {short: name for short, name in own.items() if name not in (first, second, count, who)}
    if similarity is None:
        found = list(SIMILARITY.surely(free)) or list(SIMILARITY.each(free))
        if not found:
            raise DataError(*_not_similarities(names, free))
        _only_one(list(map(repr, found)), "the similarity")
        similarity = found[0]
    if count is None:
        found = list(COUNT.each(free, (similarity,)))
        _only_one(list(map(repr, found)), "the number of judgements per row")
        count = found[0] if found else None
    who = who or next(RESPONDENT.surely(free, (similarity, count)), None)
    return SimilarityColumns(first, second, similarity, count, who)


def tells_similarities(names: list[str], vaguely: bool) -> bool:
    """Whether these are the columns of such a list; `vaguely`: a column called "rating" will do."""
    own = map_plain_names(names)
    if next(SIMILARITY.each(own) if vaguely else SIMILARITY.surely(own), None) is None:
        return False
    try:
        pair_columns(names)
    except DataError:
        return False
    return True


def listed_pairs(
    frame: "pd.DataFrame", columns: SimilarityColumns, labels: Iterable[Any] | None
) -> tuple[Measured, float | None, JudgedValues | None]:
    """The pairs of a list, what a judgement is off where judgements tell it, and who judged them,
    where that is known and nobody judged a pair several times; rows of the same two objects, in
    either order, are averaged."""
    if not len(frame):
        raise DataError("The table has no rows, so it contains no similarities.")
    given = get_column(frame, columns.similarity)
    where = f"column {columns.similarity!r}"
    raw = given.to_numpy(dtype=object) if given.hasnans else given.to_numpy()
    values = check_numbers(raw, lambda k: f"in row {frame.index[k]}, {where}", "similarity")
    if np.isinf(values).any():
        k = int(np.isinf(values).argmax())
        raise DataError(
            f"The similarity in row {frame.index[k]}, {where} is infinite; similarities must be"
            " finite."
        )
    counts = read_counts(frame, columns.count, weights=True)
    first, second = get_column(frame, columns.first), get_column(frame, columns.second)

    def place(row: int, is_first: bool) -> str:
        return (
            f"in row {frame.index[row]}, column {columns.first if is_first else columns.second!r}"
        )

    # an object beside itself is the diagonal, which is not read; encode refuses it only where it
    # counts
    names, i, j = encode_labels(first, second, np.zeros(len(frame)), labels, place)
    read = (i != j) & (counts > 0) & ~np.isnan(values)
    if not read.all():
        note(f"{plural(int((~read).sum()), 'row')} without a similarity of two objects dropped")
    i, j, values, counts = i[read], j[read], values[read], counts[read]
    who = read_respondents(frame, columns.who, columns)
    if who is None:
        return *_averaged(names, i, j, values, counts), None
    return _judged(names, i, j, values, counts, who.of_rows(read))


def _judged(
    names: tuple[str, ...],
    i: np.ndarray,
    j: np.ndarray,
    values: np.ndarray,
    counts: np.ndarray,
    who: RowRespondents,
) -> tuple[Measured, float | None, JudgedValues | None]:
    """The mean over those who judged a pair, and who did; one who wrote every pair in both orders
    judged it once."""
    n = len(names)
    pair = number_pairs(n, i, j)
    _, row, place = np.unique(who.number * n * n + pair, return_index=True, return_inverse=True)
    if _written_twice(i < j, place, values == values[row][place], counts):
        i, j, values, counts, pair, number = (
            i[row],
            j[row],
            values[row],
            counts[row],
            pair[row],
            who.number[row],
        )
    elif len(row) == len(place):
        number = who.number
    else:
        k = int((np.bincount(place) > 1).argmax())
        a, b = names[i[row[k]]], names[j[row[k]]]
        warn(
            DataWarning(
                f"The column of respondents was ignored because {who.names[who.number[row[k]]]!r}"
                f" judged {a!r} and {b!r} several times; to use it, give one mean per respondent"
                " and pair."
            )
        )
        return _averaged(names, i, j, values, counts)[0], None, None
    found, sigma = _averaged(names, i, j, values, counts)
    if (counts != 1.0).any():  # a row is the mean of several judgements
        return found, sigma, None
    places = np.searchsorted(found.first * n + found.second, pair)
    order = np.lexsort((places, number))
    whose = number[order].astype(np.int32), places[order].astype(np.int32)
    return found, sigma, JudgedValues._from_fields(who.names, *whose, values[order], who.people)


def _averaged(
    names: tuple[str, ...], i: np.ndarray, j: np.ndarray, values: np.ndarray, counts: np.ndarray
) -> tuple[Measured, float | None]:
    """The mean of each pair, and what a judgement is off, where most pairs have two judgements, a
    row each."""
    # with fewer, the few pairs that were judged again would say less of it than features that fit
    # the others
    n = len(names)
    pairs, where_first, place = np.unique(
        number_pairs(n, i, j), return_index=True, return_inverse=True
    )
    base = values[where_first]  # so that the mean of equal numbers is that number to the last bit
    excess = np.bincount(place, weights=counts * (values - base[place]), minlength=len(pairs))
    total = np.bincount(place, weights=counts, minlength=len(pairs))
    mean = base + excess / total
    is_square = _written_twice(i < j, place, values == base[place], counts)
    found = Measured(
        names, pairs // n, pairs % n, mean, total / 2.0 if is_square else total, "table of pairs"
    )
    if (
        is_square
        or not len(pairs)
        or min(np.median(total), np.mean(total)) < 2.0
        or (counts != 1.0).any()
    ):
        return found, None
    # each judgement twice tells half of what it is off
    if _mostly_both_ways(i < j, place, values - base[place]):
        return found, None
    squares = np.bincount(place, (values - mean[place]) ** 2, len(pairs))
    return found, _of_a_judgement(squares, mean, total)


def _mostly_both_ways(forward: np.ndarray, place: np.ndarray, values: np.ndarray) -> bool:
    """Whether most pairs have the same numbers in either order, as if each judgement were written
    in both."""
    pairs = int(place.max()) + 1
    one, other = (
        [np.bincount(place[side], values[side] ** power, pairs) for power in range(4)]
        for side in (forward, ~forward)
    )
    return bool(np.isclose(one, other).all(axis=0).mean() > 0.5)


def _written_twice(
    forward: np.ndarray, place: np.ndarray, as_first: np.ndarray, counts: np.ndarray
) -> bool:
    """Whether the list is a symmetric square written out: every pair in both orders, with the same
    numbers."""
    pairs = int(place.max(initial=-1)) + 1
    one_each = (
        np.bincount(place[forward], minlength=pairs),
        np.bincount(place[~forward], minlength=pairs),
    )
    if not pairs or not as_first.all() or any((times != 1).any() for times in one_each):
        return False
    of_pair = (
        counts[forward][np.argsort(place[forward])],
        counts[~forward][np.argsort(place[~forward])],
    )
    return np.array_equal(*of_pair)


def _only_one(found: list[str], what: str) -> None:
    if len(found) > 1:
        raise DataError(
            f"Several columns could contain {what} ({', or '.join(found)}); name one, or rename"
            " the others."
        )


def _not_similarities(names: list[str], own: dict[str, str]) -> tuple[Any, ...]:
    if (name := DISSIMILARITY.among(own)) is not None:
        return (
            f"Column {name!r} contains dissimilarities; convert them to similarities",
            InPython(
                ", for example with Similarities.from_dissimilarities for a square table",
                Clause(
                    " with ",
                    Setting("dissimilarities", "linear"),
                    " or ",
                    Value("dissimilarities", "exponential"),
                ),
            ),
            ".",
        )
    return (f"The columns {shorten(names, 12)} are not recognised as similarities; {EXPECTED}.",)
