"""Forecasts of the sparse logit's CPU time, and the choice of `method="auto"`."""

from thali._inference.markov_chains import FIRST_DRAWS
from thali._model.chain_runs import BUDGET, MIN_DRAWS
from thali.errors import DataError, Setting

METHODS = ("auto", "polya-gamma", "laplace", "variational", "map")
MAX_COEFFICIENTS = 5_000  # of all classes, for a normal approximation: a matrix of 200 MB
MAX_DENSE_NUMBERS = 2**27  # in a sparse matrix that "auto" makes dense: 1 GB
MIN_ROWS_PER_COEFFICIENT = 20  # for a normal approximation
MAX_SAMPLING_SECONDS = 60.0  # if a normal approximation is accurate
# CPU seconds, measured by `benchmarks/run_time_forecast.py`: per sweep, per row and non-reference
# class, per number of a product of the covariates, with more rows than columns or more columns than
# rows
SWEEP_SECONDS = 1e-5
ROW_SECONDS = 3e-7
PRODUCT_SECONDS = 2e-10
WIDE_PRODUCT_SECONDS = 1e-10
TRAJECTORY_CELL_SECONDS = 4e-9  # per cell and class along trajectories

NORMAL_STEPS, NORMAL_STEPS_OF_FEW_ROWS = 20, 200  # steps of a normal approximation
# seconds of a step per cubed number of coefficients, and per second moment of a row
CUBE_SECONDS = 8e-10
MOMENT_SECONDS = 2.5e-10
DRAW_SECONDS = 2e-6  # per coefficient of a draw, including its summary

TRAJECTORIES = 2  # per sweep
MAX_TRAJECTORY_COEFFICIENTS = 600  # a matrix of 3 MB
# default sweeps per recorded draw
THIN_WITH_TRAJECTORIES = 1
THIN_TWO_CLASSES, THIN_MORE_CLASSES = 4, 10  # without trajectories


def has_few_rows(n_rows: float, n_coefficients: int) -> bool:
    """Return whether rows are too few for an accurate normal approximation."""
    return n_rows < MIN_ROWS_PER_COEFFICIENT * n_coefficients


def estimate_logit_sweep_seconds(n_rows: int, n_columns: int, n_classes: int) -> float:
    """Return the expected CPU seconds of one Gibbs sweep."""
    n_cells = n_rows * n_columns
    n_free_classes = n_classes - 1
    seconds_per_product = PRODUCT_SECONDS
    if n_columns > n_rows:
        seconds_per_product = WIDE_PRODUCT_SECONDS
    product_seconds = n_cells * min(n_rows, n_columns) * seconds_per_product
    seconds = SWEEP_SECONDS + n_free_classes * (ROW_SECONDS * n_rows + product_seconds)
    if count_trajectories(n_rows, n_columns, n_classes):
        seconds += TRAJECTORY_CELL_SECONDS * n_cells * n_classes
    return seconds


def estimate_approximation_seconds(n_rows: int, n_columns: int, n_classes: int) -> float:
    """Return the expected CPU seconds of a normal approximation.

    Few rows need many steps.
    """
    q = n_classes - 1
    n_steps = NORMAL_STEPS
    if has_few_rows(n_rows, n_columns * q):
        n_steps = NORMAL_STEPS_OF_FEW_ROWS
    return n_steps * (
        CUBE_SECONDS * (n_columns * q) ** 3
        + MOMENT_SECONDS * n_rows * n_columns**2 * q * (q + 1) / 2
    )


def choose_method(method: str, n_rows: int, n_columns: int, n_classes: int) -> str:
    """Return the method; "auto" is resolved by the size of the data.

    "auto" is "polya-gamma" if a default run takes less than a minute. A longer run is replaced by a
    normal approximation where it is close to the posterior, and anywhere if the run would exceed
    the budget of a fit, unless the normal approximation does.
    """
    if method != "auto":
        return method
    n_coefficients = n_columns * (n_classes - 1)
    if n_coefficients > MAX_COEFFICIENTS:
        return "polya-gamma"
    max_seconds = MAX_SAMPLING_SECONDS
    if has_few_rows(n_rows, n_coefficients):
        max_seconds = BUDGET
    if estimate_sampling_seconds(n_rows, n_columns, n_classes) <= max_seconds:
        return "polya-gamma"
    n_min_sweeps = 4 * 2 * MIN_DRAWS  # of a run within the budget
    min_seconds = max(
        BUDGET, n_min_sweeps * estimate_logit_sweep_seconds(n_rows, n_columns, n_classes)
    )
    if estimate_approximation_seconds(n_rows, n_columns, n_classes) < min_seconds:
        return "variational"
    return "polya-gamma"


def estimate_sampling_seconds(n_rows: int, n_columns: int, n_classes: int) -> float:
    """Return the expected CPU seconds of a default run of the Gibbs sampler."""
    n_sweeps = 4 * 2 * FIRST_DRAWS * choose_logit_thin(n_rows, n_columns, n_classes)
    return n_sweeps * estimate_logit_sweep_seconds(n_rows, n_columns, n_classes)


def refuse_large_sparse_matrix(shape: tuple[int, int], n_columns: int, n_classes: int) -> None:
    """Raise DataError if a sparse matrix is too large to be made dense.

    The Gibbs sampler requires a dense matrix.
    """
    n_coefficients = n_columns * (n_classes - 1)
    if (
        shape[0] * shape[1] > MAX_DENSE_NUMBERS
        or estimate_sampling_seconds(shape[0], n_columns, n_classes) > BUDGET
    ):
        raise DataError(
            f"X is a sparse matrix of shape {shape}, too large for posterior draws with ",
            Setting("method", "auto"),
            f" ({n_coefficients:,} coefficients over all classes); set ",
            Setting("method", "map"),
            ", or pass X.toarray().",
        )


def choose_logit_thin(n_rows: int, n_columns: int, n_classes: int) -> int:
    """Return the default number of sweeps per recorded draw."""
    if count_trajectories(n_rows, n_columns, n_classes):
        return THIN_WITH_TRAJECTORIES
    if n_classes == 2:
        return THIN_TWO_CLASSES
    return THIN_MORE_CLASSES


def count_trajectories(n_rows: int, n_columns: int, n_classes: int) -> int:
    """Return the number of Hamiltonian trajectories per sweep.

    It is 0 where they cannot move all coefficients or are slower than sweeps.
    """
    if n_columns > n_rows or n_columns * (n_classes - 1) > MAX_TRAJECTORY_COEFFICIENTS:
        return 0
    return TRAJECTORIES
