"""Draws from the prior of a latent-feature model: any prior over features, joined with any likelihood."""

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.model.prior_sample import PriorSample, predictive_group, stacked

from ..draws.columns import columns_of_chains
from ..draws.tree import to_datatree
from ..samplers.draws import ChainDraws

if TYPE_CHECKING:
    from ..samplers.chains import Task


def sample_features(task: "Task", likelihood: Any, data: Any, rngs: Sequence[np.random.Generator]) -> PriorSample:
    """Features, weights and the likelihood's own parameters, and data simulated at each of them."""
    drawn, new = [], []
    for rng in rngs:
        one = _one_draw(task, likelihood, data, rng)
        drawn.append(one)
        new.append(likelihood.new_data(columns_of_chains([one], 1), {k: v[0] for k, v in one.extra.items()}, data, rng))
    tree = to_datatree([joined(drawn)], data, likelihood, learned_alpha=task.model.learn_alpha)
    observed = tree["observed_data"].to_dataset()
    prior = tree["posterior"].to_dataset()
    prior["log_likelihood"] = stacked([each.log_likelihood for each in new])
    prior["log_likelihood"].attrs["description"] = "of the data simulated at the same draw, natural logarithm"
    simulated = {name: np.asarray([each.observed[name] for each in new])[None] for name in map(str, observed.data_vars)}
    predictive = predictive_group(observed, prior, simulated)
    fixed = {name: tree[name].to_dataset() for name in ("observed_data", "constant_data")}
    return PriorSample(prior, predictive, [(each.data,) for each in new], fixed)


def _one_draw(task: "Task", likelihood: Any, data: Any, rng: np.random.Generator) -> ChainDraws:
    """One draw, as a chain of one draw."""
    model, n = task.model, task.n_options
    alpha = rng.standard_exponential() if task.alpha is None else task.alpha
    columns = task.prior.sample(n, alpha, rng).T
    columns = columns[columns.any(axis=1)]
    weights = model.weights.random(rng, len(columns))
    unique = model.weights.random(rng, n) if likelihood.unique else np.zeros(n)
    own = likelihood.prior_parameters(data, model.weights, rng)
    return ChainDraws(
        alpha=np.array([alpha], float),
        log_likelihood=np.zeros(1),
        unique_weights=unique[None],
        n_features=np.array([len(columns)]),
        weights=weights,
        sizes=columns.sum(axis=1),
        owners=np.nonzero(columns)[1].astype(np.int32),
        extra={name: np.array([value]) for name, value in own.items()},
    )


def joined(draws: Sequence[ChainDraws]) -> ChainDraws:
    """Draws one after the other, as one chain."""
    arrays: dict[str, Any] = {
        part.name: np.concatenate([getattr(draw, part.name) for draw in draws])
        for part in fields(ChainDraws)
        if part.name not in ("extra", "stats")
    }
    extra = {name: np.concatenate([draw.extra[name] for draw in draws]) for name in draws[0].extra}
    return ChainDraws(**arrays, extra=extra)
