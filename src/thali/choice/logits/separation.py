"""Whether the likelihood of a logit has a finite maximum."""

import numpy as np

from .logit import Tasks

_SUSPICIOUS = 12.0  # difference of two utilities within a task


def separating_columns(tasks: Tasks, beta: np.ndarray) -> np.ndarray:
    r"""Columns along which the likelihood rises without end.

    .. math:: \max_d \sum_i z_i^T d \quad \text{subject to} \quad z_i^T d \ge 0, \; -1 \le d \le 1, \qquad
        z_i = x^*_t - x_{tj}
    """
    u = tasks.matrix @ beta
    starts = tasks.first_row[:-1]
    if (np.maximum.reduceat(u, starts) - np.minimum.reduceat(u, starts)).max() < _SUSPICIOUS:
        return np.empty(0, dtype=np.int64)
    from scipy.optimize import linprog

    z = tasks.matrix[tasks.chosen_row][tasks.task_of_row] - tasks.matrix
    z = np.unique(z[np.any(z != 0, axis=1)], axis=0)
    z = z / np.abs(z).max(axis=0, initial=1e-300)
    found = linprog(-z.sum(axis=0), A_ub=-z, b_ub=np.zeros(len(z)), bounds=(-1.0, 1.0), method="highs")
    if found.x is None or -found.fun < 1e-7:
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(np.abs(found.x) > 1e-6)
