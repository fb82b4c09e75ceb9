r"""Kernels that draw regression coefficients from their normal full conditional.

The precision is :math:`X^T\Omega X + D^{-1}` and its product with the mean :math:`X^T p`, with a
diagonal Omega and D. Both methods factor a matrix I + S G S, whose eigenvalues are 1 or more, so
that tiny and huge variances are harmless.
"""

import math
from typing import Any

from thali._compile.jit import scalar, vectorised


@vectorised
def dot_rows(A: Any, i: Any, B: Any, j: Any, n: Any) -> Any:
    """Return the dot product of the first n entries of A[i] and B[j]."""
    total = 0.0
    for column in range(n):
        total += A[i, column] * B[j, column]
    return total


@vectorised
def dot_row_vector(A: Any, i: Any, v: Any, n: Any) -> Any:
    """Return the dot product of the first n entries of A[i] and v."""
    total = 0.0
    for column in range(n):
        total += A[i, column] * v[column]
    return total


@scalar
def draw_coefficients_by_column(rng: Any, A: Any, state: Any, variances: Any, coef: Any) -> None:
    """Draw coefficients by factorising an (m, m) matrix: few coefficients.

    A : (m, n) covariates, one row per covariate. variances : (m,) the diagonal of D. Of the state,
    weights is (n,) the diagonal of Omega, pull (n,) p; scaled, gram and right are work space of
    shapes (m, n), (m, m), (m,).
    """
    (m, n), G, right = A.shape, state.gram, state.right
    _compute_weighted_gram(A, state.weights, state.scaled, G)
    for j in range(m):
        right[j] = math.sqrt(variances[j])
    factorise_scaled_gram(G, right)
    for j in range(m):
        coef[j] = right[j] * dot_row_vector(A, j, state.pull, n)
    solve_lower_vectorised(G, coef)
    for j in range(m):
        coef[j] += rng.standard_normal()
    solve_lower_transposed(G, coef)
    for j in range(m):
        coef[j] *= right[j]


@scalar
def draw_coefficients_by_row(rng: Any, A: Any, state: Any, variances: Any, coef: Any) -> None:
    """Draw coefficients by factorising an (n, n) matrix: few observations.

    It is faster for more coefficients than observations.

    A : (n, m) covariates, one row per observation. scaled, gram and right of the state are work
    space of shapes (n, m), (n, n), (n,). Other arguments as in `draw_coefficients_by_column`.

    References: Bhattacharya, Chakraborty & Mallick (2016), Fast sampling with Gaussian scale
    mixture priors in high-dimensional regression, algorithm 1.
    """
    (n, m), weights, G, right = A.shape, state.weights, state.gram, state.right
    _compute_weighted_gram(A, variances, state.scaled, G)
    for i in range(n):
        right[i] = math.sqrt(weights[i])
    factorise_scaled_gram(G, right)
    for j in range(m):
        coef[j] = math.sqrt(variances[j]) * rng.standard_normal()
    for i in range(n):
        root = math.sqrt(weights[i])
        right[i] = (
            state.pull[i] / root - root * dot_row_vector(A, i, coef, m) - rng.standard_normal()
        )
    solve_lower_vectorised(G, right)
    solve_lower_transposed(G, right)
    for i in range(n):
        step = math.sqrt(weights[i]) * right[i]
        for j in range(m):
            coef[j] += step * state.scaled[i, j]


@scalar
def _compute_weighted_gram(A: Any, diagonal: Any, scaled: Any, G: Any) -> None:
    """Write the lower triangle of A diag A' to G, and A diag to `scaled`."""
    m, n = A.shape
    for i in range(m):
        for column in range(n):
            scaled[i, column] = A[i, column] * diagonal[column]
        for j in range(i + 1):
            G[i, j] = dot_rows(scaled, i, A, j, n)


@scalar
def factorise_scaled_gram(G: Any, scale: Any) -> None:
    """Replace G's lower triangle by the Cholesky factor of I + SGS.

    S is the diagonal matrix of `scale`.
    """
    for i in range(G.shape[0]):
        for j in range(i):
            G[i, j] = (scale[i] * scale[j] * G[i, j] - dot_rows(G, i, G, j, j)) / G[j, j]
        G[i, i] = math.sqrt(max(1.0, 1.0 + scale[i] * scale[i] * G[i, i] - dot_rows(G, i, G, i, i)))


@scalar
def solve_lower_vectorised(L: Any, b: Any) -> None:
    """Solve L x = b in place, L lower triangular."""
    for i in range(b.size):
        b[i] = (b[i] - dot_row_vector(L, i, b, i)) / L[i, i]


@scalar
def solve_lower_transposed(L: Any, b: Any) -> None:
    """Solve L' x = b in place, L lower triangular."""
    for i in range(b.size - 1, -1, -1):
        b[i] /= L[i, i]
        for j in range(i):
            b[j] -= L[i, j] * b[i]
