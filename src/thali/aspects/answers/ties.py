"""Davidson's model of ties: the three outcomes of a comparison."""

from typing import Any

import numpy as np


def outcomes(p: Any, q: Any, tie: Any) -> np.ndarray:
    """Probabilities of the first option, of a tie and of the second, along a new last axis.

    r = nu sqrt(p q), where q = 1 - p; p, r and q over 1 + r
    """
    r = tie * np.sqrt(p * q)
    return np.stack(np.broadcast_arrays(p, r, q), axis=-1) / (1.0 + r)[..., None]


def log_outcome_coefficient(wins: Any, tied: Any, losses: Any) -> Any:
    """ln of the number of orders of the outcomes of a pair, elementwise."""
    from scipy.special import gammaln

    total = gammaln(wins + tied + losses + 1.0)
    return total - gammaln(wins + 1.0) - gammaln(tied + 1.0) - gammaln(losses + 1.0)


def log_multinomial(wins: Any, tied: Any, losses: Any, probabilities: np.ndarray) -> Any:
    """ln Multinomial(wins, tied, losses | probabilities), elementwise."""
    from scipy.special import xlogy

    counts = np.stack(np.broadcast_arrays(wins, tied, losses), axis=-1)
    return log_outcome_coefficient(wins, tied, losses) + xlogy(counts, probabilities).sum(axis=-1)
