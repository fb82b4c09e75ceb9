"""Rows of a table of likelihood-ratio tests."""

from typing import TYPE_CHECKING

import numpy as np

from thali.maximum_likelihood.estimates import chi_square_tail

if TYPE_CHECKING:
    import pandas

COLUMNS = ["parameters", "of", "log_likelihood", "larger_log_likelihood", "deviance", "df", "p_value"]


def tests_table(rows: dict[str, tuple[int, int, float, float]]) -> "pandas.DataFrame":
    """For each name the parameters of a smaller and a larger model and their log-likelihoods, tested."""
    import pandas as pd

    full = []
    for few, many, low, high in rows.values():
        deviance = max(2.0 * (high - low), 0.0)
        full.append((few, many, low, high, deviance, many - few, chi_square_tail(deviance, many - few)))
    return pd.DataFrame(full, index=list(rows), columns=COLUMNS)


def log_poisson(counts: np.ndarray, mean: np.ndarray | float) -> float:
    """Sum of ln Poisson(count | mean)."""
    from scipy.special import gammaln, xlogy

    return float(np.sum(xlogy(counts, mean) - mean - gammaln(counts + 1.0)))


def log_binomial_half(wins: np.ndarray, losses: np.ndarray) -> float:
    """Sum of ln Binomial(wins | wins + losses, 1/2)."""
    from thali.posterior.binomial import log_binomial

    return float(np.sum(log_binomial(wins, losses, 0.5)))
