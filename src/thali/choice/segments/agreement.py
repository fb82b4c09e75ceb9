"""How far two partitions of the same people agree."""

import numpy as np


def adjusted_rand(one: np.ndarray, other: np.ndarray) -> float:
    r"""The adjusted Rand index: 1 for the same partition, 0 on average for independent ones of the same sizes.

    .. math:: (R - E[R]) \Big/ \big(\tfrac12 (A + B) - E[R]\big), \quad R = \sum_{ij} \binom{n_{ij}}{2}, \;
        A = \sum_i \binom{n_i}{2}, \; B = \sum_j \binom{n_j}{2}, \; E[R] = A B \Big/ \binom{n}{2}
    """
    rows, columns = (np.unique(labels, return_inverse=True)[1] for labels in (one, other))
    table = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(table, (rows, columns), 1.0)
    together, first, second = (_pairs(counts).sum() for counts in (table, table.sum(axis=1), table.sum(axis=0)))
    expected = first * second / max(_pairs(np.array(float(len(rows)))), 1.0)
    most = 0.5 * (first + second)
    return float((together - expected) / (most - expected)) if most > expected else 1.0


def _pairs(counts: np.ndarray) -> np.ndarray:
    return counts * (counts - 1.0) / 2.0
