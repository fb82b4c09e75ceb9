"""Simulation-based calibration: ranks of true values in posteriors of simulated data."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._argument_checks import check_integer
from thali._aspects.models.additive_clustering import AdditiveClustering
from thali._aspects.models.latent_feature_model import LatentFeatureModel
from thali._classify.classifier import Classifier
from thali._comparison.held_out_fits import ignore_sigint
from thali._inference.random_seeds import RandomSeed, build_seed_sequence
from thali._inference.threads_and_processes import run_all
from thali._inference.user_warnings import silence_warnings
from thali._model.markov_chain_model import MarkovChainModel
from thali._model.method_requirements import is_available
from thali._model.simulated_data import draw_prior
from thali._object_descriptions import Description, PrintedObject
from thali._posterior.posterior_tree import LATENT
from thali._posterior.summary_table import MIN_DRAWS, compute_mean_mcse
from thali.errors import ArgumentError, DataError

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


@dataclass(frozen=True, repr=False)
class Calibration(PrintedObject):
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
        should be uniform between 0 and 1. A histogram or an empirical distribution function shows
        deviations.
    """

    table: "pandas.DataFrame"
    ranks: "pandas.DataFrame"

    @property
    def ok(self) -> bool:
        """Whether all quantities are calibrated; a correct model fails once in 10,000 times."""
        return bool(self.table["p_value"].min() * len(self.table) >= LIMIT)

    def to_datatree(self) -> "xarray.DataTree":
        """Return the ranks for ArviZ's `plot_ecdf_pit`.

        Returns
        -------
        xarray.DataTree
            A group `prior_sbc` with one variable per quantity, shape (chain, draw), with one chain
            and one draw per data set, between 0 and 1.
        """
        import xarray as xr

        coordinates = {"chain": [0], "draw": np.arange(len(self.ranks))}
        ranks = {
            name: (("chain", "draw"), self.ranks[name].to_numpy()[None]) for name in self.ranks
        }
        return xr.DataTree.from_dict({"prior_sbc": xr.Dataset(ranks, coordinates)})

    def __bool__(self) -> bool:
        return self.ok

    def _description(self) -> Description:
        return Description("Calibration", table=self.table, note=self._judgement(), good=self.ok)

    def _judgement(self) -> str:
        """Return a sentence on the p-values of all quantities."""
        adjusted_p_value = self.table["p_value"].min() * len(self.table)
        heading = "NOT CALIBRATED"
        if self.ok:
            heading = "calibrated"
        return (
            f"{heading}: smallest p-value times the number of quantities ({len(self.table)}) is"
            f" {adjusted_p_value:.2g}"
        )


@dataclass(frozen=True)
class CalibrationTask:
    """One simulated data set to fit, with true values to rank, sent to a process."""

    model: MarkovChainModel
    data: tuple[Any, ...]
    truth: dict[str, float]
    seed: np.random.SeedSequence
    settings: dict[Any, Any]  # of the fit
    main_process: int  # id of the parent process


def calibrate(
    model: MarkovChainModel,
    design: Any,
    n: int = 200,
    *,
    cores: int | None = None,
    random_seed: RandomSeed = None,
    progressbar: bool = True,
    **fit: Any,
) -> Calibration:
    r"""Run a simulation-based calibration of a model.

    .. math::

        \theta^* \sim p(\theta), \quad y \sim p(y \mid \theta^*), \quad
        \theta_1, \dots, \theta_L \sim
        p(\theta \mid y) \quad \Rightarrow \quad
        \#\{l : \theta_l < \theta^*\} \text{ is uniform on } 0, \dots, L

    for every function of parameters and data. An error in the sampler, in the likelihood or in the
    simulation makes some ranks uneven. Draws are thinned to the effective number of independent
    draws; ties are broken at random.

    Parameters
    ----------
    model : a model of thali
        A model that draws from a posterior, such as `LatentFeatureModel` with a custom likelihood.
    design : data as for `fit`; for a classifier, the pair (X, y)
        See `sample_prior`. A prior that depends on the data is fixed to the prior for the design.
    n : int
        Number of data sets that are simulated and fitted.
    cores : int, optional
        Number of data sets fitted in parallel, in separate processes; None uses all processors.
        Does not affect the ranks.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
    progressbar : bool
    **fit
        Additional arguments of every fit, such as draws=100, tune=200, chains=1.

    Returns
    -------
    Calibration
        `.table`, `.ranks`, `.ok`; prints as a table. The ranked quantities are the variables of
        `sample_prior`'s group `prior`, at most 12 entries each; variables that depend on the order
        of features are summed over features.

    Raises
    ------
    ArgumentError
        If the model has no prior or draws nothing, or an argument is outside its range.
    DataError
        If the design cannot be used.

    References
    ----------
    Talts, Betancourt, Simpson, Vehtari & Gelman (2018), Validating Bayesian inference algorithms
    with simulation-based calibration; Modrák et al. (2023), on quantities that depend on the data;
    Säilynoja, Bürkner & Vehtari (2022).

    Examples
    --------
    >>> import thali as th
    >>> design = th.PairedComparisons([[0, 5], [5, 0]], labels=["tea", "coffee"])
    >>> model = th.EliminationByAspects("unique")
    >>> found = calibrate(
    ...     model,
    ...     design,
    ...     20,
    ...     draws=50,
    ...     tune=20,
    ...     chains=1,
    ...     cores=1,
    ...     random_seed=1,
    ...     progressbar=False,
    ... )
    >>> found.ok, list(found.table.columns)
    (True, ['n', 'rank_mean', 'z', 'z_spread', 'p_value', 'ess'])
    """
    from thali._inference.progress_display import Progress

    if not (isinstance(model, MarkovChainModel) and is_available(model, "sample_prior")):
        raise ArgumentError(f"calibrate requires a thali model; got {type(model).__name__}.")
    n = check_integer("n", n, 2)
    if cores is not None:
        cores = check_integer("cores", cores, 1)
    model_data = _pack_design(model, design)
    prior_seed, fit_seed = build_seed_sequence(random_seed).spawn(2)
    fixed_model = _copy_with_fixed_prior(model, model_data)
    main_process = os.getpid()
    tasks = [
        CalibrationTask(fixed_model, data, truth, seed, fit, main_process)
        for (data, truth), seed in zip(
            _simulate_data(fixed_model, model_data, n, prior_seed), fit_seed.spawn(n), strict=True
        )
    ]
    ranks, n_draws = np.empty((2, n, len(tasks[0].truth)))
    with Progress(progressbar, "calibrating", n, "fits") as progress:
        ranks[0], n_draws[0] = fit_and_rank(tasks[0])  # compiles, for all processes
        for n_done, (task_index, rank_result) in enumerate(
            run_all(fit_and_rank, tasks[1:], cores), start=2
        ):
            if isinstance(rank_result, BaseException):
                raise rank_result
            ranks[task_index + 1], n_draws[task_index + 1] = rank_result
            progress.update(n_done)
    return _build_calibration(list(tasks[0].truth), ranks, n_draws)


def _pack_design(model: MarkovChainModel, design: Any) -> tuple[Any, ...]:
    """Return the data arguments for `fit` from one argument; a classifier takes the pair (X, y)."""
    if not isinstance(model, Classifier):
        return (design,)
    if not isinstance(design, tuple) or len(design) != 2:
        raise DataError(
            f"The design of a classifier must be the pair (X, y); got {type(design).__name__}."
        )
    return design


def _copy_with_fixed_prior(model: MarkovChainModel, data: tuple[Any, ...]) -> Any:
    """Return an unfitted copy that keeps its prior for these data, whatever it is fitted to."""
    if not isinstance(model, LatentFeatureModel | AdditiveClustering):
        return type(model)(**model.get_params())
    converted = model._convert_data(*data)
    source = converted if isinstance(model, AdditiveClustering) else data[0]
    arguments = model._build_task_arguments(source)
    arguments |= {"likelihood": arguments["likelihood"].fix_prior(converted)}
    fixed_copy = LatentFeatureModel(**arguments)
    if isinstance(model, AdditiveClustering):
        fixed_copy = type(model)(**model.get_params())
        fixed_copy._fixed_arguments = arguments
    return fixed_copy


def _refit(
    model: Any, data: tuple[Any, ...], seed: np.random.SeedSequence, settings: dict[str, Any]
) -> Any:
    """Fit a model to other data on one core; return its posterior."""
    if not isinstance(model, Classifier):
        return model.fit(*data, random_seed=seed, cores=1, progressbar=False, **settings).posterior_
    model._check_draws_method()
    parameters = dict(settings)
    thin = parameters.pop("thin", None)
    model.set_params(random_state=seed, **parameters)
    return model.fit(*data, thin=thin, cores=1, progressbar=False).posterior_


def _simulate_data(
    model: MarkovChainModel, design: tuple[Any, ...], n: int, seed: np.random.SeedSequence
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
    raise DataError(
        f"Only {len(usable_data):,} of {_ROUNDS * n:,} simulated data sets contain all classes"
        " and can be fitted; use a design with more rows."
    )


def fit_and_rank(task: CalibrationTask) -> tuple[list[float], list[int]]:
    """Fit a simulated data set; return ranks of true values and draws used."""
    seed, tie_seed = task.seed.spawn(2)
    rng = np.random.default_rng(tie_seed)
    model = type(task.model)(**task.model.get_params())
    with ignore_sigint(task.main_process), silence_warnings():
        tree = _refit(model, task.data, seed, task.settings)
    if model._interrupted_:
        raise KeyboardInterrupt
    draws_by_quantity = collect_quantities(
        *(tree[name].dataset for name in ("posterior", LATENT) if name in tree.children)
    )
    ranks_and_n_draws = [
        _rank_truth(draws_by_quantity[name], true_value, rng)
        for name, true_value in task.truth.items()
    ]
    return [rank for rank, _ in ranks_and_n_draws], [n_draws for _, n_draws in ranks_and_n_draws]


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
