"""The sums over rows: against plain NumPy, over threads, equal rows, blocks, and a cluster of two workers."""

import numpy as np
import pytest

import thali as th
from thali.errors import DataError
from thali.regression import State, partial_statistics
from thali.regression.design import Design
from thali.regression.duplicates import distinct_rows
from thali.regression.pl_map import fit_map
from thali.regression.statistics import BLOCK, Rows


def made(n, p=7, n_classes=3, seed=1):
    rng = np.random.default_rng(seed)
    W = np.exp(rng.normal(size=(n, p)))
    W /= W.max(axis=1, keepdims=True)
    return W, rng.integers(0, n_classes, n), rng.gamma(0.5, size=(n_classes, p)), rng.gamma(1.0, size=p)


def plain(W, codes, A, m, counts):
    own, total = (W * A[codes]).sum(axis=1), W @ m
    one_hot = np.eye(len(A))[codes]
    R = (one_hot * (counts / own)[:, None]).T @ W
    return (counts * np.log(own / total)).sum(), R, (counts / total) @ W


@pytest.mark.parametrize("p", [1, 3, 7, 27, 40])
def test_sums_are_those_of_numpy(p):
    W, codes, A, m = made(1000, p)
    counts = np.random.default_rng(2).integers(1, 5, 1000).astype(float)
    sums = Rows(W, codes, 3, counts).statistics(A, m)
    value, R, s = plain(W, codes, A, m, counts)
    assert abs(sums.log_likelihood - value) < 1e-11 * abs(value)  # a thousand terms, each to 1e-14
    np.testing.assert_allclose(sums.R, R, rtol=1e-12)
    np.testing.assert_allclose(sums.s, s, rtol=1e-12)


def test_products_are_those_of_numpy():
    W, codes, A, m = made(500)
    columns = np.array([1, 2, 5])
    sums = Rows(W, codes, 3).curvature(A, m, columns)
    V, own, total = W[:, columns], (W * A[codes]).sum(axis=1), W @ m
    np.testing.assert_allclose(sums.of_all, (V / total[:, None] ** 2).T @ V, rtol=1e-12)
    for k in range(3):
        of_class = codes == k
        np.testing.assert_allclose(sums.of_classes[k], (V / own[:, None] ** 2)[of_class].T @ V[of_class], rtol=1e-12)


def test_rows_without_a_chance_give_minus_infinity_and_no_nan():
    W = np.array([[1.0, 0.0], [0.0, 1.0], [1e-200, 0.0]])
    A = np.array([[1.0, 0.0], [1e-200, 0.0]])
    sums = Rows(W, [0, 1, 1], 2).statistics(A, A.sum(axis=0))
    assert sums.log_likelihood == -np.inf
    assert np.isfinite(sums.R).all()
    assert np.isfinite(sums.s).all()
    small = Rows(W[[0, 0]], [0, 1], 2).statistics(np.array([[1.0, 0.0], [1e-305, 0.0]]), np.ones(2))
    assert abs(small.log_likelihood - np.log(1e-305)) < 1e-9


def test_number_of_threads_changes_no_bit():
    W, codes, A, m = made(5 * BLOCK + 17)
    several = [Rows(W, codes, 3, threads=threads) for threads in (1, 2, 5)]
    sums = [rows.statistics(A, m) for rows in several]
    products = [rows.curvature(A, m, np.arange(3)) for rows in several]
    for one in sums[1:]:
        assert one.log_likelihood == sums[0].log_likelihood
        assert np.array_equal(one.R, sums[0].R)
        assert np.array_equal(one.s, sums[0].s)
    assert all(np.array_equal(one.of_classes, products[0].of_classes) for one in products)
    fits = [fit_map(W, codes, 3, a=1.1, threads=threads).weights for threads in (1, 3)]
    assert np.array_equal(*fits)


def test_partial_sums_do_not_grow_with_the_rows():
    assert len(Rows(np.ones((10**6, 1)), np.zeros(10**6, int), 2)._spans) <= 64


def test_equal_rows_are_put_together_exactly():
    W, codes, *_ = made(50)
    again = np.random.default_rng(3).integers(0, 50, 1000)
    few, few_codes, counts = distinct_rows(W[again], codes[again])
    order = np.unique(again, return_index=True)[1]
    assert np.array_equal(few, W[again][np.sort(order)])  # in the order of first appearance
    assert np.array_equal(counts, [(again == again[i]).sum() for i in np.sort(order)])
    assert np.array_equal(few_codes, codes[again][np.sort(order)])
    both = fit_map(W[again], codes[again], 3, a=1.1), fit_map(few, few_codes, 3, a=1.1, counts=counts)
    assert np.array_equal(both[0].weights, both[1].weights)
    A, m = made(1)[2:]
    whole, fewer = Rows(W[again], codes[again], 3).statistics(A, m), Rows(few, few_codes, 3, counts).statistics(A, m)
    assert abs(whole.log_likelihood - fewer.log_likelihood) < 1e-11 * abs(whole.log_likelihood)
    np.testing.assert_allclose(whole.R, fewer.R, rtol=1e-12)


def test_the_same_row_in_two_classes_stays_two():
    W = np.ones((100, 2))
    codes = np.arange(100) % 2
    few, few_codes, counts = distinct_rows(W, codes)
    assert (few_codes.tolist(), counts.tolist(), len(few)) == ([0, 1], [50.0, 50.0], 2)


def test_rows_mostly_distinct_are_left_as_they_are():
    W, codes, *_ = made(100)
    assert distinct_rows(W, codes)[0] is W


def test_partial_statistics_add_up():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(90, 3)), np.array(["a", "b", "c"])[np.arange(90) % 3]
    design = Design.fit(X, ["x", "y", "z"])
    A = rng.gamma(0.5, size=(3, 7))
    state = State(A, A.sum(axis=0), np.array(["a", "b", "c"]), design)
    parts = [partial_statistics(X[i : i + 30], y[i : i + 30], state) for i in (0, 30, 60)]
    total = parts[0] + parts[1] + parts[2]
    value, R, s = plain(design.apply(X), np.arange(90) % 3, A, state.m, np.ones(90))
    assert abs(total.log_likelihood - value) < 1e-11 * abs(value)
    np.testing.assert_allclose(total.R, R, rtol=1e-12)
    np.testing.assert_allclose(total.s, s, rtol=1e-12)
    with pytest.raises(DataError, match="The label d is not among the classes a, b, c"):
        partial_statistics(X[:1], ["d"], state)


def dask_problem():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 3))
    y = np.array(["no", "perhaps", "yes"])[np.argmax(X + rng.gumbel(size=(400, 3)), axis=1)]
    return X * [1.0, 10.0, 0.1] + 5.0, y


@pytest.mark.parametrize("a", [1.0, 1.1])
def test_dask_array_gives_the_fit_in_memory(a):
    da = pytest.importorskip("dask.array")
    X, y = dask_problem()
    model = th.PlackettLuceRegression(method="map", a=a).fit(X, y)
    for labels in (da.from_array(y, chunks=200), y):
        other = th.PlackettLuceRegression(method="map", a=a).fit(da.from_array(X, chunks=(130, 2)), labels)
        assert abs(other.objective_ - model.objective_) < 1e-8
        np.testing.assert_allclose(other.weights_, model.weights_, atol=1e-8)
        assert other.classes_.tolist() == ["no", "perhaps", "yes"]
        assert other.class_count_.tolist() == model.class_count_.tolist()
        np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X), atol=1e-8)


def test_cluster_of_two_workers_gives_the_fit_in_memory(tmp_path):
    distributed = pytest.importorskip("distributed")
    import dask.array as da

    X, y = dask_problem()
    model = th.PlackettLuceRegression(method="map", a=1.1).fit(X, y)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=str(tmp_path)
    )
    with cluster, distributed.Client(cluster) as client:
        assert len(client.scheduler_info()["workers"]) == 2
        blocks, labels = da.from_array(X, chunks=(100, 3)), da.from_array(y, chunks=100)
        other = th.PlackettLuceRegression(method="map", a=1.1).fit(blocks, labels)
    assert abs(other.objective_ - model.objective_) < 1e-8
    np.testing.assert_allclose(other.weights_, model.weights_, atol=1e-8)


def test_many_rows_in_blocks():
    da = pytest.importorskip("dask.array")
    W, codes, *_ = made(30_000, 4)
    both = [th.PlackettLuceRegression(method="map", transform=None, a=1.1) for _ in range(2)]
    both[0].fit(W, codes)
    both[1].fit(da.from_array(W, chunks=(7000, 4)), codes)
    assert abs(both[0].objective_ - both[1].objective_) < 1e-8 * abs(both[0].objective_)
    np.testing.assert_allclose(both[0].weights_, both[1].weights_, atol=1e-8)


def test_bad_blocks():
    da = pytest.importorskip("dask.array")
    X, y = dask_problem()
    model = th.PlackettLuceRegression(method="map", a=1.1)
    with pytest.raises(DataError, match="400 rows and y has 399 labels"):
        model.fit(da.from_array(X), y[:-1])
    with pytest.raises(DataError, match="one class only, 'no'"):
        model.fit(da.from_array(X), np.full(400, "no"))
    with pytest.raises(DataError, match="column 'x0' holds 1"):
        model.fit(da.from_array(np.where(np.arange(3) == 0, 1.0, X)), y)
    X[7, 1] = np.nan
    with pytest.raises(DataError, match="NaN in row 7, column 1"):
        model.fit(da.from_array(X), y)
