r"""Draws of regression coefficients from their Normal conditional, given Gaussian pseudo-observations.

The precision is :math:`X^T\Omega X + D^{-1}` and its product with the mean :math:`X^T p`, with a diagonal Omega and D.
Both methods factor a matrix I + S G S, whose eigenvalues are 1 or more: tiny and huge variances do no harm.
"""

import math
from typing import Any

from thali.compile.jit import scalar, vectorised


@vectorised
def inner(A: Any, i: Any, B: Any, j: Any, n: Any) -> Any:
    """Sum over l < n of A[i, l] B[j, l]."""
    total = 0.0
    for place in range(n):
        total += A[i, place] * B[j, place]
    return total


@vectorised
def applied(A: Any, i: Any, v: Any, n: Any) -> Any:
    """Sum over l < n of A[i, l] v[l]."""
    total = 0.0
    for place in range(n):
        total += A[i, place] * v[place]
    return total


@scalar
def draw_tall(
    rng: Any, A: Any, weights: Any, pull: Any, variances: Any, scaled: Any, G: Any, right: Any, out: Any
) -> None:
    """A draw of the coefficients into `out` by a factorisation with a row for each of them.

    A : (m, n) covariates, one row a covariate. weights : (n,) the diagonal of Omega. pull : (n,) p. variances : (m,)
    the diagonal of D. scaled, G, right : room of shapes (m, n), (m, m), (m,).
    """
    m, n = A.shape
    _weighted_gram(A, weights, scaled, G)
    for j in range(m):
        right[j] = math.sqrt(variances[j])
    factor(G, right)
    for j in range(m):
        out[j] = right[j] * applied(A, j, pull, n)
    forward(G, out)
    for j in range(m):
        out[j] += rng.standard_normal()
    backward(G, out)
    for j in range(m):
        out[j] *= right[j]


@scalar
def draw_wide(
    rng: Any, A: Any, weights: Any, pull: Any, variances: Any, scaled: Any, G: Any, right: Any, out: Any
) -> None:
    """The same for more coefficients than observations, with a row of the factorisation for each observation.

    A : (n, m) covariates, one row an observation. scaled, G, right : room of shapes (n, m), (n, n), (n,).

    References: Bhattacharya, Chakraborty & Mallick (2016), Fast sampling with Gaussian scale mixture priors in
    high-dimensional regression, algorithm 1.
    """
    n, m = A.shape
    _weighted_gram(A, variances, scaled, G)
    for i in range(n):
        right[i] = math.sqrt(weights[i])
    factor(G, right)
    for j in range(m):
        out[j] = math.sqrt(variances[j]) * rng.standard_normal()
    for i in range(n):
        root = math.sqrt(weights[i])
        right[i] = pull[i] / root - root * applied(A, i, out, m) - rng.standard_normal()
    forward(G, right)
    backward(G, right)
    for i in range(n):
        step = math.sqrt(weights[i]) * right[i]
        for j in range(m):
            out[j] += step * scaled[i, j]


@scalar
def _weighted_gram(A: Any, diagonal: Any, scaled: Any, G: Any) -> None:
    """The lower triangle of A diag A^T into G, and A diag into `scaled`."""
    m, n = A.shape
    for i in range(m):
        for place in range(n):
            scaled[i, place] = A[i, place] * diagonal[place]
        for j in range(i + 1):
            G[i, j] = inner(scaled, i, A, j, n)


@scalar
def factor(G: Any, scale: Any) -> None:
    """The Cholesky factor of I + S G S in place of the lower triangle of G, S the diagonal matrix of `scale`."""
    for i in range(G.shape[0]):
        for j in range(i):
            G[i, j] = (scale[i] * scale[j] * G[i, j] - inner(G, i, G, j, j)) / G[j, j]
        G[i, i] = math.sqrt(max(1.0, 1.0 + scale[i] * scale[i] * G[i, i] - inner(G, i, G, i, i)))


@scalar
def forward(L: Any, b: Any) -> None:
    """Solve L x = b in place."""
    for i in range(b.size):
        b[i] = (b[i] - applied(L, i, b, i)) / L[i, i]


@scalar
def backward(L: Any, b: Any) -> None:
    """Solve L^T x = b in place."""
    for i in range(b.size - 1, -1, -1):
        b[i] /= L[i, i]
        for j in range(i):
            b[j] -= L[i, j] * b[i]
