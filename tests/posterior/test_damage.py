"""Damaged files: none is believed, none ends in a traceback, none hangs."""

import json
import subprocess
import sys

import pytest
from helpers.patience import PATIENCE
from helpers.places import TESTS

# Run in a process of its own, which ends with a traceback on stderr if a single read takes 20 s.
READS = """
import faulthandler, json, random, sys
from pathlib import Path
import numpy as np
place, kind, flips, blocks, seed, folders = json.loads(sys.argv[1])
sys.path[:0] = folders
from thali.errors import DataError
path = Path(place) / "file"

if kind == "posterior":
    from helpers.posterior_cases import small_fit
    from thali._posterior import datatree_files
    datatree_files.save(small_fit()[2], path)
    read = lambda: datatree_files.load(path)
elif kind in ("parts", "parts index"):
    from thali._inference.resumable_tasks import PartsFolder
    rng = np.random.default_rng(1)
    records = {f"{n} BTL": {"model": "BTL", "pair": n, "error": None, "nll": rng.normal()} for n in range(30)}
    stamp = {"kind": "comparison", "models": {}, "settings": {}, "data": ""}
    folder = path.with_suffix("")
    source = {"base": np.zeros(3)}
    with PartsFolder(folder, stamp, 1, source) as job:
        job.plan(dict.fromkeys(records, "BTL"), "fits")
        for key, record in records.items():
            job.add(key, record, 0.0)
    path = folder / {"parts": "parts-00001.json", "parts index": "job.json"}[kind]

    def read():
        with PartsFolder(folder, stamp, 1, source) as job:
            assert job.records == records
else:
    from thali._inference.job_folders import INDEX, FitFolder
    draws = np.random.default_rng(1).normal(size=500)
    stamp = {"kind": "fit", "models": {"": {"class": "", "parameters": {}}}, "settings": {}, "data": ""}
    place = {"done": 500, "total": 500, "unit": "sweeps", "draws": 500, "tempered": False}
    folder = path.with_suffix("")
    with FitFolder(folder, stamp, 1) as job:
        job.write([{"ends": np.arange(300)}], [{"draws": draws}], [500], place, True)
    path = folder / {"index": INDEX, "state": "state-00001.npz", "draws": "draws-00001.npz"}[kind]

    def read():
        with FitFolder(folder, stamp, 1) as job:
            (state,), (drawn,) = job.snapshot.states, job.snapshot.draws
        assert (drawn["draws"] == draws).all() and (state["ends"] == np.arange(300)).all()

whole, rng = path.read_bytes(), random.Random(seed)
read()
counts = {"refused": 0, "silent": 0, "traceback": 0}
for number in range(flips + blocks):
    damaged = bytearray(whole)
    if number < flips:
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
    else:
        start = rng.randrange(len(whole))
        end = min(len(whole), start + rng.randrange(1, 512))
        damaged[start:end] = bytes(end - start)
    if damaged == whole:  # there were zeros before
        continue
    path.write_bytes(damaged)
    faulthandler.dump_traceback_later(20, exit=True)
    try:
        read()
    except DataError:
        counts["refused"] += 1
    except Exception as error:
        print(number, repr(error), file=sys.stderr)
        counts["traceback"] += 1
    else:
        print(number, "silent", file=sys.stderr)
        counts["silent"] += 1
    faulthandler.cancel_dump_traceback_later()
print(json.dumps(counts))
"""


def reads(place, kind, flips, blocks):
    words = json.dumps([str(place), kind, flips, blocks, 1, [str(TESTS)]])
    done = subprocess.run(
        [sys.executable, "-c", READS, words], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert (counts["silent"], counts["traceback"]) == (0, 0), done.stderr
    assert counts["refused"] > 0.8 * (flips + blocks)


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("kind", ["posterior", "parts", "parts index", "index", "state", "draws"])
def test_damaged_files_are_refused(kind, tmp_path):
    reads(tmp_path, kind, 60, 20)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["posterior", "parts", "parts index", "index", "state", "draws"])
def test_damage_is_noticed_at_length(kind, tmp_path):
    reads(tmp_path, kind, 1000, 200)
