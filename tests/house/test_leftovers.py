"""What a test would leave behind is seen: one of each kind is left here."""

import gc
import os
import signal
import sys
import tempfile
import types
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import leftovers
from helpers.leftovers import nothing_left_by_a_file, nothing_left_in_the_process
from matplotlib import pyplot

pytestmark = pytest.mark.unit


@pytest.fixture
def restored(pictures):
    """The options that `monkeypatch` does not know."""
    filters, errors, digits = warnings.catch_warnings(), np.errstate(), np.printoptions()
    handler, depth, words = signal.getsignal(signal.SIGINT), sys.getrecursionlimit(), list(sys.argv)
    columns = pd.option_context("display.max_columns", pd.get_option("display.max_columns"))
    with filters, errors, digits, columns, pyplot.rc_context():
        yield
    signal.signal(signal.SIGINT, handler)
    sys.setrecursionlimit(depth)
    sys.argv[:] = words
    gc.enable()


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("patch.setenv('THALI_LEFT', 'here')", r"os.environ \(THALI_LEFT was None and is 'here'\)"),
        ("patch.chdir(folder)", r"the current directory \(was "),
        ("patch.syspath_prepend(folder)", r"sys.path \(new \["),
        ("sys.argv.append('left')", r"sys.argv \(new \['left'\]\)"),
        (
            "warnings.filterwarnings('ignore', 'left')",
            r"warnings.filters \(new \[\('ignore', .*left",
        ),
        ("np.seterr(under='raise')", r"numpy.geterr\(\) \(under was 'ignore' and is 'raise'\)"),
        (
            "np.set_printoptions(precision=3)",
            r"numpy.get_printoptions\(\) \(precision was 8 and is 3\)",
        ),
        (
            "pd.set_option('display.max_columns', 7)",
            r"the options of pandas \(display.max_columns was .* and is 7\)",
        ),
        (
            "pyplot.rcParams['lines.linewidth'] = 7.0",
            r"matplotlib.rcParams \(lines.linewidth was .* and is 7.0\)",
        ),
        ("pyplot.figure(1234)", r"the open figures \(new \[1234\]\)"),
        ("signal.signal(signal.SIGINT, signal.SIG_DFL)", r"the handler of Ctrl-C \(was "),
        ("sys.setrecursionlimit(sys.getrecursionlimit() + 1)", r"the recursion limit \(was "),
        ("gc.disable()", r"gc.isenabled\(\) \(was True and is False\)"),
    ],
)
def test_what_is_left_in_the_process(restored, monkeypatch, tmp_path, statement, said):
    with pytest.raises(pytest.fail.Exception, match=rf"^here.py::test left behind: {said}[^;]*\.$"):
        with nothing_left_in_the_process("here.py::test"):
            exec(statement, globals(), {"patch": monkeypatch, "folder": tmp_path})


@pytest.fixture
def made_up(monkeypatch, tmp_path):
    """A module as if of thali, with a class; and folders for the project and the home of their
    own."""
    module = types.ModuleType("thali.made_up")
    exec("class Kept:\n    known = {'a': 1}\nnumber, names, array = 1, ['a'], None", vars(module))
    module.array = np.zeros(2)
    monkeypatch.setitem(sys.modules, "thali.made_up", module)
    monkeypatch.setattr(leftovers, "PROJECT", tmp_path)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in ("src", "home"):
        (tmp_path / name).mkdir()
    return module


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("module.more = 1", "thali.made_up.more (new)"),
        ("del module.number", "thali.made_up.number (removed)"),
        ("module.number = 2", "thali.made_up.number (replaced)"),
        ("module.array = numpy.ones(2)", "thali.made_up.array (replaced)"),
        ("module.names.append('b')", "thali.made_up.names (other items)"),
        ("module.Kept.more = 1", "thali.made_up.Kept.more (new)"),
        ("module.Kept.known['b'] = 2", "thali.made_up.Kept.known (other items)"),
        (
            "del sys.modules['thali.made_up']",
            "thali.made_up (another module has its name, or none)",
        ),
    ],
)
def test_what_is_left_on_modules_and_classes(made_up, statement, said):
    with pytest.raises(pytest.fail.Exception) as failure, nothing_left_by_a_file("here.py"):
        exec(statement, {"module": made_up, "sys": sys, "numpy": np})
    assert str(failure.value) == f"here.py left behind: {said}."


def test_what_modules_load_late_or_remember_is_nothing_left(made_up, monkeypatch):
    made_up.__all__, made_up.__getattr__, made_up.store = ["late"], lambda name: None, {}
    monkeypatch.setitem(leftovers.REMEMBERED, "thali.made_up", {"store"})
    with nothing_left_by_a_file("here.py"):
        submodule = types.ModuleType("thali.made_up.part")
        monkeypatch.setitem(sys.modules, "thali.made_up.part", submodule)
        made_up.part, made_up.late = submodule, 1
        made_up.Kept_a = made_up.store["a"] = type("Kept_a", (), {})
        made_up.number, made_up.names = 1, ["a"]  # as they were


@pytest.mark.first(3)
@pytest.mark.parametrize("place", ["left.txt", "src/left", "home/left", "home/.thali", "temporary"])
def test_what_is_left_on_the_disk(made_up, tmp_path, place):
    with pytest.raises(pytest.fail.Exception) as failure, nothing_left_by_a_file("here.py"):
        path = tmp_path / place
        if place == "temporary":
            path = Path(tempfile.mkdtemp())
        else:
            path.touch()
    assert str(failure.value) == f"here.py left behind: {path}."
    path.rmdir() if path.is_dir() else path.unlink()


def test_caches_and_what_a_person_writes_are_nothing_left(made_up, tmp_path):
    with nothing_left_by_a_file("here.py"):
        for name in ("src/__pycache__", "src/.names.swp", "src/new.py", "home/.bash_history"):
            (tmp_path / name).mkdir()


def test_the_folder_of_temporary_files_is_that_of_the_tests(tmp_path):
    folder = Path(tempfile.gettempdir())
    assert folder.name.startswith("thali-") and os.environ["TMPDIR"] == str(folder) not in str(
        tmp_path
    )
