"""Draws of the hierarchical logit: as a tree in the ArviZ schema, and averaged into predictions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.inference.seeds import root
from thali.inference.threads import rectangle

from .logit import probabilities

if TYPE_CHECKING:
    import xarray

    from .hierarchical_chain import Chain

NEW_PEOPLE = 4  # new people drawn for each draw of the population
_BLOCK = 2**21  # utilities computed at a time

_DESCRIPTIONS = {
    "mean": "mean taste in the population",
    "covariance": "covariance of tastes in the population",
    "beta": "tastes of a respondent",
    "log_likelihood": "whole data set given everybody's tastes, natural logarithm",
}


def to_datatree(
    chains: Sequence["Chain"],
    respondents: Sequence[str],
    names: Sequence[str],
    scale: np.ndarray,
    attrs: dict[Any, Any],
) -> "xarray.DataTree":
    """The draws of all chains, in the units of the attributes."""
    import xarray as xr

    from thali.posterior.store import origin, tree_of

    first = chains[0].first
    numbers, draws = rectangle([chain.recorded - first for chain in chains])
    kept = [chains[number] for number in numbers]
    parts = [chain.drawn(first, first + draws) for chain in kept]
    drawn = {name: np.stack([part[name] for part in parts]) for name in _DESCRIPTIONS}
    posterior = draws_group(**drawn, respondents=respondents, names=names, scale=scale)
    rates = xr.Dataset({"acceptance_rate": ("chain", [c.acceptance for c in kept])}, {"chain": posterior["chain"]})
    return tree_of({"posterior": posterior, "sample_stats": rates}, {**origin(), **attrs})


def draws_group(
    mean: np.ndarray,
    covariance: np.ndarray,
    beta: np.ndarray,
    log_likelihood: np.ndarray,
    respondents: Sequence[str],
    names: Sequence[str],
    scale: np.ndarray,
) -> "xarray.Dataset":
    """Draws (chain, draw, ...) of scaled columns as a group of a tree, in the units of the attributes."""
    import xarray as xr

    by = ("chain", "draw")
    variables = {
        "mean": ((*by, "coefficient"), mean / scale),
        "covariance": ((*by, "coefficient", "coefficient_other"), covariance / np.outer(scale, scale)),
        "beta": ((*by, "respondent", "coefficient"), beta / scale),
        "log_likelihood": (by, log_likelihood),
    }
    chains, draws = log_likelihood.shape
    numbered = {"chain": np.arange(chains), "draw": np.arange(draws)}
    labelled = {"coefficient": list(names), "coefficient_other": list(names), "respondent": list(respondents)}
    group = xr.Dataset(variables, {**numbered, **labelled})
    for name, variable in group.data_vars.items():
        variable.attrs["description"] = _DESCRIPTIONS[str(name)]
    return group


def quantities_of(tree: "xarray.DataTree") -> dict[str, np.ndarray]:
    """The rows of the summary: mean and sd of every coefficient in the population, and log_likelihood."""
    posterior = tree["posterior"].dataset
    names = posterior["coefficient"].values
    means, variances = posterior["mean"].values, np.diagonal(posterior["covariance"].values, axis1=2, axis2=3)
    quantities = {f"mean[{name}]": means[..., k] for k, name in enumerate(names)}
    quantities |= {f"sd[{name}]": np.sqrt(variances[..., k]) for k, name in enumerate(names)}
    return quantities | {"log_likelihood": posterior["log_likelihood"].values}


def mean_probabilities(
    tree: "xarray.DataTree",
    matrix: np.ndarray,
    task_of_row: np.ndarray,
    respondent_of_row: np.ndarray,
    random_seed: Any,
) -> np.ndarray:
    r"""Posterior mean of choice probabilities: over the draws of a known person's tastes, over new people otherwise.

    .. math::
        \bar p_n = \frac1S \sum_s p(\beta_n^{(s)}), \qquad
        \bar p_\text{new} = \frac{1}{SR} \sum_{s,r} p(\beta^{(s,r)}), \quad
        \beta^{(s,r)} \sim N(\mu^{(s)}, \Sigma^{(s)})
    """
    posterior = tree["posterior"].dataset
    result = np.empty(len(matrix))
    for person in np.unique(respondent_of_row):
        rows = np.flatnonzero(respondent_of_row == person)
        if person < 0:
            tastes = new_people(posterior["mean"].values, posterior["covariance"].values, random_seed)
        else:
            tastes = posterior["beta"].values[:, :, person].reshape(-1, matrix.shape[1])
        result[rows] = _averaged(matrix[rows], task_of_row[rows], tastes)
    return result


def new_people(means: np.ndarray, covariances: np.ndarray, random_seed: Any) -> np.ndarray:
    """Tastes of people drawn from the population of each draw, shape (draws x NEW_PEOPLE, p)."""
    p = means.shape[-1]
    factors = np.linalg.cholesky(covariances.reshape(-1, p, p))
    noise = np.random.default_rng(root(random_seed)).normal(size=(NEW_PEOPLE, len(factors), p))
    return (means.reshape(-1, p) + np.einsum("sij,rsj->rsi", factors, noise)).reshape(-1, p)


def _averaged(matrix: np.ndarray, task_of_row: np.ndarray, tastes: np.ndarray) -> np.ndarray:
    """Probabilities averaged over tastes, some whole tasks at a time."""
    tasks, number = np.unique(task_of_row, return_inverse=True)
    result = np.empty(len(matrix))
    step = max(1, _BLOCK // (len(tastes) * max(1, int(np.bincount(number).max()))))
    for first in range(0, len(tasks), step):
        rows = np.flatnonzero((number >= first) & (number < first + step))
        result[rows] = probabilities(matrix[rows] @ tastes.T, number[rows]).mean(axis=1)
    return result
