"""Bootstrap of aspect weights, by respondents or by simulated choices."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._argument_checks import check_integer
from thali._aspects.maximum_likelihood.elimination_engine import require_choice_estimates
from thali._aspects.maximum_likelihood.estimates import Estimates
from thali._aspects.maximum_likelihood.fit import estimate
from thali._data.number_checks import are_integers
from thali._inference.random_seeds import RandomSeed, build_generator
from thali._labels import format_plural
from thali._posterior.posterior_interval import (
    INTERVAL,
    check_interval,
    compute_interval,
    format_level,
)
from thali._printed_result import PrintedResult, printed_dataclass
from thali.errors import DataError

from .vote_counts import find_pair_indices, pool_groups, prepare_groups

if TYPE_CHECKING:
    import pandas

    from thali._aspects.models.elimination import EliminationByAspects


@printed_dataclass
class Bootstrap(PrintedResult):
    """Bootstrap estimates of aspect weights; `at_infinity` counts failed samples."""

    weights: "pandas.DataFrame"
    at_infinity: int


def bootstrap(
    respondents: Any,
    aspects: Any = "unique",
    unique: bool = True,
    samples: int = 1000,
    random_seed: RandomSeed = None,
    ci: float = INTERVAL,
) -> Bootstrap:
    """Bootstrap respondents, fitting the choices of each sample.

    Parameters
    ----------
    respondents : list or mapping of PairedComparisons, or of square tables of counts
        One per respondent, with the same options.
    aspects, unique
        As in `EliminationByAspects`; known aspects only, lapse 0.
    samples : int, 2 or more
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
    ci : float in (0, 1)
        Probability of the intervals.

    Returns
    -------
    Bootstrap
        `table` with estimate (of all respondents), mean, std_error, low and high (the quantiles
        that enclose `ci` of the samples) of each weight; `weights`, samples by aspects;
        `at_infinity`, the number of samples whose likelihood has no maximum, with vanishing weights
        set to 0.

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
    samples = check_integer("samples", samples, 2)
    ci = check_interval(ci)
    data_sets = prepare_groups(respondents, "respondents")
    if len(data_sets) < 2:
        raise DataError(
            "A bootstrap over respondents requires at least two respondents; use"
            " parametric_bootstrap for one table."
        )
    data = pool_groups(data_sets)
    fit = estimate(data, aspects, unique)
    wins = np.zeros((len(data_sets), data.n_pairs))
    losses = np.zeros((len(data_sets), data.n_pairs))
    for respondent_index, respondent in enumerate(data_sets):
        pair_indices = find_pair_indices(respondent, data)
        wins[respondent_index, pair_indices], losses[respondent_index, pair_indices] = (
            respondent.wins,
            respondent.losses,
        )
    times_drawn = build_generator(random_seed).multinomial(
        len(data_sets), np.full(len(data_sets), 1 / len(data_sets)), size=samples
    )
    return _refit_samples(
        fit,
        times_drawn @ wins,
        times_drawn @ losses,
        f"Bootstrap of {format_plural(len(data_sets), 'respondent')}",
        ci,
    )


def parametric_bootstrap(
    model: "EliminationByAspects",
    samples: int = 1000,
    random_seed: RandomSeed = None,
    ci: float = INTERVAL,
) -> Bootstrap:
    """Simulate choices from a fitted model, fitting each sample.

    Parameters
    ----------
    model : EliminationByAspects
        Fitted by maximum likelihood to integer counts.
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
    samples = check_integer("samples", samples, 2)
    ci = check_interval(ci)
    fit = require_choice_estimates(model, "parametric_bootstrap")
    pair_totals = fit.problem.totals
    if not are_integers(pair_totals):
        raise DataError(
            "A parametric bootstrap requires integer counts, but these counts are fractional;"
            " round the counts, or resample respondents with `bootstrap`."
        )
    wins = build_generator(random_seed).binomial(
        pair_totals.astype(np.int64), fit.fitted()[::2], size=(samples, len(pair_totals))
    )
    return _refit_samples(fit, wins.astype(float), pair_totals - wins, "Parametric bootstrap", ci)


def _refit_samples(
    fit: Estimates, wins: np.ndarray, losses: np.ndarray, title: str, ci: float
) -> Bootstrap:
    """Return the bootstrap of all samples' win and loss counts, refitted."""
    import pandas as pd

    weights = np.empty((len(wins), len(fit.weights)))
    n_at_infinity = 0
    for sample_index, (sample_wins, sample_losses) in enumerate(zip(wins, losses, strict=True)):
        refit = fit.refit(np.column_stack([sample_wins, sample_losses]).ravel())
        weights[sample_index] = refit.weights
        n_at_infinity += bool(refit.vanishing.any())
    aspect_index = pd.Index(fit.known.names, name="aspect")
    low, high = compute_interval(weights, ci)
    estimate_columns = {
        "estimate": fit.weights,
        "mean": weights.mean(axis=0),
        "std_error": weights.std(axis=0, ddof=1),
        "low": low,
        "high": high,
    }
    note = f"{format_plural(len(wins), 'sample')}; low and high enclose {format_level(ci)} of them."
    if n_at_infinity:
        note += (
            f" In {n_at_infinity:,} samples the likelihood has no maximum; the limits of the"
            " weights are used."
        )
    table = pd.DataFrame(estimate_columns, index=aspect_index)
    table.attrs["interval"] = ci
    return Bootstrap(title, table, note, pd.DataFrame(weights, columns=aspect_index), n_at_infinity)
