"""Rows sorted into blocks of their class: how much memory they take."""

import tracemalloc

import numpy as np
import pytest
from helpers.plackett_luce_cases import scaled
from helpers.plackett_luce_runs import fit_gibbs

from thali._classify.plackett_luce.chain_state import (
    MAX_BLOCK_WIDTH,
    find_opposite_columns,
    sort_rows_by_class,
)


def measure_peak_memory(call) -> int:
    """Bytes allocated at the same time, and not yet there before."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def simulate_exponentials(n):
    x = np.random.default_rng(0).normal(size=(n, 13))
    return scaled(np.exp(np.hstack([x, -x, np.zeros((n, 1))])))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_blocks_take_the_memory_of_the_rows(n_classes):
    W, codes = simulate_exponentials(40_000), np.arange(40_000) % n_classes
    assert sort_rows_by_class(W, codes, n_classes).W.shape[2] == MAX_BLOCK_WIDTH
    # the blocks themselves are one of it
    assert measure_peak_memory(lambda: sort_rows_by_class(W, codes, n_classes)) < 1.5 * W.nbytes


def test_opposites_are_found_without_a_second_matrix():
    W = simulate_exponentials(40_000)
    assert measure_peak_memory(lambda: find_opposite_columns(W)) < 0.25 * W.nbytes
    assert find_opposite_columns(W).tolist() == [*range(13, 26), *range(13), 26]


def test_opposites_are_judged_by_all_rows():
    W = simulate_exponentials(5000)
    for row in (0, 4999):
        other = W.copy()
        other[row, 1] *= 1.001
        assert (find_opposite_columns(other) == -1).all()  # the row no longer balances


@pytest.mark.parametrize("members", [[60] + [1] * 3000, [1] * 500, [3000] + [3] * 1000, [57] * 40])
def test_small_classes_do_not_leave_blocks_empty(members):
    codes = np.repeat(np.arange(len(members)), members)
    W = np.random.default_rng(1).random((len(codes), 20))
    rows = sort_rows_by_class(W, codes, len(members))
    assert rows.W.nbytes <= 2 * W.nbytes
    assert np.array_equal(np.bincount(rows.class_of_block, rows.sizes), members)
    found = [rows.W[b, :, :size].T for b, size in enumerate(rows.sizes)]
    assert np.array_equal(np.concatenate(found), W)  # they were sorted before


def test_narrow_blocks_give_the_posterior_of_wide_ones(monkeypatch):
    rng = np.random.default_rng(3)
    W, codes = simulate_exponentials(90)[:, :5], rng.integers(0, 3, 90)
    settings = {"draws": 400, "tune": 100, "chains": 4, "thin": 5, "random_seed": 1, "a": 0.3}
    means = [fit_gibbs(W, codes, 3, **settings).log_likelihood]
    monkeypatch.setattr("thali._classify.plackett_luce.chain_state.MAX_BLOCK_WIDTH", 1)
    means.append(fit_gibbs(W, codes, 3, **settings).log_likelihood)
    error = np.hypot(*(found.std() / np.sqrt(found.size / 4) for found in means))
    assert abs(means[0].mean() - means[1].mean()) < 4 * error
