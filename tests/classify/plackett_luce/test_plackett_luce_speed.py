"""Check A10 on any machine: speed against plain sweeps in the same run, memory of a fit against
that of W."""

import tracemalloc

import numpy as np
import pytest
from helpers.sentences import without_warnings

import thali as th


def simulate_rows(n, d=13):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.argmax(X[:, :3] + rng.gumbel(size=(n, 3)), axis=1)


@pytest.mark.long
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
