"""Kendall's coefficient of agreement u between judges, and its test."""

from typing import Any

import numpy as np

from thali._argument_checks import check_allowed
from thali._aspects.maximum_likelihood.goodness_of_fit import chi_square_tail
from thali._data.pairs import PairedComparisons
from thali._inference.index_arithmetic import count_pairs
from thali._printed_result import PrintedResult, printed_dataclass
from thali.errors import DataError

from .vote_counts import check_integer_counts, prepare_pairs

_MAX_EXACT = 200_000  # maximum number of pairs of judges


@printed_dataclass
class AgreementTest(PrintedResult):
    """Agreement of judges: `u`, its minimum `u_min`, and a test against chance."""

    u: float
    u_min: float
    statistic: float
    df: float
    p_value: float


def agreement(data: Any, test: str = "asymptotic", correct: bool = True) -> AgreementTest:
    r"""Test whether judges agree more than by chance (Kendall's u).

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
        u, u_min, statistic, df (NaN if exact), p_value; `table` has the same values in one row.

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
    data = prepare_pairs(data)
    check_integer_counts(data)
    _check_judges(data)
    judge_counts = data.wins + data.losses
    n_agreeing = float(np.sum(count_pairs(data.wins) + count_pairs(data.losses)))
    n_possible = float(count_pairs(judge_counts).sum())
    if n_possible == 0.0:
        raise DataError(
            "No pair was judged by at least two judges, so agreement is undefined; add judges."
        )
    min_n_agreeing = float(
        (count_pairs(np.floor(judge_counts / 2)) + count_pairs(np.ceil(judge_counts / 2))).sum()
    )
    u = 2 * n_agreeing / n_possible - 1
    u_min = 2 * min_n_agreeing / n_possible - 1
    statistic = np.nan
    df = np.nan
    if test == "exact":
        p_value = _compute_exact_p_value(judge_counts, n_agreeing, n_possible)
    else:
        # cumulants of Sigma by chance; chi-square with the same mean, variance and skewness
        chance_mean = n_possible / 2
        chance_variance = n_possible / 4
        third_cumulant = (
            float((count_pairs(judge_counts) * np.maximum(judge_counts - 2, 0)).sum()) / 4
        )
        if third_cumulant == 0.0:
            raise DataError("The asymptotic test requires at least three judges; use test='exact'.")
        chi_square_scale = third_cumulant / (4 * chance_variance)
        df = 8 * chance_variance**3 / third_cumulant**2
        statistic = (n_agreeing - correct - chance_mean) / chi_square_scale + df
        p_value = chi_square_tail(statistic, df)
    table = pd.DataFrame(
        {"u": [u], "u_min": u_min, "statistic": statistic, "df": df, "p_value": p_value},
        index=["agreement"],
    )
    return AgreementTest(
        "Agreement between judges (Kendall's u)", table, "", u, u_min, statistic, df, p_value
    )


def _check_judges(data: PairedComparisons) -> None:
    """Raise DataError if an identified judge compared a pair more than once."""
    answers = data.answers
    if answers is None:
        return
    times_judged = answers.wins + answers.losses
    answer_index = int(times_judged.argmax())
    if times_judged[answer_index] > 1:
        judge = answers.respondents[answers.respondent[answer_index]]
        pair_index = answers.pair[answer_index]
        first_label = data.labels[data.first[pair_index]]
        second_label = data.labels[data.second[pair_index]]
        raise DataError(
            f"Kendall's u requires one judgement of each pair from every judge, but {judge!r}"
            f" compared {first_label!r} and {second_label!r} {times_judged[answer_index]:,.0f}"
            " times; keep"
            " one of these judgements, or omit the respondent column to treat each judgement as"
            " made by a different judge."
        )


def _compute_exact_p_value(judge_counts: np.ndarray, n_agreeing: float, n_possible: float) -> float:
    """Return P(at least `n_agreeing` agreements) if all choices are fair coins."""
    from scipy.signal import fftconvolve
    from scipy.stats import binom

    if n_possible > _MAX_EXACT:
        raise DataError(
            f"The exact test is limited to {_MAX_EXACT:,} pairs of judges in total, but these data"
            f" have {n_possible:,.0f}; use test='asymptotic'."
        )
    distribution = np.ones(1)
    for m in judge_counts.astype(int):
        x = np.arange(m + 1)
        pair_distribution = np.zeros(count_pairs(m) + 1)
        np.add.at(
            pair_distribution,
            (count_pairs(x) + count_pairs(m - x)).astype(int),
            binom.pmf(x, m, 0.5),
        )
        if len(distribution) > 2000:
            distribution = fftconvolve(distribution, pair_distribution)
        else:
            distribution = np.convolve(distribution, pair_distribution)
    return float(np.clip(distribution[int(n_agreeing) :].sum(), 0.0, 1.0))
