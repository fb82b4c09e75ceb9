"""Selection of effects whose signs are certain, at a joint error probability."""

import numpy as np
import numpy.typing as npt

from thali._inference.numerics.weight_shares import divide_positive

CERTAIN = 0.95  # probability from which on a statement is made


_MIN_DRAWS = 10  # draws on the rarer side from which on their share is precise


def estimate_positive_probability(effects: np.ndarray) -> np.ndarray:
    """Return P(effect > 0) from draws (effects, draws).

    It is the share of draws, or the tail of a normal distribution if few draws are on one side.

    Examples
    --------
    >>> draws = np.linspace(-1.0, 1.0, 100)
    >>> estimate_positive_probability(np.stack([draws, draws + 3.0])).round(9).tolist()
    [0.5, 0.999999846]
    """
    from scipy.special import ndtr

    n_draws = effects.shape[1]
    n_positive = (effects > 0.0).sum(axis=1)
    sd = effects.std(axis=1, ddof=1)
    is_rare = (np.minimum(n_positive, n_draws - n_positive) < _MIN_DRAWS) & (sd > 0.0)
    p_normal = ndtr(divide_positive(effects.mean(axis=1), sd))
    return np.where(is_rare, p_normal, n_positive / n_draws)


def select_certain_signs(p_positive: npt.ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return masks of effects surely > 0 and surely < 0, given P(effect > 0).

    `p_positive` has the probability that each effect is above 0; NaN: the effect is skipped. Of m
    effects those are selected whose sign is wrong with probability .05 / (4 m) at most. So the
    probability of any wrong sign is below .05, and so is, if all m effects are exactly 0, the
    frequency with which any is selected: Bonferroni's bound of both sides, with room of a factor 2
    for probabilities that are normal approximations.

    Examples
    --------
    >>> high, low = select_certain_signs([0.999, 0.98, 0.03, 0.96, 0.001])
    >>> high.tolist(), low.tolist()
    ([True, False, False, False, False], [False, False, False, False, True])
    """
    p_positive = np.asarray(p_positive, float)
    n_effects = max(int(np.isfinite(p_positive).sum()), 1)
    bound = (1.0 - CERTAIN) / (4 * n_effects)
    return p_positive >= 1.0 - bound, p_positive <= bound
