"""The information of a design about a multinomial logit, and the most that any design could have."""

from collections.abc import Sequence

import numpy as np


def columns_of(products: np.ndarray, sizes: Sequence[int], has_none: bool) -> np.ndarray:
    """Products (..., attributes) in the coding of `MultinomialLogit`: a column for each level but the first.

    With a no-choice option the first column is 1 in every product (`inside`).
    """
    parts = [np.ones((*products.shape[:-1], 1))] * has_none
    parts += [np.eye(size)[:, 1:][products[..., i]] for i, size in enumerate(sizes)]
    return np.concatenate(parts, axis=-1)


def with_none(matrix: np.ndarray) -> np.ndarray:
    """Tasks (..., alternatives, p) with the no-choice option as a further alternative."""
    return np.concatenate([matrix, np.zeros((*matrix.shape[:-2], 1, matrix.shape[-1]))], axis=-2)


def information(matrix: np.ndarray, beta: np.ndarray) -> np.ndarray:
    r"""Information of a choice in each task (..., alternatives, p), shape (..., p, p).

    .. math:: \sum_j p_j x_j x_j^T - \bar x \bar x^T, \qquad \bar x = \sum_j p_j x_j
    """
    utility = matrix @ beta
    odds = np.exp(utility - utility.max(axis=-1, keepdims=True))
    p = odds / odds.sum(axis=-1, keepdims=True)
    weighted = matrix * p[..., None]
    mean = weighted.sum(axis=-2)
    return np.swapaxes(weighted, -1, -2) @ matrix - mean[..., :, None] * mean[..., None, :]


def log_bound(sizes: Sequence[int], alternatives: np.ndarray, has_none: bool) -> float:
    r"""The log determinant of the information a task that no design exceeds where all utilities are 0.

    Among the M products of a task an attribute has each of its L levels n_l times, as evenly as can be. The trace of
    its information in indicators is T, averaged over tasks. The determinant is largest if all levels are alike, since
    its logarithm is concave, and that of all attributes if they are orthogonal. With a no-choice option J = M + 1,
    else J = M; the option adds the factor M / J^2.

    .. math:: T = \frac MJ \Big(1 - \frac1L\Big) - \frac{M^2}{J^2} \sum_l \Big(\frac{n_l}M - \frac1L\Big)^2, \qquad
        \det = \Big(\frac{T}{L - 1}\Big)^{L - 1} \frac1L
    """
    shown = alternatives + has_none
    total = float(np.log(np.mean(alternatives / shown**2))) if has_none else 0.0
    for size in sizes:
        even, more = np.divmod(alternatives, size)
        uneven = (more * (even + 1) ** 2 + (size - more) * even**2) / alternatives**2 - 1.0 / size
        trace = np.mean(alternatives / shown * (1.0 - 1.0 / size) - (alternatives / shown) ** 2 * uneven)
        total += float((size - 1) * np.log(trace / (size - 1)) - np.log(size))
    return total
