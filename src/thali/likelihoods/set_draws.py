"""Choice probabilities out of sets, draw by draw, by the arithmetic of the samplers."""

import numpy as np

from thali._jit import compiled
from thali.errors import DataError
from thali.likelihoods.sets import LARGEST, empty_cache, lay_out, set_shares
from thali.mcmc.bag import COLUMNS, clear_row, empty_bag
from thali.posterior.columns import Columns

BLOCK = 2**21  # numbers held at once: 16 MiB


def set_probability_draws(
    columns: Columns, start: np.ndarray, members: np.ndarray, lapse: float, draws: slice | None = None
) -> np.ndarray:
    """The probability that each member of each set is chosen out of it, in each draw.

    Parameters
    ----------
    columns : Columns
    start : int array (sets + 1,)
        Set v has the members start[v] to start[v + 1] - 1.
    members : int array (places,)
        Options, all different within a set.
    lapse : float in [0, 1)
    draws : slice, optional
        Which draws; None means all.

    Returns
    -------
    array (draws, places), in [0, 1]
        Sums to 1 over each set.

    Raises
    ------
    DataError
        If a set has more than 63 members, or elimination comes to more sets than there is room for.

    References
    ----------
    Tversky (1972), eq. 6.

    Example
    -------
    >>> import numpy as np
    >>> draws = Columns(np.array([1]), np.array([2.0]), np.array([2]), np.array([1, 2]), np.array([[1.0, 1, 1]]))
    >>> set_probability_draws(draws, np.array([0, 3]), np.arange(3), lapse=0.0).tolist()
    [[0.2, 0.4, 0.4]]
    """
    if (largest := int(np.diff(start).max())) > LARGEST:
        raise DataError(f"A set may have {LARGEST} options at most; the largest has {largest}.")
    draws = draws or slice(0, columns.n_draws)
    part = np.arange(draws.start, draws.stop)
    sets = lay_out(columns.n_options, start, members, np.zeros(len(members)), lapse)
    bag = empty_bag(columns.n_options, int(columns.n_features[part].max(initial=0)))
    probability = np.empty((part.size, len(members)))
    try:
        _fill(
            sets,
            empty_cache(sets),
            bag,
            columns.first_column[draws.start : draws.stop + 1],
            columns.first_owner,
            np.ascontiguousarray(columns.owners, np.int64),
            columns.weights,
            np.ascontiguousarray(columns.unique_weights[draws]),
            probability,
        )
    except OverflowError as error:
        raise DataError(f"{error} The largest set has {largest} options.") from None
    return probability


def mean_set_probabilities(columns: Columns, start: np.ndarray, members: np.ndarray, lapse: float) -> np.ndarray:
    """Posterior mean of what `set_probability_draws` gives: array (places,)."""
    total = np.zeros(len(members))
    step = max(1, BLOCK // max(1, len(members)))
    for first in range(0, columns.n_draws, step):
        draws = slice(first, min(first + step, columns.n_draws))
        total += set_probability_draws(columns, start, members, lapse, draws).sum(axis=0)
    return total / columns.n_draws


@compiled
def _fill(sets, c, b, first_column, first_owner, owners, weights, unique, probability):
    for d in range(probability.shape[0]):
        for i in range(unique.shape[1]):
            b.s[i] = unique[d, i]
        b.whole[COLUMNS] = first_column[d + 1] - first_column[d]
        for k in range(b.whole[COLUMNS]):
            clear_row(b, k)
            column = first_column[d] + k
            b.w[k] = weights[column]
            for t in range(first_owner[column], first_owner[column + 1]):
                b.Z[k, owners[t]] = 1.0
        for v in range(sets.start.shape[0] - 1):
            set_shares(sets, c, b, v)
            size = sets.start[v + 1] - sets.start[v]
            for x in range(size):
                probability[d, sets.start[v] + x] = (1.0 - sets.lapse) * c.share[x] + sets.lapse / size
