"""What the benchmarks of samplers share: running chains under a CPU clock, and the worst effective
sample size."""

import time

import numpy as np
from arviz_stats.base.array import array_stats

from thali._aspects.draws.posterior_tree import build_datatree
from thali._aspects.samplers.chains import FeatureChain
from thali._aspects.samplers.sampling_task import build_task


def run(prior, likelihood, data, sweep, draws, tune, thin, chains, seed):
    """The posterior, and the CPU seconds of the sweeps after tuning; one thread, compiling not
    counted.

    `sweep` are the sweeps of a published sampler, or None.
    """
    task = build_task(
        prior,
        likelihood,
        data,
        weight_prior=(1.0, 1.0),
        alpha=None,
        sweep=sweep,
        draws=draws,
        tune=max(1, tune // thin),
        thin=thin,
    )
    spent, found = 0.0, []
    for number in range(chains):
        chain = FeatureChain(task, np.random.default_rng([seed, number]))
        chain.run_until(task.tune * thin)
        begin = time.process_time()
        chain.run_until(chain.total)
        spent += time.process_time() - begin
        found.append(chain.draws)
    tree = build_datatree(found, data, likelihood, is_alpha_learned=True)
    return tree["posterior"], spent


def columns(values):
    """Draws of shape (chain, draw) or (chain, draw, several) as a list of (chain, draw)."""
    values = np.asarray(values, float)
    return [values] if values.ndim == 2 else [values[..., i] for i in range(values.shape[-1])]


def worst_ess(quantities):
    """The smallest bulk effective sample size."""
    return min(np.asarray(array_stats.ess(x, method="bulk")).item() for x in quantities)


def worst_rhat(quantities):
    return max(np.asarray(array_stats.rhat(x)).item() for x in quantities)


def mean_and_error(draws):
    """Posterior mean and its Monte Carlo standard error."""
    return draws.mean(), draws.std() / np.sqrt(
        np.asarray(array_stats.ess(draws, method="mean")).item()
    )
