"""Circular triads of a judge (a over b, b over c, c over a) and consistency tests."""

from collections import Counter
from functools import lru_cache
from itertools import product
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._argument_checks import check_allowed
from thali._aspects.maximum_likelihood.goodness_of_fit import chi_square_tail
from thali._data.pairs import PairedComparisons
from thali._labels import format_plural, shorten
from thali._number_format import format_number, format_percent
from thali._object_descriptions import Description
from thali._printed_result import PrintedResult, printed_dataclass
from thali.errors import ArgumentError, DataError

from .vote_counts import check_complete, list_group_names, prepare_groups

if TYPE_CHECKING:
    import pandas

_EXACT = 9  # up to this number of options, all tournaments are counted by default
_MAX_EXACT = 11
_MAX_JUDGES = 10  # maximum of judges in a printed table
_LEVEL = 0.05  # significance level


@printed_dataclass
class CircularTriads(PrintedResult):
    """Circular triads and consistency by judge; numbers for one, Series for several."""

    majority: bool

    def _description(self) -> Description:
        """Return the printed table of a few judges, or a summary of many."""
        if len(self.table) <= _MAX_JUDGES:
            return super()._description()
        note = (
            f"{self.note} `.table`, which `thali test circular --out DIR` writes, has one row"
            " per judge."
        )
        return Description(self.title, text=_describe_judges(self.table), note=note)

    def _get_column(self, name: str) -> "float | pandas.Series":
        """Return a result column, or its number if there is one judge."""
        result_column = self.table[name]
        if len(result_column) == 1:
            return float(result_column.iloc[0])
        return result_column  # type: ignore[return-value]

    @property
    def circular(self) -> "float | pandas.Series":
        """Number of circular triads T of each judge."""
        return self._get_column("circular")

    @property
    def consistency(self) -> "float | pandas.Series":
        """Kendall's coefficient of consistency zeta of each judge."""
        return self._get_column("consistency")

    @property
    def p_value(self) -> "float | pandas.Series":
        """Probability of so few circular triads if choices were random."""
        return self._get_column("p_value")


def circular_triads(data: Any, test: str | None = None) -> CircularTriads:
    r"""Count circular triads; test whether choices are more consistent than chance.

    .. math::
        T = \binom n3 - \sum_i \binom{s_i}2, \qquad \zeta = 1 - T / T_\text{max}, \qquad
        T_\text{max} = \frac{n (n^2 - 1)}{24} \text{ (n odd)}, \quad
        \frac{n (n^2 - 4)}{24} \text{ (n even)}

    for n options chosen s_i times each. If pairs were judged more than once, the majority decides;
    equal numbers of choices are a tie, and T is then the mean over both ways of breaking each tie.

    Parameters
    ----------
    data : PairedComparisons, square table of counts, or a list or mapping of them
        One judge each, with every pair compared; three options or more.
    test : {None, "exact", "asymptotic"}
        "exact": by counting all tournaments of this many options; "asymptotic": Kendall's
        chi-square, for 5 options or more. None: exact up to 9 options.

    Returns
    -------
    CircularTriads
        `table` has one row per judge: circular (T), maximum, consistency (zeta), statistic and df
        (of the chi-square; missing if the test is exact), p_value (of a T this small by chance).

    Raises
    ------
    DataError
        If a pair was never compared, or there are fewer than three options.
    ArgumentError
        If the test does not exist for this number of options.

    References
    ----------
    Kendall & Babington Smith (1940), On the method of paired comparisons.

    Examples
    --------
    >>> choices = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    >>> circular_triads(choices).consistency
    0.0
    """
    import pandas as pd

    check_allowed("test", test, (None, "exact", "asymptotic"))
    if isinstance(data, list | tuple | np.ndarray) and len(data) and np.ndim(data[0]) == 1:
        data = [np.asarray(data)]
    judges = prepare_groups(data, "judges")
    n = judges[0].n_options
    if n < 3:
        raise DataError(f"Circular triads require at least three options; got {n}.")
    is_exact = test == "exact" or (test is None and n <= _EXACT)
    if is_exact and n > _MAX_EXACT:
        raise ArgumentError(
            f"The exact test is limited to {_MAX_EXACT} options; got {n}. Use test='asymptotic'."
        )
    if not is_exact and n < 5:
        raise ArgumentError(
            f"The asymptotic test requires at least 5 options; got {n}. Use test='exact'."
        )
    judge_rows = [_analyse_judge(judge, is_exact) for judge in judges]
    uses_majority = any(bool((judge.wins + judge.losses > 1).any()) for judge in judges)
    column_names = ["circular", "maximum", "consistency", "statistic", "df", "p_value"]
    if len(judges) > 1:
        judge_names = list_group_names(data, len(judges), "judge")
    elif uses_majority:
        judge_names = ["majority"]
    else:
        judge_names = ["judge"]
    table = pd.DataFrame(judge_rows, index=pd.Index(judge_names, name=None), columns=column_names)
    note = (
        f"{format_plural(comb(n, 3), 'triad')}; p_value: probability of so few circular triads by"
        " chance"
    )
    if is_exact:
        note += " (exact)."
    else:
        note += " (chi-square)."
    if uses_majority:
        note += " Each pair judged more than once counts once, by majority choice."
    return CircularTriads(title="Circular triads", table=table, note=note, majority=uses_majority)


def _describe_judges(table: "pandas.DataFrame") -> str:
    """Return sentences on the circular triads of many judges."""
    n_circular, consistency, p_value = (
        table[name].to_numpy(float) for name in ("circular", "consistency", "p_value")
    )
    max_triads = float(table["maximum"].to_numpy(float).max())
    n_consistent = int((p_value < _LEVEL).sum())
    n_flawless = int((n_circular == 0).sum())
    least_consistent = [str(name) for name in table.index[consistency == consistency.min()]]
    sentences = [
        f"{len(table):,} judges have {format_number(n_circular.mean())} circular triads on average"
        " (range"
        f" {n_circular.min():g} to {n_circular.max():g}, maximum possible {max_triads:g});"
        f" {n_flawless:,} have none.",
        f"Mean coefficient of consistency: {consistency.mean():.3f} (median"
        f" {np.median(consistency):.3f}, lowest {consistency.min():.3f} for"
        f" {shorten(least_consistent)}).",
        f"{n_consistent:,} judges ({format_percent(n_consistent / len(table))}) are more"
        " consistent than"
        f" chance (p < {_LEVEL:g}).",
    ]
    if not n_consistent:
        condition = ""
        if n_flawless:
            condition = ", for a judge without circular triads"
        sentences[-1] = (
            f"Chance cannot be excluded for any judge (p < {_LEVEL:g}): the smallest p is"
            f" {p_value.min():.3g}{condition}."
        )
    return "\n".join(sentences)


def _analyse_judge(judge: PairedComparisons, exact: bool) -> tuple[Any, ...]:
    """Return one judge's table row: triads, maximum, consistency, test and p-value."""
    check_complete(judge)
    n = judge.n_options
    dominance = np.zeros((n, n))
    sign_of_lead = np.sign(judge.wins - judge.losses)
    dominance[judge.first, judge.second] = (1 + sign_of_lead) / 2
    dominance[judge.second, judge.first] = (1 - sign_of_lead) / 2
    # with ties the mean, pair by pair independent
    n_circular = float(np.trace(dominance @ dominance @ dominance)) / 3
    max_triads = n * (n**2 - 4) / 24
    if n % 2:
        max_triads = n * (n**2 - 1) / 24
    statistic = np.nan
    df = np.nan
    if exact:
        n_tournaments = count_tournaments(n)
        p_value = float(
            sum(count for t, count in n_tournaments.items() if t <= n_circular + 1e-9)
            / 2 ** comb(n, 2)
        )
    else:
        df = n * (n - 1) * (n - 2) / (n - 4) ** 2
        statistic = 8 / (n - 4) * (comb(n, 3) / 4 - n_circular + 0.5) + df
        p_value = chi_square_tail(statistic, df)
    return n_circular, max_triads, 1 - n_circular / max_triads, statistic, df, p_value


@lru_cache
def count_tournaments(n: int) -> dict[int, int]:
    """Return {number of circular triads: number of tournaments of n options}.

    Options are added one by one. Only the multiset of scores is needed: a new option loses to some
    of the options with equal scores.
    """
    tournaments: Counter[tuple[int, ...]] = Counter({(0,): 1})
    for n_options in range(1, n):
        larger_tournaments: Counter[tuple[int, ...]] = Counter()
        for scores, n_ways in tournaments.items():
            score_counts = sorted(Counter(scores).items())
            for wins in product(*(range(n_equal + 1) for _, n_equal in score_counts)):
                n_new_ways = n_ways
                new_scores = [n_options - sum(wins)]
                for (score, n_equal), n_won in zip(score_counts, wins, strict=True):
                    n_new_ways *= comb(n_equal, n_won)
                    new_scores += [score + 1] * n_won + [score] * (n_equal - n_won)
                larger_tournaments[tuple(sorted(new_scores))] += n_new_ways
        tournaments = larger_tournaments
    n_by_triads: Counter[int] = Counter()
    for scores, n_ways in tournaments.items():
        n_by_triads[comb(n, 3) - sum(comb(score, 2) for score in scores)] += n_ways
    return dict(sorted(n_by_triads.items()))
