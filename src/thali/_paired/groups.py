"""Do groups of judges differ in the weights of aspects?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._aspects.maximum_likelihood.estimates import Estimates
from thali._aspects.maximum_likelihood.fit import estimate, warn_unbounded
from thali._aspects.maximum_likelihood.goodness import (
    FitTest,
    choose_n_samples,
    run_equal_means_test,
    run_fit_test,
)
from thali._aspects.maximum_likelihood.maximum import estimate_maximum
from thali._data.pairs import PairedComparisons
from thali._digits import format_p_value
from thali._inference.numerics.counts import log_binomial
from thali._inference.seeds import spawn_generators
from thali._inference.warn import warn
from thali._labels import format_plural, shorten
from thali._printed import PrintedResult
from thali.errors import DataError

from .counted import as_groups, names_of, pair_places, pooled
from .tests_of_models import equal_means_row, notes, tests_table

if TYPE_CHECKING:
    import pandas


# Permutations of people among groups --------------------------------------------------------------


def permutation_test(
    groups: Sequence[PairedComparisons],
    together: Estimates,
    statistic: float,
    df: int,
    random_seed: Any,
) -> FitTest:
    """Whether groups of people differ by more than groups of the same sizes into which people fall
    at random.

    p = (1 + permutations with a statistic at least as large) / (1 + permutations); the answers of a
    person stay together, whatever they have to do with each other.
    """
    of_people, sizes = _tallies(groups, together.data), []
    for group in groups:
        assert group.answers is not None
        sizes.append(len(np.unique(group.answers.respondent)))
    pose, start = (
        together.problem,
        np.log(np.maximum(together.weights, 1e-3 * together.weights.max())),
    )
    samples = choose_n_samples(pose.work * len(groups))
    rng, reached = spawn_generators(random_seed, 1)[0], 0
    ends = np.cumsum(sizes)[:-1]
    for _ in range(samples):
        parts = np.split(rng.permutation(len(of_people)), ends)
        poses = (pose.with_counts(of_people[part].sum(axis=0)) for part in parts)
        value = 2.0 * (
            sum(estimate_maximum(each, start, together.maximum.beta) for each in poses)
            - together.maximum.value
        )
        # which equal groups reach, rounding aside
        reached += value >= statistic - 1e-5 * max(1.0, statistic)
    return FitTest(
        statistic,
        df,
        (1 + reached) / (1 + samples),
        samples,
        people=len(of_people),
        is_permutation=True,
    )


def _tallies(groups: Sequence[PairedComparisons], pooled: PairedComparisons) -> np.ndarray:
    """Choices of either side of each pair of the pooled data by each person, group after group."""
    found = []
    for group in groups:
        assert group.answers is not None
        each = group.answers
        at = pair_places(group, pooled)
        there, row = np.unique(each.respondent, return_inverse=True)
        tally = np.zeros((len(there), pooled.n_pairs, 2))
        tally[row, at[each.pair], 0] = each.wins
        tally[row, at[each.pair], 1] = each.losses
        found.append(tally.reshape(len(there), -1))
    return np.concatenate(found)


_LEVEL = 0.05  # below which a p-value is taken for a difference


@dataclass(frozen=True, repr=False, eq=False)
class GroupTest(PrintedResult):
    """Tests of group differences: `.table` has the rows overall, model, group, effect, imbalance;
    `weights`."""

    statistic: float
    df: int
    p_value: float
    weights: "pandas.DataFrame"


def group_test(
    groups: Any, aspects: Any = "unique", unique: bool = True, random_seed: Any = 0
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
        Of the same options in the same order.
    aspects, unique
        As those of `EliminationByAspects`; known aspects only.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Of permutations: where all groups say who answered, as those of `PairedComparisons.by_group`
        do, the p-value of "group" is that among random exchanges of people, whose own answers need
        not be independent.

    Returns
    -------
    GroupTest
        statistic, df and p_value of the group effect; `table` with all tests, whose column `test`
        says where a p-value comes from, as `EliminationByAspects.fit_test` does; `weights`, one
        column a group and one of all together.

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
    import pandas as pd

    each = as_groups(groups, "groups")
    names = names_of(groups, len(each), "group")
    together = estimate(pooled(each), aspects, unique)
    fits = []
    for name, data in zip(names, each, strict=True):
        try:
            fits.append(estimate(data, aspects, unique))
        except DataError as error:
            raise DataError(f"In {name}: {error}") from None
        for warning in warn_unbounded(fits[-1]):
            warn(warning)
    wins, losses = (
        np.concatenate([getattr(data, side) for data in each]) for side in ("wins", "losses")
    )
    n, cells = wins + losses, np.concatenate([wins, losses])
    # The prediction of the pooled model for the choices of each group, with the coefficients of the
    # groups.
    coefficients = sum(fit.coefficient for fit in fits)
    pooled_value = together.maximum.value + coefficients
    by_group = sum(fit.log_likelihood for fit in fits)
    saturated = sum(fit.saturated for fit in fits)
    weights = together.n_parameters
    rows = {
        "overall": equal_means_row(cells),
        "model": (weights * len(each), len(n), by_group, saturated),
        "group": (weights, weights * len(each), pooled_value, by_group),
        "effect": (0, weights, float(log_binomial(wins, losses, 0.5).sum()), pooled_value),
        "imbalance": equal_means_row(n),
    }
    df = rows["model"][1] - rows["model"][0]

    def model_test(statistic: float) -> FitTest:
        inverse = np.concatenate([fit.inverse for fit in fits])
        is_whole = all(fit.is_whole for fit in fits)
        free = len(together.weights) * len(fits)

        def replicate(rng: np.random.Generator) -> float:
            return sum(fit.replicate(rng) for fit in fits)

        return run_fit_test(statistic, df, n, inverse, is_whole, replicate, len(n) * free**2)

    test = model_test(max(2.0 * (saturated - by_group), 0.0))
    tests: dict[str, Callable[[float], FitTest]] = {
        "overall": lambda value: run_equal_means_test(cells, value),
        "model": lambda _: test,
        "imbalance": lambda value: run_equal_means_test(n, value),
    }
    if len(each) > 1 and all(data.answers is not None for data in each):
        tests["group"] = lambda value: permutation_test(
            each, together, value, weights * (len(each) - 1), random_seed
        )
    table = tests_table(rows, tests)
    columns = {name: fit.weights for name, fit in zip(names, fits, strict=True)} | {
        "together": together.weights
    }
    caveats = notes(test, float(n.sum()), max(weights * len(each), 1), "group and effect")
    return GroupTest(
        title=f"Tests of group effects ({format_plural(len(each), 'group')})",
        table=table,
        note=" ".join(filter(None, (_group_sentence(table, names), caveats))),
        statistic=float(table.loc["group", "deviance"]),  # type: ignore[arg-type]
        df=int(table.loc["group", "df"]),  # type: ignore[arg-type]
        p_value=float(table.loc["group", "p_value"]),  # type: ignore[arg-type]
        weights=pd.DataFrame(columns, index=pd.Index(together.known.names, name="aspect")),
    )


def _group_sentence(table: "pandas.DataFrame", names: list[str]) -> str:
    """Whether the groups differ, in a sentence; nothing of a single group."""
    row = table.loc["group"]
    if len(names) < 2 or not np.isfinite(p := float(row["p_value"])):
        return ""
    numbers = (
        f"row 'group': deviance {row['deviance']:.2f} on {format_plural(int(row['df']), 'degree')}"
        f" of freedom, {format_p_value(p)}"
    )
    found = (
        "differ significantly in their weights"
        if p < _LEVEL
        else "do not differ significantly in their weights"
    )
    return f"Groups {shorten(names)} {found} ({numbers})."
