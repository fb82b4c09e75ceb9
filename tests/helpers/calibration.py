"""Simulation-based calibration: ranks of true values in posteriors of simulated data."""

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import thali as th
from thali._model.simulated_data import draw_prior
from thali._posterior.summary_table import MIN_DRAWS, compute_mean_mcse
from thali.errors import ThaliWarning

if TYPE_CHECKING:
    import pandas
    import xarray


# Uniformity of numbers between 0 and 1, by their empirical distribution function ------------------


_POINTS = 50  # points at which the distribution functions are compared
_TIE = 1e-9  # relative difference of probabilities that are equal up to rounding


def compute_uniformity_p_value(numbers: np.ndarray) -> float:
    r"""Return the p-value of uniformity of numbers, by their largest CDF deviation.

    At the points z_i = i/K the number c_i of values up to z_i is Binomial(n, z_i). The smallest
    tail probability

    .. math:: \gamma = \min_i \; 2 \min\{P(C_i \le c_i), P(C_i \ge c_i)\}

    is compared with its exact distribution, because the counts are a Markov chain.
    """
    from scipy.special import gammaln
    from scipy.stats import binom

    n = len(numbers)
    points = np.arange(1, _POINTS) / _POINTS
    counts_below = np.searchsorted(np.sort(numbers), points, side="right")
    possible_counts = np.arange(n + 1)
    tail_probabilities = np.minimum(
        binom.cdf(possible_counts, n, points[:, None]),
        binom.sf(possible_counts - 1, n, points[:, None]),
    )
    smallest_tail = tail_probabilities[np.arange(len(points)), counts_below].min()
    is_inside = tail_probabilities > smallest_tail * (1.0 + _TIE)
    log_factorial = gammaln(possible_counts + 1.0)
    counts_before = np.zeros(1, int)
    count_probabilities = np.ones(1)
    point = 0.0
    for next_point, is_allowed in zip(points, is_inside, strict=True):
        counts_after = np.flatnonzero(is_allowed)
        interval_share = (next_point - point) / (1.0 - point)
        n_new = counts_after[None, :] - counts_before[:, None]
        n_left = n - counts_after
        log_probabilities = (
            log_factorial[n - counts_before][:, None]
            - log_factorial[np.maximum(n_new, 0)]
            - log_factorial[n_left]
        )
        log_probabilities = (
            log_probabilities + n_new * np.log(interval_share) + n_left * np.log1p(-interval_share)
        )
        counts_before = counts_after
        count_probabilities = count_probabilities @ np.where(
            n_new >= 0, np.exp(log_probabilities), 0.0
        )
        point = next_point
    return float(min(1.0, max(0.0, 1.0 - count_probabilities.sum())))


MAX_RANKED = 12  # maximum number of ranked entries of a variable, evenly spaced
LIMIT = 1e-4  # probability that a correct model is rejected
TOLERANCE = 1e-7  # relative difference of numbers that are equal up to rounding
_ROUNDS = 20  # maximum ratio of simulated to required data sets, if some cannot be fitted


@dataclass(frozen=True)
class Calibration:
    """The result of `calibrate`; prints as a table.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per quantity: `n` (data sets), `rank_mean` (should be 1/2) and its standardised
        error `z`, `z_spread` (standardised error of the mean squared distance from 1/2: below 0
        posteriors are too wide, above 0 too narrow), `p_value` (of uniform ranks, by their complete
        distribution), and `ess`, the median number of nearly independent draws.
    ranks : pandas.DataFrame
        One row per data set, one column per quantity: the share of draws below the parameter, which
        should be uniform between 0 and 1.
    """

    table: "pandas.DataFrame"
    ranks: "pandas.DataFrame"

    @property
    def ok(self) -> bool:
        """Whether all quantities are calibrated; a correct model fails once in 10,000 times."""
        return bool(self.table["p_value"].min() * len(self.table) >= LIMIT)

    def __repr__(self) -> str:
        heading = "calibrated" if self.ok else "NOT CALIBRATED"
        return f"{self.table}\n{heading}"


def calibrate(
    model: Any, design: Any, n: int = 200, random_seed: int | None = None, **fit: Any
) -> Calibration:
    r"""Run a simulation-based calibration of a model.

    .. math::

        \theta^* \sim p(\theta), \quad y \sim p(y \mid \theta^*), \quad
        \theta_1, \dots, \theta_L \sim
        p(\theta \mid y) \quad \Rightarrow \quad
        \#\{l : \theta_l < \theta^*\} \text{ is uniform on } 0, \dots, L

    for every function of parameters and data. An error in the sampler, in the likelihood or in the
    simulation makes some ranks uneven. Draws are thinned to the effective number of independent
    draws; ties are broken at random. The ranked quantities are the variables of `sample_prior`'s
    group `prior`, at most 12 entries each; variables that depend on the order of features are
    summed over features.

    `design`: data as for `fit`; for a classifier, the pair (X, y). A prior that depends on the data
    is fixed to the prior for the design. `n`: number of data sets that are simulated and fitted.
    `fit`: arguments of every fit, such as draws=100, tune=200, chains=1.

    Talts, Betancourt, Simpson, Vehtari & Gelman (2018), Validating Bayesian inference algorithms
    with simulation-based calibration; Modrák et al. (2023), on quantities that depend on the data;
    Säilynoja, Bürkner & Vehtari (2022).
    """
    arguments = design if _is_classifier(model) else (design,)
    prior_seed, fit_seed = np.random.SeedSequence(random_seed).spawn(2)
    model = _copy_with_fixed_prior(model, design)
    simulated = _simulate_data(model, arguments, n, prior_seed)
    results = [
        _fit_and_rank(model, data, truth, seed, fit)
        for (data, truth), seed in zip(simulated, fit_seed.spawn(n), strict=True)
    ]
    ranks, n_draws = np.moveaxis(np.array(results, float), 2, 0)
    return _build_calibration(list(simulated[0][1]), ranks, n_draws)


def _is_classifier(model: Any) -> bool:
    """Return whether `fit` takes covariates and classes."""
    return isinstance(model, th.PlackettLuceRegression | th.SparseMultinomialLogit)


def _copy_with_fixed_prior(model: Any, design: Any) -> Any:
    """Return an unfitted copy whose prior does not depend on the answers."""
    if not isinstance(model, th.LatentFeatureModel | th.AdditiveClustering):
        return type(model)(**model.get_params())
    data = model._convert_data(design)
    arguments = model._build_task_arguments(data)
    likelihood = fix_prior(arguments["likelihood"], data)
    return th.LatentFeatureModel(**arguments | {"likelihood": likelihood})


def fix_prior(likelihood: Any, data: Any) -> Any:
    """Return the likelihood with a prior of sigma that is fixed by these data."""
    if (
        not isinstance(likelihood, th.likelihoods.Additive)
        or likelihood.fixed_sigma(data) is not None
    ):
        return likelihood
    return replace(likelihood, variance=likelihood.first_variance(data))


def _simulate_data(
    model: Any, design: tuple[Any, ...], n: int, seed: np.random.SeedSequence
) -> list[tuple[tuple[Any, ...], dict[str, float]]]:
    """Simulate n data sets that the model can fit, with their true quantities."""
    # Only properties of the data decide which are skipped, so the other ranks remain uniform.
    usable_data: list[tuple[tuple[Any, ...], dict[str, float]]] = []
    quantity_names: list[str] = []
    for round_seed in seed.spawn(_ROUNDS):
        prior_sample = draw_prior(model, n, round_seed, *design)
        draws_by_quantity = collect_quantities(prior_sample.prior)
        if prior_sample.latent is not None:
            draws_by_quantity |= collect_quantities(prior_sample.latent)
        # fixed quantities are omitted
        quantity_names = quantity_names or [
            name for name, draws in draws_by_quantity.items() if np.ptp(draws) > 0.0
        ]
        usable_data += [
            (data, {name: float(draws_by_quantity[name][0, k]) for name in quantity_names})
            for k, data in enumerate(prior_sample.data)
            if data is not None
        ]
        if len(usable_data) >= n:
            return usable_data[:n]
    raise AssertionError(
        f"Only {len(usable_data):,} of {_ROUNDS * n:,} simulated data sets contain all classes"
        " and can be fitted; use a design with more rows."
    )


def _fit_and_rank(
    model: Any,
    data: tuple[Any, ...],
    truth: dict[str, float],
    seed: np.random.SeedSequence,
    settings: dict[str, Any],
) -> list[tuple[float, int]]:
    """Fit a simulated data set; return ranks of true values, with the number of draws used."""
    seed, tie_seed = seed.spawn(2)
    rng = np.random.default_rng(tie_seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        tree = _fit_posterior(type(model)(**model.get_params()), data, seed, settings)
    draws_by_quantity = collect_quantities(
        *(tree[name].dataset for name in ("posterior", "latent_features") if name in tree.children)
    )
    return [
        _rank_truth(draws_by_quantity[name], true_value, rng) for name, true_value in truth.items()
    ]


def _fit_posterior(
    model: Any, data: tuple[Any, ...], seed: np.random.SeedSequence, settings: dict[str, Any]
) -> "xarray.DataTree":
    """Fit a model on one core; return its posterior."""
    run: dict[str, Any] = {"cores": 1, "progressbar": False}
    if not _is_classifier(model):
        return model.fit(*data, random_seed=seed, **run | settings).posterior_
    thin = settings.get("thin")
    further = {name: value for name, value in settings.items() if name != "thin"}
    model.set_params(random_state=seed, **further)
    return model.fit(*data, thin=thin, **run).posterior_


def _rank_truth(
    draws: np.ndarray, true_value: float, rng: np.random.Generator
) -> tuple[float, int]:
    """Return the share of thinned draws below the true value, and their number."""
    # Ties are broken at random.
    flat_draws = draws.ravel()
    n_thinned = flat_draws.size
    if np.ptp(flat_draws) > 0.0 and draws.shape[1] >= MIN_DRAWS:
        effective_size = (flat_draws.std(ddof=1) / compute_mean_mcse(draws[None])[0]) ** 2
        n_thinned = int(np.clip(effective_size, 1, flat_draws.size))
    thinned_draws = flat_draws[
        ((np.arange(n_thinned) + 0.5) * flat_draws.size / n_thinned).astype(int)
    ]
    is_tied = np.abs(thinned_draws - true_value) <= TOLERANCE * (1.0 + abs(true_value))
    n_below = int((thinned_draws[~is_tied] < true_value).sum())
    n_equal = int(is_tied.sum())
    return (n_below + rng.random() * (n_equal + 1)) / (n_thinned + 1), n_thinned


def _build_calibration(
    quantity_names: list[str], ranks: np.ndarray, n_draws: np.ndarray
) -> Calibration:
    """Return the result for ranks of shape (n_data_sets, n_quantities)."""
    import pandas as pd

    n_data_sets = len(ranks)
    table = pd.DataFrame(
        {
            "n": n_data_sets,
            "rank_mean": ranks.mean(axis=0),
            "z": (ranks.mean(axis=0) - 0.5) * np.sqrt(12.0 * n_data_sets),
            "z_spread": (((ranks - 0.5) ** 2).mean(axis=0) - 1.0 / 12.0)
            * np.sqrt(180.0 * n_data_sets),
            "p_value": [compute_uniformity_p_value(column) for column in ranks.T],
            "ess": np.median(n_draws, axis=0),
        },
        index=pd.Index(quantity_names, name="quantity"),
    )
    return Calibration(table, pd.DataFrame(ranks, columns=quantity_names))


def collect_quantities(*groups: "xarray.Dataset") -> dict[str, np.ndarray]:
    """Return draws by quantity, where sums replace values that depend on feature order."""
    draws_by_quantity: dict[str, np.ndarray] = {}
    for name, variable in (pair for group in groups for pair in group.data_vars.items()):
        quantity_name = str(name)
        if "feature" in variable.dims:
            quantity_name = f"sum of {quantity_name}"
            variable = variable.sum("feature")
        entry_dims = [str(dim) for dim in variable.dims if dim not in ("chain", "draw")]
        draws = np.asarray(variable.values, float).reshape(*variable.shape[:2], -1)
        labels = _format_entry_labels(variable, entry_dims)
        for entry_index in np.unique(np.linspace(0, len(labels) - 1, MAX_RANKED).astype(int)):
            draws_by_quantity[quantity_name + labels[entry_index]] = draws[:, :, entry_index]
    return draws_by_quantity


def _format_entry_labels(variable: "xarray.DataArray", dims: list[str]) -> list[str]:
    """Return labels of a variable's entries, in brackets."""
    entry_names = [()]
    for dim in dims:
        coordinates = [c.values.astype(str) for c in variable.coords.values() if c.dims == (dim,)]
        level_names = [", ".join(cells) for cells in zip(*coordinates, strict=True)] or [
            str(k) for k in range(variable.sizes[dim])
        ]
        entry_names = [(*prefix, name) for prefix in entry_names for name in level_names]
    return [f"[{', '.join(name)}]" if name else "" for name in entry_names]
