"""The variational method on Dask arrays: the answer of the fit in memory, from threads and from two workers."""

import os
from unittest import mock

import numpy as np
import pytest

import thali as th

da = pytest.importorskip("dask.array")


def problem():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 3))
    y = np.array(["no", "perhaps", "yes"])[np.argmax(X + rng.gumbel(size=(400, 3)), axis=1)]
    return X * [1.0, 10.0, 0.1] + 5.0, y


def check_same(one, other, X):
    assert other.lower_bound_ == pytest.approx(one.lower_bound_, abs=1e-8)
    assert other.a_ == pytest.approx(one.a_, rel=1e-8)
    # the bound is flat at its maximum: where it agrees to 1e-8, what it is a function of agrees less closely
    np.testing.assert_allclose(other.weights_, one.weights_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(other.predict_proba(X), one.predict_proba(X), rtol=1e-5, atol=1e-6)
    assert other.classes_.tolist() == one.classes_.tolist()
    assert other.collapsed_ is one.collapsed_


@pytest.mark.first(1)
@pytest.mark.parametrize("a", [None, 0.05, 1.0])
def test_blocks_give_the_variational_fit_in_memory(a):
    X, y = problem()
    one = th.PlackettLuceRegression(method="variational", a=a).fit(X, y)
    for labels in (da.from_array(y, chunks=200), y):
        other = th.PlackettLuceRegression(method="variational", a=a).fit(da.from_array(X, chunks=(130, 2)), labels)
        check_same(one, other, X)


@pytest.mark.long  # that of expectation maximisation runs
def test_cluster_of_two_workers_gives_the_variational_fit_in_memory(tmp_path):
    distributed = pytest.importorskip("distributed")
    X, y = problem()
    one = th.PlackettLuceRegression(method="variational", a=1.0).fit(X, y)
    with mock.patch.dict(os.environ):  # which Dask changes
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=str(tmp_path)
        )
        with cluster, distributed.Client(cluster) as client:
            assert len(client.scheduler_info()["workers"]) == 2
            blocks, labels = da.from_array(X, chunks=(100, 3)), da.from_array(y, chunks=100)
            other = th.PlackettLuceRegression(method="variational", a=1.0).fit(blocks, labels)
    check_same(one, other, X)
