"""Effective draws per CPU second of the recommended sampler, divided by those of the published one.

    python benchmarks/effective_draws.py

The worst of log-likelihood, number of features, alpha and all choice probabilities counts. Both samplers run in one
thread on the same data; figures are ratios, so that they hold on any machine. Two readings of "the published sampler":
with the library's own fast arithmetic, and with plain arithmetic (`plain_pairs.py`), as somebody would write it down.

Measured (numba 0.68, one core of a shared machine):

    data          published, fast arithmetic   published, plain arithmetic
    celebrities   EXPECTED_1                   EXPECTED_2
    paris_rome    EXPECTED_3                   EXPECTED_4
"""

import sys
import time
from pathlib import Path

import numpy as np
from arviz_stats.base.array import array_stats

sys.path.insert(0, str(Path(__file__).parent))
from plain_pairs import PlainElimination

import thali as th
from thali.likelihoods.elimination import Elimination
from thali.mcmc.chains import Chain
from thali.models.engine import build_task
from thali.posterior.store import to_datatree
from thali.priors.ibp import IndianBuffet

CHAINS = 4


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
    for name, data in (
        ("celebrities", th.datasets.celebrities()),
        ("paris_rome", th.datasets.paris_rome(expected=True)),
    ):
        ours, ours_sweep = measure(data, Elimination(), None, 100_000, 1)
        fast, fast_sweep = measure(data, Elimination(), "paper", 20_000, 20)
        plain, plain_sweep = measure(data, PlainElimination(), "paper", 20_000, 20)
        print(f"{name}: worst effective draws per CPU second, recommended / published")
        print(
            f"  published with fast arithmetic : {ours / fast:6.1f}   (time of a sweep {ours_sweep / fast_sweep:.2f})"
        )
        print(
            f"  published with plain arithmetic: {ours / plain:6.1f}   (time of a sweep {ours_sweep / plain_sweep:.2f})"
        )
