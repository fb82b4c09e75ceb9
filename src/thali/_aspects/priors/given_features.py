"""Given features: only their weights are learned."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._compile.jit import register_answers
from thali.errors import ArgumentError

from .. import kernel_operations
from ..chain_state import ALPHA, FeatureState
from .indian_buffet import store_alpha
from .shared_features import select_shared_columns

if TYPE_CHECKING:
    from ..draws.feature_columns import FeatureColumns


@dataclass(frozen=True, eq=False)
class Given:
    """A prior of a given ownership matrix, so that only weights are learned.

    Parameters
    ----------
    matrix : array of 0/1, shape (N, K)
        Options by features; K may be 0.

    Raises
    ------
    ArgumentError
        If it is not a matrix, or holds anything but 0 and 1.

    Examples
    --------
    >>> from thali.priors import Given
    >>> Given([[1, 0], [1, 1]]).matrix.sum(0)
    array([2, 1])
    """

    matrix: np.ndarray
    is_infinite = False
    learns_alpha = False

    def __post_init__(self) -> None:
        """Raise ArgumentError unless `matrix` is 0/1; store it as booleans."""
        matrix = np.asarray(self.matrix)
        if matrix.ndim != 2 or not np.isin(matrix, (0, 1)).all():
            wrong_value = ""
            if matrix.ndim == 2:
                wrong_value = f" with the value {matrix[~np.isin(matrix, (0, 1))][0]}"
            raise ArgumentError(
                "The aspects must be a 0/1 matrix, options by aspects; got shape"
                f" {matrix.shape}{wrong_value}."
            )
        object.__setattr__(self, "matrix", matrix.astype(bool))

    def usual_columns(self, n: int) -> float:
        """Return the number of given features, for any number of options."""
        return float(self.matrix.shape[1])

    def compiled(self, n: int) -> "GivenColumns":
        """Return the given matrix for n options as kernels read it."""
        self.check_rows(n)
        return GivenColumns(self.matrix.shape[1])

    def check_rows(self, n: int) -> None:
        """Raise DataError unless the matrix has one row for each of n options."""
        if self.matrix.shape[0] != n:
            raise ArgumentError(
                f"The aspect matrix has {self.matrix.shape[0]} rows, but the data have {n}"
                " options; give one row per option."
            )

    def sample(self, n: int, alpha: float, rng: np.random.Generator) -> np.ndarray:
        """Return the given matrix, bool of shape (N, K); ignore `alpha` and `rng`."""
        return self.matrix

    def log_prob(self, matrix: np.ndarray, alpha: float) -> float:
        """Return 0 for the given matrix, minus infinity for any other matrix."""
        if np.array_equal(np.asarray(matrix, bool), self.matrix):
            return 0.0
        return -np.inf

    def log_prob_of_draws(self, columns: "FeatureColumns", alpha: np.ndarray) -> np.ndarray:
        """Return zeros, shape (draws,): all draws have the given matrix."""
        return np.zeros(columns.n_draws)

    def log_prob_shared(self, matrix: np.ndarray, alpha: float) -> float:
        """Return 0 for the given columns with several owners, else minus infinity.

        Columns are compared in any order; columns with fewer than two owners are ignored in both
        matrices.
        """
        counts, given_counts = (
            Counter(column.tobytes() for column in select_shared_columns(ownership))
            for ownership in (matrix, self.matrix)
        )
        if counts == given_counts:
            return 0.0
        return -np.inf


class GivenColumns(NamedTuple):
    """Given features as kernels read them; nothing about ownership is random."""

    count: int  # type: ignore[override]


@kernel_operations.log_rate.register(GivenColumns)
def _log_rate(prior: GivenColumns, b: FeatureState, k: int, m: int) -> Any:
    """Return 0: the log probability of a given feature."""
    return 0.0


register_answers(
    GivenColumns,
    {
        kernel_operations.is_exchangeable: False,
        kernel_operations.keeps_empty: True,
        kernel_operations.may_flip: False,
    },
)


kernel_operations.set_alpha.register(GivenColumns)(store_alpha)


@kernel_operations.draw_alpha.register(GivenColumns)
def _draw_alpha(
    prior: GivenColumns, rng: np.random.Generator, b: FeatureState, columns: int, rate: float
) -> Any:
    """Return alpha unchanged: given features do not inform about it."""
    return b.real[ALPHA]
