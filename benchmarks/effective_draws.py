"""Effective draws per CPU second of the recommended sampler, divided by those of the published one.

    python benchmarks/effective_draws.py

The worst of log-likelihood, number of features, alpha and all choice probabilities counts. Both samplers run in one
thread on the same data; figures are ratios, so that they hold on any machine. Two readings of "the published sampler":
with the library's own fast arithmetic, and with plain arithmetic (`plain_pairs.py`), as somebody would write it down;
both compiled in the same way.

Measured (numba 0.68, one core of a shared machine; repeated runs scatter by a quarter):

    data          published, fast arithmetic   published, plain arithmetic
    celebrities   24                           69
    paris_rome    15                           24
"""

import sys
import time
import types
from pathlib import Path

import numpy as np
from arviz_stats.base.array import array_stats
from numba import njit

sys.path.insert(0, str(Path(__file__).parent))
from plain_pairs import PlainElimination

import thali as th
from thali._jit import kernel
from thali.likelihoods.elimination import Elimination
from thali.mcmc.chains import Chain
from thali.models.engine import build_task
from thali.posterior.store import to_datatree
from thali.priors.ibp import IndianBuffet

CHAINS = 4


def specialise(self, classes):
    """Compile what comes from outside the library as the library's own code, without reference counting."""
    code = self.python
    copy = types.FunctionType(code.__code__, code.__globals__, code.__name__, code.__defaults__)
    return njit(nogil=True, error_model="numpy", _nrt=False)(copy)


kernel._specialise = specialise


def measure(data, likelihood, sampler, draws, thin):
    """Worst effective draws per CPU second, and microseconds per sweep."""
    settings = {"weight_prior": (1.0, 1.0), "alpha": None, "sampler": sampler}
    task = build_task(IndianBuffet(), likelihood, data, draws=draws, tune=draws // 10, thin=thin, **settings)
    spent, found = 0.0, []
    for seed in range(CHAINS):
        chain = Chain(task, np.random.default_rng(seed))
        chain.run_to(task.tune * thin)  # compiles, tunes
        begin = time.process_time()
        chain.run_to(chain.total)
        spent += time.process_time() - begin
        found.append(chain.draws)
    posterior = to_datatree(found, data, lapse=0.01, unique=True, learned_alpha=True)["posterior"]
    worst = min(
        array_stats.ess(posterior[name].values.astype(float), method="bulk")
        for name in ("n_features", "alpha", "log_likelihood")
    )
    probabilities = posterior["choice_probability"].values
    for pair in range(probabilities.shape[-1]):
        worst = min(worst, array_stats.ess(probabilities[..., pair], method="bulk"))
    return worst / spent, 1e6 * spent / (CHAINS * draws * thin)


if __name__ == "__main__":
    cases = (("celebrities", th.datasets.celebrities(), 5), ("paris_rome", th.datasets.paris_rome(expected=True), 1))
    for name, data, thin in cases:
        ours, ours_sweep = measure(data, Elimination(), None, 100_000, thin)
        fast, fast_sweep = measure(data, Elimination(), "paper", 40_000, 10)
        plain, plain_sweep = measure(data, PlainElimination(), "paper", 40_000, 10)
        print(f"{name}: worst effective draws per CPU second, recommended / published")
        print(
            f"  published with fast arithmetic : {ours / fast:6.1f}   (time of a sweep {ours_sweep / fast_sweep:.2f})"
        )
        print(
            f"  published with plain arithmetic: {ours / plain:6.1f}   (time of a sweep {ours_sweep / plain_sweep:.2f})"
        )
