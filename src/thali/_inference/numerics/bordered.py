"""Positive definite matrices of blocks along a line, each coupled with the next on its diagonal,
and a border."""

from typing import NamedTuple

import numpy as np


class Bordered(NamedTuple):
    r"""The symmetric matrix of T blocks and m further rows.

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
        """Its diagonal."""
        return np.append(
            np.diagonal(self.blocks, axis1=1, axis2=2).ravel(), np.diagonal(self.corner)
        )

    def with_more(self, diagonal: np.ndarray) -> "Bordered":
        """The matrix with so much more along the diagonal."""
        blocks, corner = self.blocks.copy(), self.corner.copy()
        periods, n, _ = blocks.shape
        blocks[:, np.arange(n), np.arange(n)] += diagonal[: periods * n].reshape(periods, n)
        corner[np.diag_indices_from(corner)] += diagonal[periods * n :]
        return self._replace(blocks=blocks, corner=corner)

    def dense(self) -> np.ndarray:
        """All of it."""
        periods, n, _ = self.blocks.shape
        size = periods * n
        found = np.zeros((size + len(self.corner),) * 2)
        for t, block in enumerate(self.blocks):
            found[t * n : (t + 1) * n, t * n : (t + 1) * n] = block
        for t, coupling in enumerate(self.coupling):
            at = np.arange(t * n, (t + 1) * n)
            found[at, at + n] = found[at + n, at] = -coupling
        found[:size, size:], found[size:, :size], found[size:, size:] = (
            self.border,
            self.border.T,
            self.corner,
        )
        return found


class BorderedFactor:
    """The factor of such a matrix H: time and memory grow with the number of blocks, not with its
    square.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive definite.
    """

    log_determinant: float

    def __init__(self, matrix: Bordered) -> None:
        self._coupling, self._border = matrix.coupling, matrix.border
        self._roots, self._inverses = np.empty_like(matrix.blocks), np.empty_like(matrix.blocks)
        logs = 0.0
        for t, block in enumerate(matrix.blocks):
            if t:
                own = self._coupling[t - 1]
                block = block - own[:, None] * self._inverses[t - 1] * own
            self._roots[t], of_block = _inverse_root(block)
            np.matmul(self._roots[t], self._roots[t].T, out=self._inverses[t])
            logs += of_block
        self._across = self._solve_blocks(matrix.border)
        self._corner, of_corner = _inverse_root(matrix.corner - matrix.border.T @ self._across)
        self.log_determinant = 2.0 * (logs + of_corner)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """The solutions x of H x = right (size,), or of several, (size, columns)."""
        right, size = np.asarray(right), self._inverses.shape[0] * self._inverses.shape[1]
        inner = self._solve_blocks(right[:size])
        if not len(self._corner):
            return inner
        outer = self._corner @ (self._corner.T @ (right[size:] - self._border.T @ inner))
        return np.concatenate([inner - self._across @ outer, outer])

    @property
    def variances(self) -> np.ndarray:
        """The diagonal of H⁻¹, of a matrix of one block."""
        inner = np.diagonal(self._inverses[0]) + ((self._across @ self._corner) ** 2).sum(axis=1)
        return np.append(inner, (self._corner**2).sum(axis=1))

    def draw(self, normal: np.ndarray) -> np.ndarray:
        """Vectors of covariance H⁻¹ from standard normal ones (size, columns)."""
        periods, n, _ = self._roots.shape
        found = np.empty_like(normal)
        for t in range(periods - 1, -1, -1):
            at = slice(t * n, (t + 1) * n)
            found[at] = self._roots[t] @ normal[at]
            if t < periods - 1:
                found[at] += self._inverses[t] @ (
                    self._coupling[t][:, None] * found[at.stop : at.stop + n]
                )
        size = periods * n
        if len(self._corner):
            found[size:] = self._corner @ normal[size:]
            found[:size] -= self._across @ found[size:]
        return found

    def _solve_blocks(self, right: np.ndarray) -> np.ndarray:
        """The same for the blocks alone."""
        periods, n, _ = self._inverses.shape
        found = right.reshape(periods, n, -1).astype(float)
        for t in range(1, periods):
            found[t] += self._coupling[t - 1][:, None] * (self._inverses[t - 1] @ found[t - 1])
        found[-1] = self._inverses[-1] @ found[-1]
        for t in range(periods - 2, -1, -1):
            found[t] = self._inverses[t] @ (found[t] + self._coupling[t][:, None] * found[t + 1])
        return found.reshape(right.shape)


def _inverse_root(matrix: np.ndarray) -> tuple[np.ndarray, float]:
    """The upper W with W W' the inverse of a matrix, and half the log of its determinant."""
    # Products with it take a thousandth of the time of LAPACK's solutions where the matrix is small
    # and there are several threads.
    from scipy.linalg import cholesky
    from scipy.linalg.lapack import dtrtri  # pyright: ignore[reportAttributeAccessIssue]

    if not len(matrix):
        return matrix, 0.0
    if not np.isfinite(matrix).all():
        raise np.linalg.LinAlgError("the matrix is not finite")
    root = cholesky(matrix, check_finite=False)
    return dtrtri(root)[0], float(np.log(np.diagonal(root)).sum())
