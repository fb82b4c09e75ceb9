"""Additive clustering of triplets: recovery, cost, and held-out predictions beside those of
embeddings.

    python benchmarks/triplets.py [--small] [--spose PYTHON] [--vice PYTHON] [--cblearn PYTHON]
        [--beside [OBJECTS ...] [--default]]

1. Recovery: 30 objects with eight features, 30,000 triplets drawn from the model; the probability
   of each true feature and the log score of 10,000 further triplets, beside that of the truth.
2. Predictions: the same data, and with 3,000 triplets, beside SPoSE (`triplets_spose.py`, with any
   Python that has NumPy), VICE (`triplets_vice.py`, with PyTorch) and the embeddings of cblearn
   (`triplets_cblearn.py`, an environment with cblearn, which needs numpy < 2); SPoSE and VICE try
   several settings and are given the CPU time of thali's fit for each, the others try up to 15
   dimensions as long as they have used less. With --beside nothing but 30, 100 and 300 objects with
   10,000 to 100,000 triplets, where that time is three to ten CPU seconds at most. Human-like data
   are in `triplets_human.py`.
3. Cost: CPU seconds of 1,000 sweeps of 20,000 triplets of 100 objects, and ns for each set of pairs
   that a sweep evaluates; with --large of a sweep of 1,000,000 triplets of 100 objects, and of
   1,000 objects with 50 features, and the memory that it takes. All begin at the truth.
4. A first answer, `method="map"`: what it finds of 20,000 triplets of 100 objects; with --large of
   1,000,000 of 1,000.
"""

import argparse
import math
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import thali as th
from thali._aspects.chain_state import COLUMNS, MIN_FREE_ROWS, replica, resize_state, stack_states
from thali._aspects.kernel_operations import rebuild_cache
from thali._aspects.likelihoods import most_similar_pair_probabilities
from thali._aspects.samplers.chains import FeatureChain
from thali._aspects.samplers.sweep_bookkeeping import prepare_state
from thali._compile import jit

HERE = Path(__file__).parent
BESIDE = (
    (30, 8, 10_000),
    (30, 8, 100_000),
    (100, 10, 10_000),
    (100, 10, 100_000),
    (300, 15, 30_000),
    (300, 15, 100_000),
)
# objects: more are not tempered here, and annealed runs take the place of chains
MAX_TEMPERED, MAX_BY_CHAINS = 40, 100


def mean_log_likelihood_of_truth(test, made):
    """The log-likelihood of an answer by the features and weights that made it."""
    sys.path.insert(0, str(HERE.parent / "tests"))
    from helpers.naive.latent_features import triplet_log_likelihood

    return triplet_log_likelihood(test, made.features, made.weights) / test.n_answers


def score(model, data: th.Triplets) -> float:
    """The mean log-probability of an answer."""
    p = np.concatenate(model.predict_proba(data))
    return float(data.counts @ np.log(p) / data.n_answers)


def accuracy(model, data: th.Triplets) -> float:
    """The share of answers that name the most probable pair."""
    best = np.array([p.argmax() for p in model.predict_proba(data)])
    return float(data.counts[data.start[:-1] + best].sum() / data.n_answers)


def rows_of(data: th.Triplets) -> np.ndarray:
    """A row (i, j, k) for each answer, k the odd one out."""
    sets = np.stack([data.first, data.second], axis=1).reshape(-1, 3, 2)
    total = sets.sum(axis=(1, 2)) // 2
    rows = np.concatenate([sets, total[:, None, None] - sets.sum(axis=2, keepdims=True)], axis=2)
    return np.repeat(rows.reshape(-1, 3), data.counts.astype(int), axis=0)


def recovery(
    n: int,
    n_features: int,
    count: int,
    draws: int,
    seed: int,
    rivals: dict[str, str],
    most: float = math.inf,
    by_default: bool = False,
) -> None:
    """One set of triplets: what the model finds of the truth, and what it and others predict.

    A rival has `most` CPU seconds at most for each of its settings. `by_default`: the fit of who
    sets nothing.
    """
    made = th.datasets.triplets(n, count, random_seed=seed, n_features=n_features)
    test = th.datasets.triplets(n, 100_000, random_seed=seed, n_features=n_features).held_out
    warnings.simplefilter("ignore", th.errors.ThaliWarning)  # the convergence check is printed
    began = time.process_time()
    run = {"chains": 2, "random_seed": 1, "cores": 1, "progressbar": False}
    if by_default:
        model = th.AdditiveClustering().fit(made.data, random_seed=1, cores=1, progressbar=False)
    elif n <= MAX_BY_CHAINS:
        model = th.AdditiveClustering(tempering=8 if n <= MAX_TEMPERED else None)
        model.fit(made.data, draws=draws, tune=draws, thin=5, **run)
    else:
        model = th.AdditiveClustering(method="map").fit(made.data, **run)
    seconds = time.process_time() - began
    members = [tuple(str(i) for i in np.flatnonzero(column)) for column in made.features.T]
    found = model.features(0.0).set_index("members")["probability"].reindex(members).fillna(0.0)
    best = mean_log_likelihood_of_truth(test, made)
    print(
        f"{n} objects, {n_features} features, {count:,} triplets, {seconds:.0f} CPU s:"
        f" {model.convergence()}"
    )
    print("  probability of each true feature:", *(f"{p:.2f}" for p in found))
    print(
        f"  log score of a triplet left out: thali {score(model, test):.4f}"
        f" ({accuracy(model, test):.3f} right), truth {best:.4f}, guessing {-np.log(3):.4f}",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        arrays = {
            "train": rows_of(made.data),
            "test": rows_of(test),
            "n": n,
            "features": made.features,
        }
        np.savez(file := Path(folder) / "data.npz", **arrays)
        for script, python in rivals.items():
            subprocess.run(
                [python, str(HERE / script), str(file), f"{min(seconds, most):.1f}"], check=True
            )


def cost(n: int, n_features: int, count: int, sweeps: int, seed: int) -> None:
    """CPU seconds of a sweep after a few, and the memory."""
    made = th.datasets.triplets(
        n, count, random_seed=seed, n_features=n_features, share_of_owners=0.1
    )
    began = time.process_time()
    data = th.Triplets(rows_of(made.data), made.data.labels)
    read = time.process_time() - began
    task = th.AdditiveClustering().prepare(data, 1, sweeps, 1).task
    chain = FeatureChain(task, np.random.default_rng(0))
    chain.run_until(1)  # compiles
    _put(chain, made.features, made.weights)
    first = max(1, sweeps // 5)
    chain.run_until(first)
    began = time.process_time()
    chain.run_until(sweeps)
    each = (time.process_time() - began) / (sweeps - first)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"{count:,} triplets of {n:,} objects: read in {read:.1f} CPU s, {1000 * each:.1f} CPU s"
        f" for 1,000 sweeps with {int(chain.state.whole[0])} features, {memory:.2f} GB"
    )
    if count * n <= 2_000_000:
        print(f"  {1e9 * each / evaluated(chain):.0f} ns for each set that is evaluated")


def evaluated(chain: FeatureChain) -> int:
    """The sets that a sweep evaluates: counted while one runs as Python."""
    numbers, is_disabled, settle_set = (
        [0],
        jit._is_disabled,
        most_similar_pair_probabilities.settle_one_set,
    )

    def counted(sets, c, r, through, is_kept):
        change = settle_set(sets, c, r, through, is_kept)
        numbers[0] += change != 0.0
        return change

    jit._is_disabled, most_similar_pair_probabilities.settle_one_set = lambda: True, counted
    try:
        chain.run_until(chain.sweeps + 1)
    finally:
        jit._is_disabled, most_similar_pair_probabilities.settle_one_set = is_disabled, settle_set
    return numbers[0]


def _put(chain: FeatureChain, features: np.ndarray, weights: np.ndarray) -> None:
    """The chain goes on from these features, so that a sweep costs what it costs where it will
    stay."""
    n, count = features.shape
    state = resize_state(replica(chain.states, 0), 4 * count + 2 * MIN_FREE_ROWS)
    state.Z[:count, :n], state.w[:count], state.m[:count] = (
        features.T,
        weights,
        features.sum(axis=0),
    )
    state.whole[COLUMNS] = count
    prepare_state(chain.task.model, state)
    chain.states = stack_states([state])
    rebuild_cache(chain.task.model.likelihood, chain.cache, state)


def first_answer(n: int, n_features: int, count: int, chains: int, seed: int) -> None:
    """What `method="map"` finds of the truth, and its CPU seconds."""
    made = th.datasets.triplets(
        n, count, random_seed=seed, n_features=n_features, share_of_owners=0.1
    )
    test = made.held_out
    warnings.simplefilter("ignore", th.errors.ThaliWarning)
    began = time.process_time()
    model = th.AdditiveClustering(method="map")
    model.fit(made.data, chains=chains, cores=1, random_seed=1, progressbar=False)
    seconds = time.process_time() - began
    found = {tuple(map(int, members)) for members in model.features(0.0)["members"]}
    reached = sum(tuple(np.flatnonzero(column)) in found for column in made.features.T)
    best = mean_log_likelihood_of_truth(test, made)
    print(
        f"{count:,} triplets of {n:,} objects, {chains} runs, {seconds:.0f} CPU s: {reached} of"
        f" {n_features} features found; log score of a triplet left out {score(model, test):.4f},"
        f" truth {best:.4f}",
        flush=True,
    )


def main(
    small: bool = False,
    spose: str = "",
    vice: str = "",
    cblearn: str = "",
    large: bool = False,
    beside: tuple[int, ...] | None = None,
    default: bool = False,
) -> None:
    """All of it."""
    rivals = {
        "triplets_spose.py": spose,
        "triplets_vice.py": vice,
        "triplets_cblearn.py": cblearn,
    }
    rivals = {script: python for script, python in rivals.items() if python}
    if small:
        recovery(6, 2, 300, 60, 1, {})
        cost(20, 3, 2_000, 10, 1)
        first_answer(40, 3, 2_000, 1, 1)
        return
    if beside is not None:
        for n, n_features, count in BESIDE:
            if not beside or n in beside:
                recovery(n, n_features, count, 100, 1, rivals, max(3.0, 1e-4 * count), default)
        return
    for count in (30_000, 3_000):
        recovery(30, 8, count, 200, 1, rivals)
    cost(100, 10, 20_000, 200, 1)
    first_answer(100, 10, 20_000, 4, 1)
    if large:
        cost(100, 10, 1_000_000, 50, 1)
        cost(1_000, 50, 1_000_000, 5, 1)
        first_answer(1_000, 50, 1_000_000, 4, 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Additive clustering of triplets.")
    parser.add_argument("--small", action="store_true")
    parser.add_argument(
        "--large", action="store_true", help="also a million triplets of 1,000 objects"
    )
    parser.add_argument("--spose", default="", help="a Python with NumPy")
    parser.add_argument("--vice", default="", help="a Python with PyTorch")
    parser.add_argument(
        "--beside",
        type=int,
        nargs="*",
        metavar="OBJECTS",
        help="thali beside the others alone, of so many objects",
    )
    parser.add_argument(
        "--default", action="store_true", help="with --beside: thali as it is by default"
    )
    parser.add_argument("--cblearn", default="", help="the Python of an environment with cblearn")
    sys.exit(main(**vars(parser.parse_args())))
