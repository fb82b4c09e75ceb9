"""Tests of fit against the saturated model, by the distribution that G² has: chi-square, or a
parametric bootstrap."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thali._arguments import check_integer
from thali._described import DescribedObject, Description
from thali._digits import format_p_value
from thali._inference.seeds import spawn_generators
from thali._labels import format_plural
from thali._model.clusters import DesignEffect

# By how much of a standard deviation the mean of G² may lie above that of chi-square: a test at .05
# then has a size of .06 at most (benchmarks/chi_square_size.py).
MAX_EXCESS = 0.1
# Mean comparisons of a pair below which no p-value holds: single ones are fitted perfectly by the
# saturated model, whatever the choices, and with two the bootstrap rejects a true model in .10
# instead of .05 (.06 with five).
MIN_MEAN_COUNT = 4.0
# Comparisons for each parameter of the larger of two nested models, from which chi-square holds
# though every pair is compared once: sizes of .03 to .08, below up to .15.
MIN_EACH = 10
SAMPLES, FEW_SAMPLES = 999, 199  # of a bootstrap: in all of them a few seconds
_CHEAP, _DEAR = 1e6, 2e7  # pairs x weights², in which the time of a fit is linear


@dataclass(frozen=True)
class FitTest(DescribedObject):
    """A test of fit: G² as `statistic`, `df`, `p_value` (NaN where the test says nothing),
    `samples` of the bootstrap (0: chi-square), and `why` the test is not by chi-square; `people`,
    whose answers need not be independent of each other (0: all comparisons are). `print` shows a
    sentence."""

    statistic: float
    df: int
    p_value: float
    samples: int = 0
    why: str = ""
    people: int = 0  # over whom the test is; 0: comparisons count as independent
    is_permutation: bool = False  # whether the samples exchange people

    @property
    def kind(self) -> str:
        """Where the p-value comes from: "chi-square", "bootstrap", "permutation", or "none"."""
        if math.isnan(self.p_value):
            return "none"
        return (
            "permutation" if self.is_permutation else "bootstrap" if self.samples else "chi-square"
        )

    def __str__(self) -> str:
        if self.kind == "none":
            return f"The test of fit (G²) is not available, because {self.why}."
        sure = format_p_value(self.p_value)
        return (
            f"G² {self.statistic:.4f} on {format_plural(self.df, 'degree')} of freedom"
            f" ({sure}{self._source()})"
        )

    def _description(self) -> Description:
        return Description("Test of fit", note=str(self))

    def _source(self) -> str:
        over = f", clustered by respondent ({self.people:,})" if self.people else ""
        if self.kind == "chi-square":
            return over
        samples = (
            "permutations of respondents" if self.is_permutation else "parametric bootstrap samples"
        )
        return f"{over}, from {self.samples:,} {samples}" + (
            f", because {self.why}" if self.why else ""
        )


def fit_test(
    statistic: float,
    df: int,
    totals: np.ndarray,
    inverse: np.ndarray,
    is_whole: bool,
    replicate: Callable[[np.random.Generator], float],
    work: float,
    samples: int | None = None,
    random_seed: Any = 0,
    effect: Callable[[], DesignEffect] | None = None,
) -> FitTest:
    r"""G² against probabilities of its own for each pair: by chi-square where it holds, else by a
    bootstrap.

    .. math:: \sum_i \frac{\sum_c p_{ic}^{-1} - 1}{6 n_i} \le 0.1 \sqrt{2 \,\mathrm{df}}
    """
    # Then the mean of G², to the order 1/n, lies within a tenth of a standard deviation of that of
    # chi-square (Lawley 1956; Williams 1976); Cochran's rule for expected counts does not suffice,
    # since the errors of many pairs add up. Elsewhere p = (1 + samples with G² at least as large) /
    # (1 + samples). Single comparisons: McCullagh & Nelder (1989), section 4.4.5. With `effect`,
    # how G² is distributed over people, it is about a times chi-square with f degrees of freedom,
    # where a f and 2 a² f are the mean and the variance of its limit (Rao & Scott 1984).
    if samples is not None:
        samples = check_integer("samples", samples, 1)
    if why := _silent(totals, df, is_whole):
        return FitTest(statistic, df, math.nan, 0, why)
    if samples is None and close_to_chi_square(totals, inverse, df):
        if effect is None:
            return FitTest(statistic, df, chi_square_tail(statistic, df))
        found = effect()
        return FitTest(statistic, df, found.p_value(statistic), people=found.people)
    why = "" if samples else "pairs were compared too rarely for the chi-square approximation"
    if samples is None:
        if work > _DEAR:
            why += (
                ", and a bootstrap of so many pairs takes long; run it in Python with"
                " fit_test(samples=99)"
            )
            return FitTest(statistic, df, math.nan, 0, why)
        samples = samples_for(work)
    if effect is None:
        return bootstrapped(statistic, df, replicate, samples, random_seed, why)
    found = effect()
    test = bootstrapped(statistic / found.mean, df, replicate, samples, random_seed, why)
    return replace(test, statistic=statistic, people=found.people)


def samples_for(work: float) -> int:
    """How many samples take seconds."""
    return SAMPLES if work <= _CHEAP else FEW_SAMPLES


def bootstrapped(
    statistic: float,
    df: int,
    replicate: Callable[[np.random.Generator], float],
    samples: int,
    random_seed: Any,
    why: str,
) -> FitTest:
    """The test whose p-value is the share of replicates with a statistic at least as large."""
    rng = spawn_generators(random_seed, 1)[0]
    found = np.array([replicate(rng) for _ in range(samples)])
    # which equal counts reach, rounding aside
    reached = int((found >= statistic - 1e-7 * max(1.0, statistic)).sum())
    return FitTest(statistic, df, (1 + reached) / (1 + samples), samples, why)


def close_to_chi_square(totals: np.ndarray, inverse: np.ndarray, df: int) -> bool:
    """Whether the mean of G² is near enough to its degrees of freedom; `inverse` as of
    `fit_test`."""
    excess = float(((inverse - 1.0) / (6.0 * totals)).sum())
    return excess <= MAX_EXCESS * math.sqrt(2.0 * df)


def rough(subject: str, comparisons: float, parameters: int) -> list[str]:
    """A sentence if a test of nested models has too few comparisons for chi-square."""
    if comparisons >= MIN_EACH * parameters:
        return []
    return [
        f"{subject} approximate: there are {comparisons / parameters:.2g} comparisons per"
        f" parameter, and the chi-square approximation needs at least {MIN_EACH}."
    ]


def equal_means_test(counts: np.ndarray, statistic: float) -> FitTest:
    """Test that all counts have one Poisson mean; given their sum they are multinomial."""
    from scipy.special import xlogy

    total, cells = counts.sum(), len(counts)
    if cells < 2:
        return FitTest(statistic, 0, math.nan, 0, "there is nothing to compare")
    if not np.array_equal(counts, np.floor(counts)):
        return FitTest(statistic, cells - 1, math.nan, 0, "the counts are fractional")
    if close_to_chi_square(np.array([total]), np.array([float(cells**2)]), cells - 1):
        return FitTest(statistic, cells - 1, chi_square_tail(statistic, cells - 1))

    def replicate(rng: np.random.Generator) -> float:
        drawn = rng.multinomial(int(total), np.full(cells, 1.0 / cells))
        return 2.0 * float(xlogy(drawn, drawn * cells / total).sum())

    return bootstrapped(statistic, cells - 1, replicate, SAMPLES, 0, "the counts are small")


def _silent(totals: np.ndarray, df: int, is_whole: bool) -> str:
    """Why the test says nothing, with a remedy; "" if it says something."""
    if df <= 0:
        return (
            "the model has as many free weights as there are pairs, so it fits any choices;"
            " compare more pairs"
        )
    if not is_whole:
        return (
            "the counts are fractional (half wins or weights), so the distribution of G² is"
            " unknown; use integer counts, and model ties with thali.paired.davidson"
        )
    mean = float(totals.mean())
    if mean < MIN_MEAN_COUNT:
        return (
            f"pairs were compared {mean:.2f} times on average, too few for a test against the"
            " saturated model; observe each pair more often, or test predictions of held-out"
            " pairs (thali compare)"
        )
    return ""


def chi_square_tail(value: float, df: int) -> float:
    """P(chi-square with df degrees of freedom >= value); 1 without degrees of freedom."""
    from scipy.special import chdtrc

    return float(chdtrc(df, max(value, 0.0))) if df > 0 else 1.0
