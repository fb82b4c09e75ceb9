"""Compiled code on disk is whole and nobody else's, or is compiled again; Ctrl-C waits for the
compiler."""

import os
import pickle
import random
import shutil
import signal
import stat
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from helpers.compiled_code import compile_by, keep_code_in
from helpers.ctrl_c import pressed
from helpers.patience import PATIENCE
from helpers.rolling import MODEL, RIGHT, roll, rolled
from helpers.sentences import refused, said, warned
from numba import njit
from numba.core import dispatcher as numba_dispatcher
from numba.core.cpu import CPUContext

import thali
from thali._compile import compiled_code_files
from thali._compile.compiled_code_files import (
    DamagedCode,
    KernelFolder,
    _is_private_group,
    decode_entry,
    encode_entry,
    explain_refusal,
)
from thali._compile.jit import compile_separately, kernel
from thali.errors import IncompleteWarning

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no such permissions")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A folder for compiled code; each sentence is said again in each test."""
    folder = tmp_path / "cache"
    keep_code_in(monkeypatch, folder)
    return folder


def kept(cache):
    return sorted(cache.rglob(f"*{compiled_code_files.SUFFIX}"))


def flipped(content, place, bit):
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


class Planted:
    """A pickle that does something when it is read."""

    def __reduce__(self):
        return print, ("planted",)


def damages(content, rng, flips):
    """A file as accidents leave it, and one that was planted."""
    yield from (content[: len(content) // 2], pickle.dumps(Planted()) + content)
    for _ in range(flips):
        yield flipped(content, rng.randrange(len(content)), rng.randrange(8))


def damage_all(cache, flips):
    assert rolled() == (RIGHT, 0) and rolled() == (RIGHT, 1)
    (file,) = kept(cache)
    content = file.read_bytes()
    for damaged in damages(content, random.Random(7), flips):
        file.write_bytes(damaged)
        compiled_code_files.warn_once.cache_clear()
        with warned(IncompleteWarning, "damaged compiled code", "Removed"):
            assert rolled() == (RIGHT, 0)
    assert rolled() == (RIGHT, 1)


def test_damaged_code_is_removed_and_compiled_again(cache, capsys):
    damage_all(cache, 1)
    assert "planted" not in capsys.readouterr().out


def test_no_flipped_bit_nor_lost_block_is_read():
    """Nor is it unpickled."""
    content, rng = encode_entry(bytes(range(256)) * 20, "kernel"), random.Random(8)
    damaged = [flipped(content, rng.randrange(len(content)), rng.randrange(8)) for _ in range(500)]
    damaged += [content[:end] for end in range(0, len(content), 5)] + [
        bytes(len(content)),
        b"garbage",
    ]
    damaged += [
        content[:start] + bytes(16) + content[start + 16 :]
        for start in range(0, len(content) - 16, 9)
    ]
    for wrong in damaged:
        with pytest.raises(DamagedCode):
            decode_entry(wrong, "kernel")
    assert decode_entry(content, "kernel") == bytes(range(256)) * 20


def test_external_symbols_are_made_known_to_the_engine(cache, monkeypatch):
    """As for a likelihood that calls a routine of linear algebra."""
    rolled()
    refreshed, refresh = [], CPUContext.refresh
    monkeypatch.setattr(CPUContext, "refresh", lambda self: refreshed.append(self) or refresh(self))
    assert rolled() == (RIGHT, 1) and not refreshed
    monkeypatch.setattr(
        compiled_code_files.llvmlite.binding, "address_of_symbol", lambda name: None
    )
    assert rolled() == (RIGHT, 1) and len(refreshed) == 1


def test_fields_in_another_order_are_another_entry():
    """Code finds the fields of a tuple by their places, and Numba's text of its type has no
    names."""
    one = numba.typeof((namedtuple("State", "a b")(1.0, 2.0),))
    other = numba.typeof((namedtuple("State", "b a")(1.0, 2.0),))
    assert repr(one) == repr(other) and compiled_code_files.format_types(
        [one]
    ) != compiled_code_files.format_types([other])
    assert compiled_code_files.format_types([one]) == compiled_code_files.format_types(
        [numba.typeof((namedtuple("State", "a b")(3.0, 4.0),))]
    )


def test_damage_is_said_once(cache):
    rolled()
    with pytest.warns(IncompleteWarning) as sentence:
        for _ in range(3):
            for file in kept(cache):
                file.write_bytes(b"")
            assert rolled() == (RIGHT, 0)
    assert len(sentence) == 1


def test_an_entry_that_was_copied_to_another_name_or_processor_is_not_read(tmp_path):
    here, there = (KernelFolder(tmp_path / name, name, True) for name in ("thali-one", "thali-two"))
    here.write("a", 1)
    here.write("b", 2)
    assert (here.read("a"), here.read("b")) == (1, 2)
    with pytest.raises(FileNotFoundError):
        here.read("c")
    shutil.copy(here.file("b"), here.file("a"))
    shutil.copytree(here.path, there.path)
    for folder, name in ((here, "a"), (there, "a"), (there, "b")):
        with pytest.raises(DamagedCode):
            folder.read(name)


def test_the_last_of_two_that_write_one_entry_stays_whole(tmp_path):
    folder = KernelFolder(tmp_path / "thali-one", "one", True)
    for value in (1, 2):
        folder.write("a", value)
    assert folder.read("a") == 2 and os.listdir(folder.path) == [f"a{compiled_code_files.SUFFIX}"]


def test_a_full_disk_costs_the_cache_and_nothing_else(cache, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with warned(IncompleteWarning, "Cannot save", "No space left"):
        assert rolled() == (RIGHT, 0)
    assert [file for file in cache.rglob("*") if file.is_file()] == []


def test_no_folder_at_all(cache):
    cache.write_text("a file of that name")
    with warned(IncompleteWarning, "Cannot create", "will compile again"):
        assert rolled() == (RIGHT, 0)


def test_code_from_disk_is_not_compiled_into_other_code(cache):
    """Its file holds no bitcode, and the names in its place must never be taken for the
    functions."""
    rolled()
    fresh = kernel(roll)
    fresh(np.random.default_rng(1), MODEL)
    dispatcher = fresh.dispatcher(MODEL)
    assert sum(dispatcher.stats.cache_hits.values()) == 1
    with refused(Exception, "`part`"):
        njit(lambda rng, model: dispatcher(rng, model))(np.random.default_rng(1), MODEL)


@posix
def test_a_folder_that_everybody_may_write_to_is_refused(cache, run):
    rolled()
    (folder,) = cache.iterdir()
    folder.chmod(0o777)
    explain_refusal.cache_clear()
    with warned(IncompleteWarning, "because every user may", "set NUMBA_CACHE_DIR"):
        assert rolled() == (RIGHT, 0)
    folder.chmod(0o755)
    cache.chmod(0o777)
    explain_refusal.cache_clear()
    with pytest.warns(IncompleteWarning, match=f"because every user may write to '{cache}' and"):
        assert rolled() == (RIGHT, 0)
    cache.chmod(0o1777)  # as /tmp: nobody else replaces what lies there
    explain_refusal.cache_clear()
    assert rolled() == (RIGHT, 1)
    for file in kept(cache):
        file.chmod(0o666)
    with pytest.warns(IncompleteWarning, match="damaged"):
        assert rolled() == (RIGHT, 0)


USER, PRIVATE, TEAM = 1000, 1000, 50


@posix
@pytest.mark.parametrize(
    ("uid", "gid", "mode", "expected"),
    [
        (USER, PRIVATE, 0o755, ""),
        (USER, PRIVATE, 0o775, ""),  # the umask 002 of Debian and Fedora
        (0, 0, 0o755, ""),
        (0, 0, 0o775, ""),
        (USER, TEAM, 0o755, ""),
        (USER, TEAM, 0o775, "group 50 may write to it"),
        (USER, PRIVATE, 0o757, "every user may write to it"),
        (1001, PRIVATE, 0o755, "user 1001 owns it"),
        (33, PRIVATE, 0o755, ""),  # who owns the library can change it anyway
    ],
)
def test_folders_that_others_may_write_to_are_refused(
    uid, gid, mode, expected, cache, tmp_path, monkeypatch
):
    import grp
    import pwd

    of_folder = SimpleNamespace(st_uid=uid, st_gid=gid, st_mode=stat.S_IFDIR | mode)
    of_others = SimpleNamespace(st_uid=33, st_gid=33, st_mode=stat.S_IFDIR | 0o755)
    stats = {
        tmp_path: of_folder,
        tmp_path.parent: of_others,
        compiled_code_files._LIBRARY: of_others,
    }
    groups = {
        PRIVATE: SimpleNamespace(gr_name="ann", gr_mem=[]),
        TEAM: SimpleNamespace(gr_name="team", gr_mem=[]),
    }
    user = SimpleNamespace(pw_name="ann", pw_gid=PRIVATE)
    _is_private_group.cache_clear()
    with monkeypatch.context() as patch:
        for module, name, answer in (
            (Path, "stat", lambda self, **_: stats[self]),
            (os, "getuid", lambda: USER),
            (pwd, "getpwuid", lambda uid: user),
            (grp, "getgrgid", groups.__getitem__),
        ):
            patch.setattr(module, name, answer)
        found = explain_refusal(str(tmp_path))
        groups[PRIVATE].gr_mem.append("bob")
        _is_private_group.cache_clear()
        assert _is_private_group(PRIVATE) is False
    _is_private_group.cache_clear()
    explain_refusal.cache_clear()
    assert found == expected


@posix
def test_the_command_line_says_which_folder_is_refused(cache, run):
    cache.mkdir()
    cache.chmod(0o777)
    result = run("cache", "info")
    # there is nothing yet, and it would be made for the user alone
    assert result.out.count("not used, because") == 0
    rolled()
    explain_refusal.cache_clear()
    assert f": not used because every user may write to '{cache}'\n" in run("cache", "info").out


# compiling ----------------------------------------------------------------------------------------


def test_a_failed_compilation_is_repeated_by_the_next_call(cache, monkeypatch):
    compile_it = numba_dispatcher._FunctionCompiler._compile_core

    def fail_at_the_end(self, *arguments):
        compile_it(self, *arguments)
        raise MemoryError

    one = kernel(roll)
    first = one.dispatcher(MODEL)
    with monkeypatch.context() as patch:
        patch.setattr(numba_dispatcher._FunctionCompiler, "_compile_core", fail_at_the_end)
        with pytest.raises(MemoryError):
            one(np.random.default_rng(1), MODEL)
    assert one(np.random.default_rng(1), MODEL) == RIGHT
    assert one.dispatcher(MODEL) is not first


def test_ctrl_c_waits_for_the_compiler(cache, monkeypatch, capfd):
    compiled = []

    def press_and_compile(compile_it, self, signature):
        signal.raise_signal(signal.SIGINT)
        entry = compile_it(self, signature)
        compiled.extend([signature] * (self.py_func.__name__ == "roll"))
        return entry

    compile_by(monkeypatch, press_and_compile)
    one = kernel(roll)
    with pytest.raises(KeyboardInterrupt), pressed():
        one(np.random.default_rng(1), MODEL)
    assert len(compiled) == 1 and len(kept(cache)) == 1
    said(error := capfd.readouterr().err, "thali: stopping after")
    assert error.count("stopping") == 1
    assert one(np.random.default_rng(1), MODEL) == RIGHT and len(compiled) == 1


def test_ctrl_c_waits_for_the_compiler_of_a_users_function(monkeypatch):
    compiled = []

    def press_and_compile(compile_it, self, signature):
        signal.raise_signal(signal.SIGINT)
        compiled.append(compile_it(self, signature))
        return compiled[-1]

    compile_by(monkeypatch, press_and_compile)
    with pytest.raises(KeyboardInterrupt), pressed():
        compile_separately(lambda x: x + 1.0, (2.0,))
    assert len(compiled) == 1


# places -------------------------------------------------------------------------------------------

TINY = """
import numpy as np
from thali._compile.jit import kernel
from thali._inference.numerics.discrete_draws import draw_index
from thali._aspects.priors.given_features import GivenColumns

@kernel
def roll(rng, model):
    return draw_index(rng, 10)
"""
USE = "import tiny; m = tiny.GivenColumns(3); print(tiny.roll(tiny.np.random.default_rng(1), m))"
USE += "; print(sum(tiny.roll.dispatcher(m).stats.cache_hits.values()))"


def start(folder):
    """Python in another process, with a small kernel."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(thali.__file__).parents[1]), str(folder)])
    environment["NUMBA_CACHE_DIR"] = str(folder / "cache")
    return subprocess.Popen(
        [sys.executable, "-c", USE],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer(process):
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and "Traceback" not in err, err
    return out.split(), err


@pytest.mark.long
def test_eight_first_compilations_at_once(tmp_path):
    (tmp_path / "tiny.py").write_text(TINY)
    found = [answer(process) for process in [start(tmp_path) for _ in range(8)]]
    assert all(out[0] == str(RIGHT) and not err for out, err in found)
    assert answer(start(tmp_path)) == ([str(RIGHT), "1"], "")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other variables")
@pytest.mark.parametrize("place", ["", "caches"])
def test_a_cache_folder_that_is_empty_or_relative_is_ignored(place, monkeypatch, tmp_path):
    keep_code_in(monkeypatch, "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", place)
    assert compiled_code_files.find_cache_root() == tmp_path / ".cache" / "thali"
