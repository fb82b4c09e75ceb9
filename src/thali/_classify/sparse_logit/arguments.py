"""Checked arguments of the sparse multinomial logit, and its choice of method."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from thali._arguments import check_allowed, check_positive
from thali._inference.chains import FIRST_DRAWS
from thali._inference.warn import warn
from thali._labels import shorten
from thali._model.run_budget import BUDGET, MIN_DRAWS
from thali.errors import Argument, ArgumentError, Clause, DataError, DataWarning, Setting

from ..dask_blocks import sum_over_blocks
from ..input import (
    Standardization,
    compute_column_ranges,
    compute_standardization,
    format_column_name,
    is_sparse,
    warn_about_constant_columns,
)

# The choice of `method="auto"` by the size of the data -------------------------------------------


METHODS = ("auto", "polya-gamma", "laplace", "variational", "map")
NORMAL_METHODS = ("laplace", "variational")  # independent draws from a normal approximation
MAX_COEFFICIENTS = 5_000  # of all classes, for a normal approximation: a matrix of 200 MB
MAX_DENSE_NUMBERS = 2**27  # in a sparse matrix that "auto" makes dense: 1 GB
MIN_ROWS_PER_COEFFICIENT = 20  # for a normal approximation
MAX_SAMPLING_SECONDS = 60.0  # if a normal approximation is accurate
# CPU seconds, measured by `benchmarks/forecast.py`: per sweep, per row and non-reference class, per
# number of a product of the covariates, with more rows than columns or more columns than rows
SWEEP_SECONDS, ROW_SECONDS, PRODUCT_SECONDS, WIDE_PRODUCT_SECONDS = 1e-5, 3e-7, 2e-10, 1e-10
TRAJECTORY_CELL_SECONDS = 4e-9  # per cell and class along trajectories

NORMAL_STEPS, NORMAL_STEPS_OF_FEW_ROWS = 20, 200  # steps of a normal approximation
# seconds of a step per cubed number of coefficients, and per second moment of a row
CUBE_SECONDS, MOMENT_SECONDS = 8e-10, 2.5e-10
DRAW_SECONDS = 2e-6  # per coefficient of a draw, including its summary

TRAJECTORIES = 2  # per sweep
MAX_TRAJECTORY_COEFFICIENTS = 600  # a matrix of 3 MB
# default sweeps per recorded draw
THIN_WITH_TRAJECTORIES = 1
THIN_TWO_CLASSES, THIN_MORE_CLASSES = 4, 10  # without trajectories
# tau of the horseshoe mixes slowly
THIN_HORSESHOE, THIN_HORSESHOE_WITHOUT_TRAJECTORIES = 3, 64


def estimate_sweep_seconds(n_rows: int, n_columns: int, n_classes: int) -> float:
    """Estimate the CPU seconds of one Gibbs sweep."""
    cells, n_free_classes = n_rows * n_columns, n_classes - 1
    number_seconds = WIDE_PRODUCT_SECONDS if n_columns > n_rows else PRODUCT_SECONDS
    product_seconds = cells * min(n_rows, n_columns) * number_seconds
    seconds = SWEEP_SECONDS + n_free_classes * (ROW_SECONDS * n_rows + product_seconds)
    if count_trajectories(n_rows, n_columns, n_classes):
        seconds += TRAJECTORY_CELL_SECONDS * cells * n_classes
    return seconds


def estimate_approximation_seconds(n_rows: int, n_columns: int, n_classes: int) -> float:
    """Estimate the CPU seconds of a normal approximation.

    Few rows need many steps.
    """
    q = n_classes - 1
    has_few_rows = n_rows < MIN_ROWS_PER_COEFFICIENT * n_columns * q
    steps = NORMAL_STEPS_OF_FEW_ROWS if has_few_rows else NORMAL_STEPS
    return steps * (
        CUBE_SECONDS * (n_columns * q) ** 3
        + MOMENT_SECONDS * n_rows * n_columns**2 * q * (q + 1) / 2
    )


def choose_method(method: str, prior: str, n_rows: int, n_columns: int, n_classes: int) -> str:
    """Return the method; "auto" chooses it by the size of the data.

    "auto" is "polya-gamma" if a default run takes less than a minute. A longer run is replaced by a
    normal approximation where it is close to the posterior, and anywhere if the run would exceed
    the budget of a fit, unless the normal approximation does.
    """
    if method != "auto":
        return method
    n_coefficients = n_columns * (n_classes - 1)
    if prior != "laplace" or n_coefficients > MAX_COEFFICIENTS:
        return "polya-gamma"
    has_few_rows = n_rows < MIN_ROWS_PER_COEFFICIENT * n_coefficients
    max_seconds = BUDGET if has_few_rows else MAX_SAMPLING_SECONDS
    if estimate_sampling_seconds(n_rows, n_columns, n_classes) <= max_seconds:
        return "polya-gamma"
    min_sweeps = 4 * 2 * MIN_DRAWS  # of a run within the budget
    min_seconds = max(BUDGET, min_sweeps * estimate_sweep_seconds(n_rows, n_columns, n_classes))
    is_quick = estimate_approximation_seconds(n_rows, n_columns, n_classes) < min_seconds
    return "variational" if is_quick else "polya-gamma"


def estimate_sampling_seconds(n_rows: int, n_columns: int, n_classes: int) -> float:
    """Estimate the CPU seconds of a default run of the Gibbs sampler."""
    sweeps = 4 * 2 * FIRST_DRAWS * choose_thin(n_rows, n_columns, n_classes)
    return sweeps * estimate_sweep_seconds(n_rows, n_columns, n_classes)


def refuse_large_sparse_matrix(shape: tuple[int, int], n_columns: int, n_classes: int) -> None:
    """Raise an error if a sparse matrix is too large to be made dense.

    The Gibbs sampler requires a dense matrix.
    """
    n_coefficients = n_columns * (n_classes - 1)
    if (
        shape[0] * shape[1] > MAX_DENSE_NUMBERS
        or estimate_sampling_seconds(shape[0], n_columns, n_classes) > BUDGET
    ):
        raise DataError(
            f"X is a sparse matrix of shape {shape}, too large for the draws of ",
            Setting("method", "auto"),
            f" ({n_coefficients:,} coefficients over all classes); set ",
            Setting("method", "map"),
            ", or pass X.toarray().",
        )


def choose_thin(n_rows: int, n_columns: int, n_classes: int, prior: str = "laplace") -> int:
    """Return the default number of sweeps per recorded draw."""
    has_trajectories = count_trajectories(n_rows, n_columns, n_classes) > 0
    if prior == "horseshoe":
        return THIN_HORSESHOE if has_trajectories else THIN_HORSESHOE_WITHOUT_TRAJECTORIES
    if has_trajectories:
        return THIN_WITH_TRAJECTORIES
    return THIN_TWO_CLASSES if n_classes == 2 else THIN_MORE_CLASSES


def count_trajectories(n_rows: int, n_columns: int, n_classes: int) -> int:
    """Return the number of trajectories per sweep.

    It is 0 where they cannot move all coefficients or are slower than sweeps.
    """
    is_small = n_columns <= n_rows and n_columns * (n_classes - 1) <= MAX_TRAJECTORY_COEFFICIENTS
    return TRAJECTORIES if is_small else 0


# Standardised covariates and the intercept's ones: dense, sparse, or in blocks
#
# Subtracting means would fill a sparse matrix. So it is stored as S - 1 s^T with a sparse S and a
# vector s; the intercept's ones are a column of zeros in S, with s = -1.


class DenseColumns:
    """Standardised covariates as a dense matrix Z (n, m)."""

    Z: np.ndarray
    n: int
    m: int

    def __init__(self, matrix: np.ndarray, intercept: bool) -> None:
        self.Z = np.column_stack([matrix, np.ones(len(matrix))]) if intercept else matrix
        self.n, self.m = self.Z.shape

    def multiply(self, coef: np.ndarray) -> np.ndarray:
        """Return Z coef^T for coef (q, m)."""
        return self.Z @ coef.T

    def multiply_transposed(self, residuals: np.ndarray) -> np.ndarray:
        """Return residuals^T Z for residuals (n, q)."""
        return residuals.T @ self.Z

    def compute_gram(
        self, weights: np.ndarray, columns_a: np.ndarray, columns_b: np.ndarray
    ) -> np.ndarray:
        """Return Z_a^T diag(weights) Z_b for two selections of columns."""
        return self.Z[:, columns_a].T @ (weights[:, None] * self.Z[:, columns_b])


class SparseColumns:
    """Standardised covariates Z = S - 1 s^T with sparse S (n, m), s (m,)."""

    S: Any  # a sparse array (n, m)
    shift: np.ndarray
    n: int
    m: int

    def __init__(self, S: Any, shift: np.ndarray) -> None:
        self.S, self.shift = S, shift
        self.n, self.m = S.shape

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (m, n), the order of covariates in a problem."""
        return self.m, self.n

    def multiply(self, coef: np.ndarray) -> np.ndarray:
        """Return Z coef^T for coef (q, m)."""
        return self.S @ coef.T - coef @ self.shift

    def multiply_transposed(self, residuals: np.ndarray) -> np.ndarray:
        """Return residuals^T Z for residuals (n, q)."""
        return (self.S.T @ residuals).T - np.outer(residuals.sum(axis=0), self.shift)

    def compute_gram(
        self, weights: np.ndarray, columns_a: Any = slice(None), columns_b: Any = slice(None)
    ) -> np.ndarray:
        """Return Z_a^T diag(weights) Z_b for two selections of columns."""
        from scipy import sparse

        a, b = self.S[:, columns_a], self.S[:, columns_b]
        s, t = self.shift[columns_a], self.shift[columns_b]
        gram = (a.T @ (sparse.diags_array(weights) @ b)).toarray()
        gram -= np.outer(a.T @ weights, t) + np.outer(s, b.T @ weights)
        return gram + weights.sum() * np.outer(s, t)

    def compute_quadratic_forms(self, matrix: np.ndarray) -> np.ndarray:
        """Return z^T M z of each row z for a matrix M (m, m)."""
        quadratic = self.S.multiply(self.S @ matrix).sum(axis=1) - self.S @ (
            matrix @ self.shift + self.shift @ matrix
        )
        return np.asarray(quadratic + self.shift @ matrix @ self.shift)

    def store_by_rows(self) -> "SparseColumns":
        """Return the same columns, stored by rows."""
        return SparseColumns(self.S.tocsr(), self.shift)

    def select_rows(self, row_selection: Any) -> "SparseColumns":
        """Return the same columns for a selection of rows."""
        return SparseColumns(self.S[row_selection], self.shift)


def build_sparse_columns(matrix: Any, standard: Standardization, intercept: bool) -> SparseColumns:
    """Standardise the varying columns of a sparse matrix, stored by columns."""
    from scipy import sparse

    varies = np.flatnonzero(standard.varies)
    scale = 1.0 / (standard.unit * standard.sd)[varies]
    scaled = sparse.csc_array(matrix)[:, varies] @ sparse.diags_array(scale)
    ones = [sparse.csc_array((matrix.shape[0], 1))] if intercept else []
    S = sparse.csc_array(sparse.hstack([scaled, *ones]))
    return SparseColumns(S, np.append((standard.mean / standard.sd)[varies], [-1.0] * intercept))


class BlockColumns:
    """Standardised covariates as delayed `DenseColumns`, one per block of rows."""

    n: int
    m: int

    def __init__(self, blocks: Sequence[Any], rows: Sequence[int], m: int) -> None:
        self._held, self.n, self.m = list(blocks), sum(rows), m
        ends = np.cumsum([0, *rows]).tolist()
        self._parts = [slice(*pair) for pair in zip(ends, ends[1:], strict=False)]

    def multiply(self, coef: np.ndarray) -> np.ndarray:
        """Return Z coef^T for coef (q, m)."""
        from dask.base import compute
        from dask.delayed import delayed

        return np.concatenate(
            compute(*(delayed(DenseColumns.multiply)(block, coef) for block in self._held))
        )

    def multiply_transposed(self, residuals: np.ndarray) -> np.ndarray:
        """Return residuals^T Z for residuals (n, q)."""
        pieces = [residuals[block_rows] for block_rows in self._parts]
        return sum_over_blocks(
            _multiply_block_transposed, list(zip(self._held, pieces, strict=True))
        )

    def compute_gram(
        self, weights: np.ndarray, columns_a: np.ndarray, columns_b: np.ndarray
    ) -> np.ndarray:
        """Return Z_a^T diag(weights) Z_b for two selections of columns."""
        pieces = [weights[block_rows] for block_rows in self._parts]
        return sum_over_blocks(
            _compute_block_gram, list(zip(self._held, pieces, strict=True)), columns_a, columns_b
        )


def _multiply_block_transposed(block: tuple[DenseColumns, np.ndarray]) -> np.ndarray:
    """Return residuals^T Z of one block and its residuals."""
    return block[0].multiply_transposed(block[1])


def _compute_block_gram(
    block: tuple[DenseColumns, np.ndarray], columns_a: np.ndarray, columns_b: np.ndarray
) -> np.ndarray:
    """Return Z_a^T diag(weights) Z_b of one block and its weights."""
    return block[0].compute_gram(block[1], columns_a, columns_b)


PRIORS = ("laplace", "horseshoe")
_MAX_COVARIATE = 1e100  # if not standardised: squares must be floats


class CoefficientPrior(NamedTuple):
    """Prior of the coefficients, Laplace or horseshoe, and of the intercept.

    eta is fixed, or None for Gamma(shape, rate). tau of the horseshoe is half-Cauchy of scale
    `global_scale`.
    """

    eta: float | None
    shape: float
    rate: float
    intercept: bool
    name: str = "laplace"
    global_scale: float = 1.0

    @property
    def is_horseshoe(self) -> bool:
        """Whether the prior is the horseshoe, which has no eta."""
        return self.name == "horseshoe"


def read_prior(model: Any) -> CoefficientPrior:
    """Check the arguments of the prior and return it."""
    check_allowed("method", model.method, METHODS)
    is_horseshoe = check_allowed("prior", model.prior, PRIORS) == "horseshoe"
    if is_horseshoe and model.method in (*NORMAL_METHODS, "map"):
        raise ArgumentError(
            Setting("method", model.method),
            " requires the Laplace prior; got ",
            Setting("prior", "horseshoe"),
            ".",
        )
    if is_horseshoe and model.eta is not None:
        raise ArgumentError(
            Argument("eta"),
            " applies to the Laplace prior; with ",
            Setting("prior", "horseshoe"),
            " remove ",
            Argument("eta"),
            ".",
        )
    eta = None if model.eta is None else check_positive("eta", model.eta, "a rate")
    shape = check_positive("shape", model.shape, "the shape of the Gamma prior on eta")
    rate = check_positive("rate", model.rate, "the rate of the Gamma prior on eta")
    if eta is None and model.method == "map":
        eta = shape / rate
    scale = check_positive("global_scale", model.global_scale, "the scale of the prior on tau")
    intercept = bool(check_allowed("fit_intercept", model.fit_intercept, (True, False)))
    return CoefficientPrior(eta, shape, rate, intercept, model.prior, scale)


def find_reference_index(reference: Any, classes: np.ndarray) -> int:
    """Return the index of the reference class."""
    if reference is None:
        return 0
    indices = [k for k, label in enumerate(classes) if label == reference]
    if not indices:
        class_list = shorten(classes.tolist(), 10)
        raise ArgumentError(
            f"`reference` must be one of the classes ({class_list}); got {reference!r}."
        )
    return indices[0]


def choose_standardization(
    matrix: np.ndarray,
    names: np.ndarray | None,
    counts: np.ndarray | None,
    standardize: Any,
    intercept: bool,
) -> Standardization:
    """Return the standardisation of the covariates, or none if not requested."""
    low, high = compute_column_ranges(matrix)
    if check_allowed("standardize", standardize, (True, False)):
        standard = compute_standardization(matrix, names, counts)
        # columns of zeros are expected: words that these rows lack
        warn_about_constant_columns(standard, names, is_sparse(matrix) & (low == 0.0))
        return standard
    largest = np.maximum(-low, high)
    if (largest > _MAX_COVARIATE).any():
        column = int(np.argmax(largest))
        raise DataError(
            f"{_capitalise(format_column_name(names, column))} reaches {largest[column]:g}, whose"
            " square overflows; rescale it",
            Clause(", or set ", Setting("standardize", True)),
            ".",
        )
    constant = np.flatnonzero((low == high) & (low != 0.0))
    if constant.size and intercept:
        warn(
            DataWarning(
                f"{_capitalise(format_column_name(names, int(constant[0])))} is constant and"
                " equivalent to the intercept; remove it."
            )
        )
    d = matrix.shape[1]
    return Standardization(np.ones(d), np.zeros(d), np.ones(d))


def _capitalise(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[0].upper() + text[1:]
