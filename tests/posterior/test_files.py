"""What is written is whole or not there, whatever the disk does; two that write at once are
told."""

import builtins
import errno
import json
import os
import random
import subprocess
import sys

import pytest
from helpers.patience import PATIENCE
from helpers.places import TESTS
from helpers.sentences import refused

from thali._inference import checksummed_files as _files
from thali._inference.checksummed_files import atomic_write, compute_seal, is_intact, write_together
from thali.errors import DataError

# A posterior is saved where the disk is full; then the process must still be alive, also when it
# collects what was given up.
SAVES = """
import gc, json, sys
from pathlib import Path
sys.path[:0] = json.loads(sys.argv[1])
from helpers.posterior_cases import chain, comparisons, tree_of
from thali._posterior.datatree_files import save
place = Path(sys.argv[2])
tree = tree_of([chain(5, draws=6_000)], comparisons(5))
for name in ("new.nc", "old.nc"):
    try:
        save(tree, place / name)
    except ValueError as error:
        print(error)
gc.collect()
print("alive")
"""


def saves(place):
    folders = json.dumps([str(TESTS)])
    command = [sys.executable, "-c", SAVES, folders, str(place)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)


@pytest.mark.long
@pytest.mark.fit
def test_a_full_disk_costs_no_process(tmp_path):
    mounted = sys.platform == "linux" and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)], capture_output=True
    )
    if not mounted or mounted.returncode:
        pytest.skip("needs the right to mount a small disk")
    try:
        (tmp_path / "old.nc").write_bytes(
            old := b"what was there" + compute_seal(b"what was there")
        )
        done = saves(tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count(
            "No space left on device; free some space"
        ) == 2 and done.stdout.endswith("alive\n")
        assert os.listdir(tmp_path) == ["old.nc"] and (tmp_path / "old.nc").read_bytes() == old
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


class Faulty:
    """A file that has room for so many bytes."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.file.close()

    def write(self, content):
        self.file.write(bytes(content)[: self.room])
        if len(content) > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.room -= len(content)

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.mark.parametrize("broken", ["write", "fsync", "replace"])
def test_a_fault_at_any_byte_leaves_what_was_there(tmp_path, monkeypatch, broken):
    contents = {name: bytes(1000) for name in ("a.nc", "b.csv", "c.png")}
    (tmp_path / "b.csv").write_bytes(b"old")

    def fails(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for seed in range(20):
        with monkeypatch.context() as patch:
            if broken == "write":
                rng = random.Random(seed)

                def faulty(*words, rng=rng, **how):
                    return Faulty(builtins.open(*words, **how), rng.randrange(1000))

                place, fault = (_files, "open"), faulty
            else:
                place, fault = (_files.os, broken), fails
            patch.setattr(*place, fault, raising=False)
            with refused(DataError, "Cannot write '", "': No space"):
                write_together(tmp_path, contents)
            with refused(DataError, "Cannot write '", "b.csv"):
                atomic_write(tmp_path / "b.csv", bytes(1000))
        assert os.listdir(tmp_path) == ["b.csv"] and (tmp_path / "b.csv").read_bytes() == b"old"


def test_paths_that_cannot_be_written_are_refused(tmp_path):
    with refused(DataError, "it is a"):
        atomic_write(tmp_path, b"")
    with refused(DataError, "does not", "exist; create it"):
        atomic_write(tmp_path / "absent" / "file", b"")
    with refused(DataError, "it is not"):
        atomic_write(_files.Path(os.devnull), b"")


def test_files_of_two_runs_are_not_mixed_without_a_word(tmp_path, monkeypatch):
    """Another run moves its files while this one does."""
    replace, ours = os.replace, {"a": b"1", "b": b"1"}

    others = ["b"]

    def replace_in_turn(new, path):
        replace(new, path)
        if path.name in others:
            others.clear()
            write_together(tmp_path, {"a": b"2"})

    monkeypatch.setattr(_files.os, "replace", replace_in_turn)
    with refused(DataError, "Another process wrote", "' at the"):
        write_together(tmp_path, ours)
    write_together(tmp_path, ours)
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == ours


def test_a_seal_holds_for_the_whole_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    for content in (b"", b"tea", bytes(1 << 20), bytes((1 << 20) + 1)):
        whole = content + compute_seal(content)
        path.write_bytes(whole)
        assert is_intact(path)
        for other in (whole[:-1], whole + b"\n", b"x" + whole, content, whole[1:], whole.upper()):
            path.write_bytes(other)
            assert not is_intact(path)
