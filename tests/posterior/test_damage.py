"""Damaged files: none is believed, none ends in a traceback, none hangs."""

import json
import subprocess
import sys

import pytest
from places import HELPERS

# Run in a process of its own, which ends with a traceback on stderr if a single read takes 20 s.
READS = """
import faulthandler, json, random, sys, tempfile, warnings
from pathlib import Path
import numpy as np
kind, flips, blocks, seed, folders = json.loads(sys.argv[1])
sys.path[:0] = folders
from thali.errors import DataError, IncompleteWarning
path = Path(tempfile.mkdtemp()) / "file"

if kind == "posterior":
    from posterior_cases import small_fit
    from thali.posterior import store
    store.save(small_fit()[2], path)
    read = lambda: store.load(path)
elif kind == "fits":
    from thali.comparison.checkpoint import FinishedFits
    rng = np.random.default_rng(1)
    records = {f"{n:032x}": {"model": "BTL", "pair": n, "error": None, "nll": rng.normal()} for n in range(30)}
    fields = {"model": str, "pair": int, "error": type(None), "nll": float}
    with FinishedFits(path, 1, fields) as kept:
        for key, record in records.items():
            kept.add(key, record)

    def read():
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with FinishedFits(path, 1, fields) as kept:
                found = {key: record for key, record in zip(records, kept.find_all(list(records))) if record}
        assert all(records[key] == record for key, record in found.items())
        if any(issubclass(warning.category, IncompleteWarning) for warning in said):
            raise DataError("said")
        assert len(found) == len(records)
else:
    from thali.inference.jobs import INDEX, JobFolder
    draws = np.random.default_rng(1).normal(size=500)
    stamp = {"model": "m", "parameters": {}, "settings": {}, "data": "", "seed": 1}
    folder = path.with_suffix("")
    with JobFolder(folder, stamp) as job:
        job.write([{"ends": np.arange(300)}], [{"draws": draws}], [500], {"draws": 500}, True)
    path = folder / {"index": INDEX, "state": "state-00001.npz", "draws": "draws-00001.npz"}[kind]

    def read():
        with JobFolder(folder, stamp) as job:
            (state,), (drawn,) = job.found.states, job.found.draws
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


def reads(kind, flips, blocks):
    words = json.dumps([kind, flips, blocks, 1, [str(HELPERS)]])
    done = subprocess.run([sys.executable, "-c", READS, words], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert (counts["silent"], counts["traceback"]) == (0, 0), done.stderr
    assert counts["refused"] > 0.8 * (flips + blocks)


@pytest.mark.fit
@pytest.mark.parametrize("kind", ["posterior", "fits", "index", "state", "draws"])
def test_damage_is_noticed(kind):
    reads(kind, 60, 20)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["posterior", "fits", "index", "state", "draws"])
def test_damage_is_noticed_at_length(kind):
    reads(kind, 1000, 200)
