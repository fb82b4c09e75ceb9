"""Selection of effects whose signs are certain, at a joint error probability."""

import numpy as np
import numpy.typing as npt

CERTAIN = 0.95  # probability from which on a statement is made


def select_certain_signs(p_positive: npt.ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return masks of effects surely > 0 and surely < 0, given P(effect > 0).

    `p_positive` has the probability that each effect is above 0; NaN: the effect is skipped. The
    most certain effects are selected, on either side, while the sum of their error probabilities is
    at most .05. The sum bounds the probability of any error, so with more effects each must be more
    certain.

    Examples
    --------
    >>> high, low = select_certain_signs([0.99, 0.98, 0.03, 0.96, 0.001])
    >>> high.tolist(), low.tolist()
    ([True, True, False, False, False], [False, False, False, False, True])
    """
    p_positive = np.asarray(p_positive, float)
    error_probability = np.where(
        np.isnan(p_positive), 1.0, np.minimum(p_positive, 1.0 - p_positive)
    )
    by_certainty = np.argsort(error_probability, kind="stable")
    is_selected = np.zeros(len(p_positive), bool)
    is_selected[by_certainty] = np.cumsum(error_probability[by_certainty]) <= 1.0 - CERTAIN + 1e-9
    return is_selected & (p_positive > 0.5), is_selected & (p_positive < 0.5)
