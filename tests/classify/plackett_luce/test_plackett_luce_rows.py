"""The sums over rows: against plain NumPy, over threads, equal rows, and blocks."""

import numpy as np
import pytest
from helpers.plackett_luce_runs import fit_map

from thali._classify.plackett_luce.row_sums import BLOCK_ROWS, CovariateRows
from thali._data.classification_data import merge_rows


def simulate_rows(n, p=7, n_classes=3, seed=1):
    rng = np.random.default_rng(seed)
    W = np.exp(rng.normal(size=(n, p)))
    W /= W.max(axis=1, keepdims=True)
    return (
        W,
        rng.integers(0, n_classes, n),
        rng.gamma(0.5, size=(n_classes, p)),
        rng.gamma(1.0, size=p),
    )


def compute_naive_sums(W, codes, A, m, counts):
    own, total = (W * A[codes]).sum(axis=1), W @ m
    one_hot = np.eye(len(A))[codes]
    R = (one_hot * (counts / own)[:, None]).T @ W
    return (counts * np.log(own / total)).sum(), R, (counts / total) @ W


@pytest.mark.parametrize("p", [1, 3, 7, 27, 40])
def test_sums_are_those_of_numpy(p):
    W, codes, A, m = simulate_rows(1000, p)
    counts = np.random.default_rng(2).integers(1, 5, 1000).astype(float)
    sums = CovariateRows(W, codes, 3, counts).compute_statistics(A, m)
    value, R, s = compute_naive_sums(W, codes, A, m, counts)
    assert abs(sums.log_likelihood - value) < 1e-11 * abs(value)  # a thousand terms, each to 1e-14
    np.testing.assert_allclose(sums.R, R, rtol=1e-12)
    np.testing.assert_allclose(sums.s, s, rtol=1e-12)


def test_products_are_those_of_numpy():
    W, codes, A, m = simulate_rows(500)
    columns = np.array([1, 2, 5])
    sums = CovariateRows(W, codes, 3).compute_curvature(A, m, columns)
    V, own, total = W[:, columns], (W * A[codes]).sum(axis=1), W @ m
    np.testing.assert_allclose(sums.total_products, (V / total[:, None] ** 2).T @ V, rtol=1e-12)
    for k in range(3):
        of_class = codes == k
        np.testing.assert_allclose(
            sums.class_products[k], (V / own[:, None] ** 2)[of_class].T @ V[of_class], rtol=1e-12
        )


def test_impossible_rows_give_minus_infinity_and_not_nan():
    W = np.array([[1.0, 0.0], [0.0, 1.0], [1e-200, 0.0]])
    A = np.array([[1.0, 0.0], [1e-200, 0.0]])
    sums = CovariateRows(W, [0, 1, 1], 2).compute_statistics(A, A.sum(axis=0))
    assert sums.log_likelihood == -np.inf
    assert np.isfinite(sums.R).all()
    assert np.isfinite(sums.s).all()
    small = CovariateRows(W[[0, 0]], [0, 1], 2).compute_statistics(
        np.array([[1.0, 0.0], [1e-305, 0.0]]), np.ones(2)
    )
    assert abs(small.log_likelihood - np.log(1e-305)) < 1e-9


def test_number_of_threads_changes_no_bit():
    W, codes, A, m = simulate_rows(5 * BLOCK_ROWS + 17)
    several = [CovariateRows(W, codes, 3, threads=threads) for threads in (1, 2, 5)]
    sums = [rows.compute_statistics(A, m) for rows in several]
    products = [rows.compute_curvature(A, m, np.arange(3)) for rows in several]
    for one in sums[1:]:
        assert one.log_likelihood == sums[0].log_likelihood
        assert np.array_equal(one.R, sums[0].R)
        assert np.array_equal(one.s, sums[0].s)
    assert all(np.array_equal(one.class_products, products[0].class_products) for one in products)
    fits = [fit_map(W, codes, 3, a=1.1, threads=threads).weights for threads in (1, 3)]
    assert np.array_equal(*fits)


def test_partial_sums_do_not_grow_with_the_rows():
    assert len(CovariateRows(np.ones((10**6, 1)), np.zeros(10**6, int), 2).spans) <= 64


def test_equal_rows_are_merged_exactly():
    W, codes, *_ = simulate_rows(50)
    again = np.random.default_rng(3).integers(0, 50, 1000)
    merged = merge_rows(W[again], codes[again])
    few, few_codes, counts = merged.matrix, merged.codes, merged.counts
    assert len(few) == len(np.unique(again)) and counts.sum() == 1000
    both = (
        fit_map(W[again], codes[again], 3, a=1.1),
        fit_map(few, few_codes, 3, a=1.1, counts=counts),
    )
    assert np.array_equal(both[0].weights, both[1].weights)
    A, m = simulate_rows(1)[2:]
    whole, fewer = (
        CovariateRows(W[again], codes[again], 3).compute_statistics(A, m),
        CovariateRows(few, few_codes, 3, counts).compute_statistics(A, m),
    )
    assert abs(whole.log_likelihood - fewer.log_likelihood) < 1e-11 * abs(whole.log_likelihood)
    np.testing.assert_allclose(whole.R, fewer.R, rtol=1e-12)
