"""Tests of fit against the saturated model, by chi-square or a parametric bootstrap."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from thali._argument_checks import check_integer
from thali._data.number_checks import are_integers
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._labels import format_plural
from thali._model.answers_by_respondent import DesignEffect
from thali._number_format import format_p_value
from thali._object_descriptions import DescribedObject, Description

# Largest excess of the mean of G² over the mean of chi-square, in standard deviations: a test at
# 0.05 then has size <= 0.06 (benchmarks/chi_square_size.py).
MAX_EXCESS = 0.1
# Mean comparisons per pair below which p-values are invalid: the saturated model fits single
# comparisons perfectly, and with two the bootstrap rejects a true model with probability 0.10
# instead of 0.05 (0.06 with five).
MIN_MEAN_COUNT = 4.0
# Comparisons per parameter of the larger of two nested models above which chi-square is accurate
# even with one comparison per pair: sizes of 0.03 to 0.08, otherwise up to 0.15.
MIN_PER_PARAMETER = 10
SAMPLES, FEW_SAMPLES = 999, 199  # bootstrap samples, which take a few seconds
_CHEAP_WORK, _MAX_WORK = 1e6, 2e7  # pairs x weights², proportional to the time of a fit


@dataclass(frozen=True)
class FitTest(DescribedObject):
    """The result of a test of fit: statistic, degrees of freedom, p-value and its source.

    G² is `statistic`, with `df` and `p_value` (NaN if the test is not available). `samples` is the
    number of bootstrap samples (0: chi-square), and `why` the reason for not using chi-square.
    Answers of each of `n_respondents` need not be independent (0: all comparisons are
    independent). `print` shows a sentence.
    """

    statistic: float
    df: int
    p_value: float
    samples: int = 0
    why: str = ""
    n_respondents: int = 0  # 0: comparisons are treated as independent
    is_permutation: bool = False  # whether the samples permute respondents

    @property
    def kind(self) -> str:
        """Source of the p-value: "chi-square", "bootstrap", "permutation", or "none"."""
        if math.isnan(self.p_value):
            return "none"
        if self.is_permutation:
            return "permutation"
        if self.samples:
            return "bootstrap"
        return "chi-square"

    def __str__(self) -> str:
        """Format statistic, degrees of freedom and p-value as one line."""
        if self.kind == "none":
            return f"The test of fit (G²) is not available, because {self.why}."
        p_value_text = format_p_value(self.p_value)
        return (
            f"G² {self.statistic:.4f} on {format_plural(self.df, 'degree')} of freedom"
            f" ({p_value_text}{self._source()})"
        )

    def _description(self) -> Description:
        return Description("Test of fit", note=str(self))

    def _source(self) -> str:
        """Return words on clusters and simulated samples that follow the p-value."""
        source_text = describe_clusters(self.n_respondents)
        if self.kind == "chi-square":
            return source_text
        samples_text = "parametric bootstrap samples"
        if self.is_permutation:
            samples_text = "permutations of respondents"
        source_text += f", from {self.samples:,} {samples_text}"
        if self.why:
            source_text += f", because {self.why}"
        return source_text


def describe_clusters(n_respondents: int) -> str:
    """Return words about clusters of respondents that follow a p-value."""
    if n_respondents == 0:
        return ""
    return f", adjusted for clustering by respondent ({n_respondents:,} respondents)"


def run_fit_test(
    statistic: float,
    df: int,
    totals: np.ndarray,
    inverse: np.ndarray,
    is_whole: bool,
    replicate: Callable[[np.random.Generator], float],
    work: float,
    n_samples: int | None = None,
    random_seed: RandomSeed = 0,
    estimate_effect: Callable[[], DesignEffect] | None = None,
) -> FitTest:
    r"""Test the fit by G² with chi-square if that is accurate, else by bootstrap.

    .. math:: \sum_i \frac{\sum_c p_{ic}^{-1} - 1}{6 n_i} \le 0.1 \sqrt{2 \,\mathrm{df}}
    """
    # Then the mean of G², to the order 1/n, is within a tenth of a standard deviation of the mean
    # of chi-square (Lawley 1956; Williams 1976); Cochran's rule for expected counts is not
    # sufficient, because the errors of many pairs add up. Otherwise p = (1 + samples with G² at
    # least as large) / (1 + samples). Single comparisons: McCullagh & Nelder (1989), section 4.4.5.
    # With a design effect over respondents, G² is approximately a times chi-square with f degrees
    # of freedom, where a f and 2 a² f are the mean and the variance of its limit (Rao & Scott
    # 1984).
    if n_samples is not None:
        n_samples = check_integer("samples", n_samples, 1)
    if unavailable_reason := _explain_unavailable(totals, df, is_whole):
        return FitTest(statistic, df, math.nan, 0, unavailable_reason)
    if n_samples is None and is_chi_square_accurate(totals, inverse, df):
        if estimate_effect is None:
            return FitTest(statistic, df, chi_square_tail(statistic, df))
        design_effect = estimate_effect()
        return FitTest(
            statistic,
            df,
            design_effect.p_value(statistic),
            n_respondents=design_effect.n_respondents,
        )
    if n_samples is None:
        unavailable_reason = "pairs were compared too rarely for the chi-square approximation"
        if work > _MAX_WORK:
            unavailable_reason += (
                ", and a bootstrap of this many pairs takes long; run it in Python with"
                " fit_test(samples=99)"
            )
            return FitTest(statistic, df, math.nan, 0, unavailable_reason)
        n_samples = choose_n_samples(work)
    if estimate_effect is None:
        return bootstrap_test(statistic, df, replicate, n_samples, random_seed, unavailable_reason)
    design_effect = estimate_effect()
    fit_test = bootstrap_test(
        statistic / design_effect.mean, df, replicate, n_samples, random_seed, unavailable_reason
    )
    return replace(fit_test, statistic=statistic, n_respondents=design_effect.n_respondents)


def choose_n_samples(work: float) -> int:
    """Return the number of bootstrap samples that takes a few seconds."""
    if work <= _CHEAP_WORK:
        return SAMPLES
    return FEW_SAMPLES


def bootstrap_test(
    statistic: float,
    df: int,
    replicate: Callable[[np.random.Generator], float],
    n_samples: int,
    random_seed: RandomSeed,
    why: str,
) -> FitTest:
    """Return a test whose p-value is the share of replicates with a larger statistic."""
    rng = spawn_generators(random_seed, 1)[0]
    replicates = np.array([replicate(rng) for _ in range(n_samples)])
    # the tolerance includes replicates with equal counts in spite of rounding
    n_as_large = int((replicates >= statistic - 1e-7 * max(1.0, statistic)).sum())
    return FitTest(statistic, df, (1 + n_as_large) / (1 + n_samples), n_samples, why)


def is_chi_square_accurate(totals: np.ndarray, inverse: np.ndarray, df: int) -> bool:
    """Return whether the mean of G² is near its degrees of freedom.

    `inverse` is as for `run_fit_test`.
    """
    mean_excess = float(((inverse - 1.0) / (6.0 * totals)).sum())
    return mean_excess <= MAX_EXCESS * math.sqrt(2.0 * df)


def describe_roughness(subject: str, n_comparisons: float, n_parameters: int) -> list[str]:
    """Return a warning, in a list, if comparisons are too few for a nested test."""
    if n_comparisons >= MIN_PER_PARAMETER * n_parameters:
        return []
    return [
        f"{subject} approximate: there are {n_comparisons / n_parameters:.2g} comparisons per"
        f" parameter, and the chi-square approximation needs at least {MIN_PER_PARAMETER}."
    ]


def run_equal_means_test(counts: np.ndarray, statistic: float) -> FitTest:
    """Test that all counts have one Poisson mean; given their sum they are multinomial."""
    from scipy.special import xlogy

    total_count = counts.sum()
    n_cells = len(counts)
    if n_cells < 2:
        return FitTest(statistic, 0, math.nan, 0, "there is nothing to compare")
    if not are_integers(counts):
        return FitTest(statistic, n_cells - 1, math.nan, 0, "the counts are fractional")
    if is_chi_square_accurate(np.array([total_count]), np.array([float(n_cells**2)]), n_cells - 1):
        return FitTest(statistic, n_cells - 1, chi_square_tail(statistic, n_cells - 1))

    def simulate_statistic(rng: np.random.Generator) -> float:
        """Return the statistic of counts simulated with equal means."""
        replicate_counts = rng.multinomial(int(total_count), np.full(n_cells, 1.0 / n_cells))
        return 2.0 * float(xlogy(replicate_counts, replicate_counts * n_cells / total_count).sum())

    return bootstrap_test(
        statistic, n_cells - 1, simulate_statistic, SAMPLES, 0, "the counts are small"
    )


def _explain_unavailable(totals: np.ndarray, df: int, is_whole: bool) -> str:
    """Return why the test of fit is unavailable, with a remedy; "" if available."""
    if df <= 0:
        return (
            "the model has as many free weights as there are pairs, which leaves no degrees of"
            " freedom; compare more pairs, or specify fewer aspects"
        )
    if not is_whole:
        return (
            "the counts are fractional (half wins or weights), so the distribution of G² is"
            " unknown; use integer counts, and model ties with thali.paired.davidson"
        )
    mean_answers = float(totals.mean())
    if mean_answers < MIN_MEAN_COUNT:
        return (
            f"pairs were compared {mean_answers:.2f} times on average, too few for a test against"
            " the saturated model; observe each pair more often, or test predictions of held-out"
            " pairs (thali compare)"
        )
    return ""


def chi_square_tail(statistic: float, df: float) -> float:
    """Return P(chi-square with df degrees of freedom >= statistic); 1 for df 0."""
    from scipy.special import chdtrc

    if df <= 0:
        return 1.0
    return float(chdtrc(df, max(statistic, 0.0)))
