"""Effective draws per CPU second of the recommended sampler, divided by those of the published one.

    python benchmarks/effective_draws.py

The worst of log-likelihood, number of features, alpha and all choice probabilities counts. All
samplers run in one thread on the same data, in turn; compiling and tuning are not counted. Two
readings of "the published sampler": with the library's own fast arithmetic, and with plain
arithmetic (`plain_pairs.py`), as somebody would write it down; both compiled in the same way.
"sparse": 30 options, each compared ten times with eight others, simulated from the model with alpha
= 2.
"""

import sys
import types
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
from effective_sample_sizes import columns, run, worst_ess
from numba import njit
from plain_pairs import PlainElimination
from published_samplers import published_sweep

import thali as th
from thali._aspects.likelihoods.elimination import Elimination
from thali._aspects.priors import IndianBuffet
from thali._compile.jit import kernel

LAPSE = 0.01
REPEATS = 3
CHAINS = 4
ALGORITHM_1 = published_sweep(IndianBuffet(), Elimination(LAPSE))


@contextmanager
def compiled_alike():
    """Compile what comes from outside the library as the library's own code, without reference
    counting."""

    usual = kernel._build_specialised_dispatcher

    def specialise(self, classes):
        if all(c.__module__.startswith("thali.") for c in classes):
            return usual(self, classes)
        code = self.python
        copy = types.FunctionType(code.__code__, code.__globals__, code.__name__, code.__defaults__)
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
        return njit(**options)(copy)

    with mock.patch.object(kernel, "_build_specialised_dispatcher", specialise):
        yield


def sparse(n=30, degree=8, comparisons=10, alpha=2.0, seed=1):
    """Comparisons of each option with its `degree` nearest on a circle, simulated from the two-part
    model."""
    rng = np.random.default_rng(seed)
    owns = IndianBuffet().sample(n, alpha, rng).astype(float)
    w, u = rng.standard_exponential(owns.shape[1]), rng.standard_exponential(n)
    first = np.repeat(np.arange(n), degree // 2)
    second = (first + np.tile(np.arange(1, degree // 2 + 1), n)) % n
    advantage = u[:, None] + (owns * w) @ (1.0 - owns).T
    there, back = advantage[first, second], advantage[second, first]
    counts = np.zeros((n, n), int)
    counts[first, second] = rng.binomial(
        comparisons, (1.0 - LAPSE) * there / (there + back) + 0.5 * LAPSE
    )
    counts[second, first] = comparisons - counts[first, second]
    return th.PairedComparisons(counts)


def quantities(posterior):
    names = ("n_features", "alpha", "log_likelihood", "choice_probability")
    return [column for name in names for column in columns(posterior[name])]


class Sampler:
    """One sampler's repeats: quantities, CPU seconds and sweeps of each."""

    def __init__(self, likelihood, sweep, draws, thin):
        self.likelihood, self.sweep_kernel, self.draws, self.thin = likelihood, sweep, draws, thin
        self.found, self.seconds = [], []

    def repeat(self, data, seed):
        tune = 4000 if self.draws > 1000 else 200
        settings = (data, self.sweep_kernel, self.draws, tune, self.thin, CHAINS, seed)
        with compiled_alike():
            posterior, spent = run(IndianBuffet(), self.likelihood, *settings)
        self.found.append(quantities(posterior))
        self.seconds.append(spent)

    @property
    def each(self):
        """Worst effective draws per CPU second of each repeat."""
        return np.array([worst_ess(q) / s for q, s in zip(self.found, self.seconds, strict=True)])

    @property
    def ess(self):
        """Worst effective sample size of all repeats together."""
        return worst_ess([np.concatenate(parts) for parts in zip(*self.found, strict=True)])

    @property
    def pooled(self):
        return self.ess / sum(self.seconds)

    @property
    def sweep(self):
        """Microseconds."""
        return 1e6 * sum(self.seconds) / (len(self.seconds) * CHAINS * self.draws * self.thin)


def compare(name, data, ours, published, repeats):
    """Run the three samplers in turn, `repeats` times, and print the ratios; `ours`, `published`:
    draws, thinning."""
    recommended = Sampler(Elimination(LAPSE), None, *ours)
    readings = {
        "fast": Sampler(Elimination(LAPSE), ALGORITHM_1, *published),
        "plain": Sampler(PlainElimination(LAPSE), ALGORITHM_1, *published),
    }
    for seed in range(repeats):
        for sampler in (recommended, *readings.values()):
            sampler.repeat(data, seed)
    print(
        f"{name}: recommended {recommended.sweep:.1f} us a sweep, worst ESS {recommended.ess:.0f}"
    )
    for reading, sampler in readings.items():
        ratios = recommended.each / sampler.each
        print(
            f"  published, {reading} arithmetic: {recommended.pooled / sampler.pooled:.1f} times"
            f" the effective draws (repeats {ratios.min():.1f} to {ratios.max():.1f}), a sweep"
            f" takes {recommended.sweep / sampler.sweep:.2f} of the published {sampler.sweep:.1f}"
            f" us, its worst ESS {sampler.ess:.0f}",
            flush=True,
        )


def main(small=False):
    if small:
        compare("paris_rome", th.datasets.paris_rome(expected=True), (200, 1), (200, 1), 1)
        return
    compare("celebrities", th.datasets.celebrities(), (30_000, 5), (12_000, 10), REPEATS)
    compare("paris_rome", th.datasets.paris_rome(expected=True), (40_000, 1), (8_000, 10), REPEATS)
    compare("sparse, N = 30", sparse(), (10_000, 20), (5_000, 10), REPEATS)


if __name__ == "__main__":
    main(small="--small" in sys.argv)
