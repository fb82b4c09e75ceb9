"""The interval that thali reports everywhere: equal-tailed, with the probability that is ArviZ's own default."""

INTERVAL = 0.89
INTERVAL_COLUMNS = ("eti89_lb", "eti89_ub")


def tails_of(ci: float) -> tuple[float, float]:
    """The ends of an interval of that probability as quantiles."""
    return (1 - ci) / 2, (1 + ci) / 2


def level_name(ci: float = INTERVAL) -> str:
    """Write a probability of intervals as per cent, such as "89 %"."""
    return f"{100 * ci:.6g} %"


def interval_name(ci: float = INTERVAL) -> str:
    """What an interval of that probability is called.

    Examples
    --------
    >>> interval_name(0.95)
    '95 % interval'
    """
    return f"{level_name(ci)} interval"


TAILS = tails_of(INTERVAL)
