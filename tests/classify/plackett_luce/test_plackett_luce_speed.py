"""Check A10 on any machine: speed against plain sweeps in the same run, memory of a fit against
that of W."""

import tracemalloc

import numpy as np
import pytest
from helpers.cpu_time import time_ratio
from helpers.plackett_luce_data import problem
from helpers.sentences import without_warnings

import thali as th
from thali._classify.plackett_luce.chain_state import sort_rows_by_class
from thali._classify.plackett_luce.markov_chain import WeightChain, build_gibbs_settings


def simulate_rows(n, d=13):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.argmax(X[:, :3] + rng.gumbel(size=(n, 3)), axis=1)


def draw_numpy_sweep(parts, W, weights, rng):
    """Draw C, Z and the weights with a = b = 1, in NumPy."""
    times = rng.standard_exponential(len(W)) / (W @ weights.sum(axis=0))
    counts = np.empty_like(weights)
    for k, rows in enumerate(parts):
        running = rows * weights[k]
        np.cumsum(running, axis=1, out=running)
        place = (running < (rng.random(len(rows)) * running[:, -1])[:, None]).sum(axis=1)
        counts[k] = np.bincount(place, minlength=W.shape[1])
    return rng.gamma(1.0 + counts) / (1.0 + times @ W)


def measure_relative_time(W, codes, n_classes, a, sweeps):
    """Measure CPU time of sweeps relative to plain NumPy, for a fixed a."""
    settings = build_gibbs_settings(W.size, a, (1e-3, 1e2), 1.0, 1, 10**7, 1, 1)
    chain = WeightChain(
        settings, sort_rows_by_class(W, codes, n_classes), n_classes, np.random.default_rng(1)
    )
    rng, weights = np.random.default_rng(1), np.ones((n_classes, W.shape[1]))
    order = np.argsort(codes, kind="stable")
    parts = [W[codes == k] for k in range(n_classes)]
    W = W[order]

    def run():
        for _ in range(sweeps):
            draw_numpy_sweep(parts, W, weights, rng)

    def ours():
        chain.run_until(chain.sweeps + sweeps)

    ours()  # compiles
    return time_ratio(ours, run, tries=3, turns=3)


def test_a10_small_data_with_a_learned():
    """Where NumPy's calls cost more than their work, though it draws no a."""
    assert measure_relative_time(*problem("iris"), None, 300) <= 1 / 1.5  # 3.6 was measured


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "stamp", [{"method": "map", "a": 1.1}, {"method": "variational", "a": 1.0}]
)
def test_a10_a_fit_stores_w_only_once(stamp):
    X, y = simulate_rows(100_000)
    model = th.PlackettLuceRegression(**stamp)
    with without_warnings():
        model.fit(X[:30_000], y[:30_000], cores=1)  # compiles, and imports what a fit needs
        tracemalloc.start()
        try:
            model.fit(X, y, cores=1)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    W = 8 * len(X) * 27
    # half of W: twenty thousand rows for a start, a table of distinct rows
    assert peak < 1.5 * W + X.nbytes
    assert peak > W  # or it was not seen
