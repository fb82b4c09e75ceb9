"""Fits inside of threads, pools and clusters: the draws of the main thread, every time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.patience import PATIENCE
from helpers.places import TESTS

import thali

SCRIPT = """
import asyncio, multiprocessing, sys, threading
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from helpers.interrupted_fits import draws_of, fitted

def draws(number=0):
    return draws_of(fitted("pairs", 100))["log_likelihood"]

def pool(method):
    with multiprocessing.get_context(method).Pool(2) as workers:
        return workers.map(draws, range(4))

def threads():
    with ThreadPoolExecutor(4) as workers:
        return list(workers.map(draws, range(4)))

async def loop():
    return [draws(), await asyncio.to_thread(draws)]

def loky(**how):
    from joblib import Parallel, delayed
    return Parallel(2, **how)(delayed(draws)(number) for number in range(4))

def dask(processes):
    from distributed import Client, LocalCluster
    how = {"n_workers": 2, "threads_per_worker": 2, "processes": processes, "dashboard_address": None}
    with LocalCluster(**how) as cluster, Client(cluster) as client:
        return client.gather(client.map(draws, range(4), pure=False))

PLACES = {
    "fork": lambda: pool("fork"), "spawn": lambda: pool("spawn"), "forkserver": lambda: pool("forkserver"),
    "threads": threads, "asyncio": lambda: asyncio.run(loop()),
    "loky": loky, "joblib threads": lambda: loky(backend="threading"),
    "dask": lambda: dask(True), "dask threads": lambda: dask(False),
}

if __name__ == "__main__":
    early = PLACES["fork"]() if sys.argv[1:] == ["fork"] else []  # before anything is fitted here
    expected = draws()
    for place in sys.argv[1:]:
        found = PLACES[place]() + early
        assert found and all(np.array_equal(one, expected) for one in found), place
        print("same")
"""


def same_everywhere(folder, *places):
    script = folder / "script.py"
    script.write_text(SCRIPT)
    paths = [str(Path(thali.__file__).parents[1]), str(TESTS)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    words = [sys.executable, str(script), *places]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=PATIENCE)
    assert done.returncode == 0 and done.stdout.split() == ["same"] * len(places), done.stderr


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_threads_and_forked_processes(tmp_path):
    same_everywhere(tmp_path, "threads", "fork")


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    "place", ["fork", "spawn", "forkserver", "loky", "joblib threads", "dask", "dask threads"]
)
def test_pools_and_clusters(place, tmp_path):
    same_everywhere(tmp_path, place)
