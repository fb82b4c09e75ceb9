"""Reading similarities from square tables and lists of pairs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import count_pairs, find_first
from thali._inference.numerics.weight_shares import replace_zeros
from thali._inference.user_warnings import warn
from thali._labels import find_label_indices, format_label, format_plural, has_repeats, shorten
from thali.errors import (
    Argument,
    Clause,
    DataError,
    DataWarning,
    InPython,
    Setting,
    Value,
    join_facts,
    prefix_errors,
)

from ..base_classes import build_from_fields
from ..column_guesses import find_side_columns
from ..column_readers import (
    add_note,
    describe_cells,
    encode_labels,
    get_column,
    list_cells,
    number_pairs,
    read_counts,
    refuse_empty,
)
from ..column_roles import (
    COUNT,
    DISSIMILARITY,
    RESPONDENT,
    ROW_COLUMN,
    SIMILARITY,
    STEMS,
    find_column_pairs,
    map_plain_names,
)
from ..number_checks import MAX_EXACT_COUNT, are_integers, check_numbers
from ..respondent_answers import JudgedValues, RowRespondents, read_respondents
from ..square_reader import (
    ROUNDING,
    SquareTableWords,
    convert_numbers,
    describe_cell,
    find_asymmetry,
    read_square_table,
)

if TYPE_CHECKING:
    import pandas as pd


MATRIX = SquareTableWords("matrix", "object", "Use Similarities.from_frame for long tables.")
JUDGEMENTS = SquareTableWords(
    "judgements", "object", "It must contain the number of judgements for each cell of `matrix`."
)


class MeasuredPairs(NamedTuple):
    """Mean similarity and number of judgements of each measured pair, first < second.

    `layout` describes where the table contains the pairs; the flags record unusual zeros and
    diagonals.
    """

    labels: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    values: np.ndarray
    judgements: np.ndarray
    layout: str
    zeros_not_read: bool = False
    lowest_diagonal: bool = False

    def build_table(self, object_labels: tuple[str, ...]) -> np.ndarray:
        """Return the similarities as a square table in the order of `object_labels`."""
        table = np.full((len(object_labels), len(object_labels)), np.nan)
        new_indices = find_label_indices(self.labels, object_labels)
        first_indices = new_indices[self.first]
        second_indices = new_indices[self.second]
        table[first_indices, second_indices] = table[second_indices, first_indices] = self.values
        return table


def expand_condensed(matrix: Any) -> Any:
    """Convert scipy's condensed distance vector to a square table, empty diagonal.

    Return anything else unchanged.
    """
    if hasattr(matrix, "columns") or hasattr(matrix, "shape") and len(matrix.shape) != 1:
        return matrix
    cells = np.asarray(matrix, object)
    if cells.ndim != 1 or any(isinstance(value, list | tuple | np.ndarray) for value in cells):
        return matrix
    n = round((1 + (1 + 8 * len(cells)) ** 0.5) / 2)
    if n < 2 or count_pairs(n) != len(cells):
        raise DataError(
            f"A vector of {len(cells):,} similarities does not match any number of pairs of"
            " objects (1, 3, 6, 10, ...); give a square table, or the condensed vector of"
            " scipy.spatial.distance."
        )
    square = np.full((n, n), None, object)
    square[np.triu_indices(n, k=1)] = cells
    square.T[np.triu_indices(n, k=1)] = cells
    return square


def read_measured_pairs(
    matrix: Any, labels: Iterable[Any] | None, symmetrize: str | None, judgements: Any = None
) -> MeasuredPairs:
    """Read the measured pairs from a labelled square table; ignore its diagonal."""
    if hasattr(matrix, "tocoo"):
        raise DataError(
            "Unstored entries of a sparse matrix could be similarities of 0 or missing values;"
            " pass a dense array with NaN for missing similarities (matrix.toarray() fills in 0)."
        )
    refuse_triplets(matrix)
    object_labels, table = read_square_table(expand_condensed(matrix), labels, MATRIX)
    n = len(object_labels)
    diagonal_values = [_convert_leniently(table[k, k]) for k in range(n)]
    table = convert_numbers(table, object_labels, "similarity")
    if (k := find_first(np.isinf(table))) is not None:
        raise DataError(
            f"The similarity {describe_cell(object_labels, k // n, k % n)} is infinite; enter"
            " finite numbers, or NaN for pairs that were not measured."
        )
    layout, has_cleared_zeros = _find_layout(table)
    i, j = np.triu_indices(n, k=1)
    upper_values = table[i, j]
    lower_values = table[j, i]
    if not has_cleared_zeros and symmetrize is None:
        _check_symmetry(object_labels, table)
    n_judgements, upper_share = np.ones(len(i)), 0.5  # share of the judgements above the diagonal
    if judgements is not None:
        judgement_counts = read_judgements(judgements, object_labels)
        # the two sides have separate judgements
        if symmetrize is not None and find_asymmetry(table) is not None:
            judgement_counts[np.isnan(table)] = 0.0
            n_judgements = judgement_counts[i, j] + judgement_counts[j, i]
            upper_share = judgement_counts[i, j] / replace_zeros(n_judgements)
        else:
            n_judgements = check_judgement_symmetry(object_labels, judgement_counts)[i, j]
    weighted_means = upper_share * upper_values + (1.0 - upper_share) * lower_values
    values = np.where(
        np.isnan(upper_values),
        lower_values,
        np.where(np.isnan(lower_values), upper_values, weighted_means),
    )
    is_measured = ~np.isnan(values)
    first_indices, second_indices, values, n_judgements = (
        column[is_measured] for column in (i, j, values, n_judgements)
    )
    check_judgements_known(object_labels, first_indices, second_indices, n_judgements)
    has_lowest_diagonal = _is_diagonal_lowest(
        np.array(diagonal_values), first_indices, second_indices, values
    )
    return MeasuredPairs(
        object_labels,
        first_indices,
        second_indices,
        values,
        n_judgements,
        layout,
        has_cleared_zeros,
        has_lowest_diagonal,
    )


def refuse_triplets(matrix: Any) -> None:
    """Raise DataError for rows of three integers or names: these are triplets."""
    shape = getattr(matrix, "shape", ())
    if hasattr(matrix, "columns") or len(shape) != 2 or shape[1] != 3 or shape[0] == 3:
        return
    dtype_kind = matrix.dtype.kind
    if dtype_kind in "iuUS" or (dtype_kind == "f" and are_integers(matrix)):
        raise DataError(
            f"`matrix` must be a square matrix; got shape {shape}. For rows of three objects with"
            " the odd one last, use Triplets(rows)."
        )


def convert_dissimilarities(
    measured: MeasuredPairs, conversion: str | Callable[[np.ndarray], Any]
) -> np.ndarray:
    """Convert dissimilarities of measured pairs to similarities by rule or function.

    `how` is "linear", "exponential" or a function of the vector.
    """
    pair_sides = measured.first, measured.second
    return compute_similarities(
        measured.values,
        conversion,
        lambda k: "{!r} and {!r}".format(*(measured.labels[side[k]] for side in pair_sides)),
    )


def compute_similarities(
    distance: np.ndarray,
    conversion: str | Callable[[np.ndarray], Any],
    describe_pair: Callable[[int], str],
) -> np.ndarray:
    """Convert dissimilarities to similarities by a named rule or a function.

    `describe_pair(k)` names pair k in errors.
    """
    if (k := find_first((distance < 0) | np.isinf(distance))) is not None:
        problem = "infinite"
        if distance[k] < 0:
            problem = "negative"
        raise DataError(
            f"The dissimilarity of {describe_pair(k)} is {distance[k]:g}, which is {problem};"
            " dissimilarities must be >= 0."
        )
    if not len(distance):
        return distance
    if callable(conversion):
        return _check_returned(conversion(distance.copy()), len(distance))
    if conversion == "linear":
        return max(1.0, distance.max()) - distance
    if not distance.any():
        raise DataError(
            'All dissimilarities are 0, so they have no scale; how="exponential" requires at least'
            " one positive value."
        )
    return np.exp(-distance / distance.mean())


def _find_layout(table: np.ndarray) -> tuple[str, bool]:
    """Return "square table" or the measured triangle; and whether zeros became missing."""
    # A triangle of zeros next to one with other numbers was not measured.
    n = len(table)
    is_upper = np.triu(np.ones((n, n), bool), k=1)
    for is_empty, measured_triangle in (
        (is_upper, "lower triangle"),
        (is_upper.T, "upper triangle"),
    ):
        if np.isnan(table[is_empty]).all():
            return measured_triangle, False
        if not table[is_empty].any() and np.nan_to_num(table[is_empty.T]).any():
            table[is_empty] = np.nan
            return measured_triangle, True
    return "square table", False


def _check_symmetry(object_labels: tuple[str, ...], table: np.ndarray) -> None:
    """Raise DataError unless cells (i, j) and (j, i) agree."""
    if (cells := find_asymmetry(table)) is not None:
        i, j = cells
        difference = abs(table[i, j] - table[j, i])
        raise DataError(
            f"Similarities must be symmetric; the largest difference is {difference:.6g},"
            f" between {table[i, j]:g} {describe_cell(object_labels, i, j)} and {table[j, i]:g}"
            f" {describe_cell(object_labels, j, i)}. To average the two halves, set ",
            Setting("symmetrize", "mean"),
            ".",
        )


def _convert_leniently(cell: Any) -> float:
    """Convert a cell to a float, NaN if it is not a number."""
    if isinstance(cell, np.complexfloating):
        return np.nan
    try:
        return float(cell)
    except (TypeError, ValueError):
        return np.nan


def _is_diagonal_lowest(
    diagonal: np.ndarray, first_indices: np.ndarray, second_indices: np.ndarray, values: np.ndarray
) -> bool:
    """Return whether the diagonal has each row's minimum, as in distances."""
    # In most rows it must be smaller than all other values.
    # A diagonal of 0 that means "not measured" does not count if many similarities are 0.
    smallest_values = np.full(len(diagonal), np.inf)
    np.minimum.at(smallest_values, first_indices, values)
    np.minimum.at(smallest_values, second_indices, values)
    return bool(
        np.all(diagonal <= smallest_values)
        and 2 * np.sum(diagonal < smallest_values) > len(diagonal)
    )


def _check_returned(returned_values: Any, n_pairs: int) -> np.ndarray:
    """Return a user conversion's result as array; raise unless finite, one per pair."""
    try:
        similarity_values = np.array(returned_values, np.float64)
        description = f"an array of shape {similarity_values.shape}"
    except (TypeError, ValueError):
        similarity_values = np.empty(0)
        description = type(returned_values).__name__
    if similarity_values.shape == (n_pairs,):
        description = "some values that are not finite"
    if similarity_values.shape != (n_pairs,) or not np.isfinite(similarity_values).all():
        raise DataError(
            f"`how` must return {n_pairs:,} finite numbers, one similarity per dissimilarity; got"
            f" {description}."
        )
    return similarity_values


def read_judgements(judgements: Any, names: tuple[str, ...]) -> np.ndarray:
    """Read the table of numbers of judgements (objects, objects); NaN where empty."""
    if hasattr(judgements, "tocoo"):
        judgements = judgements.toarray()
    judgement_labels, table = read_square_table(judgements, None, JUDGEMENTS)
    n = len(names)
    if len(judgement_labels) != n:
        raise DataError(
            f"`judgements` must have the shape of `matrix`, {n} by {n}; got {len(judgement_labels)}"
            f" by {len(judgement_labels)}."
        )
    if hasattr(judgements, "columns") and judgement_labels != tuple(map(str, range(n))):
        if set(judgement_labels) != set(names):
            raise DataError(
                "`judgements` must have the same labels as `matrix`; these labels are in only one"
                f" of the two: {shorten(sorted({*judgement_labels} ^ {*names}))}."
            )
        row_indices = [judgement_labels.index(name) for name in names]
        table = table[np.ix_(row_indices, row_indices)]
    table = convert_numbers(table, names, "number of judgements")
    if (k := find_first((table < 0) | (table > MAX_EXACT_COUNT))) is not None:
        raise DataError(
            f"The number of judgements {describe_cell(names, k // n, k % n)} is {table.flat[k]:g};"
            " it must"
            " be positive and at most 2^53 for measured similarities, and 0 or empty elsewhere."
        )
    table[table == 0] = np.nan
    return table


def check_judgement_symmetry(names: tuple[str, ...], table: np.ndarray) -> np.ndarray:
    """Return each pair's number of judgements; raise if (i, j) and (j, i) differ.

    If only one of n_ij and n_ji is present, it is used. Raise if they differ.
    """
    is_different = ~np.isnan(table) & ~np.isnan(table.T) & (table != table.T)
    if (k := find_first(is_different)) is not None:
        i, j = divmod(k, len(table))
        raise DataError(
            f"`judgements` must be symmetric, like the similarities; the number is {table[i, j]:g}"
            f" {describe_cell(names, i, j)} and {table[j, i]:g} {describe_cell(names, j, i)}."
        )
    return np.where(np.isnan(table), table.T, table)


def check_judgements_known(
    names: tuple[str, ...],
    first_indices: np.ndarray,
    second_indices: np.ndarray,
    n_judgements: np.ndarray,
) -> None:
    """Raise DataError if a measured pair has no number of judgements."""
    if (k := find_first(np.isnan(n_judgements))) is not None:
        raise DataError(
            f"The similarity {describe_cell(names, int(first_indices[k]), int(second_indices[k]))}"
            " was measured,"
            " but `judgements` is empty or 0 there; enter the number of judgements, or make the"
            " similarity empty (NaN)."
        )


def average_respondents(
    matrices: Iterable[Any] | Mapping[Any, Any],
    labels: Iterable[Any] | None,
    symmetrize: str | None,
    sigma: str | float | None,
) -> tuple[MeasuredPairs, float | None, JudgedValues]:
    """Average several respondents' tables; return pairs, sigma and respondents' values.

    A "deviation" sigma applies to the mean itself, however many people judged the pair.
    """
    if labels is not None:
        labels = tuple(labels)
    if isinstance(matrices, Mapping):
        matrices_in_order = _list_matrices(list(matrices.values()))
        respondents = tuple(map(format_label, matrices))
    else:
        matrices_in_order = _list_matrices(matrices)
        respondents = tuple(str(number) for number in range(1, len(matrices_in_order) + 1))
    if has_repeats(respondents):
        raise DataError(f"Respondents must have unique names; got {shorten(respondents)}.")
    pairs_by_respondent = []
    for number, matrix in enumerate(matrices_in_order, start=1):
        with prefix_errors(f"Respondent {number}"):
            pairs_by_respondent.append(read_measured_pairs(matrix, labels, symmetrize))
    object_labels = pairs_by_respondent[0].labels
    for number, measured_pairs in enumerate(pairs_by_respondent, start=1):
        if set(measured_pairs.labels) != set(object_labels):
            raise DataError(
                f"All tables must have the same labels; respondent {number} has"
                f" {shorten(measured_pairs.labels)}, but respondent 1 has {shorten(object_labels)}."
            )
    i, j = np.triu_indices(len(object_labels), k=1)
    pair_values = np.stack(
        [measured_pairs.build_table(object_labels)[i, j] for measured_pairs in pairs_by_respondent]
    )
    is_measured = ~np.isnan(pair_values).all(axis=0)
    pair_values = pair_values[:, is_measured]
    n_judges = (~np.isnan(pair_values)).sum(axis=0)
    mean_values = np.nanmean(pair_values, axis=0)
    square_sums = np.nansum((pair_values - mean_values) ** 2, axis=0)
    empirical_sigma = _estimate_sigma(square_sums, mean_values, n_judges, sigma)
    n_judgements = n_judges.astype(float)
    if sigma == "deviation":
        n_judgements = np.ones(len(mean_values))
    cleared_layouts = [
        measured_pairs.layout
        for measured_pairs in pairs_by_respondent
        if measured_pairs.zeros_not_read
    ]
    measured = MeasuredPairs(
        object_labels,
        i[is_measured],
        j[is_measured],
        mean_values,
        n_judgements,
        (cleared_layouts or ["mean over respondents"])[0],
        bool(cleared_layouts),
        all(measured_pairs.lowest_diagonal for measured_pairs in pairs_by_respondent),
    )
    return measured, empirical_sigma, JudgedValues.from_table(respondents, pair_values)


def _list_matrices(matrices: Any) -> list[Any]:
    """Return the respondents' tables as a list; raise DataError if there are none."""
    if hasattr(matrices, "ndim") and (matrices.ndim != 3 or not len(matrices)):
        raise DataError(
            "`matrices` must be a list of square tables, or an array (respondents, objects,"
            f" objects); got shape {tuple(matrices.shape)}."
        )
    try:
        tables = list(matrices)
    except TypeError:
        raise DataError(
            f"`matrices` must be a list of square tables; got {type(matrices).__name__}."
        ) from None
    if not tables:
        raise DataError("`matrices` is empty; give the table of at least one respondent.")
    return tables


def _estimate_sigma(
    square_sums: np.ndarray,
    mean_values: np.ndarray,
    n_judges: np.ndarray,
    sigma_kind: str | float | None = None,
) -> float | None:
    """Estimate the standard deviation of a mean or of one judgement; None if unknown."""
    # the sums are of squared deviations from the mean of each pair
    has_several = n_judges > 1
    if not has_several.any():
        return None
    variance = square_sums.sum() / (n_judges - 1).sum()
    if sigma_kind == "deviation":
        variance = square_sums[has_several] / (n_judges[has_several] - 1)
    sigma = float(np.sqrt(variance).mean())
    # all judges agree if rounding errors explain it
    if sigma > ROUNDING * max(float(np.ptp(mean_values)), float(np.abs(mean_values).max())):
        return sigma
    return None


# Lists of pairs with their similarity: their columns, and the mean of repeated rows ---------------


class SimilarityColumns(NamedTuple):
    """Names of the columns of a list of pairs: objects, similarity, count, respondent."""

    first: str
    second: str
    similarity: str
    count: str | None  # type: ignore[override]
    respondent: str | None = None

    def __str__(self) -> str:
        description = f"table of pairs, {self.similarity!r} of {self.first!r} and {self.second!r}"
        if self.respondent:
            description += f" by {self.respondent!r}"
        if self.count:
            description += f", rows weighted by {self.count!r}"
        return description


def find_pair_columns(
    names: list[str],
    first: str | None = None,
    second: str | None = None,
    similarity: str | None = None,
    count: str | None = None,
    respondent_column: str | None = None,
) -> SimilarityColumns:
    """Find the columns of two objects, similarity, count and respondent."""
    name_by_simplified = map_plain_names(names)
    if (first is None) != (second is None):
        raise DataError(
            "Only one of the two object columns was given; give both `first` and `second`, or"
            " neither."
        )
    if first is None or second is None:
        sides = find_side_columns(names)
        candidates = [each.columns for each in sides if each.stem in STEMS]
        candidates += find_column_pairs(name_by_simplified, ROW_COLUMN)
        is_certain = next(SIMILARITY.find_certain_columns(name_by_simplified), None) is not None
        if not candidates and (similarity is not None or is_certain):
            candidates = [each.columns for each in sides]  # such as CID1 and CID2
        if not candidates:
            raise DataError(*_explain_missing_columns(names, name_by_simplified))
        _check_only_one([f"{a!r} and {b!r}" for a, b in candidates], "the two objects")
        first, second = candidates[0]
    unused_columns = {
        short: name
        for short, name in name_by_simplified.items()
        if name not in (first, second, count, respondent_column)
    }
    if similarity is None:
        candidates = list(SIMILARITY.find_certain_columns(unused_columns)) or list(
            SIMILARITY.find_possible_columns(unused_columns)
        )
        if not candidates:
            raise DataError(*_explain_missing_columns(names, unused_columns))
        if len(candidates) > 1:
            raise DataError(*question_similarity(candidates))
        similarity = candidates[0]
    if count is None:
        candidates = list(COUNT.find_possible_columns(unused_columns, (similarity,)))
        _check_only_one(list(map(repr, candidates)), "the number of judgements per row")
        count = next(iter(candidates), None)
    respondent_column = respondent_column or next(
        RESPONDENT.find_certain_columns(unused_columns, (similarity, count)), None
    )
    return SimilarityColumns(first, second, similarity, count, respondent_column)


def are_similarity_columns(names: list[str], accept_vague: bool) -> bool:
    """Return whether the column names belong to a list of similarities.

    If `accept_vague`, a column named "rating" is accepted.
    """
    name_by_simplified = map_plain_names(names)
    similarity_columns = SIMILARITY.find_certain_columns(name_by_simplified)
    if accept_vague:
        similarity_columns = SIMILARITY.find_possible_columns(name_by_simplified)
    if next(similarity_columns, None) is None:
        return False
    try:
        find_pair_columns(names)
    except DataError:
        return False
    return True


def read_pair_list(
    frame: "pd.DataFrame", columns: SimilarityColumns, labels: Iterable[Any] | None
) -> tuple[MeasuredPairs, float | None, JudgedValues | None]:
    """Read a list of pairs; return pair means, sigma, and respondents' values.

    Rows of the same two objects, in either order, are averaged. Sigma is None unless judgements are
    repeated. The answers are None if respondents are unknown or judged a pair several times.
    """
    refuse_empty(frame, "similarities")
    similarity_column = get_column(frame, columns.similarity)
    describe_position = describe_cells(frame.index, [columns.similarity])
    values = check_numbers(list_cells(similarity_column), describe_position, "similarity")
    if (k := find_first(np.isinf(values))) is not None:
        raise DataError(
            f"The similarity {describe_position(k)} is infinite; similarities must be finite."
        )
    counts = read_counts(frame, columns.count, weights=True)
    first_column = get_column(frame, columns.first)
    second_column = get_column(frame, columns.second)
    # rows that compare an object with itself are the diagonal; count 0 avoids an error
    object_labels, first_index, second_index = encode_labels(
        first_column, second_column, np.zeros(len(frame)), labels
    )
    is_used = (first_index != second_index) & (counts > 0) & ~np.isnan(values)
    if not is_used.all():
        add_note(
            f"{format_plural(int((~is_used).sum()), 'row')} without a similarity of two objects"
            " dropped"
        )
    rows = _PairRows(first_index, second_index, values, counts).select(is_used)
    row_respondents = read_respondents(frame, columns.respondent, columns)
    if row_respondents is None:
        return *_average_pairs(object_labels, rows), None
    return _average_judged_rows(object_labels, rows, row_respondents.select_rows(is_used))


class _PairRows(NamedTuple):
    """Rows of a list of pairs: two objects, their similarity, number of judgements."""

    first: np.ndarray
    second: np.ndarray
    values: np.ndarray
    counts: np.ndarray

    def select(self, rows: np.ndarray) -> "_PairRows":
        """Return these rows, given by mask or index."""
        return _PairRows(*(column[rows] for column in self))

    def number_pairs(self, n: int) -> np.ndarray:
        """Return the number of each row's pair of n objects."""
        return number_pairs(n, self.first, self.second)

    def number_orders(self, pair_index: np.ndarray) -> np.ndarray:
        """Return the number of each row's pair in this order: 1 more if the first is lower."""
        return 2 * pair_index + (self.first < self.second)


def _average_judged_rows(
    object_labels: tuple[str, ...], rows: _PairRows, row_respondents: RowRespondents
) -> tuple[MeasuredPairs, float | None, JudgedValues | None]:
    """Average the rows of each pair; return means, sigma, respondents' values."""
    # Respondents who wrote every pair in both orders judged it once.
    n = len(object_labels)
    respondent_index = row_respondents.number
    _, first_rows, key_index = np.unique(
        respondent_index * n * n + rows.number_pairs(n), return_index=True, return_inverse=True
    )
    if _is_written_twice(rows, key_index, rows.values == rows.values[first_rows][key_index]):
        rows = rows.select(first_rows)
        respondent_index = respondent_index[first_rows]
    elif len(first_rows) < len(key_index):
        k = int((np.bincount(key_index) > 1).argmax())
        first_object = object_labels[rows.first[first_rows[k]]]
        second_object = object_labels[rows.second[first_rows[k]]]
        warn(
            DataWarning(
                "The respondent column was ignored because"
                f" {row_respondents.names[respondent_index[first_rows[k]]]!r}"
                f" judged {first_object!r} and {second_object!r} several times; to use it, give one"
                " mean per respondent and pair."
            )
        )
        return _average_pairs(object_labels, rows)[0], None, None
    measured, sigma = _average_pairs(object_labels, rows)
    if (rows.counts != 1.0).any():  # a row is the mean of several judgements
        return measured, sigma, None
    pair_index = np.searchsorted(measured.first * n + measured.second, rows.number_pairs(n))
    sort_order = np.lexsort((pair_index, respondent_index))
    return (
        measured,
        sigma,
        build_from_fields(
            JudgedValues,
            row_respondents.names,
            respondent_index[sort_order].astype(np.int32),
            pair_index[sort_order].astype(np.int32),
            rows.values[sort_order],
            row_respondents.people,
        ),
    )


def _average_pairs(
    object_labels: tuple[str, ...], rows: _PairRows
) -> tuple[MeasuredPairs, float | None]:
    """Average the rows of each pair; also estimate sigma of one judgement."""
    # Sigma is None unless most pairs have two judgements, in one row each.
    # with fewer repeated pairs, the features that fit the other pairs are more informative on sigma
    n = len(object_labels)
    values, counts = rows.values, rows.counts
    pair_keys, first_rows, pair_index = np.unique(
        rows.number_pairs(n), return_index=True, return_inverse=True
    )
    first_values = values[first_rows]  # makes the mean of equal numbers exactly that number
    excess_sums = np.bincount(
        pair_index, weights=counts * (values - first_values[pair_index]), minlength=len(pair_keys)
    )
    n_judgements = np.bincount(pair_index, weights=counts, minlength=len(pair_keys))
    mean_values = first_values + excess_sums / n_judgements
    is_written_twice = _is_written_twice(rows, pair_index, values == first_values[pair_index])
    measured = MeasuredPairs(
        object_labels, pair_keys // n, pair_keys % n, mean_values, n_judgements, "table of pairs"
    )
    if is_written_twice:
        return measured._replace(judgements=n_judgements / 2.0), None
    if (
        not len(pair_keys)
        or min(np.median(n_judgements), np.mean(n_judgements)) < 2.0
        or (counts != 1.0).any()
    ):
        return measured, None
    # if each judgement is written twice, sigma would be too small
    if _are_mostly_mirrored(rows.number_orders(pair_index), values - first_values[pair_index]):
        return measured, None
    square_sums = np.bincount(pair_index, (values - mean_values[pair_index]) ** 2, len(pair_keys))
    return measured, _estimate_sigma(square_sums, mean_values, n_judgements)


def _are_mostly_mirrored(orders: np.ndarray, values: np.ndarray) -> bool:
    """Return whether most pairs have equal numbers in both orders."""
    # Then each judgement was probably written twice.
    n_orders = 2 * (orders.max() // 2 + 1)
    sums = np.array([np.bincount(orders, values**power, n_orders) for power in range(4)])
    return bool(np.isclose(sums[:, 1::2], sums[:, ::2]).all(axis=0).mean() > 0.5)


def _is_written_twice(
    rows: _PairRows, pair_index: np.ndarray, equals_first_value: np.ndarray
) -> bool:
    """Return whether the list contains every pair in both orders, with equal numbers."""
    if not pair_index.size or not equals_first_value.all():
        return False
    orders = rows.number_orders(pair_index)
    n_rows = np.bincount(orders)
    counts = np.bincount(orders, rows.counts)
    return bool((n_rows == 1).all() and np.array_equal(counts[::2], counts[1::2]))


def _check_only_one(candidates: list[str], role: str) -> None:
    """Raise DataError if several columns may have the same role."""
    if len(candidates) > 1:
        raise DataError(
            f"Several columns could contain {role} ({', or '.join(candidates)}); specify"
            " which to use, or rename the rest."
        )


def question_similarity(columns: Sequence[str]) -> tuple[Any, ...]:
    """Return the parts of the question which of several columns contains the similarity."""
    return (
        f"Several columns could contain the similarity ({', '.join(map(repr, columns))}); give the"
        " name of the right one with ",
        Argument("similarity"),
        ".",
    )


def _explain_missing_columns(
    columns: list[str], name_by_simplified: dict[str, str]
) -> tuple[Any, ...]:
    """Return the error parts that the columns are not similarities, with a fix."""
    if (dissimilarity_column := DISSIMILARITY.find_column(name_by_simplified)) is not None:
        return (
            f"Column {dissimilarity_column!r} contains dissimilarities; to convert them to"
            " similarities, set ",
            Setting("dissimilarities", "linear"),
            " or ",
            Value("dissimilarities", "exponential"),
            InPython(" in thali.read"),
            ".",
        )
    return (
        f"The columns {shorten(columns, 12)} are not recognised as similarities; expected a square"
        " table of similarities, whose first column repeats the labels of the header, or one pair"
        " per row, with columns such as 'first', 'second' and 'similarity'.",
        Clause(
            " Give the names of others with ",
            *join_facts([*map(Argument, ("first", "second", "similarity"))], ", ").parts,
            "; for distances, also set ",
            Setting("dissimilarities", "linear"),
            InPython(" in thali.read"),
            ".",
        ),
    )
