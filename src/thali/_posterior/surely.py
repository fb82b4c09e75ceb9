"""Whom to name of many of whom the same is asked, so that all who are named are probably named
rightly."""

import numpy as np
import numpy.typing as npt

CERTAIN = 0.95  # probability from which on something is said to be so


def surely(above: npt.ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Who lies surely above, and who below, by the probability of each to lie above; NaN: nobody
    asks.

    Named are the most certain ones, on either side, as long as the sum of the probabilities that
    each is wrong, which bounds the probability that any is, is at most .05: the more are asked
    about, the more certain each must be.

    Examples
    --------
    >>> high, low = surely([0.99, 0.98, 0.03, 0.96, 0.001])
    >>> high.tolist(), low.tolist()
    ([True, True, False, False, False], [False, False, False, False, True])
    """
    above = np.asarray(above, float)
    wrong = np.where(np.isnan(above), 1.0, np.minimum(above, 1.0 - above))
    order = np.argsort(wrong, kind="stable")
    named = np.zeros(len(above), bool)
    named[order] = np.cumsum(wrong[order]) <= 1.0 - CERTAIN + 1e-9
    return named & (above > 0.5), named & (above < 0.5)
