"""Simulated data of several groups of people, at draws from the prior and at those of a fit."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.groups import Groups
from thali.model.prior_sample import PriorSample, predictive_group, stacked

from ...answers.groups import columns_of_group, group_tree, tree_of_group
from ...group_state import KAPPA
from ...samplers.record import ChainDraws
from ...state import ALPHA, COLUMNS
from ...weight_priors import GammaWeights
from ..groups_chain import GroupTask, start_of
from ..one import joined, observed_by, replicates
from .prior_ladder import drawn_base

if TYPE_CHECKING:
    import xarray


def sample_groups(task: GroupTask, likelihood: Any, groups: Groups, rngs: Sequence[np.random.Generator]) -> PriorSample:
    """Features, weights and parameters of all groups, and data simulated at each of them."""
    drawn, new = [], []
    for rng in rngs:
        one = _one_draw(task, likelihood, groups, rng)
        drawn.append(one)
        new.append([_new_data(likelihood, one, g, data, rng) for g, data in enumerate(groups.data)])
    model = task.model
    tree = group_tree(
        [joined(drawn)], groups, likelihood, learned_alpha=model.learn_alpha, similar=model.similar, attrs={}
    )
    observed, prior = tree["observed_data"].to_dataset(), tree["posterior"].to_dataset()
    prior["log_likelihood"] = stacked([sum(each.log_likelihood for each in parts) for parts in new])
    prior["log_likelihood"].attrs["description"] = "of the data simulated at the same draw, natural logarithm"
    simulated = {
        name: np.asarray([np.concatenate([each.observed[name] for each in parts]) for parts in new])[None]
        for name in map(str, observed.data_vars)
    }
    predictive = predictive_group(observed, prior, simulated)
    fixed = {name: tree[name].to_dataset() for name in ("observed_data", "constant_data")}
    data = [(Groups(dict(zip(groups.names, (each.data for each in parts), strict=True))),) for parts in new]
    return PriorSample(prior, predictive, data, fixed)


def _new_data(likelihood: Any, drawn: ChainDraws, g: int, data: Any, rng: np.random.Generator) -> Any:
    """New data of one group."""
    own = {name: drawn.extra[f"{name} {g}"][0] for name in likelihood.parameters}
    return likelihood.new_data(columns_of_group([drawn], 1, g), own, data, rng)


def _one_draw(task: GroupTask, likelihood: Any, groups: Groups, rng: np.random.Generator) -> ChainDraws:
    """One draw, as a chain of one draw."""
    states, base = start_of(rng, task, drawn_base)
    first, n, weights = states[0], task.n_options, GammaWeights(task.model.shape, task.model.rate)
    Z = first.Z[: first.whole[COLUMNS], :n]
    kept = np.flatnonzero(Z.any(axis=1))  # of a fixed number of columns some have no owner
    extra = {
        f"{name} {g}": np.array([value])
        for g, data in enumerate(groups.data)
        for name, value in likelihood.prior_parameters(data, weights, rng).items()
    }
    return ChainDraws(
        alpha=np.array([first.real[ALPHA]]),
        log_likelihood=np.zeros(1),
        unique_weights=np.stack([b.s[:n] for b in states])[None],
        n_features=np.array([len(kept)]),
        weights=np.stack([b.w[kept] for b in states], axis=1),
        sizes=Z[kept].sum(axis=1).astype(np.int64),
        owners=np.nonzero(Z[kept])[1].astype(np.int32),
        extra=extra | {"kappa": np.array([base.real[KAPPA]])},
    )


def replicates_of_groups(
    tree: "xarray.DataTree", likelihood: Any, groups: Groups, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """As `replicates`, one group after the other."""
    each = [replicates(tree_of_group(tree, name), likelihood, data, rng) for name, data in groups.items()]
    return {name: np.concatenate([arrays[name] for arrays in each], axis=2) for name in each[0]}


def observed_by_groups(tree: "xarray.DataTree", likelihood: Any, groups: Groups) -> dict[str, np.ndarray]:
    """As `observed_by`, one group after the other."""
    each = [observed_by(tree_of_group(tree, name), likelihood, data) for name, data in groups.items()]
    return {name: np.concatenate([arrays[name] for arrays in each]) for name in each[0]} if all(each) else {}
