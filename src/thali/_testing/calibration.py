"""Simulation-based calibration: are the posteriors of simulated data correct?"""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import check_integer
from thali._comparison.engine import ignore_sigint
from thali._described import DescribedObject, Description
from thali._inference.seeds import build_seed_sequence
from thali._inference.threads import run_all
from thali._inference.warn import silence_warnings
from thali._model.chain_model import MarkovChainModel
from thali._model.prior_sample import draw_prior
from thali._posterior.summary import MIN_DRAWS, compute_mean_ess
from thali._posterior.view import LATENT
from thali.errors import ArgumentError, DataError

if TYPE_CHECKING:
    import pandas
    import xarray


# Whether numbers between 0 and 1 are uniform, by their empirical distribution function ------------


_POINTS = 50  # at which the distribution functions are compared
_TIE = 1e-9  # relative difference of probabilities that are equal but for rounding


def uniformity(values: np.ndarray) -> float:
    r"""The p-value of independent uniform numbers, by the greatest deviation of their distribution
    function.

    At the points z_i = i/K the number c_i of values up to z_i is Binomial(n, z_i). The smallest
    tail probability

    .. math:: \gamma = \min_i \; 2 \min\{P(C_i \le c_i), P(C_i \ge c_i)\}

    is referred to its exact distribution, which follows from the counts being a Markov chain.
    """
    from scipy.special import gammaln
    from scipy.stats import binom

    n = len(values)
    points = np.arange(1, _POINTS) / _POINTS
    counts = np.searchsorted(np.sort(values), points, side="right")
    every = np.arange(n + 1)
    tails = np.minimum(
        binom.cdf(every, n, points[:, None]), binom.sf(every - 1, n, points[:, None])
    )
    smallest = tails[np.arange(len(points)), counts].min()
    inside = tails > smallest * (1.0 + _TIE)
    log_factorial = gammaln(every + 1.0)
    before, decisions, point = np.zeros(1, int), np.ones(1), 0.0
    for next_point, allowed in zip(points, inside, strict=True):
        after = np.flatnonzero(allowed)
        share = (next_point - point) / (1.0 - point)
        new, left = after[None, :] - before[:, None], n - after
        log_p = (
            log_factorial[n - before][:, None]
            - log_factorial[np.maximum(new, 0)]
            - log_factorial[left]
        )
        log_p = log_p + new * np.log(share) + left * np.log1p(-share)
        before, decisions, point = (
            after,
            decisions @ np.where(new >= 0, np.exp(log_p), 0.0),
            next_point,
        )
    return float(min(1.0, max(0.0, 1.0 - decisions.sum())))


MAX_RANKED = 12  # quantities of a variable, evenly spaced, that are ranked
LIMIT = 1e-4  # probability that a correct model is rejected
TIE = 1e-7  # relative difference below which numbers are equal up to rounding
_ROUNDS = 20  # at most this many times the wanted data sets are simulated if some cannot be fitted


@dataclass(frozen=True)
class Calibration(DescribedObject):
    """The result of `calibrate`; prints as a table.

    Attributes
    ----------
    table : pandas.DataFrame
        One row a quantity: `n` (data sets), `rank_mean` (should be 1/2) and its standardised error
        `z`, `z_spread` (the same of the mean squared distance from 1/2: below 0 posteriors are too
        wide, above 0 too narrow), `p_value` (of uniform ranks, by their whole distribution), and
        `ess`, the median number of nearly independent draws.
    ranks : pandas.DataFrame
        One row a data set, one column a quantity: the share of draws below the parameter, which
        should be uniform between 0 and 1; their histogram, or their empirical distribution
        function, shows deviations.
    """

    table: "pandas.DataFrame"
    ranks: "pandas.DataFrame"

    @property
    def ok(self) -> bool:
        """Whether every quantity is calibrated; a correct model is rejected by chance once in
        10,000 times."""
        return bool(self.table["p_value"].min() * len(self.table) >= LIMIT)

    def to_datatree(self) -> "xarray.DataTree":
        """The ranks for ArviZ's `plot_ecdf_pit`.

        Returns
        -------
        xarray.DataTree
            With the group `prior_sbc`: a variable for each quantity, shape (chain, draw) with one
            chain and a draw for each data set, between 0 and 1.
        """
        import xarray as xr

        sampled = {"chain": [0], "draw": np.arange(len(self.ranks))}
        ranks = {
            name: (("chain", "draw"), self.ranks[name].to_numpy()[None]) for name in self.ranks
        }
        return xr.DataTree.from_dict({"prior_sbc": xr.Dataset(ranks, sampled)})

    def __bool__(self) -> bool:
        return self.ok

    def _description(self) -> Description:
        return Description("Calibration", table=self.table, note=self._judgement(), good=self.ok)

    def __str__(self) -> str:
        formats = {
            "rank_mean": "{:.3f}",
            "z": "{:+.1f}",
            "z_spread": "{:+.1f}",
            "p_value": "{:.2g}",
            "ess": "{:.0f}",
        }
        shown: Any = {name: rule.format for name, rule in formats.items()}
        return f"{self.table.to_string(formatters=shown)}\n{self._judgement()}"

    def _judgement(self) -> str:
        """What the p-values say."""
        smallest = self.table["p_value"].min() * len(self.table)
        heading = "calibrated" if self.ok else "NOT CALIBRATED"
        return (
            f"{heading}: smallest p-value times the number of quantities ({len(self.table)}) is"
            f" {smallest:.2g}"
        )


@dataclass(frozen=True)
class CalibrationTask:
    """The task: fit the model to simulated data and rank their parameters. It is sent to other
    processes."""

    model: MarkovChainModel
    data: tuple[Any, ...]
    truth: dict[str, float]
    seed: np.random.SeedSequence
    settings: dict[Any, Any]  # of the fit
    home: int  # the process that asks


def calibrate(
    model: Any,
    design: Any,
    n: int = 200,
    *,
    cores: int | None = None,
    random_seed: Any = None,
    progressbar: bool = True,
    **fit: Any,
) -> Calibration:
    r"""Simulation-based calibration of a model.

    .. math::

        \theta^* \sim p(\theta), \quad y \sim p(y \mid \theta^*), \quad
        \theta_1, \dots, \theta_L \sim
        p(\theta \mid y) \quad \Rightarrow \quad
        \#\{l : \theta_l < \theta^*\} \text{ is uniform on } 0, \dots, L

    for every function of parameters and data. An error in the sampler, in the likelihood or in the
    simulation makes some ranks uneven. Draws are thinned to as many as are effectively independent;
    ties are broken at random.

    Parameters
    ----------
    model : a model of thali
        One that draws from a posterior, such as `LatentFeatureModel` with a likelihood of your own.
    design : data as `fit` takes them; of a classifier the pair (X, y)
        See `sample_prior`. A prior that depends on the data is fixed to the one for these.
    n : int
        Data sets that are simulated and fitted.
    cores : int, optional
        Data sets fitted at once, in separate processes; None means as many as there are processors.
        Has no influence on the ranks.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
    progressbar : bool
    **fit
        Further arguments of every fit, such as draws=100, tune=200, chains=1.

    Returns
    -------
    Calibration
        `.table`, `.ranks`, `.ok`; prints as a table. The ranked quantities are the variables of
        `sample_prior`'s group `prior`, at most 12 entries of each; those that depend on the order
        of features are summed over them.

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
    from thali._inference.progress import Progress

    if not (isinstance(model, MarkovChainModel) and model._engine.has_prior):
        raise ArgumentError(f"calibrate requires a thali model; got {type(model).__name__}.")
    n, cores = check_integer("n", n, 2), None if cores is None else check_integer("cores", cores, 1)
    given = model._pack_design(design)
    of_prior, of_fits = build_seed_sequence(random_seed).spawn(2)
    held, home = model._copy_with_fixed_prior(*given), os.getpid()
    tasks = [
        CalibrationTask(held, data, truth, seed, fit, home)
        for (data, truth), seed in zip(
            _simulated(held, given, n, of_prior), of_fits.spawn(n), strict=True
        )
    ]
    ranks, sizes = np.empty((2, n, len(tasks[0].truth)))
    with Progress(progressbar, "calibrating", n, "fits") as progress:
        ranks[0], sizes[0] = run(tasks[0])  # compiles, for all processes
        for done, (number, result) in enumerate(run_all(run, tasks[1:], cores), start=2):
            if isinstance(result, BaseException):
                raise result
            ranks[number + 1], sizes[number + 1] = result
            progress.update(done)
    return _calibration(list(tasks[0].truth), ranks, sizes)


def _simulated(
    model: MarkovChainModel, design: tuple[Any, ...], n: int, seed: Any
) -> list[tuple[tuple[Any, ...], dict[str, float]]]:
    """Data and quantities of the first n draws from the prior that the model can be fitted to."""
    # Which data are skipped depends only on the data, so that the ranks of the others stay uniform.
    usable: list[tuple[tuple[Any, ...], dict[str, float]]] = []
    names: list[str] = []
    for part in seed.spawn(_ROUNDS):
        sample = draw_prior(model, n, part, *design)
        values = quantities_of(sample.prior, *(() if sample.latent is None else (sample.latent,)))
        # fixed ones are left out
        names = names or [name for name, draws in values.items() if np.ptp(draws) > 0.0]
        usable += [
            (data, {name: float(values[name][0, k]) for name in names})
            for k, data in enumerate(sample.data)
            if data is not None
        ]
        if len(usable) >= n:
            return usable[:n]
    raise DataError(
        f"Only {len(usable):,} of {_ROUNDS * n:,} simulated data sets contain all classes and can"
        " be fitted; use a design with more rows."
    )


def run(task: CalibrationTask) -> tuple[list[float], list[int]]:
    """Fit to one data set: rank of every quantity among the draws, and the number of draws that it
    was ranked in."""
    seed, ties = task.seed.spawn(2)
    rng = np.random.default_rng(ties)
    model = type(task.model)(**task.model.get_params())
    with ignore_sigint(task.home), silence_warnings():
        tree = model._refit_posterior(task.data, seed, task.settings)
    if model._interrupted_:
        raise KeyboardInterrupt
    drawn = quantities_of(
        *(tree[name].dataset for name in ("posterior", LATENT) if name in tree.children)
    )
    ranked = [_rank(drawn[name], value, rng) for name, value in task.truth.items()]
    return [rank for rank, _ in ranked], [size for _, size in ranked]


def _rank(draws: np.ndarray, value: float, rng: np.random.Generator) -> tuple[float, int]:
    """Share of nearly independent draws below a value, spread evenly where they tie; and how many
    there were."""
    flat = draws.ravel()
    count = flat.size
    if np.ptp(flat) > 0.0 and draws.shape[1] >= MIN_DRAWS:
        count = int(np.clip(compute_mean_ess(draws[None])[0], 1, flat.size))
    thinned = flat[((np.arange(count) + 0.5) * flat.size / count).astype(int)]
    tied = np.abs(thinned - value) <= TIE * (1.0 + abs(value))
    below, equal = int((thinned[~tied] < value).sum()), int(tied.sum())
    return (below + rng.random() * (equal + 1)) / (count + 1), count


def _calibration(names: list[str], ranks: np.ndarray, sizes: np.ndarray) -> Calibration:
    """The table of ranks (data sets, quantities)."""
    import pandas as pd

    n = len(ranks)
    table = pd.DataFrame(
        {
            "n": n,
            "rank_mean": ranks.mean(axis=0),
            "z": (ranks.mean(axis=0) - 0.5) * np.sqrt(12.0 * n),
            "z_spread": (((ranks - 0.5) ** 2).mean(axis=0) - 1.0 / 12.0) * np.sqrt(180.0 * n),
            "p_value": [uniformity(column) for column in ranks.T],
            "ess": np.median(sizes, axis=0),
        },
        index=pd.Index(names, name="quantity"),
    )
    return Calibration(table, pd.DataFrame(ranks, columns=names))


def quantities_of(*groups: "xarray.Dataset") -> dict[str, np.ndarray]:
    """The numbers of groups of draws that do not depend on labels of features."""
    found: dict[str, np.ndarray] = {}
    for name, variable in (item for group in groups for item in group.data_vars.items()):
        title = str(name)
        if "feature" in variable.dims:
            title, variable = f"sum of {title}", variable.sum("feature")
        own = [str(dim) for dim in variable.dims if dim not in ("chain", "draw")]
        values = np.asarray(variable.values, float).reshape(*variable.shape[:2], -1)
        labels = _labels(variable, own)
        for place in np.unique(np.linspace(0, len(labels) - 1, MAX_RANKED).astype(int)):
            found[title + labels[place]] = values[:, :, place]
    return found


def _labels(variable: "xarray.DataArray", dims: list[str]) -> list[str]:
    """The names of the entries of a variable along its dimensions, in brackets."""
    names = [()]
    for dim in dims:
        along = [c.values.astype(str) for c in variable.coords.values() if c.dims == (dim,)]
        own = [", ".join(cells) for cells in zip(*along, strict=True)] or [
            str(k) for k in range(variable.sizes[dim])
        ]
        names = [(*before, name) for before in names for name in own]
    return [f"[{', '.join(name)}]" if name else "" for name in names]
