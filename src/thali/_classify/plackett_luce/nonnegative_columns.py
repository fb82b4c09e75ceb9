"""Transformation of covariates into the non-negative columns W of Plackett-Luce regression."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, compress
from typing import Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import iterate_slices
from thali._inference.user_warnings import warn
from thali.errors import (
    Argument,
    ArgumentError,
    Clause,
    DataError,
    DataWarning,
    Message,
    Setting,
    one_of,
)

from ..covariates_and_labels import Standardization, compute_standardization, join_first

TRANSFORMS = ("exponential", "exponential-pairs")
# larger standardised covariates, possible in new rows only, are clipped so that sums are finite
_MAX_COVARIATE = 1e300
BLOCK_ROWS = 4096  # rows of a block, so that no second matrix as large as W is made


@dataclass(frozen=True)
class PlackettLuceDesign:
    """Transformation of covariates into columns W, with the training data's scale.

    W = [e^x, e^−x, 1] for "exponential", and e^±(x_a + x_b) of all pairs for "exponential-pairs";
    each row is divided by its maximum, which changes nothing in the model and keeps every number
    finite. Standardised covariates that are constant in the training data are omitted from W, and
    are 0 for a callable.
    """

    names: tuple[str, ...]  # of the covariates
    # "exponential", "exponential-pairs", a callable (n, d) -> (n, p) >= 0, or None: covariates >= 0
    transform: Any
    standard: Standardization | None  # mean and standard deviation of the training data
    columns: tuple[str, ...]  # of W

    @classmethod
    def fit(
        cls,
        matrix: np.ndarray,
        names: Sequence[str],
        transform: str | Callable[[np.ndarray], np.ndarray] | None = "exponential",
        standardize: bool = True,
        counts: np.ndarray | None = None,
    ) -> "PlackettLuceDesign":
        """Build the transformation, standardised by the training rows if asked."""
        check_transform(transform)
        standardization = None
        if standardize and transform is not None:
            standardization = compute_standardization(matrix, np.array(names, dtype=object), counts)
        design = cls(tuple(names), transform, standardization, ())
        if callable(transform):
            # a row is required to find the columns that a callable returns
            transformed: Any = transform(design._standardise(np.asarray(matrix[:1], np.float64)))
            column_names = getattr(transformed, "columns", None)
            if column_names is None:
                n_columns = 0  # of another shape, which `apply` refuses
                if np.ndim(transformed) == 2:
                    n_columns = np.asarray(transformed).shape[1]
                column_names = [f"w{j}" for j in range(n_columns)]
            columns = tuple(map(str, column_names))
        elif transform is None:
            columns = tuple(names)
        else:
            if standardization is not None:
                names = list(compress(names, standardization.varies))
            columns = _list_exponential_names(names, transform == "exponential-pairs")
        return replace(design, columns=columns)

    def apply(self, matrix: np.ndarray, row_numbers: np.ndarray | None = None) -> np.ndarray:
        """Return W, shape (n, p), each row divided by its maximum.

        `row_numbers` identify the rows in error messages.
        """
        if self.transform is None or callable(self.transform):
            if row_numbers is None:
                row_numbers = np.arange(len(matrix))
            return self._build_nonnegative_columns(matrix, row_numbers)
        W = np.empty((len(matrix), len(self.columns)))
        for rows in iterate_slices(len(matrix), 1, BLOCK_ROWS):
            block = W[rows]
            self._fill_logs(matrix[rows], block)
            np.exp(block, out=block)
        return W

    def compute_logs(self, matrix: np.ndarray) -> np.ndarray:
        """Return ln W, shape (n, p), not normalised.

        It is finite where W is too small for a float, and −inf only where W is exactly zero.
        """
        if self.transform is None or callable(self.transform):
            with np.errstate(divide="ignore"):
                return np.log(self._build_nonnegative_columns(matrix, np.arange(len(matrix))))
        log_W = np.empty((len(matrix), len(self.columns)))
        self._fill_logs(matrix, log_W)
        return log_W

    def _standardise(self, matrix: np.ndarray) -> np.ndarray:
        """Return the covariates, standardised if the design asks for it."""
        if self.standard is None:
            return matrix
        return self.standard.apply(matrix)

    def _fill_logs(self, matrix: np.ndarray, log_W: np.ndarray) -> None:
        """Write ln W of the exponential transforms into `log_W`."""
        x = np.clip(self._standardise(matrix), -_MAX_COVARIATE, _MAX_COVARIATE)
        if self.standard is not None:
            x = x[:, self.standard.varies]
        d = x.shape[1]
        log_W[:, :d], log_W[:, d : 2 * d] = x, -x
        if self.transform == "exponential-pairs":
            for column_index, (a, b) in enumerate(combinations(range(d), 2), start=d):
                log_W[:, 2 * column_index] = x[:, a] + x[:, b]
                log_W[:, 2 * column_index + 1] = -log_W[:, 2 * column_index]
        log_W[:, -1] = 0.0
        log_W -= log_W.max(axis=1, keepdims=True)

    def _build_nonnegative_columns(self, matrix: np.ndarray, row_numbers: np.ndarray) -> np.ndarray:
        """Return W, shape (n, p), from non-negative covariates or the user's function."""
        if self.transform is None:
            W = np.array(matrix, dtype=np.float64, order="C")
            subject = "X"
            advice = Message(
                "; set ", Setting("transform", "exponential"), " for covariates of any sign"
            )
        else:
            W = np.array(self.transform(self._standardise(matrix)), dtype=np.float64, order="C")
            subject = "The transformed X"
            advice = Message()
        if W.shape != (len(matrix), len(self.columns)) or W.shape[1] == 0:
            raise DataError(
                f"The transform returned shape {W.shape} for {len(matrix)} rows; expected"
                f" ({len(matrix)}, {len(self.columns) or 'p'}): one row per row of X, and always"
                " the same number of columns."
            )
        is_invalid = ~(np.isfinite(W) & (W >= 0.0))
        if is_invalid.any():
            row_index = _find_first_row(is_invalid.any(axis=1), row_numbers)
            column_index = int(np.argmax(is_invalid[row_index]))
            raise DataError(
                f"{subject} is {W[row_index, column_index]:g} in row {row_numbers[row_index]},"
                " column"
                f" {self.columns[column_index]!r}, but this transform requires finite, non-negative"
                " entries",
                advice,
                ".",
            )
        row_maxima = W.max(axis=1, keepdims=True)
        if (is_zero := row_maxima[:, 0] == 0.0).any():
            raise DataError(
                f"{subject} is zero everywhere in row"
                f" {row_numbers[_find_first_row(is_zero, row_numbers)]}, so no class can be chosen"
                " there; add a column of ones."
            )
        W /= row_maxima
        return W


def _find_first_row(is_invalid: Any, row_numbers: np.ndarray) -> int:
    """Return the index of the invalid row with the smallest row number."""
    invalid_rows = np.flatnonzero(is_invalid)
    return int(invalid_rows[np.argmin(row_numbers[invalid_rows])])


def check_transform(transform: str | Callable[[np.ndarray], np.ndarray] | None) -> None:
    """Raise ArgumentError unless `transform` is None, a function or a known name."""
    if transform is None or callable(transform) or transform in TRANSFORMS:
        return
    raise ArgumentError(
        Argument("transform"),
        " must be ",
        one_of("transform", TRANSFORMS),
        f", a function or None; got {transform!r}.",
    )


def _list_exponential_names(names: Sequence[str], has_pairs: bool) -> tuple[str, ...]:
    """Return names such as "exp(x)", "exp(-x)" of the transformed columns."""
    columns = [f"exp({name})" for name in names] + [f"exp(-{name})" for name in names]
    if has_pairs:
        for a, b in combinations(names, 2):
            columns += [f"exp({a} + {b})", f"exp(-({a} + {b}))"]
    return (*columns, "1")


# Warnings about columns of W that dominate or vanish because of their scale -----------------------


_MIN_EXPLAINED = 0.4  # share of the deviance of the class proportions
_MAX_DOMINATED = 0.9  # share of the rows
_MAX_OTHER_SUM = 1e-6  # sum of all other columns of a row that one column dominates


class ColumnSummary(NamedTuple):
    """In how many rows each column of W dominates, and whether it is ever positive."""

    rows: int
    is_positive: np.ndarray  # (p,) whether the column is positive in a row
    n_dominated: np.ndarray  # (p,) number of rows where it exceeds a million times all others


def summarise_columns(W: np.ndarray, counts: np.ndarray) -> ColumnSummary:
    """Return the summary of columns of W, whose rows have maximum 1."""
    is_positive = np.zeros(W.shape[1], bool)
    n_dominated = np.zeros(W.shape[1])
    for rows in iterate_slices(len(W), 1, BLOCK_ROWS):
        block = W[rows]
        is_positive |= (block > 0.0).any(axis=0)
        is_dominated = block.sum(axis=1) - 1.0 < _MAX_OTHER_SUM
        n_dominated += np.bincount(
            block[is_dominated].argmax(axis=1),
            counts[rows][is_dominated],
            W.shape[1],
        )
    return ColumnSummary(int(counts.sum()), is_positive, n_dominated.astype(np.int64))


def warn_about_constants(matrix: np.ndarray, names: Any) -> None:
    """Warn of covariates that do not vary."""
    constant_indices = np.flatnonzero(matrix.min(axis=0) == matrix.max(axis=0))
    if constant_indices.size:
        column_list = join_first(repr(names[j]) for j in constant_indices)
        warn(
            DataWarning(
                f"Constant covariates: {column_list}. The effect of a constant covariate cannot be"
                " distinguished from the effect of the column of ones; remove every such covariate."
            )
        )


def build_scaling_advice(
    transform: str | Callable[[np.ndarray], np.ndarray] | None, standardize: bool
) -> Message:
    """Return the advice for columns of very different sizes."""
    if transform is None:
        return Message("; scale the columns, or choose ", Setting("transform", "exponential"))
    if standardize:
        return Message("; scale the covariates")
    return Message("; scale the covariates", Clause(", or set ", Setting("standardize", True)))


def warn_about_poor_fit(log_likelihood: float, class_count: np.ndarray) -> None:
    """Warn if untransformed covariates explain little deviance.

    A row's class probabilities are an average over the columns in which it is positive: with many
    such columns no class is probable. Of the deviance of the class proportions, wine, breast
    cancer, digits and iris retain more than half.
    """
    n = class_count.sum()
    explained_share = 1.0 - log_likelihood / float((class_count * np.log(class_count / n)).sum())
    if explained_share < _MIN_EXPLAINED:
        warn(
            DataWarning(
                f"Untransformed covariates explain only {max(100 * explained_share, 0.0):.0f} % of"
                " the null deviance (of the class proportions alone), because no class can be"
                " probable in rows with positive entries in many columns. Set ",
                Setting("transform", "exponential"),
                ", or use a sparse logit, which predicts better.",
            )
        )


def warn_about_columns(summary: ColumnSummary, columns: Any, advice: Message) -> None:
    """Warn of columns of W that are zero everywhere or dominate nearly all rows.

    `advice` ends the message.
    """
    if len(columns) > 1 and summary.n_dominated.max() > _MAX_DOMINATED * summary.rows:
        dominant_index = int(summary.n_dominated.argmax())
        warn(
            DataWarning(
                f"Column {columns[dominant_index]!r} of W is more than a million times larger than"
                f" all other columns combined in {summary.n_dominated[dominant_index]} of"
                f" {summary.rows} rows, so the other covariates have almost no effect",
                advice,
                ".",
            )
        )
    if not summary.is_positive.all():
        zero_columns = [columns[j] for j in np.flatnonzero(~summary.is_positive)]
        column_list = join_first(map(repr, zero_columns))
        warn(
            DataWarning(
                f"In {len(zero_columns)} of {len(columns)} columns of W ({column_list}), every"
                " entry is numerically zero relative to the largest entry of its row, so the data"
                " contain no information on their weights",
                advice,
                ".",
            )
        )
