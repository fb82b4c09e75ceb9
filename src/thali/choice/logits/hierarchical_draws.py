"""Draws of the hierarchical logit: as a tree in the ArviZ schema, and averaged into predictions."""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.inference.chains import kept_of
from thali.inference.seeds import root

from ..logit import probabilities

if TYPE_CHECKING:
    import xarray

    from thali.people.columns import Covariates

    from ..logit import Tasks
    from .hierarchical_sweep import Chain, Problem
    from .hierarchical_tastes import Population, TasteScale

NEW_PEOPLE = 4  # new people drawn for each draw of the population
_BLOCK = 2**21  # utilities computed at a time

_TASTES = "tastes"  # attribute of the means: what is normally distributed, in JSON
_DESCRIPTIONS = {
    "mean": "mean in the population of tastes, or of their logarithms (attribute tastes), where covariates are average",
    "covariate_effect": "how much the mean changes if a covariate is larger by 1",
    "covariance": "covariance of tastes, or of their logarithms, among people with the same covariates",
    "beta": "tastes of a respondent",
    "log_likelihood": "whole data set given everybody's tastes, natural logarithm",
}

_NOTES = {
    "mean": "the mean, of scaled columns",
    "covariate_effect": "the effects of standardised covariates, of scaled columns",
    "covariance": "the covariance, of scaled columns",
    "beta": "everybody's tastes, or their logarithms, given mean and covariance, of scaled columns",
}


def to_datatree(
    chains: Sequence["Chain"],
    respondents: Sequence[str],
    names: Sequence[str],
    scale: "TasteScale",
    covariates: "Covariates",
    attrs: dict[Any, Any],
) -> "xarray.DataTree":
    """The draws of all chains, in the units of the attributes."""
    import xarray as xr

    from thali.posterior.densities import add_log_prior, is_pointwise
    from thali.posterior.store import origin, tree_of

    first = chains[0].first
    numbers, draws = kept_of(chains)
    kept = [chains[number] for number in numbers]
    parts = [chain.drawn(first, first + draws) for chain in kept]
    drawn = {
        name: np.stack([part[name] for part in parts]) for name in ("mean", "covariance", "beta", "log_likelihood")
    }
    posterior = draws_group(**drawn, respondents=respondents, names=names, scale=scale, covariates=covariates)
    rates = xr.Dataset({"acceptance_rate": ("chain", [c.acceptance for c in kept])}, {"chain": posterior["chain"]})
    problem = kept[0].problem
    chosen = problem.chosen_row - problem.first_row[:-1]
    groups = {"posterior": posterior, "observed_data": observed_group(chosen), "sample_stats": rates}
    if is_pointwise(len(chosen), drawn["log_likelihood"].size):
        sampled = {name: posterior[name] for name in ("chain", "draw")}
        pointwise = ("chain", "draw", "task"), _log_chosen(problem, drawn["beta"])
        groups["log_likelihood"] = xr.Dataset({"chosen": pointwise}, sampled)
    densities = _log_prior(problem, drawn["mean"], drawn["covariance"], drawn["beta"])
    add_log_prior(groups, densities, {name: _NOTES[name] for name in densities})
    return tree_of(groups, {**origin(), **attrs})


def observed_group(chosen: np.ndarray) -> "xarray.Dataset":
    """The group observed_data."""
    import xarray as xr

    words = {"description": "position of the chosen alternative in its task"}
    return xr.Dataset({"chosen": ("task", np.asarray(chosen, np.int64), words)})


def _log_chosen(problem: "Problem", beta: np.ndarray) -> np.ndarray:
    """ln P of every choice given the person's tastes, shape (chains, draws, tasks)."""
    found = np.empty((*beta.shape[:2], len(problem.chosen_row)))
    for person, (first, end) in enumerate(pairwise(problem.first_task)):
        starts = problem.first_row[first:end]
        rows = problem.matrix[starts[0] : problem.first_row[end]] if end > first else problem.matrix[:0]
        utility = np.moveaxis(beta[:, :, person] @ rows.T, 2, 0)
        if end > first:
            total = np.logaddexp.reduceat(utility, starts - starts[0])
            found[:, :, first:end] = np.moveaxis(utility[problem.chosen_row[first:end] - starts[0]] - total, 0, 2)
    return found


def _log_prior(problem: "Problem", mean: np.ndarray, covariance: np.ndarray, beta: np.ndarray) -> dict[str, np.ndarray]:
    """Log densities of M, of the inverse Wishart distribution, and of N(M^T z_n, Sigma) summed over people."""
    from scipy.special import gammaln

    p, df, scale, precision = mean.shape[-1], problem.df, problem.scale, problem.mean_precision
    factor = np.linalg.cholesky(covariance)
    inverse = np.linalg.inv(factor)
    log_det = 2.0 * np.log(np.diagonal(factor, axis1=2, axis2=3)).sum(axis=2)
    log_gamma = 0.25 * p * (p - 1) * np.log(np.pi) + gammaln(0.5 * (df - np.arange(p))).sum()
    constant = 0.5 * df * p * np.log(0.5 * scale) - log_gamma
    normal = np.where(problem.sign == 0.0, beta, np.log(np.where(problem.sign == 0.0, 1.0, np.abs(beta))))
    distance = ((normal - problem.covariates @ mean) @ np.swapaxes(inverse, 2, 3)) ** 2
    of_mean = 0.5 * (np.log(precision / (2.0 * np.pi)) - precision * mean**2).sum(axis=3)
    found = {
        "mean": of_mean[..., 0],
        "covariance": constant - 0.5 * ((df + p + 1.0) * log_det + scale * (inverse**2).sum(axis=(2, 3))),
        "beta": -0.5 * (beta.shape[2] * (p * np.log(2.0 * np.pi) + log_det) + distance.sum(axis=(2, 3))),
    }
    return found | ({"covariate_effect": of_mean[..., 1:].sum(axis=2)} if mean.shape[2] > 1 else {})


def draws_group(
    mean: np.ndarray,
    covariance: np.ndarray,
    beta: np.ndarray,
    log_likelihood: np.ndarray,
    respondents: Sequence[str],
    names: Sequence[str],
    scale: "TasteScale",
    covariates: "Covariates",
) -> "xarray.Dataset":
    """Draws (chain, draw, ...) of the numbers of chains as a group of a tree, in the units of the attributes."""
    import xarray as xr

    by, factors = ("chain", "draw"), scale.factors()
    in_units = beta / scale.scale
    in_units = in_units @ scale.steps.T if scale.sign.any() else in_units
    variables = {
        "mean": ((*by, "coefficient"), scale.in_units(mean[:, :, 0])),
        "covariance": ((*by, "coefficient", "coefficient_other"), covariance / np.outer(factors, factors)),
        "beta": ((*by, "respondent", "coefficient"), in_units),
        "log_likelihood": (by, log_likelihood),
    }
    chains, draws = log_likelihood.shape
    numbered = {"chain": np.arange(chains), "draw": np.arange(draws)}
    labelled = {"coefficient": list(names), "coefficient_other": list(names), "respondent": list(respondents)}
    if covariates.names:
        effects = mean[:, :, 1:] / covariates.sd[:, None] / factors
        variables["covariate_effect"] = ((*by, "covariate", "coefficient"), effects)
        labelled["covariate"] = list(covariates.names)
    group = xr.Dataset(variables, {**numbered, **labelled})
    group["mean"].attrs[_TASTES] = json.dumps(list(scale.names))
    for name, variable in group.data_vars.items():
        variable.attrs["description"] = _DESCRIPTIONS[str(name)]
    return group


def tastes_of(posterior: "xarray.Dataset") -> list[str]:
    """What is normally distributed of each coefficient: itself, or the logarithm of a step; in files of before a
    coordinate, beside which ArviZ cannot summarise."""
    held = posterior["mean"].attrs.get(_TASTES)
    return posterior["taste"].values.tolist() if held is None else json.loads(held)


def quantities_of(tree: "xarray.DataTree") -> dict[str, np.ndarray]:
    """Mean and sd in the population of every taste, or of its logarithm, effects of covariates, and log_likelihood."""
    posterior = tree["posterior"].dataset
    names = tastes_of(posterior)
    means, variances = posterior["mean"].values, np.diagonal(posterior["covariance"].values, axis1=2, axis2=3)
    quantities = {f"mean[{name}]": means[..., k] for k, name in enumerate(names)}
    quantities |= {f"sd[{name}]": np.sqrt(variances[..., k]) for k, name in enumerate(names)}
    if "covariate_effect" in posterior:
        for r, covariate in enumerate(posterior["covariate"].values):
            own = posterior["covariate_effect"].values[:, :, r]
            quantities |= {f"mean[{name}] per {covariate}": own[..., k] for k, name in enumerate(names)}
    return quantities | {"log_likelihood": posterior["log_likelihood"].values}


def mean_probabilities(
    posterior: "xarray.Dataset",
    population: "Population",
    matrix: np.ndarray,
    task_of_row: np.ndarray,
    respondent_of_row: np.ndarray,
    random_seed: Any,
) -> np.ndarray:
    r"""Posterior mean of choice probabilities: over the draws of a known person's tastes, over new people otherwise.

    .. math::
        \bar p_n = \frac1S \sum_s p(\beta_n^{(s)}), \qquad
        \bar p_\text{new} = \frac{1}{SR} \sum_{s,r} p(\beta^{(s,r)}), \quad
        \beta^{(s,r)} \text{ from the population of draw } s
    """
    result = np.empty(len(matrix))
    for rows, p in _blocks(posterior, population, matrix, task_of_row, respondent_of_row, random_seed):
        result[rows] = p.mean(axis=1)
    return result


def errors_of_probabilities(
    posterior: "xarray.Dataset",
    population: "Population",
    matrix: np.ndarray,
    task_of_row: np.ndarray,
    respondent_of_row: np.ndarray,
    random_seed: Any,
) -> np.ndarray:
    """Monte Carlo standard errors of `mean_probabilities`: of a new person by the mean over those of one draw."""
    from thali.posterior.summary import mean_errors

    sizes = posterior.sizes
    result = np.empty(len(matrix))
    for rows, p in _blocks(posterior, population, matrix, task_of_row, respondent_of_row, random_seed):
        of_draws = p.reshape(len(rows), -1, sizes["chain"] * sizes["draw"]).mean(axis=1)
        result[rows] = mean_errors(of_draws.reshape(len(rows), sizes["chain"], sizes["draw"]))
    return result


def _blocks(
    posterior: "xarray.Dataset",
    population: "Population",
    matrix: np.ndarray,
    task_of_row: np.ndarray,
    respondent_of_row: np.ndarray,
    random_seed: Any,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Some rows at a time, whole tasks of one person, and their probabilities (rows, draws of tastes)."""
    for person in np.unique(respondent_of_row):
        own = np.flatnonzero(respondent_of_row == person)
        if person < 0:
            tastes = new_people(population, random_seed)
        else:
            tastes = posterior["beta"].values[:, :, person].reshape(-1, matrix.shape[1])
        tasks, number = np.unique(task_of_row[own], return_inverse=True)
        step = max(1, _BLOCK // (len(tastes) * max(1, int(np.bincount(number).max()))))
        for first in range(0, len(tasks), step):
            rows = np.flatnonzero((number >= first) & (number < first + step))
            yield own[rows], probabilities(matrix[own[rows]] @ tastes.T, number[rows])


def drawn_choices(
    beta: np.ndarray, tasks: "Tasks", first_task: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """A choice in every task at every draw of tastes (chain, draw, respondent, coefficient)."""
    chosen = np.empty((*beta.shape[:2], len(tasks.chosen_row)), np.int64)
    for person, (first, end) in enumerate(pairwise(first_task)):
        for task in range(first, end):
            utility = beta[:, :, person] @ tasks.matrix[tasks.first_row[task] : tasks.first_row[task + 1]].T
            chosen[:, :, task] = (utility + rng.gumbel(size=utility.shape)).argmax(axis=2)  # the choice of a logit
    return {"chosen": chosen}


def new_people(population: "Population", random_seed: Any) -> np.ndarray:
    """Tastes of people drawn from the population of each draw, shape (NEW_PEOPLE x draws, p)."""
    rng, draws, p = np.random.default_rng(root(random_seed)), population.draws, len(population.scale.names)
    noise = rng.normal(size=(NEW_PEOPLE, draws, p))
    like = rng.integers(population.people, size=(NEW_PEOPLE, draws))
    found = population.tastes(np.arange(draws), np.swapaxes(noise, 0, 1), like.T)
    return np.swapaxes(found, 0, 1).reshape(-1, p)
