"""Samplers of additive clustering: what an equal time buys, and what a sweep costs.

    python benchmarks/additive_samplers.py

1. Numbers (sigma .05, alpha .5, Gamma(1, 10)): runs of equal CPU time from draws of the prior; the
   yardstick is the probability of the feature 2 4 6 8, .379 in the posterior. "gain" is the mean
   squared error of the published sampler divided by that of the method: how many times as long the
   published one would have to run.
2. Data of Navarro & Griffiths (2007, section 5), n = 16, 32 (sigma .3, alpha 2, Gamma(1, 1)): the
   share of runs whose log-likelihood, averaged over the last quarter, lies more than 10 below that
   of long tempered runs.
3. Time of an untempered sweep for each toggle (objects times features), and its growth with either.

"plain": toggles of whole columns and exact draws of weights, without tempering. "tempered": the
default.
"""

import sys
import time
from dataclasses import replace

import numpy as np
from published_samplers import use_published_sampler

import thali as th
from thali._aspects.draws.feature_columns import concatenate_chain_columns
from thali._aspects.results.feature_table import find_pattern_presence
from thali._aspects.samplers.chains import FeatureChain

METHODS = {"published": {}, "plain": {"tempering": False}, "tempered": {}}
REFERENCE = 0.379  # probability of the feature 2 4 6 8, eight runs of 400,000 tempered rounds
BEHIND = 10.0  # nats by which a run fails


def sampling(name: str, model):
    """The model, by the published sampler if that is its name."""
    return use_published_sampler(model) if name == "published" else model


def run(model, data, seconds: float, seed: int) -> FeatureChain:
    """A chain of about so many CPU seconds from a draw of the prior, the first tenth of it
    tuning."""
    task = model.prepare(data, 1, 1, 1).task
    pilot = FeatureChain(replace(task, draws=10**6, tune=2_000), np.random.default_rng(0))
    pilot.run_until(2_000)
    begin = time.process_time()
    pilot.run_until(4_000)
    rounds = int(seconds / (time.process_time() - begin) * 2_000)
    thin = max(1, rounds // 20_000)
    tune = rounds // (10 * thin)
    chain = FeatureChain(
        replace(task, draws=rounds // thin - tune, tune=tune, thin=thin),
        np.random.default_rng(seed),
    )
    chain.run_until(chain.total)
    return chain


def numbers(runs: int, seconds: float) -> None:
    print(f"numbers, {runs} runs of {seconds:g} CPU s: probability of 2 4 6 8 is {REFERENCE}")
    errors = {}
    for name, settings in METHODS.items():
        model = sampling(name, th.AdditiveClustering(sigma=0.05, alpha=0.5, **settings))
        found = []
        for seed in range(1, runs + 1):
            chain = run(model, th.datasets.numbers(), seconds, seed)
            columns = concatenate_chain_columns([chain.draws], len(chain.draws.alpha))
            found.append(find_pattern_presence(columns, [(2, 4, 6, 8)]).mean())
        errors[name] = np.mean((np.array(found) - REFERENCE) ** 2)
        gain = errors["published"] / errors[name]
        print(
            f"  {name:10s} root mean squared error {np.sqrt(errors[name]):.3f}, gain {gain:.3g}",
            flush=True,
        )


def simulated(n: int, data_sets: int, runs: int, seconds: float) -> None:
    print(f"section 5, n = {n}, {data_sets} data sets x {runs} runs of {seconds:g} CPU s")
    behind = {name: [] for name in METHODS}
    for number in range(data_sets):
        data = th.datasets.additive(n, random_seed=number)[0]
        settings = {"sigma": 0.3, "alpha": 2.0, "weight_prior": (1.0, 1.0)}

        def level(name, seed, seconds, settings=settings, data=data, **method):
            model = sampling(name, th.AdditiveClustering(**settings, **method))
            levels = run(model, data, seconds, seed).draws.log_likelihood
            return levels[-len(levels) // 4 :].mean()

        best = max(level("tempered", seed, 4 * seconds, tempering=16) for seed in (101, 102, 103))
        for name, method in METHODS.items():
            behind[name] += [
                best - level(name, seed, seconds, **method) for seed in range(1, runs + 1)
            ]
    for name, short in behind.items():
        failing = np.mean(np.array(short) > BEHIND)
        print(
            f"  {name:10s} failing {failing:.2f} of the runs, {np.mean(short):.1f} nats short on"
            " average",
            flush=True,
        )


def sweeps(sizes: list[tuple[int, int]], count: int) -> None:
    print("time of an untempered sweep for each toggle (n x K), as a ratio to the first line's")
    first = None
    for n, wanted in sizes:
        data = th.datasets.additive(n, random_seed=1, n_features=wanted, sigma=0.1)[0]
        model = th.AdditiveClustering(
            sigma=0.1, alpha=0.5, weight_prior=(1.0, 1.0), tempering=False
        )
        chain = FeatureChain(
            model.prepare(data, 10**4, 1_000, 10**4).task, np.random.default_rng(1)
        )
        chain.run_until(2_000)
        begin, columns = time.process_time(), 0
        for _ in range(10):
            chain.run_until(chain.sweeps + count // 10)
            columns += int(chain.state.m.astype(bool)[: chain.state.whole[0]].sum())
        each = (time.process_time() - begin) / count
        per_toggle = each / (n * columns / 10)
        first = first or per_toggle
        print(
            f"  n {n:3d}, K {columns / 10:5.1f}: {per_toggle / first:5.2f} ({1e9 * per_toggle:.1f}"
            f" ns a toggle, {1e6 * each:.1f} us a sweep)",
            flush=True,
        )


def main(small: bool = False) -> None:
    if small:
        numbers(2, 0.02)
        simulated(8, 1, 1, 0.02)
        return sweeps([(10, 6)], 1_000)
    numbers(12, 3.0)
    simulated(16, 4, 6, 0.3)
    simulated(32, 3, 6, 1.0)
    sweeps([(10, 6), (10, 12), (16, 8), (16, 16), (32, 10), (32, 20), (64, 12), (64, 24)], 20_000)


if __name__ == "__main__":
    main(small="--small" in sys.argv[1:])
