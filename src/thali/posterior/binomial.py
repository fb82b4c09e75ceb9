"""The binomial distribution of the counts of a pair, natural logarithms."""


def log_coefficient(wins, losses):
    """ln C(wins + losses, wins), elementwise; through the gamma function, because declared weights may be fractional.

    Example
    -------
    >>> round(float(log_coefficient(1, 1)), 4)
    0.6931
    """
    from scipy.special import gammaln

    return gammaln(wins + losses + 1.0) - gammaln(wins + 1.0) - gammaln(losses + 1.0)


def log_binomial(wins, losses, p):
    """ln Binomial(wins | wins + losses, p), elementwise.

    Example
    -------
    >>> round(float(log_binomial(1, 1, 0.5)), 4)
    -0.6931
    """
    from scipy.special import xlog1py, xlogy

    return log_coefficient(wins, losses) + xlogy(wins, p) + xlog1py(losses, -p)
