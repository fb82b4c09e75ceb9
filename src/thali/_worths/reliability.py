"""Reliability, as comparative judgement reports it: how well estimates agree with the worths themselves."""

import numpy as np

from .density import Density, Spreads
from .laplace import highest

_SPLITS = 20


def squared_correlations(log_worths: np.ndarray) -> np.ndarray:
    """Return the squared correlation of posterior means with each draw, from draws (draws, options) of log worths."""
    centred = log_worths - log_worths.mean(axis=1, keepdims=True)
    means = centred.mean(axis=0)
    scale = (centred**2).sum(axis=1) * (means @ means)
    return (centred @ means) ** 2 / np.maximum(scale, 1e-300)


def separation(log_worths: np.ndarray) -> float:
    r"""Return the scale separation reliability of posterior means m with posterior variances v, which are shrunk:

    .. math:: \operatorname{Var}(m) / (\operatorname{Var}(m) + \bar v)
    """
    centred = log_worths - log_worths.mean(axis=1, keepdims=True)
    between, within = centred.mean(axis=0).var(), centred.var(axis=0).mean()
    return float(between / max(between + within, 1e-300))


def split_half(
    density: Density, spreads: Spreads, start: np.ndarray, rng: np.random.Generator, judge: np.ndarray | None = None
) -> float:
    """Return the reliability of estimates by the correlation of those from random halves (Spearman and Brown).

    It is the median of 20 splits, at known standard deviations; a correlation below 0 is reported unchanged. `judge`:
    of each row, by whom answers are split; None: each answer falls in either half. `start`: a point from which modes
    are found.
    """
    found = []
    for _ in range(_SPLITS):
        if judge is None:
            halves = density.halves(rng)
        else:
            count = int(judge.max()) + 1
            is_first = (rng.permutation(count) < count // 2)[judge]
            halves = density.raised(is_first), density.raised(~is_first)
        one, other = (density.centred(highest(each, spreads, start).point[density.worths]) for each in halves)
        one, other = one[-density.n_options :], other[-density.n_options :]
        r = float(one @ other) / max(float(np.sqrt((one @ one) * (other @ other))), 1e-300)
        found.append(2.0 * r / (1.0 + r) if r > 0.0 else r)
    return float(np.median(found))
