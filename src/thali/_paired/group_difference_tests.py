"""Tests whether groups of respondents have different aspect weights."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._aspects.maximum_likelihood.estimates import Estimates
from thali._aspects.maximum_likelihood.fit import estimate, warn_unbounded
from thali._aspects.maximum_likelihood.goodness_of_fit import (
    FitTest,
    choose_n_samples,
    run_equal_means_test,
    run_fit_test,
)
from thali._aspects.maximum_likelihood.maximisation import estimate_maximum
from thali._data.pairs import PairedComparisons
from thali._inference.numerics.log_densities import log_binomial
from thali._inference.random_seeds import RandomSeed, build_generator
from thali._inference.user_warnings import warn
from thali._labels import format_plural, shorten
from thali._number_format import format_p_value
from thali._printed_result import PrintedResult, printed_dataclass
from thali.errors import DataError

from .likelihood_ratio_tests import describe_caveats, equal_means_row, tabulate_tests
from .vote_counts import find_pair_indices, list_group_names, pool_groups, prepare_groups

if TYPE_CHECKING:
    import pandas


# Permutations of respondents among groups ---------------------------------------------------------


def permutation_test(
    groups: Sequence[PairedComparisons],
    pooled_fit: Estimates,
    statistic: float,
    df: int,
    random_seed: RandomSeed,
) -> FitTest:
    """Test whether groups differ more than random groups of the respondents.

    p = (1 + permutations with a statistic at least as large) / (1 + permutations). All answers of a
    respondent stay together, so that they may depend on each other.
    """
    group_tallies = [_tally_respondents(group, pooled_fit.data) for group in groups]
    tallies = np.concatenate(group_tallies)
    pooled_problem = pooled_fit.problem
    start_log_weights = np.log(np.maximum(pooled_fit.weights, 1e-3 * pooled_fit.weights.max()))
    n_samples = choose_n_samples(pooled_problem.work * len(groups))
    rng = build_generator(random_seed)
    n_at_least_observed = 0
    group_ends = np.cumsum([len(tally) for tally in group_tallies])[:-1]
    for _ in range(n_samples):
        respondent_groups = np.split(rng.permutation(len(tallies)), group_ends)
        problems = (
            pooled_problem.with_counts(tallies[part].sum(axis=0)) for part in respondent_groups
        )
        permuted_statistic = 2.0 * (
            sum(
                estimate_maximum(group_problem, start_log_weights, pooled_fit.maximum.beta)
                for group_problem in problems
            )
            - pooled_fit.maximum.value
        )
        # equal statistics count as reached, despite rounding
        n_at_least_observed += permuted_statistic >= statistic - 1e-5 * max(1.0, statistic)
    return FitTest(
        statistic,
        df,
        (1 + n_at_least_observed) / (1 + n_samples),
        n_samples,
        n_respondents=len(tallies),
        is_permutation=True,
    )


def _tally_respondents(group: PairedComparisons, pooled: PairedComparisons) -> np.ndarray:
    """Return each respondent's choices of both sides of all pairs, (n, 2 * pairs)."""
    answers = group.answers
    assert answers is not None
    pair_index = find_pair_indices(group, pooled)[answers.pair]
    respondents, row_of_answer = np.unique(answers.respondent, return_inverse=True)
    choice_counts = np.zeros((len(respondents), pooled.n_pairs, 2))
    choice_counts[row_of_answer, pair_index, 0] = answers.wins
    choice_counts[row_of_answer, pair_index, 1] = answers.losses
    return choice_counts.reshape(len(respondents), -1)


_LEVEL = 0.05  # p-values below indicate a difference


@printed_dataclass
class GroupTest(PrintedResult):
    """Tests of group differences; `.table` has one row per test."""

    statistic: float
    df: int
    p_value: float
    weights: "pandas.DataFrame"


def group_test(
    groups: Any, aspects: Any = "unique", unique: bool = True, random_seed: RandomSeed = 0
) -> GroupTest:
    """Test whether groups have different weights, by likelihood ratios.

    - overall: are all frequencies of all cells equal (one Poisson mean)?
    - model: does elimination by aspects with separate weights for each group fit?
    - group: are the weights the same in all groups?
    - effect: is every probability one half, given that the weights are the same?
    - imbalance: were all pairs compared equally often in all groups?

    The deviances of the last four add up to that of the first. One group gives the tests of a
    single model.

    Parameters
    ----------
    groups : list or mapping of PairedComparisons, or of square tables of counts
        Data sets with the same options in the same order.
    aspects, unique
        As in `EliminationByAspects`; known aspects only.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Seed of permutations: if all groups identify respondents, as the results of
        `PairedComparisons.by_group` do, the p-value of "group" is based on random permutations of
        respondents, whose answers need not be independent.

    Returns
    -------
    GroupTest
        statistic, df and p_value of the group effect; `table` with all tests, whose column `test`
        states the source of a p-value, as in `EliminationByAspects.maximum_likelihood.fit_test`;
        `weights`, one column per group and one of all groups together.

    Raises
    ------
    DataError
        If the groups have different options, or the data of one do not determine the weights.

    References
    ----------
    Duineveld, Arents & King (2000), Log-linear modelling of paired comparison data from consumer
    tests. Good (2005), Permutation, parametric, and bootstrap tests of hypotheses.

    Examples
    --------
    >>> young, old = [[0, 7, 9], [3, 0, 6], [1, 4, 0]], [[0, 2, 3], [8, 0, 5], [7, 5, 0]]
    >>> test = group_test({"young": young, "old": old})
    >>> test.df, round(test.p_value, 4)
    (2, 0.0013)
    """
    data_sets = prepare_groups(groups, "groups")
    group_names = list_group_names(groups, len(data_sets), "group")
    pooled_fit = estimate(pool_groups(data_sets), aspects, unique)
    fits = [
        _fit_group(name, data, aspects, unique)
        for name, data in zip(group_names, data_sets, strict=True)
    ]
    wins, losses = (
        np.concatenate([getattr(data, side) for data in data_sets]) for side in ("wins", "losses")
    )
    n = wins + losses
    cell_counts = np.concatenate([wins, losses])
    # log-likelihood of the pooled model for the choices of all groups, with their coefficients
    pooled_log_likelihood = pooled_fit.maximum.value + sum(fit.coefficient for fit in fits)
    separate_log_likelihood = sum(fit.log_likelihood for fit in fits)
    saturated_log_likelihood = sum(fit.saturated_value for fit in fits)
    n_weights = pooled_fit.n_parameters
    n_groups = len(data_sets)
    test_rows = {
        "overall": equal_means_row(cell_counts),
        "model": (n_weights * n_groups, len(n), separate_log_likelihood, saturated_log_likelihood),
        "group": (n_weights, n_weights * n_groups, pooled_log_likelihood, separate_log_likelihood),
        "effect": (
            0,
            n_weights,
            float(log_binomial(wins, losses, 0.5).sum()),
            pooled_log_likelihood,
        ),
        "imbalance": equal_means_row(n),
    }
    df = len(n) - n_weights * n_groups
    fit_test = _test_fits(
        fits, max(2.0 * (saturated_log_likelihood - separate_log_likelihood), 0.0), df, n
    )
    tests: dict[str, Callable[[float], FitTest]] = {
        "overall": lambda value: run_equal_means_test(cell_counts, value),
        "model": lambda _: fit_test,
        "imbalance": lambda value: run_equal_means_test(n, value),
    }
    independence_caveat = ""
    if all(data.answers is not None for data in data_sets):
        independence_caveat = (
            "The tests other than 'group' treat the answers of each respondent as independent."
        )
    if n_groups > 1 and independence_caveat:
        tests["group"] = lambda value: permutation_test(
            data_sets, pooled_fit, value, n_weights * (n_groups - 1), random_seed
        )
    table = tabulate_tests(test_rows, tests)
    caveats = describe_caveats(
        fit_test, float(n.sum()), max(n_weights * n_groups, 1), "group and effect"
    )
    group_sentence = _describe_group_difference(table, group_names)
    return GroupTest(
        title=f"Tests of group effects ({format_plural(n_groups, 'group')})",
        table=table,
        note=" ".join(filter(None, (group_sentence, caveats, independence_caveat))),
        statistic=float(table.loc["group", "deviance"]),  # type: ignore[arg-type]
        df=int(table.loc["group", "df"]),  # type: ignore[arg-type]
        p_value=float(table.loc["group", "p_value"]),  # type: ignore[arg-type]
        weights=_tabulate_weights(group_names, fits, pooled_fit),
    )


def _tabulate_weights(
    group_names: list[str], fits: list[Estimates], pooled_fit: Estimates
) -> "pandas.DataFrame":
    """Return the aspect weights of each group and of all groups together, by column."""
    import pandas as pd

    weight_columns = {name: fit.weights for name, fit in zip(group_names, fits, strict=True)} | {
        "together": pooled_fit.weights
    }
    return pd.DataFrame(weight_columns, index=pd.Index(pooled_fit.known.names, name="aspect"))


def _fit_group(group_name: str, data: PairedComparisons, aspects: Any, unique: bool) -> Estimates:
    """Return estimates of one group's choices; errors name the group."""
    try:
        fit = estimate(data, aspects, unique)
    except DataError as error:
        raise DataError(f"In {group_name}: {error}") from None
    for warning in warn_unbounded(fit):
        warn(warning)
    return fit


def _test_fits(fits: list[Estimates], statistic: float, df: int, n: np.ndarray) -> FitTest:
    """Test separate fits of all groups against the saturated model."""

    def simulate_deviance(rng: np.random.Generator) -> float:
        """Return the summed deviance of choices simulated from every group's fit."""
        return sum(fit.replicate(rng) for fit in fits)

    inverse_probability_sums = np.concatenate([fit.inverse_probability_sums for fit in fits])
    is_whole = all(fit.has_integer_counts for fit in fits)
    n_weights = sum(len(fit.weights) for fit in fits)
    return run_fit_test(
        statistic,
        df,
        n,
        inverse_probability_sums,
        is_whole,
        simulate_deviance,
        len(n) * n_weights**2,
    )


def _describe_group_difference(table: "pandas.DataFrame", group_names: list[str]) -> str:
    """Return a sentence on whether groups differ; "" for one group."""
    group_row = table.loc["group"]
    if len(group_names) < 2 or not np.isfinite(p := float(group_row["p_value"])):
        return ""
    deviance_text = (
        f"row 'group': deviance {group_row['deviance']:.2f} on"
        f" {format_plural(int(group_row['df']), 'degree')}"
        f" of freedom, {format_p_value(p)}"
    )
    verdict = "do not differ significantly in their weights"
    if p < _LEVEL:
        verdict = "differ significantly in their weights"
    return f"Groups {shorten(group_names)} {verdict} ({deviance_text})."
