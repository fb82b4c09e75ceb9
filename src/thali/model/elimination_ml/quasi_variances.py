"""Variances of single options from which that of every difference of two follows, nearly."""

import numpy as np

_STEPS = 200


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
    q = np.full(n, wanted[others].mean() / 2.0)
    for _ in range(_STEPS):
        sums = np.where(others, q[:, None] + q, np.inf)
        slope = 1.0 / sums
        misfit = np.where(others, np.log(wanted, where=others, out=np.zeros_like(wanted)) - np.log(sums), 0.0)
        step = np.linalg.solve(slope**2 + np.diag((slope**2).sum(axis=1)), (slope * misfit).sum(axis=1))
        while not ((q + step)[:, None] + (q + step) > 0.0)[others].all():
            step /= 2.0
        q = q + step
        if np.abs(step).max() <= 1e-12 * np.abs(q).max():
            break
    return q
