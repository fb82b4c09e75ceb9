"""Intervals: equal-tailed, with the probability that is ArviZ's own default unless another one is
asked for."""

from thali._arguments import check_open_interval

INTERVAL = 0.89


def tails_of(ci: float) -> tuple[float, float]:
    """Return the ends of an interval of that probability as quantiles; what is no probability is
    refused."""
    ci = check_open_interval("ci", ci, "the probability of an interval")
    return (1 - ci) / 2, (1 + ci) / 2


def interval_columns(ci: float = INTERVAL) -> tuple[str, str]:
    """Return what ArviZ calls the ends of an interval of that probability.

    Examples
    --------
    >>> interval_columns()
    ('eti89_lb', 'eti89_ub')
    """
    stem = f"eti{100 * ci:.6g}"
    return f"{stem}_lb", f"{stem}_ub"


def level_name(ci: float) -> str:
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
