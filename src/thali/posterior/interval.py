"""The interval that thali reports everywhere: equal-tailed, with the probability that is ArviZ's own default."""

INTERVAL = 0.89
TAILS = ((1 - INTERVAL) / 2, (1 + INTERVAL) / 2)  # its ends as quantiles
INTERVAL_COLUMNS = ("eti89_lb", "eti89_ub")
