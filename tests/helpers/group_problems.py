"""Tasks of several groups, one chain of them, and what their draws say."""

from dataclasses import replace

import numpy as np

import thali as th
from thali.model.latent_features.groups.chain import GroupChain
from thali.model.latent_features.groups.task import build_group_task
from thali.posterior.summary import convergence


def pair(first, second):
    """Two options and how often either was chosen, never perhaps."""
    if first + second:
        return th.PairedComparisons([[0, first], [second, 0]], labels=["1", "2"])
    no = np.zeros(0, np.int64)
    return th.PairedComparisons._made_of(("1", "2"), no, no, *(np.zeros(0),) * 3, None, None, None)


def task(
    data, likelihood=None, prior=None, alpha=None, weights="free", kappa=float("nan"), draws=1, tune=0, thin=1, **more
):
    """What the chains of groups run; `kappa` fixes what is learned otherwise."""
    groups = th.Groups({str(g): each for g, each in enumerate(data)})
    parts = {
        "prior": prior or th.priors.IndianBuffet(),
        "likelihood": likelihood or th.likelihoods.Elimination(0.01),
        "weight_prior": (1.0, 1.0),
        "alpha": alpha,
        "sampler": None,
        "tempering": False,
    }
    made = build_group_task(groups, draws, tune, thin, weights, **parts | more)
    return replace(made, model=made.model._replace(kappa=float(kappa)))


def drawn(of_task, random_seed=1):
    """The draws of one chain."""
    chain = GroupChain(of_task, np.random.default_rng(random_seed))
    chain.run_to(chain.total)
    return chain.draws


def columns_owned_by(draws, owners):
    """How many columns have just these owners, draw by draw, and the sum of their weights (draw, group)."""
    draw = np.repeat(np.arange(len(draws.alpha)), draws.n_features)
    ends = np.cumsum(draws.sizes)
    wanted = [tuple(draws.owners[end - size : end]) == owners for size, end in zip(draws.sizes, ends, strict=True)]
    wanted = np.array(wanted, bool)
    sums = [
        np.bincount(draw[wanted], draws.weights[wanted, g], len(draws.alpha)) for g in range(draws.weights.shape[1])
    ]
    return np.bincount(draw[wanted], minlength=len(draws.alpha)), np.stack(sums, axis=1)


def mean_and_error(values):
    """Mean of draws and its Monte Carlo error."""
    values = np.asarray(values, float)
    return values.mean(), values.std() / np.sqrt(convergence(values[None, None])[0][0])
