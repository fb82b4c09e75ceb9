"""Plackett–Luce regression on Dask arrays: threads of this process, and a cluster of two
workers."""

import os
from unittest import mock

import numpy as np
import pytest
from helpers.sentences import refused

import thali as th
from thali.errors import DataError

da = pytest.importorskip("dask.array")


def dask_problem():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 3))
    y = np.array(["no", "perhaps", "yes"])[np.argmax(X + rng.gumbel(size=(400, 3)), axis=1)]
    return X * [1.0, 10.0, 0.1] + 5.0, y


def check_same(one, other, X):
    if one.method == "map":
        assert abs(other.objective_ - one.objective_) < 1e-8
        close = {"rtol": 1e-7, "atol": 1e-8}
    else:
        assert other.lower_bound_ == pytest.approx(one.lower_bound_, abs=1e-8)
        assert other.a_ == pytest.approx(one.a_, rel=1e-8) and other.collapsed_ is one.collapsed_
        # the bound is flat at its maximum: where it agrees to 1e-8, what it is a function of agrees
        # less closely
        close = {"rtol": 1e-5, "atol": 1e-6}
    np.testing.assert_allclose(other.weights_, one.weights_, **close)
    np.testing.assert_allclose(other.predict_proba(X), one.predict_proba(X), **close)
    assert other.classes_.tolist() == one.classes_.tolist() == ["no", "perhaps", "yes"]
    assert other._class_count_.tolist() == one._class_count_.tolist()


FEW = [("map", 1.0), ("map", 1.1), ("variational", None)]
LONG = [pytest.param("variational", a, marks=pytest.mark.long) for a in (0.05, 1.0)]


@pytest.mark.first(1)
@pytest.mark.parametrize(("method", "a"), [*FEW, *LONG])
def test_dask_arrays_give_the_fit_in_memory(method, a):
    X, y = dask_problem()
    one = th.PlackettLuceRegression(method=method, a=a).fit(X, y)
    for labels in (da.from_array(y, chunks=200), y):
        other = th.PlackettLuceRegression(method=method, a=a).fit(
            da.from_array(X, chunks=(130, 2)), labels
        )
        check_same(one, other, X)


@pytest.mark.long
@pytest.mark.parametrize(("method", "a"), [("map", 1.1), ("variational", 1.0)])
def test_a_cluster_of_two_workers_gives_the_fit_in_memory(method, a, tmp_path):
    distributed = pytest.importorskip("distributed")
    X, y = dask_problem()
    one = th.PlackettLuceRegression(method=method, a=a).fit(X, y)
    with mock.patch.dict(os.environ):  # which Dask changes
        cluster = distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=str(tmp_path),
        )
        with cluster, distributed.Client(cluster) as client:
            assert len(client.scheduler_info()["workers"]) == 2
            blocks, labels = da.from_array(X, chunks=(100, 3)), da.from_array(y, chunks=100)
            other = th.PlackettLuceRegression(method=method, a=a).fit(blocks, labels)
    check_same(one, other, X)


def test_many_rows_in_blocks_give_the_same_maximum():
    rng = np.random.default_rng(1)
    W, codes = rng.gamma(1.0, size=(30_000, 4)), rng.integers(0, 3, 30_000)
    both = [th.PlackettLuceRegression(method="map", transform=None, a=1.1) for _ in range(2)]
    both[0].fit(W, codes)
    both[1].fit(da.from_array(W, chunks=(7000, 4)), codes)
    assert abs(both[0].objective_ - both[1].objective_) < 1e-8 * abs(both[0].objective_)
    np.testing.assert_allclose(both[0].weights_, both[1].weights_, atol=1e-8)


def test_bad_blocks_are_refused():
    from dask.delayed import delayed

    X, y = dask_problem()
    model = th.PlackettLuceRegression(method="map", a=1.1)
    with refused(DataError, "400 rows but y has 399 labels"):
        model.fit(da.from_array(X), y[:-1])
    with refused(DataError, "one class, 'no'"):
        model.fit(da.from_array(X), np.full(400, "no"))
    with refused(DataError, "column 'x0'"):
        model.fit(da.from_array(np.ones((400, 3))), y)
    with refused(DataError, "requires y to be passed"):
        model.fit(da.from_array(X), None)
    with refused(DataError, "mixed types, 'a'"):
        model.fit(da.from_array(X), ["a", 1] * 200)
    parts = [
        da.from_delayed(delayed(part), (200,), dtype=object)
        for part in (y[:200], np.arange(200) % 2)
    ]
    with refused(DataError, "'no'"):
        model.fit(da.from_array(X, chunks=(200, 3)), da.concatenate(parts))
    with refused(DataError, "row 3"):
        model.fit(da.from_array(X), ["a"] * 3 + [None] + ["b"] * 396)
    X[307, 1] = np.nan
    with refused(DataError, "Block 3", "row 7", "column 1"):
        model.fit(da.from_array(X, chunks=(100, 3)), y)
