"""The binomial distribution of the counts of a pair, natural logarithms."""

from typing import Any


def log_coefficient(wins: Any, losses: Any) -> Any:
    """ln C(wins + losses, wins), elementwise, by the gamma function: declared weights may be fractional."""
    from scipy.special import gammaln

    return gammaln(wins + losses + 1.0) - gammaln(wins + 1.0) - gammaln(losses + 1.0)


def log_binomial(wins: Any, losses: Any, p: Any) -> Any:
    """ln Binomial(wins | wins + losses, p), elementwise."""
    from scipy.special import xlog1py, xlogy

    return log_coefficient(wins, losses) + xlogy(wins, p) + xlog1py(losses, -p)
