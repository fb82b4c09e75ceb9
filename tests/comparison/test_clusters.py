"""Omitted parts, evidences and calibration on the workers of Dask give the results of one process,
to the last bit."""

import functools
import threading

import joblib
import numpy as np
import pandas as pd
import pytest
from helpers import clusters
from helpers.short_comparisons import SHORT, TRIO, compare

import thali as th
from thali._inference import threads_and_processes
from thali.errors import DataError

pytestmark = pytest.mark.fit

EVIDENCE = SHORT | {"by": "evidence", "draws": 20, "cores": None}


@pytest.fixture
def dask():
    """Two workers of Dask in this process."""
    with clusters.dask(processes=False):
        yield


@pytest.fixture
def on_dask(dask, monkeypatch):
    """Within the block, joblib's tasks are carried out by Dask; a list of the threads that did
    so."""
    numbered, used = threads_and_processes.run_numbered, []

    @functools.wraps(numbered)
    def noted(*task):
        used.append(threading.current_thread().name)
        return numbered(*task)

    monkeypatch.setattr(threads_and_processes, "run_numbered", noted)
    with joblib.parallel_config("dask"):
        yield used


def outside(function):
    """What a function gives without the workers."""
    with joblib.parallel_config("sequential"):
        return function()


def assert_all_on_workers(used, count):
    assert len(used) == count and all("Dask" in name for name in used), used


def test_parts_held_out_on_dask_give_the_same_scores(on_dask):
    found = compare(cores=None)
    assert_all_on_workers(on_dask, 6)
    pd.testing.assert_frame_equal(found, outside(lambda: compare(cores=1)), check_exact=True)


@pytest.mark.long
def test_evidence_on_dask_is_the_same(on_dask, tmp_path):
    """Of a comparison that Dask begins and one process ends, too."""
    found = compare(**EVIDENCE)
    assert_all_on_workers(on_dask, 2)
    whole = outside(lambda: compare(**EVIDENCE))
    pd.testing.assert_frame_equal(found, whole, check_exact=True)
    compare({"BTL": th.EliminationByAspects("unique")}, **EVIDENCE, job=tmp_path / "job")
    again = outside(lambda: compare(**EVIDENCE, job=tmp_path / "job"))
    pd.testing.assert_frame_equal(again, whole, check_exact=True)


def test_calibration_on_dask_is_the_same(on_dask):
    def ranks():
        run = {"draws": 20, "tune": 10, "chains": 1, "random_seed": 3, "progressbar": False}
        return th.testing.calibrate(th.EliminationByAspects("unique"), TRIO, 5, **run)

    found = ranks()
    assert_all_on_workers(on_dask, 4)  # the first is fitted here, and compiles
    np.testing.assert_array_equal(found.ranks, outside(ranks).ranks)


def test_an_error_of_a_worker_names_its_model(on_dask):
    models = {name: FailsOnWorkers("unique") for name in ("bad", "worse")}
    with pytest.raises(DataError, match="Model '(bad|worse)': no worker can do it"):
        compare(models, **EVIDENCE)


class FailsOnWorkers(th.EliminationByAspects):
    """Cannot be fitted by a thread of Dask."""

    def _compute_log_evidence(self, data, how):
        if "Dask" in threading.current_thread().name:
            raise DataError("no worker can do it.")
        return super()._compute_log_evidence(data, how)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({}, False), ({"n_jobs": 1}, False), ({"n_jobs": 2}, True), ({"backend": "threading"}, True)],
)
def test_workers_are_those_that_the_user_has_set(settings, expected):
    with joblib.parallel_config(**settings):
        assert threads_and_processes.has_workers() == expected
