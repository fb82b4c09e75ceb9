"""Omitted parts, evidences and calibration on the workers of Dask give the results of one process,
to the last bit."""

import functools
import threading

import joblib
import pandas as pd
import pytest
from helpers import clusters
from helpers.short_comparisons import SHORT, compare

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
