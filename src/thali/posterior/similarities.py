"""Similarities of posterior draws, in plain NumPy: many draws and many pairs at once."""

import numpy as np

from thali.posterior.columns import Columns
from thali.posterior.probabilities import BLOCK


def similarity_draws(columns: Columns, constant, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Similarity of each pair, draw by draw: the weights of the features that both own, and the constant.

    mu_ij = w_0 + sum_k w_k f_ik f_jk

    Parameters
    ----------
    columns : Columns
        The features of the draws.
    constant : array (draws,) or 0
    first, second : int arrays (pairs,), object indices

    Returns
    -------
    array (draws, pairs)

    References
    ----------
    Navarro & Griffiths (2007), eq. 2.

    Example
    -------
    >>> import numpy as np
    >>> draws = Columns(np.array([1]), np.array([0.5]), np.array([2]), np.array([0, 2]), np.zeros((1, 3)))
    >>> similarity_draws(draws, np.array([0.25]), np.array([0, 0]), np.array([1, 2])).tolist()
    [[0.25, 0.75]]
    """
    options, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    first, second = np.split(place, 2)
    similarity = np.zeros((columns.n_draws, len(first)))
    width = int(columns.n_features.max(initial=0))
    step = max(1, BLOCK // max(1, width * len(options) + len(first)))
    for start in range(0, columns.n_draws, step):
        stop = min(start + step, columns.n_draws)
        features, weights = columns.dense(start, stop, options)
        for k in range(features.shape[1]):
            both = features[:, k, first] & features[:, k, second]
            similarity[start:stop] += np.where(both, weights[:, k, None], 0.0)
    return similarity + np.reshape(constant, (-1, 1))
