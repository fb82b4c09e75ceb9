"""Equal-tailed intervals, with ArviZ's default probability."""

import numpy as np

from thali._argument_checks import check_open_interval

INTERVAL = 0.89


def check_interval(ci: float) -> float:
    """Return the probability of the intervals as a float; raise ArgumentError outside (0, 1)."""
    return check_open_interval("ci", ci, "the probability of the intervals")


def interval_tails(ci: float) -> tuple[float, float]:
    """Return the two quantile probabilities of an interval; raise for `ci` outside (0, 1)."""
    ci = check_interval(ci)
    return (1 - ci) / 2, (1 + ci) / 2


def format_level(ci: float) -> str:
    """Format an interval's probability as "89 %"."""
    return f"{100 * ci:.6g} %"


def describe_interval(ci: float = INTERVAL) -> str:
    """Return "89 % interval" for this probability.

    Examples
    --------
    >>> describe_interval(0.95)
    '95 % interval'
    """
    return f"{format_level(ci)} interval"


def compute_interval(draws: np.ndarray, ci: float, axis: int | None = 0) -> np.ndarray:
    """Return both ends of the equal-tailed interval of draws along `axis`."""
    # NumPy sorts several times as fast as it finds two quantiles of unsorted numbers
    return np.quantile(np.sort(draws, axis=axis), interval_tails(ci), axis=axis)


def compute_discrete_interval(draws: np.ndarray, ci: float, axis: int = 0) -> np.ndarray:
    """Return both ends of an interval of integer draws; each is one of the draws."""
    return np.quantile(draws, interval_tails(ci), axis=axis, method="inverted_cdf")


def format_sd(fixed_sd: float | None, sd_draws: np.ndarray, ci: float) -> str:
    """Return a fixed sd, or an estimated one with interval, as text."""
    if fixed_sd is not None:
        return f"{fixed_sd:g} (fixed)"
    low, high = compute_interval(sd_draws, ci, axis=None)
    return f"{sd_draws.mean():.2g} ({low:.2g} to {high:.2g})"
