r"""Class probabilities under independent Gamma weights, by an integral over one variable.

.. math:: E\frac{A_k}{\sum_l A_l} = \int_0^\infty \prod_{lj} (1 + tW_j/b_j)^{-a_{lj}}
          \sum_j \frac{W_j a_{kj}}{b_j + tW_j}\, dt, \qquad A_k = \sum_j W_j \lambda_{kj}

It is summed over equal steps of ln t, whose error falls as exp(−π²/step): the integrand is smooth and never narrow. But
it may be very wide, since the product falls no faster than t to the power −Σ a of the active columns: a column whose W
is e^-60 becomes active at t = e^60. Between two columns every step shrinks the integrand by the same factor, and the
steps up to the next column are a geometric series.
"""

import math
from typing import Any

import numpy as np

from thali.compile.jit import compiled, scalar

_STEP = 0.3
_NOTHING = 40.0  # e to the minus this is negligible beside 1


@scalar
def _steps_to_spare(at: Any, logs: Any, i: Any, margins: Any) -> Any:
    """Steps from ln t = at until a column becomes active; 0 while one does, infinity if none is left."""
    free = math.inf
    for j in range(logs.shape[1]):
        x = at + logs[i, j]
        if x < margins[j]:
            free = min(free, math.floor((-margins[j] - x) / _STEP))
    return max(free, 0.0)


@compiled
def _integrate(logs: Any, shapes: Any, totals: Any, margins: Any, slopes: Any, probabilities: Any) -> None:
    """Add the integrals of every row to its probabilities; `logs` are those of W / b, 0 the largest of a row."""
    classes, p = shapes.shape
    for i in range(logs.shape[0]):
        size = 0.0
        for j in range(p):
            size += totals[j] * math.exp(logs[i, j])
        at = -_NOTHING - math.log(size)
        log_product = 0.0
        while log_product > -_NOTHING:
            log_product = 0.0
            fall = 0.0
            for k in range(classes):
                slopes[k] = 0.0
            for j in range(p):
                x = at + logs[i, j]
                small = math.exp(-abs(x))
                share = (1.0 if x > 0.0 else small) / (1.0 + small)  # tW/(b + tW)
                log_product -= totals[j] * (max(x, 0.0) + math.log1p(small))
                fall += totals[j] * share
                for k in range(classes):
                    slopes[k] += shapes[k, j] * share
            alike = _steps_to_spare(at, logs, i, margins)
            height = _STEP * math.exp(log_product)
            if alike > 0.0:  # 1 + q + q² + ..., also the first of the steps that follow
                height *= math.expm1(-fall * _STEP * (alike + 1.0)) / math.expm1(-fall * _STEP)
            for k in range(classes):
                probabilities[i, k] += height * slopes[k]
            if alike == math.inf:
                break
            at += _STEP * (alike + 1.0)


def undivided(logs: np.ndarray, shapes: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """The integrals for rows of ln W, shape (n, K), before they are divided by their sum, which is 1 but for rounding.

    Parameters and result as in `expected_from_logs`.
    """
    logs = logs - np.log(rates)
    logs -= logs.max(axis=1, keepdims=True)  # a factor of t
    shapes = np.ascontiguousarray(shapes, np.float64)
    totals = shapes.sum(axis=0)
    margins = _NOTHING + np.log(np.maximum(totals, 1.0))
    probabilities = np.zeros((len(logs), len(shapes)))
    _integrate(logs, shapes, totals, margins, np.zeros(len(shapes)), probabilities)
    return probabilities


def expected_from_logs(logs: np.ndarray, shapes: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Expected class probabilities of rows of W, given ln W, when λ_kj ~ Gamma(a_kj, b_j)."""
    found = undivided(np.asarray(logs, np.float64), shapes, rates)
    return found / found.sum(axis=1, keepdims=True)


def expected_probabilities(W: np.ndarray, shapes: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Expected class probabilities of rows of W when λ_kj ~ Gamma(a_kj, b_j)."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(W, np.float64))
    return expected_from_logs(logs, shapes, rates)
