"""Kendall's coefficient of agreement between judges."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._arguments import check_allowed
from thali._data.pairs import PairedComparisons
from thali._printed import PrintedResult
from thali.errors import DataError

from .counted import as_pairs, whole

_MAX_EXACT = 200_000  # agreeing pairs of judges, in all


@dataclass(frozen=True, repr=False, eq=False)
class AgreementTest(PrintedResult):
    """Agreement of judges: `u`, the least possible `u_min`, and a test against chance: `statistic`,
    `df`, `p_value`."""

    u: float
    u_min: float
    statistic: float
    df: float
    p_value: float


def agreement(data: Any, test: str = "asymptotic", correct: bool = True) -> AgreementTest:
    r"""Kendall's u: how much the judges of pairs agree, and whether more than by chance.

    .. math:: u = \frac{2 \Sigma}{\sum_{i<j} \binom{n_{ij}}2} - 1, \qquad
        \Sigma = \sum_{i<j} \binom{x_{ij}}2 + \binom{x_{ji}}2

    1 is complete agreement; 0 is expected by chance. If every pair has the same number of judges,
    this is Kendall's coefficient; pairs may have different numbers.

    Parameters
    ----------
    data : PairedComparisons, or square table of counts
        Every judge judges a pair once; at least one pair with two judges.
    test : {"asymptotic", "exact"}
        "asymptotic": the chi-square distribution with the same first three moments; "exact": the
        distribution of Sigma if every choice is a fair coin.
    correct : bool
        Whether the asymptotic test subtracts 1 from Sigma, for continuity.

    Returns
    -------
    Agreement
        u, u_min, statistic, df (NaN if exact), p_value; `table` holds the same in one row.

    Raises
    ------
    DataError
        If no pair was judged twice, a judge compared a pair more than once, counts are fractional,
        or there are too many judges for the exact test.

    References
    ----------
    Kendall & Babington Smith (1940), On the method of paired comparisons.

    Examples
    --------
    >>> from thali.datasets import celebrities
    >>> round(agreement(celebrities()).u, 4)
    0.1172
    """
    import pandas as pd

    check_allowed("test", test, ("asymptotic", "exact"))
    data = as_pairs(data)
    whole(data, "Kendall's u")
    _check_judges(data)
    judges = data.wins + data.losses
    agreeing = float(np.sum(_pairs(data.wins) + _pairs(data.losses)))
    possible = float(_pairs(judges).sum())
    if possible == 0.0:
        raise DataError(
            "No pair was judged by at least two judges, so agreement is undefined; add judges."
        )
    least = float((_pairs(np.floor(judges / 2)) + _pairs(np.ceil(judges / 2))).sum())
    u, u_min = 2 * agreeing / possible - 1, 2 * least / possible - 1
    statistic, df = np.nan, np.nan
    if test == "exact":
        p_value = _exact(judges, agreeing, possible)
    else:
        # Cumulants of Sigma by chance; chi-square with the same mean, variance and skewness.
        mean, variance = possible / 2, possible / 4
        third = float((_pairs(judges) * np.maximum(judges - 2, 0)).sum()) / 4
        if third == 0.0:
            raise DataError("The asymptotic test requires at least three judges; use test='exact'.")
        from scipy.special import chdtrc

        scale = third / (4 * variance)
        df = 8 * variance**3 / third**2
        statistic = (agreeing - correct - mean) / scale + df
        p_value = float(chdtrc(df, max(statistic, 0.0)))
    table = pd.DataFrame(
        {"u": [u], "u_min": u_min, "statistic": statistic, "df": df, "p_value": p_value},
        index=["agreement"],
    )
    return AgreementTest(
        "Agreement between judges (Kendall's u)", table, "", u, u_min, statistic, df, p_value
    )


def _check_judges(data: PairedComparisons) -> None:
    """Raise where a known judge compared a pair more than once."""
    given = data.answers
    if given is None:
        return
    times = given.wins + given.losses
    most = int(times.argmax())
    if times[most] > 1:
        judge, pair = given.respondents[given.respondent[most]], given.pair[most]
        first, second = data.labels[data.first[pair]], data.labels[data.second[pair]]
        raise DataError(
            f"Kendall's u requires one judgement of each pair from every judge, but {judge!r}"
            f" compared {first!r} and {second!r} {times[most]:,.0f} times; keep one of these"
            " judgements, or omit the column of respondents to treat each judgement as made by a"
            " different judge."
        )


def _pairs(count: np.ndarray) -> np.ndarray:
    return count * (count - 1) / 2


def _exact(judges: np.ndarray, agreeing: float, possible: float) -> float:
    """P(Sigma >= the observed one) if all choices are fair coins."""
    from scipy.signal import fftconvolve
    from scipy.stats import binom

    if possible > _MAX_EXACT:
        raise DataError(
            f"The exact test is limited to {_MAX_EXACT:,} pairs of judges in total, but these data"
            f" have {possible:,.0f}; use test='asymptotic'."
        )
    total = np.ones(1)
    for m in judges.astype(int):
        x = np.arange(m + 1)
        of_pair = np.zeros(m * (m - 1) // 2 + 1)
        np.add.at(of_pair, (_pairs(x) + _pairs(m - x)).astype(int), binom.pmf(x, m, 0.5))
        total = fftconvolve(total, of_pair) if len(total) > 2000 else np.convolve(total, of_pair)
    return float(np.clip(total[int(agreeing) :].sum(), 0.0, 1.0))
