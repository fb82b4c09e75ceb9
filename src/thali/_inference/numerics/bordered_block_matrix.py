"""Symmetric matrices of diagonally coupled blocks with a dense border, and their factors."""

from typing import NamedTuple

import numpy as np


class BorderedBlocks(NamedTuple):
    r"""Symmetric matrix of T dense n x n blocks, coupled by diagonal blocks, with m dense border
    rows.

    .. math::
        \begin{pmatrix} A & B \\ B^T & C \end{pmatrix}, \qquad
        A_{tt} = \mathrm{blocks}_t, \qquad A_{t, t+1} = -\mathrm{diag}(\mathrm{coupling}_t)
    """

    blocks: np.ndarray  # (T, n, n)
    coupling: np.ndarray  # (T - 1, n)
    border: np.ndarray  # (T n, m)
    corner: np.ndarray  # (m, m)

    @property
    def diagonal(self) -> np.ndarray:
        """Diagonal of the matrix, shape (T n + m,)."""
        return np.append(
            np.diagonal(self.blocks, axis1=1, axis2=2).ravel(), np.diagonal(self.corner)
        )

    def add_diagonal(self, diagonal: np.ndarray) -> "BorderedBlocks":
        """Return the matrix with a vector added to its diagonal."""
        blocks = self.blocks.copy()
        corner = self.corner.copy()
        periods, n, _ = blocks.shape
        blocks[:, np.arange(n), np.arange(n)] += diagonal[: periods * n].reshape(periods, n)
        corner[np.diag_indices_from(corner)] += diagonal[periods * n :]
        return self._replace(blocks=blocks, corner=corner)

    def assemble_dense(self) -> np.ndarray:
        """Return the matrix as a dense array (T n + m, T n + m)."""
        periods, n, _ = self.blocks.shape
        n_block_rows = periods * n
        dense = np.zeros((n_block_rows + len(self.corner),) * 2)
        for t, block in enumerate(self.blocks):
            dense[t * n : (t + 1) * n, t * n : (t + 1) * n] = block
        for t, coupling in enumerate(self.coupling):
            indices = np.arange(t * n, (t + 1) * n)
            dense[indices, indices + n] = dense[indices + n, indices] = -coupling
        (
            dense[:n_block_rows, n_block_rows:],
            dense[n_block_rows:, :n_block_rows],
            dense[n_block_rows:, n_block_rows:],
        ) = (
            self.border,
            self.border.T,
            self.corner,
        )
        return dense


class BorderedFactor:
    """Factor of a `BorderedBlocks` matrix H; time and memory are linear in T.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive definite.
    """

    log_determinant: float

    def __init__(self, matrix: BorderedBlocks) -> None:
        self._coupling = matrix.coupling
        self._border = matrix.border
        self._roots = np.empty_like(matrix.blocks)
        self._inverses = np.empty_like(matrix.blocks)
        sum_log_roots = 0.0
        for t, block in enumerate(matrix.blocks):
            if t:
                coupling = self._coupling[t - 1]
                block = block - coupling[:, None] * self._inverses[t - 1] * coupling
            self._roots[t], log_root = _compute_inverse_root(block)
            np.matmul(self._roots[t], self._roots[t].T, out=self._inverses[t])
            sum_log_roots += log_root
        self._across = self._solve_blocks(matrix.border)
        self._corner, log_corner_root = _compute_inverse_root(
            matrix.corner - matrix.border.T @ self._across
        )
        self.log_determinant = 2.0 * (sum_log_roots + log_corner_root)

    def solve(self, right_side: np.ndarray) -> np.ndarray:
        """Return x with H x = `right_side`, shape (size,) or (size, columns)."""
        right_side = np.asarray(right_side)
        n_block_rows = self._inverses.shape[0] * self._inverses.shape[1]
        block_solution = self._solve_blocks(right_side[:n_block_rows])
        if not len(self._corner):
            return block_solution
        border_solution = self._corner @ (
            self._corner.T @ (right_side[n_block_rows:] - self._border.T @ block_solution)
        )
        return np.concatenate([block_solution - self._across @ border_solution, border_solution])

    @property
    def variances(self) -> np.ndarray:
        """Diagonal of the inverse of H, for a single block."""
        block_variances = np.diagonal(self._inverses[0]) + ((self._across @ self._corner) ** 2).sum(
            axis=1
        )
        return np.append(block_variances, (self._corner**2).sum(axis=1))

    def draw(self, normal_draws: np.ndarray) -> np.ndarray:
        """Return draws with covariance H⁻¹ from standard normal ones (size, columns)."""
        periods, n, _ = self._roots.shape
        draws = np.empty_like(normal_draws)
        for t in range(periods - 1, -1, -1):
            block_rows = slice(t * n, (t + 1) * n)
            draws[block_rows] = self._roots[t] @ normal_draws[block_rows]
            if t < periods - 1:
                draws[block_rows] += self._inverses[t] @ (
                    self._coupling[t][:, None] * draws[block_rows.stop : block_rows.stop + n]
                )
        n_block_rows = periods * n
        if len(self._corner):
            draws[n_block_rows:] = self._corner @ normal_draws[n_block_rows:]
            draws[:n_block_rows] -= self._across @ draws[n_block_rows:]
        return draws

    def _solve_blocks(self, right_side: np.ndarray) -> np.ndarray:
        """Solve A x = `right_side` for the coupled blocks A, by a forward and a backward sweep."""
        periods, n, _ = self._inverses.shape
        solution = right_side.reshape(periods, n, -1).astype(float)
        if not self._coupling.any():
            return np.matmul(self._inverses, solution).reshape(right_side.shape)
        for t in range(1, periods):
            solution[t] += self._coupling[t - 1][:, None] * (
                self._inverses[t - 1] @ solution[t - 1]
            )
        solution[-1] = self._inverses[-1] @ solution[-1]
        for t in range(periods - 2, -1, -1):
            solution[t] = self._inverses[t] @ (
                solution[t] + self._coupling[t][:, None] * solution[t + 1]
            )
        return solution.reshape(right_side.shape)


def _compute_inverse_root(matrix: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the upper W with W W' = matrix⁻¹, and half of ln det(matrix)."""
    # Products with the root of a small matrix take a thousandth of the time of LAPACK's solutions
    # on several threads.
    from scipy.linalg import cholesky
    from scipy.linalg.lapack import dtrtri  # pyright: ignore[reportAttributeAccessIssue]

    if not len(matrix):
        return matrix, 0.0
    if not np.isfinite(matrix).all():
        raise np.linalg.LinAlgError("the matrix is not finite")
    root = cholesky(matrix, check_finite=False)
    return dtrtri(root)[0], float(np.log(np.diagonal(root)).sum())
