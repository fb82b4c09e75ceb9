r"""Class probabilities under independent Gamma weights, by an integral over one variable.

.. math:: E\frac{A_k}{\sum_l A_l} = \int_0^\infty \prod_{lj} (1 + tW_j/b_j)^{-a_{lj}}
          \sum_j \frac{W_j a_{kj}}{b_j + tW_j}\, dt, \qquad A_k = \sum_j W_j \lambda_{kj}

It is summed over equal steps of ln t, whose error falls as exp(−π²/step): the integrand is smooth and never narrow.
"""

import math

import numpy as np

from thali._jit import compiled

_STEP = 0.3
_ENDS = 45.0  # of ln t on either side of its typical value
_NOTHING = 1e-16  # of the sum


@compiled
def _integrate(W, shapes, totals, rates, probabilities):
    classes, p = shapes.shape
    for i in range(W.shape[0]):
        size = 0.0
        for j in range(p):
            size += W[i, j] * totals[j] / rates[j]
        centre = -math.log(max(size, 1e-300))
        for k in range(classes):
            probabilities[i, k] = 0.0
        total = 0.0
        for way in range(2):  # up from the centre, then down
            place = 0 if way == 0 else -1
            while abs(place) * _STEP < _ENDS:
                t = math.exp(centre + place * _STEP)
                log_product = 0.0
                for j in range(p):
                    log_product -= totals[j] * math.log1p(t * W[i, j] / rates[j])
                height = t * math.exp(log_product)
                part = 0.0
                for k in range(classes):
                    slope = 0.0
                    for j in range(p):
                        slope += W[i, j] * shapes[k, j] / (rates[j] + t * W[i, j])
                    probabilities[i, k] += height * slope
                    part += height * slope
                total += part
                if part < _NOTHING * total:
                    break
                place += 1 if way == 0 else -1
        for k in range(classes):
            probabilities[i, k] /= total


def expected_probabilities(W: np.ndarray, shapes: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Expected class probabilities of rows of W when λ_kj ~ Gamma(a_kj, b_j).

    Parameters
    ----------
    W : array (n, p), not negative
        No row of zeros.
    shapes : array (K, p)
    rates : array (p,)

    Returns
    -------
    array (n, K)

    Example
    -------
    Two weights of one column each are a Beta variable:

    >>> expected_probabilities(np.ones((1, 1)), np.array([[3.0], [1.0]]), np.ones(1)).round(12).tolist()
    [[0.75, 0.25]]
    """
    W = np.ascontiguousarray(W, np.float64)
    probabilities = np.empty((len(W), len(shapes)))
    _integrate(W, np.ascontiguousarray(shapes), shapes.sum(axis=0), np.ascontiguousarray(rates), probabilities)
    return probabilities
