"""The arguments of the sparse multinomial logit, checked: prior, reference class, scale of the
covariates."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from thali._arguments import one_of, positive
from thali._inference.chains import FIRST_DRAWS
from thali._inference.warn import warn
from thali._labels import shorten
from thali._model.run_budget import BUDGET, MIN_DRAWS
from thali.errors import Argument, ArgumentError, Clause, DataError, DataWarning, Setting

from ..blocks import sum_over
from ..input import Standard, column_name, ends_of, is_sparse, standard_of, warn_of_left_out

# Which method `method="auto"` means, by the size of the data --------------------------------------


METHODS = ("auto", "polya-gamma", "laplace", "variational", "map")
NORMAL = ("laplace", "variational")  # whose draws are independent, from a normal law
MAX_COEFFICIENTS = 5_000  # coefficients of all classes that a normal law is for: a matrix of 200 MB
MAX_DENSE = 2**27  # numbers of a sparse matrix that "auto" makes dense: 1 GB
MIN_ROWS_EACH = 20  # rows a coefficient that it needs
MAX_SECONDS = 60.0  # that draws of the posterior itself may take where a normal law is close to it
# Seconds of a sweep, of a row and class but one, of a number in the matrix of each of these
# classes, of which there are more rows than columns, or more columns, and of a covariate and class
# along trajectories: `benchmarks/forecast.py`
A_SWEEP, A_ROW, A_PRODUCT, A_WIDE_PRODUCT, A_MOVED_CELL = 1e-5, 3e-7, 2e-10, 1e-10, 4e-9

CLIMB, CLIMB_OF_FEW_ROWS = 20, 200  # steps to a normal law
# seconds of a step for each cube of coefficients, and second moment of a row
A_CUBE, A_MOMENT = 8e-10, 2.5e-10
A_DRAWN = 2e-6  # seconds of a coefficient in a draw of it, with what is found of all of them

TRAJECTORIES = 2  # in a sweep
MAX_MOVED = 600  # coefficients that trajectories move: a matrix of 3 MB
# sweeps a recorded draw where there are trajectories, unless the user says otherwise
THIN_MOVED = 1
THIN_TWO, THIN = 4, 10  # without them, of two classes and of more
THIN_HORSESHOE, THIN_HORSESHOE_ALONE = 3, 64  # of the horseshoe, whose tau mixes more slowly


def seconds_of_sweep(rows: int, columns: int, classes: int) -> float:
    """Seconds of the processor that a sweep of the Gibbs sampler is expected to take."""
    cells, others = rows * columns, classes - 1
    product = cells * min(rows, columns) * (A_WIDE_PRODUCT if columns > rows else A_PRODUCT)
    moved = A_MOVED_CELL * cells * classes if trajectories_of(rows, columns, classes) else 0.0
    return A_SWEEP + others * (A_ROW * rows + product) + moved


def seconds_of_climb(rows: int, columns: int, classes: int) -> float:
    """Seconds of the processor that a normal law is expected to take, which needs many steps where
    rows are few."""
    q = classes - 1
    steps = CLIMB if rows >= MIN_ROWS_EACH * columns * q else CLIMB_OF_FEW_ROWS
    return steps * (A_CUBE * (columns * q) ** 3 + A_MOMENT * rows * columns**2 * q * (q + 1) / 2)


def method_for(method: str, prior: str, rows: int, columns: int, classes: int) -> str:
    """The method itself, or what "auto" chooses for rows, columns and classes of these numbers.

    Draws of the posterior itself if a usual run takes less than a minute. If it takes longer, a
    normal law where that is close to the posterior; and anywhere if it would take longer than the
    budget of a fit, unless the normal law does.
    """
    if method != "auto":
        return method
    coefficients = columns * (classes - 1)
    if prior != "laplace" or coefficients > MAX_COEFFICIENTS:
        return "polya-gamma"
    sweep, seconds = (
        seconds_of_sweep(rows, columns, classes),
        seconds_of_draws(rows, columns, classes),
    )
    most = MAX_SECONDS if MIN_ROWS_EACH * coefficients <= rows else BUDGET
    shortest = max(BUDGET, 4 * 2 * MIN_DRAWS * sweep)  # of a run that keeps within the budget
    is_quick = seconds_of_climb(rows, columns, classes) < shortest
    return "variational" if seconds > most and is_quick else "polya-gamma"


def seconds_of_draws(rows: int, columns: int, classes: int) -> float:
    """Seconds of the processor that a usual run of the Gibbs sampler is expected to take."""
    sweeps = 4 * 2 * FIRST_DRAWS * usual_thin(rows, columns, classes)
    return sweeps * seconds_of_sweep(rows, columns, classes)


def refuse_large(shape: tuple[int, int], columns: int, classes: int) -> None:
    """Refuse a sparse matrix that is too large for draws of the posterior itself, which need a
    dense one."""
    coefficients = columns * (classes - 1)
    if shape[0] * shape[1] > MAX_DENSE or seconds_of_draws(shape[0], columns, classes) > BUDGET:
        raise DataError(
            f"X is a sparse matrix of shape {shape}, too large for the draws of ",
            Setting("method", "auto"),
            f" ({coefficients:,} coefficients over all classes); set ",
            Setting("method", "map"),
            ", or pass X.toarray().",
        )


def usual_thin(rows: int, columns: int, classes: int, prior: str = "laplace") -> int:
    """Sweeps a kept draw, unless the user says otherwise."""
    is_moved = trajectories_of(rows, columns, classes) > 0
    if prior == "horseshoe":
        return THIN_HORSESHOE if is_moved else THIN_HORSESHOE_ALONE
    if is_moved:
        return THIN_MOVED
    return THIN_TWO if classes == 2 else THIN


def trajectories_of(rows: int, columns: int, classes: int) -> int:
    """How many trajectories a sweep has: none where they cannot move all coefficients or are slower
    than sweeps."""
    is_small = columns <= rows and columns * (classes - 1) <= MAX_MOVED
    return TRAJECTORIES if is_small else 0


# Standardised covariates and the intercept's ones, as the maximum of the posterior needs them:
# dense, sparse, blocks
#
# Taking means off would fill a sparse matrix. So a sparse one is S - 1 s^T with a sparse S and a
# vector s; the intercept's ones are a column of S that is 0, with s = -1.


class DenseColumns:
    """A matrix Z (n, m)."""

    Z: np.ndarray
    n: int
    m: int

    def __init__(self, matrix: np.ndarray, intercept: bool) -> None:
        self.Z = np.column_stack([matrix, np.ones(len(matrix))]) if intercept else matrix
        self.n, self.m = self.Z.shape

    def times(self, coef: np.ndarray) -> np.ndarray:
        """Z coef^T for coef (q, m)."""
        return self.Z @ coef.T

    def pulled(self, residuals: np.ndarray) -> np.ndarray:
        """residuals^T Z for residuals (n, q)."""
        return residuals.T @ self.Z

    def gram(self, weights: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Z_a^T diag(weights) Z_b for two choices of columns."""
        return self.Z[:, first].T @ (weights[:, None] * self.Z[:, second])


class SparseColumns:
    """The same of S (n, m), sparse, with s (m,)."""

    S: Any  # a sparse array (n, m)
    shift: np.ndarray
    n: int
    m: int

    def __init__(self, S: Any, shift: np.ndarray) -> None:
        self.S, self.shift = S, shift
        self.n, self.m = S.shape

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n), as covariates stand in a problem."""
        return self.m, self.n

    def times(self, coef: np.ndarray) -> np.ndarray:
        """Z coef^T for coef (q, m)."""
        return self.S @ coef.T - coef @ self.shift

    def pulled(self, residuals: np.ndarray) -> np.ndarray:
        """residuals^T Z for residuals (n, q)."""
        return (self.S.T @ residuals).T - np.outer(residuals.sum(axis=0), self.shift)

    def gram(
        self, weights: np.ndarray, first: Any = slice(None), second: Any = slice(None)
    ) -> np.ndarray:
        """Z_a^T diag(weights) Z_b for two choices of columns."""
        from scipy import sparse

        one, other = self.S[:, first], self.S[:, second]
        s, t = self.shift[first], self.shift[second]
        found = (one.T @ (sparse.diags_array(weights) @ other)).toarray()
        found -= np.outer(one.T @ weights, t) + np.outer(s, other.T @ weights)
        return found + weights.sum() * np.outer(s, t)

    def squares(self, matrix: np.ndarray) -> np.ndarray:
        """z^T M z of every row z for a matrix M (m, m)."""
        found = self.S.multiply(self.S @ matrix).sum(axis=1) - self.S @ (
            matrix @ self.shift + self.shift @ matrix
        )
        return np.asarray(found + self.shift @ matrix @ self.shift)

    def by_rows(self) -> "SparseColumns":
        """The same, stored by rows."""
        return SparseColumns(self.S.tocsr(), self.shift)

    def rows(self, which: Any) -> "SparseColumns":
        """The same of some rows."""
        return SparseColumns(self.S[which], self.shift)


def sparse_columns(matrix: Any, standard: Standard, intercept: bool) -> SparseColumns:
    """The standardised columns of a sparse matrix that vary, stored by columns."""
    from scipy import sparse

    varies = np.flatnonzero(standard.varies)
    scale = 1.0 / (standard.unit * standard.sd)[varies]
    scaled = sparse.csc_array(matrix)[:, varies] @ sparse.diags_array(scale)
    ones = [sparse.csc_array((matrix.shape[0], 1))] if intercept else []
    S = sparse.csc_array(sparse.hstack([scaled, *ones]))
    return SparseColumns(S, np.append((standard.mean / standard.sd)[varies], [-1.0] * intercept))


class BlockColumns:
    """The same of rows in blocks: each is a delayed `DenseColumns`, for so many rows."""

    n: int
    m: int

    def __init__(self, held: Sequence[Any], rows: Sequence[int], m: int) -> None:
        self._held, self.n, self.m = list(held), sum(rows), m
        ends = np.cumsum([0, *rows]).tolist()
        self._parts = [slice(*pair) for pair in zip(ends, ends[1:], strict=False)]

    def times(self, coef: np.ndarray) -> np.ndarray:
        """Z coef^T for coef (q, m)."""
        from dask.base import compute
        from dask.delayed import delayed

        return np.concatenate(
            compute(*(delayed(DenseColumns.times)(block, coef) for block in self._held))
        )

    def pulled(self, residuals: np.ndarray) -> np.ndarray:
        """residuals^T Z for residuals (n, q)."""
        pieces = [residuals[part] for part in self._parts]
        return sum_over(_pulled_of, list(zip(self._held, pieces, strict=True)))

    def gram(self, weights: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Z_a^T diag(weights) Z_b for two choices of columns."""
        pieces = [weights[part] for part in self._parts]
        return sum_over(_gram_of, list(zip(self._held, pieces, strict=True)), first, second)


def _pulled_of(block: tuple[DenseColumns, np.ndarray]) -> np.ndarray:
    return block[0].pulled(block[1])


def _gram_of(
    block: tuple[DenseColumns, np.ndarray], first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    return block[0].gram(block[1], first, second)


PRIORS = ("laplace", "horseshoe")
_LARGEST = 1e100  # of covariates that are not standardised: their squares must be floats


class CoefficientPrior(NamedTuple):
    """Prior of the coefficients: eta, fixed or None for Gamma(shape, rate), and whether there is an
    intercept.

    Or the horseshoe, whose tau is half-Cauchy of scale `global_scale`.
    """

    eta: float | None
    shape: float
    rate: float
    intercept: bool
    name: str = "laplace"
    global_scale: float = 1.0

    @property
    def is_horseshoe(self) -> bool:
        """Whether there is no eta."""
        return self.name == "horseshoe"


def prior_of(model: Any) -> CoefficientPrior:
    """The prior that the arguments say."""
    one_of("method", model.method, METHODS)
    is_horseshoe = one_of("prior", model.prior, PRIORS) == "horseshoe"
    if is_horseshoe and model.method in (*NORMAL, "map"):
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
    eta = None if model.eta is None else positive("eta", model.eta, "a rate")
    shape = positive("shape", model.shape, "the shape of the Gamma prior on eta")
    rate = positive("rate", model.rate, "the rate of the Gamma prior on eta")
    if eta is None and model.method == "map":
        eta = shape / rate
    scale = positive("global_scale", model.global_scale, "the scale of the prior on tau")
    intercept = bool(one_of("fit_intercept", model.fit_intercept, (True, False)))
    return CoefficientPrior(eta, shape, rate, intercept, model.prior, scale)


def position_of(reference: Any, classes: np.ndarray) -> int:
    """The place of the reference class."""
    if reference is None:
        return 0
    found = [k for k, label in enumerate(classes) if label == reference]
    if not found:
        known = shorten(classes.tolist(), 10)
        raise ArgumentError(f"`reference` must be one of the classes ({known}); got {reference!r}.")
    return found[0]


def scale_of(
    matrix: np.ndarray,
    names: np.ndarray | None,
    counts: np.ndarray | None,
    standardize: Any,
    intercept: bool,
) -> Standard:
    """The scale of the covariates: their own, or none."""
    low, high = ends_of(matrix)
    if one_of("standardize", standardize, (True, False)):
        standard = standard_of(matrix, names, counts)
        # as words that these rows lack
        warn_of_left_out(standard, names, is_sparse(matrix) & (low == 0.0))
        return standard
    largest = np.maximum(-low, high)
    if (largest > _LARGEST).any():
        column = int(np.argmax(largest))
        raise DataError(
            f"{_capital(column_name(names, column))} reaches {largest[column]:g}, whose square"
            " overflows; rescale it",
            Clause(", or set ", Setting("standardize", True)),
            ".",
        )
    constant = np.flatnonzero((low == high) & (low != 0.0))
    if constant.size and intercept:
        warn(
            DataWarning(
                f"{_capital(column_name(names, int(constant[0])))} is constant and equivalent to"
                " the intercept; remove it."
            )
        )
    d = matrix.shape[1]
    return Standard(np.ones(d), np.zeros(d), np.ones(d))


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
