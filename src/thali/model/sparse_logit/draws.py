"""Draws of the sparse multinomial logit: as a tree in the ArviZ schema, in a table, and averaged into predictions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.inference.threads import rectangle

if TYPE_CHECKING:
    import xarray

    from .chain import Chain

MAX_COEFFICIENTS = 100  # used to judge convergence: diagnostics of more take longer than many fits
_BLOCK = 2**21  # linear predictors computed at a time
_FARTHEST = 1e150  # standard deviations: products with coefficients stay finite

_DESCRIPTIONS = {
    "coef": "of the standardised covariates, against the reference class",
    "intercept": "where all covariates have their training mean, against the reference class",
    "eta": "square of the rate of the Laplace prior",
    "log_likelihood": "whole data set, natural logarithm",
}


def to_datatree(
    chains: Sequence["Chain"], classes: np.ndarray, columns: Sequence[str], intercept: bool, attrs: dict[Any, Any]
) -> "xarray.DataTree":
    """The draws of all chains; interrupted chains of different lengths are cut so that the most draws remain."""
    import xarray as xr

    from thali.posterior.store import origin, tree_of

    first = chains[0].first
    numbers, draws = rectangle([chain.recorded - first for chain in chains])
    kept = [chains[number] for number in numbers]
    parts = [chain.drawn(first, first + draws) for chain in kept]
    problem = kept[0].problem
    labels = np.asarray(classes.astype(str) if classes.dtype == object else classes)
    free = np.arange(problem.classes) != problem.reference
    coefs = np.stack([part["coef"][:, free] for part in parts])
    etas, likelihoods = (np.stack([part[name] for part in parts]) for name in ("eta", "log_likelihood"))
    posterior = draws_group(coefs, etas, likelihoods, labels[free], columns, intercept)
    groups = {
        "posterior": posterior,
        "observed_data": xr.Dataset({"label": ("row", labels[problem.codes])}),
        "constant_data": xr.Dataset({"reference": labels[problem.reference], "learned_eta": problem.learned}),
        "sample_stats": xr.Dataset(
            {"scale_move_rate": ("chain", [chain.scale_rate for chain in kept])}, {"chain": posterior["chain"]}
        ),
    }
    return tree_of(groups, {**origin(), **attrs})


def draws_group(
    coefs: np.ndarray,
    etas: np.ndarray,
    likelihoods: np.ndarray,
    labels: np.ndarray,
    columns: Sequence[str],
    intercept: Any,
) -> "xarray.Dataset":
    """Draws (chain, draw, ...) as a group of a tree; coefs (chain, draw, class, column) have the intercept last."""
    import xarray as xr

    by_class = ("chain", "draw", "class")
    variables = {
        "coef": ((*by_class, "column"), np.ascontiguousarray(coefs[..., : len(columns)])),
        "eta": (("chain", "draw"), etas),
        "log_likelihood": (("chain", "draw"), likelihoods),
    }
    if intercept:
        variables["intercept"] = (by_class, np.ascontiguousarray(coefs[..., -1]))
    chains, draws = etas.shape
    numbered = {"chain": np.arange(chains), "draw": np.arange(draws)}
    group = xr.Dataset(variables, {**numbered, "class": labels, "column": list(columns)})
    for name, variable in group.data_vars.items():
        variable.attrs["description"] = _DESCRIPTIONS[str(name)]
    return group


def quantities_of(tree: "xarray.DataTree", most: int | None = None) -> dict[str, np.ndarray]:
    """The rows of the summary: eta if it was learned, log_likelihood, coef[class, column]."""
    posterior = tree["posterior"].dataset
    names = ["eta"] * bool(tree["constant_data"].dataset["learned_eta"]) + ["log_likelihood"]
    quantities = {name: posterior[name].values for name in names}
    coefs = posterior["coef"]
    named = [f"coef[{label}, {column}]" for label in coefs["class"].values for column in coefs["column"].values]
    draws = coefs.values.reshape(*coefs.shape[:2], -1)
    chosen = np.arange(len(named))
    if most is not None and len(named) > most:
        chosen = np.sort(np.argsort(-np.abs(draws.mean(axis=(0, 1))), kind="stable")[:most])
    return quantities | {named[place]: draws[..., place] for place in chosen}


def mean_probabilities(tree: "xarray.DataTree", standardised: np.ndarray, reference: int) -> np.ndarray:
    """Posterior mean of the class probabilities."""
    posterior = tree["posterior"].dataset
    coefs = posterior["coef"].values
    coefs = coefs.reshape(-1, *coefs.shape[2:])
    draws, others, d = coefs.shape
    intercepts = posterior["intercept"].values.reshape(draws, others) if "intercept" in posterior else None
    z = np.clip(standardised, -_FARTHEST, _FARTHEST)
    means = np.empty((len(z), others + 1))
    step = max(1, _BLOCK // (draws * (others + 1)))
    for first in range(0, len(z), step):
        rows = z[first : first + step]
        linear = np.zeros((draws, others + 1, len(rows)))
        free = np.arange(others + 1) != reference
        linear[:, free] = (coefs.reshape(-1, d) @ rows.T).reshape(draws, others, -1)
        if intercepts is not None:
            linear[:, free] += intercepts[..., None]
        linear -= linear.max(axis=1, keepdims=True)
        np.exp(linear, out=linear)
        linear /= linear.sum(axis=1, keepdims=True)
        means[first : first + step] = linear.mean(axis=0).T
    return means
