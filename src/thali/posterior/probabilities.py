"""Choice probabilities of posterior draws, in plain NumPy: many draws and many pairs at once."""

from collections.abc import Iterator

import numpy as np

from thali.posterior.columns import Columns

# Numbers held at once by a block of draws: 16 MiB as float64.
BLOCK = 2**21


def advantages(
    features: np.ndarray,
    weights: np.ndarray,
    unique_weights: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Weight of what each option of a pair has and the other lacks.

    A_ij = sum_k w_k f_ik (1 - f_jk) + u_i

    Parameters
    ----------
    features : bool array (draws, K, n)
    weights : array (draws, K), >= 0
    unique_weights : array (draws, n), >= 0
        Weight of the aspect that each option has alone; zeros where there is none.
    first, second : int arrays (pairs,), 0..n-1

    Returns
    -------
    A_ij, A_ji : arrays (draws, pairs)
        i from `first`, j from `second`; exactly 0 where i has nothing that j lacks.

    References
    ----------
    Görür, Jäkel & Rasmussen (2006), eq. 1.

    Example
    -------
    >>> import numpy as np
    >>> shared = np.array([[[True, True, False]]])  # one draw, one feature, three options
    >>> first, second = np.array([0, 0]), np.array([1, 2])
    >>> a, b = advantages(shared, np.array([[2.0]]), np.ones((1, 3)), first, second)
    >>> a.tolist(), b.tolist()
    ([[1.0, 3.0]], [[1.0, 1.0]])
    """
    first, second = np.asarray(first, dtype=np.intp), np.asarray(second, dtype=np.intp)
    n = features.shape[-1]
    if n * n <= 4 * len(first):  # most pairs are wanted: one matrix product has them all
        lacking = (~features).astype(float)
        having = np.where(features, weights[:, :, None], 0.0)
        everything = having.transpose(0, 2, 1) @ lacking
        ij, ji = everything[:, first, second], everything[:, second, first]
    else:
        ij = np.zeros((len(features), len(first)))
        ji = np.zeros_like(ij)
        for k in range(features.shape[1]):
            of_first, of_second = features[:, k, first], features[:, k, second]
            weight = weights[:, k, None]
            ij += np.where(of_first & ~of_second, weight, 0.0)
            ji += np.where(of_second & ~of_first, weight, 0.0)
    return ij + unique_weights[:, first], ji + unique_weights[:, second]


def lapsing(ij: np.ndarray, ji: np.ndarray, lapse: float) -> np.ndarray:
    """Probability that i is chosen, from the two advantages.

    p̃ = (1 - ε) A_ij / (A_ij + A_ji) + ε/2, the fraction being 1/2 where both are 0

    Parameters
    ----------
    ij, ji : arrays of one shape, >= 0
    lapse : float in [0, 1)

    Returns
    -------
    array of that shape, in [0, 1]

    References
    ----------
    Görür, Jäkel & Rasmussen (2006), eq. 1; the lapse ε of their section 4.

    Example
    -------
    >>> import numpy as np
    >>> lapsing(np.array([3.0, 0.0]), np.array([1.0, 0.0]), 0.5).tolist()
    [0.625, 0.5]
    """
    total = ij + ji
    fraction = np.divide(ij, total, out=np.full(np.shape(total), 0.5), where=total > 0)
    return (1 - lapse) * fraction + lapse / 2


def advantage_blocks(
    columns: Columns, first: np.ndarray, second: np.ndarray
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """The two advantages of each pair, block of draws by block of draws, so that memory stays bounded.

    Parameters
    ----------
    columns : Columns
    first, second : int arrays (pairs,)

    Yields
    ------
    draws : slice
    A_ij, A_ji : arrays (draws in the block, pairs)
    """
    options, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    first, second = np.split(place, 2)
    width, m = int(columns.n_features.max(initial=0)), len(options)
    for draws in _blocks(columns.n_draws, width * m + min(m * m, 4 * len(first)) + len(first)):
        features, weights = columns.dense(draws.start, draws.stop, options)
        unique_weights = columns.unique_weights[draws][:, options]
        yield draws, *advantages(features, weights, unique_weights, first, second)


def probability_draws(columns: Columns, first: np.ndarray, second: np.ndarray, lapse: float) -> np.ndarray:
    """Probability that the first option of each pair is chosen over the second, draw by draw.

    Parameters
    ----------
    columns : Columns
    first, second : int arrays (pairs,), option indices
    lapse : float in [0, 1)

    Returns
    -------
    array (draws, pairs), in [0, 1]
    """
    probabilities = np.empty((columns.n_draws, len(first)))
    for draws, ij, ji in advantage_blocks(columns, np.asarray(first), np.asarray(second)):
        probabilities[draws] = lapsing(ij, ji, lapse)
    return probabilities


def mean_probabilities(columns: Columns, first: np.ndarray, second: np.ndarray, lapse: float) -> np.ndarray:
    """Posterior mean of the probability that the first option of each pair is chosen over the second.

    Parameters
    ----------
    columns : Columns
        The features of the draws; `columns_of(tree)` has them.
    first, second : int arrays (pairs,), option indices
    lapse : float in [0, 1)

    Returns
    -------
    array (pairs,), in [0, 1]

    Example
    -------
    >>> import numpy as np
    >>> none = np.zeros(0, dtype=int)
    >>> unique_weights = np.array([[3.0, 1.0], [1.0, 3.0]])  # two draws, two options, no other feature
    >>> draws = Columns(np.zeros(2, dtype=int), none.astype(float), none, none, unique_weights)
    >>> mean_probabilities(draws, np.array([0]), np.array([1]), lapse=0.01).tolist()
    [0.5]
    """
    total = np.zeros(len(first))
    for _, ij, ji in advantage_blocks(columns, np.asarray(first), np.asarray(second)):
        total += lapsing(ij, ji, lapse).sum(axis=0)
    return total / columns.n_draws


def _blocks(draws: int, numbers_per_draw: int) -> Iterator[slice]:
    """Slices over the draws, each of at most BLOCK numbers."""
    step = max(1, BLOCK // max(1, numbers_per_draw))
    for start in range(0, draws, step):
        yield slice(start, min(start + step, draws))
