"""Tasks of several groups, one chain of them, and what their draws say."""

import math
from dataclasses import replace

import numpy as np

import thali as th
from helpers.joint_means import buffet_means
from thali._aspects.chain_state import ALPHA, COLUMNS, SWEEPS, replica
from thali._aspects.group_state import KAPPA, select_group_likelihood
from thali._aspects.kernel_operations import fill_rates, rebuild_cache, select_cache
from thali._aspects.populations.group_chains import GroupChain, build_group_task
from thali._data.grouped_data import GroupedData
from thali._posterior.summary_table import compute_diagnostics


def pair(first, second):
    """Two options and how often either was chosen, never perhaps."""
    if first + second:
        return th.PairedComparisons([[0, first], [second, 0]], labels=["1", "2"])
    no = np.zeros(0, np.int64)
    return th.PairedComparisons._from_fields(
        ("1", "2"), no, no, *(np.zeros(0),) * 3, None, None, None
    )


def task(
    data,
    likelihood=None,
    prior=None,
    alpha=None,
    weights="free",
    kappa=float("nan"),
    draws=1,
    tune=0,
    thin=1,
    **more,
):
    """What the chains of groups run; `kappa` fixes what is learned otherwise."""
    groups = GroupedData({str(g): each for g, each in enumerate(data)})
    parts = {
        "prior": prior or th.priors.IndianBuffet(),
        "likelihood": likelihood or th.likelihoods.Elimination(0.01),
        "weight_prior": (1.0, 1.0),
        "alpha": alpha,
        "tempering": False,
    }
    made = build_group_task(groups, draws, tune, thin, weights, **parts | more)
    return replace(made, model=made.model._replace(kappa=float(kappa)))


def drawn(of_task, random_seed=1):
    """The draws of one chain."""
    chain = GroupChain(of_task, np.random.default_rng(random_seed))
    chain.run_until(chain.total)
    return chain.draws


def columns_owned_by(draws, owners):
    """How many columns have just these owners, draw by draw, and the sum of their weights (draw,
    group)."""
    draw = np.repeat(np.arange(len(draws.alpha)), draws.n_features)
    ends = np.cumsum(draws.sizes)
    wanted = [
        tuple(draws.owners[end - size : end]) == owners
        for size, end in zip(draws.sizes, ends, strict=True)
    ]
    wanted = np.array(wanted, bool)
    sums = [
        np.bincount(draw[wanted], draws.weights[wanted, g], len(draws.alpha))
        for g in range(draws.weights.shape[1])
    ]
    return np.bincount(draw[wanted], minlength=len(draws.alpha)), np.stack(sums, axis=1)


def mean_and_error(values):
    """Mean of draws and its Monte Carlo error."""
    values = np.asarray(values, float)
    return values.mean(), values.std() / np.sqrt(compute_diagnostics(values[None, None])[0][0])


def small_chain(of_task, matrix, weights, unique, cls=GroupChain):
    """A chain in plain Python at given columns and weights by group."""
    chain = cls(of_task, np.random.default_rng(1))
    for g in range(of_task.n_groups):
        b = replica(chain.state, g)
        n, columns = np.shape(matrix)
        b.Z[...] = 0.0
        b.Z[:columns, :n] = np.transpose(matrix)
        b.w[:columns], b.s[:n], b.m[:columns] = weights[g], unique[g], np.sum(matrix, axis=0)
        b.whole[COLUMNS], b.real[ALPHA] = columns, 1.5
    fill_rates(of_task.model.prior, replica(chain.state, 0))
    for g in range(of_task.n_groups):
        b, likelihood = (
            replica(chain.state, g),
            select_group_likelihood(of_task.model.likelihood, g),
        )
        for k in range(b.whole[COLUMNS]):
            b.log_rate[k] = replica(chain.state, 0).log_rate[k]
        rebuild_cache(likelihood, select_cache(likelihood, chain.cache, g), b)
    return chain


def contents(states):
    columns, n = int(states.whole[0, COLUMNS]), states.Z.shape[2] - 1
    return states.Z[:, :columns, :n], states.w[:, :columns], states.s[:, :n]


def key(parts):
    states, base = parts[0], parts[2]
    return tuple(
        np.round(each, 9).tobytes()
        for each in (*contents(states), base.v[: states.whole[0, COLUMNS]])
    )


def geweke(chain, expected, rounds, simulate, more=lambda chain: {}, sweeps=1):
    """Scores of prior means, where sweeps and simulations of everybody's answers alternate."""
    rng = np.random.default_rng(78)
    chain.run_until(0)
    kept = {name: [] for name in expected}
    for _ in range(rounds):
        chain.run_until(sweeps)
        first = replica(chain.state, 0)
        Z, w, s = contents(chain.state)
        sizes, alpha = Z[0].sum(axis=1), first.real[ALPHA]
        last, kappa = len(w) - 1, chain.bases.real[0, KAPPA]
        now = {
            "alpha": alpha,
            "1 / (1 + alpha)": 1.0 / (1.0 + alpha),
            "columns": len(sizes),
            "single": (sizes == 1).sum(),
            "pairs": (sizes == 2).sum(),
            "owned by 0": Z[0, :, 0].sum(),
            "shared weight": w[last, sizes > 1].sum(),
            "heavy": (w[last, sizes > 1] > 1.0).sum(),
            "unique weight": s[last].sum(),
            "both": s[0, 0] * s[last, 0],
            "both shared": (w[0] * w[last])[sizes > 1].sum(),
            "kappa": kappa,
            "small kappa": kappa < 10.0,
            **more(chain),
        }
        for name in expected:
            kept[name].append(float(now[name]))
        simulate(rng, chain)
        chain.states.whole[..., SWEEPS] = 0
    scores = {}
    for name, values in kept.items():
        mean, error = mean_and_error(values)
        scores[name] = (mean - expected[name]) / error
    return scores


def in_each_group(simulate):
    """New answers of every group, by a function of one."""

    def of_all(rng, chain):
        likelihoods = chain.task.model.likelihood
        for g in range(chain.task.n_groups):
            likelihood = select_group_likelihood(likelihoods, g)
            simulate(
                rng, likelihood, replica(chain.state, g), select_cache(likelihood, chain.cache, g)
            )

    return of_all


def means(n, similar, unique=True, mean=1.0):
    """Prior means of what `geweke` looks at; v has the mean `mean` and is exponential."""
    h = float(np.sum(1.0 / np.arange(1, n + 1)))
    expected = buffet_means(n, n * mean, mean) | {"shared weight": mean * (h - 1.0)}
    expected["both shared"] = (2.0 if similar else 1.0) * mean**2 * (h - 1.0)
    expected |= {"both": (2.0 if similar else 1.0) * mean**2} if unique else {}
    expected |= {"kappa": 20.0, "small kappa": 1.0 - 2.0 / math.e} if similar else {}
    del expected["heavy"]
    if not unique:
        del expected["unique weight"]
    return expected
