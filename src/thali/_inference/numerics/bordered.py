"""Symmetric matrices of diagonally coupled blocks with a dense border, and their factors."""

from typing import NamedTuple

import numpy as np


class Bordered(NamedTuple):
    r"""Symmetric matrix of T diagonally coupled n x n blocks and m dense border rows.

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

    def add_diagonal(self, diagonal: np.ndarray) -> "Bordered":
        """Return the matrix with a vector added to its diagonal."""
        blocks, corner = self.blocks.copy(), self.corner.copy()
        periods, n, _ = blocks.shape
        blocks[:, np.arange(n), np.arange(n)] += diagonal[: periods * n].reshape(periods, n)
        corner[np.diag_indices_from(corner)] += diagonal[periods * n :]
        return self._replace(blocks=blocks, corner=corner)

    def assemble_dense(self) -> np.ndarray:
        """Return the matrix as a dense array (T n + m, T n + m)."""
        periods, n, _ = self.blocks.shape
        size = periods * n
        dense = np.zeros((size + len(self.corner),) * 2)
        for t, block in enumerate(self.blocks):
            dense[t * n : (t + 1) * n, t * n : (t + 1) * n] = block
        for t, coupling in enumerate(self.coupling):
            indices = np.arange(t * n, (t + 1) * n)
            dense[indices, indices + n] = dense[indices + n, indices] = -coupling
        dense[:size, size:], dense[size:, :size], dense[size:, size:] = (
            self.border,
            self.border.T,
            self.corner,
        )
        return dense


class BorderedFactor:
    """Factor of a `Bordered` matrix H; time and memory are linear in T.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive definite.
    """

    log_determinant: float

    def __init__(self, matrix: Bordered) -> None:
        self._coupling, self._border = matrix.coupling, matrix.border
        self._roots, self._inverses = np.empty_like(matrix.blocks), np.empty_like(matrix.blocks)
        log_roots = 0.0
        for t, block in enumerate(matrix.blocks):
            if t:
                coupling = self._coupling[t - 1]
                block = block - coupling[:, None] * self._inverses[t - 1] * coupling
            self._roots[t], log_root = _compute_inverse_root(block)
            np.matmul(self._roots[t], self._roots[t].T, out=self._inverses[t])
            log_roots += log_root
        self._across = self._solve_blocks(matrix.border)
        self._corner, log_corner_root = _compute_inverse_root(
            matrix.corner - matrix.border.T @ self._across
        )
        self.log_determinant = 2.0 * (log_roots + log_corner_root)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return x with H x = `right`, shape (size,) or (size, columns)."""
        right, size = np.asarray(right), self._inverses.shape[0] * self._inverses.shape[1]
        inner = self._solve_blocks(right[:size])
        if not len(self._corner):
            return inner
        outer = self._corner @ (self._corner.T @ (right[size:] - self._border.T @ inner))
        return np.concatenate([inner - self._across @ outer, outer])

    @property
    def variances(self) -> np.ndarray:
        """Diagonal of the inverse of H, for a single block."""
        inner = np.diagonal(self._inverses[0]) + ((self._across @ self._corner) ** 2).sum(axis=1)
        return np.append(inner, (self._corner**2).sum(axis=1))

    def draw(self, normal: np.ndarray) -> np.ndarray:
        """Return draws with covariance H⁻¹ from standard normal ones (size, columns)."""
        periods, n, _ = self._roots.shape
        draws = np.empty_like(normal)
        for t in range(periods - 1, -1, -1):
            rows = slice(t * n, (t + 1) * n)
            draws[rows] = self._roots[t] @ normal[rows]
            if t < periods - 1:
                draws[rows] += self._inverses[t] @ (
                    self._coupling[t][:, None] * draws[rows.stop : rows.stop + n]
                )
        size = periods * n
        if len(self._corner):
            draws[size:] = self._corner @ normal[size:]
            draws[:size] -= self._across @ draws[size:]
        return draws

    def _solve_blocks(self, right: np.ndarray) -> np.ndarray:
        """Return x with A x = `right`, where A is H without its border."""
        periods, n, _ = self._inverses.shape
        solution = right.reshape(periods, n, -1).astype(float)
        for t in range(1, periods):
            solution[t] += self._coupling[t - 1][:, None] * (
                self._inverses[t - 1] @ solution[t - 1]
            )
        solution[-1] = self._inverses[-1] @ solution[-1]
        for t in range(periods - 2, -1, -1):
            solution[t] = self._inverses[t] @ (
                solution[t] + self._coupling[t][:, None] * solution[t + 1]
            )
        return solution.reshape(right.shape)


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
