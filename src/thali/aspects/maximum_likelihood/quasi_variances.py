"""Variances of single options from which that of every difference of two follows, nearly."""

import numpy as np

from thali.inference.optimise.newton import Concave, maximum

_GAIN = 1e-24  # of the sum of squares: steps of Gauss and Newton are exact to twelve digits then


def quasi_variances(covariance: np.ndarray) -> np.ndarray:
    r"""The quasi-variances of estimates that are known up to a common constant.

    .. math::
        \min_q \sum_{i<j} \left( \log(q_i + q_j) - \log v_{ij} \right)^2, \qquad
        v_{ij} = V_{ii} + V_{jj} - 2 V_{ij}

    Standard errors depend on which option is the reference, quasi-variances do not, and the difference of any two
    options has a variance of about the sum of theirs.

    Parameters
    ----------
    covariance : array (n, n)
        V, of which only variances of differences matter.

    Returns
    -------
    array (n,)
        Not always positive, since no such variances need exist; NaN throughout where a difference has no variance.

    References
    ----------
    Firth & de Menezes (2004), Quasi-variances. Biometrika 91.

    Examples
    --------
    >>> quasi_variances(np.array([[0.10, 0.03, 0.02], [0.03, 0.20, 0.05], [0.02, 0.05, 0.15]])).round(6).tolist()
    [0.1, 0.14, 0.11]
    """
    n = len(covariance)
    own = np.diag(covariance)
    wanted = own[:, None] + own - 2.0 * covariance
    others = ~np.eye(n, dtype=bool)
    if n < 2 or not (wanted[others] > 0.0).all():
        return np.full(n, np.nan)
    if n == 2:
        return np.full(2, wanted[0, 1] / 2.0)
    logs = np.log(wanted, where=others, out=np.zeros_like(wanted))

    def at(q: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Minus half the sum of squares, its gradient and the information of Gauss and Newton."""
        sums = np.where(others, q[:, None] + q, 1.0)
        if not (sums > 0.0).all():
            return -np.inf, q, np.eye(n)
        slope, misfit = others / sums, logs - np.log(sums)
        squared = slope**2
        return -0.25 * float((misfit**2).sum()), (slope * misfit).sum(1), squared + np.diag(squared.sum(1))

    return maximum(Concave(at), np.full(n, wanted[others].mean() / 2.0), _GAIN).where
