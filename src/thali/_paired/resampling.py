"""Standard errors and intervals by the bootstrap of respondents or of choices."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import check_integer, check_open_interval
from thali._aspects.maximum_likelihood.engine import require_choice_estimates
from thali._aspects.maximum_likelihood.estimates import Estimates
from thali._aspects.maximum_likelihood.fit import estimate
from thali._data.checks import are_integers
from thali._inference.seeds import spawn_generators
from thali._labels import format_plural
from thali._posterior.interval import INTERVAL, format_level, interval_tails
from thali._printed import PrintedResult
from thali.errors import DataError

from .counted import as_groups, pair_places, pooled

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False, eq=False)
class Bootstrap(PrintedResult):
    """Bootstrap of weights: `.table` by aspect; `weights` of each sample; `at_infinity`: samples
    without maximum."""

    weights: "pandas.DataFrame"
    at_infinity: int


def bootstrap(
    respondents: Any,
    aspects: Any = "unique",
    unique: bool = True,
    samples: int = 1000,
    random_seed: Any = None,
    ci: float = INTERVAL,
) -> Bootstrap:
    """Draw respondents with replacement, and fit the choices of each sample.

    Parameters
    ----------
    respondents : list or mapping of PairedComparisons, or of square tables of counts
        One for each respondent, of the same options.
    aspects, unique
        As those of `EliminationByAspects`; known aspects only, lapse 0.
    samples : int, 2 or more
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
    ci : float in (0, 1)
        Probability of the intervals.

    Returns
    -------
    Bootstrap
        `table` with estimate (of all respondents), mean, std_error, low and high (the quantiles
        between which `ci` of the samples lie) of each weight; `weights`, samples by aspects;
        `at_infinity`, the number of samples whose likelihood has no maximum: the weights that
        vanish are 0.

    Raises
    ------
    DataError
        If respondents have different options, are fewer than two, or do not determine the weights.

    References
    ----------
    Efron & Tibshirani (1993), An introduction to the bootstrap.

    Examples
    --------
    >>> people = [[[0, 1, 1], [0, 0, 1], [0, 0, 0]], [[0, 0, 1], [1, 0, 0], [0, 1, 0]]]
    >>> list(bootstrap(people, samples=20, random_seed=1).table.columns)
    ['estimate', 'mean', 'std_error', 'low', 'high']
    """
    samples, ci = (
        check_integer("samples", samples, 2),
        check_open_interval("ci", ci, "the probability of an interval"),
    )
    each = as_groups(respondents, "respondents")
    if len(each) < 2:
        raise DataError(
            "A bootstrap over respondents requires at least two respondents; use"
            " parametric_bootstrap for one table."
        )
    data = pooled(each)
    found = estimate(data, aspects, unique)
    wins, losses = np.zeros((len(each), data.n_pairs)), np.zeros((len(each), data.n_pairs))
    for row, respondent in enumerate(each):
        places = pair_places(respondent, data)
        wins[row, places], losses[row, places] = respondent.wins, respondent.losses
    rng = spawn_generators(random_seed, 1)[0]
    times = rng.multinomial(len(each), np.full(len(each), 1 / len(each)), size=samples)
    return _refitted(
        found,
        times @ wins,
        times @ losses,
        f"Bootstrap of {format_plural(len(each), 'respondent')}",
        ci,
    )


def parametric_bootstrap(
    model: Any, samples: int = 1000, random_seed: Any = None, ci: float = INTERVAL
) -> Bootstrap:
    """Draw choices from a model fitted by maximum likelihood, and fit each sample.

    Parameters
    ----------
    model : EliminationByAspects
        Fitted by maximum likelihood to whole counts.
    samples : int, 2 or more
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
    ci : float in (0, 1)
        Probability of the intervals.

    Returns
    -------
    Bootstrap
        As `bootstrap`.

    Raises
    ------
    ArgumentError
        If it is not such a model.
    DataError
        If its data have fractional counts.

    References
    ----------
    Efron & Tibshirani (1993), An introduction to the bootstrap.

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(
    ...     th.datasets.celebrities()
    ... )
    >>> errors = parametric_bootstrap(model, samples=50, random_seed=1).table["std_error"]
    >>> bool(0.006 < errors["LBJ"] < 0.013)
    True
    """
    samples, ci = (
        check_integer("samples", samples, 2),
        check_open_interval("ci", ci, "the probability of an interval"),
    )
    found = require_choice_estimates(model, "parametric_bootstrap")
    n = found.problem.totals
    if not are_integers(n):
        raise DataError(
            "A parametric bootstrap requires integer counts, but these counts are fractional;"
            " round the counts, or resample respondents with `bootstrap`."
        )
    wins = spawn_generators(random_seed, 1)[0].binomial(
        n.astype(np.int64), found.fitted()[::2], size=(samples, len(n))
    )
    return _refitted(found, wins.astype(float), n - wins, "Parametric bootstrap", ci)


def _refitted(
    found: Estimates, wins: np.ndarray, losses: np.ndarray, title: str, ci: float
) -> Bootstrap:
    """Fit every row of counts; the maximisations start at the estimate of the data."""
    import pandas as pd

    weights, at_infinity = np.empty((len(wins), len(found.weights))), 0
    for row, (x, y) in enumerate(zip(wins, losses, strict=True)):
        best = found.refit(np.column_stack([x, y]).ravel())
        weights[row] = best.weights
        at_infinity += bool(best.vanishing.any())
    names = pd.Index(found.known.names, name="aspect")
    low, high = np.quantile(weights, interval_tails(ci), axis=0)
    columns = {
        "estimate": found.weights,
        "mean": weights.mean(axis=0),
        "std_error": weights.std(axis=0, ddof=1),
        "low": low,
        "high": high,
    }
    note = f"{format_plural(len(wins), 'sample')}; low and high enclose {format_level(ci)} of them."
    if at_infinity:
        note += (
            f" In {at_infinity:,} samples the likelihood has no maximum; the limits of the"
            " weights are used."
        )
    table = pd.DataFrame(columns, index=names)
    table.attrs["interval"] = ci
    return Bootstrap(title, table, note, pd.DataFrame(weights, columns=names), at_infinity)
