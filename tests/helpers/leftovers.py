"""What tests leave behind: in the process, on modules and classes, on the disk.

The looks stay at the surface, because they are taken around every test or every file of tests. What
is remembered on purpose stands in `REMEMBERED`, caches on the disk in `CACHES`.
"""

import gc
import os
import re
import signal
import sys
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from helpers.places import PROJECT

# What modules and classes of ours remember on purpose: containers, and further attributes that hold
# an item of them.
REMEMBERED = {
    "helpers.sentences": {"rewritten"},  # what golden files are to hold
    "helpers.budgets": {"_kernels", "_slow", "_last"},  # what the suite costs
    "thali._compile.jit": {"_HANDED_OVER"},  # functions of users
    "thali._model.finding": {"FINDING_KEYS"},  # of imported modules
    "thali._compile": {"USED"},  # the processors of code that was loaded
    "thali._compile.compiled_code_files": {"USED"},
    "thali._compile.source_digest": {"_MARKS"},  # how functions are compiled, as modules come
    "thali._aspects.likelihoods.custom": {"_CLASSES"},  # by what their functions take
    "thali._data.custom_data": {"_FIELD_CLASSES"},  # by their fields
}
_OF_PYTHON = {
    *("__warningregistry__", "__slotnames__"),
    # made when somebody asks for them
    *("__annotations__", "__annotations_cache__", "__annotate_func__"),
}
_OF_XARRAY = "decode_timedelta"  # the message of a filter of warnings, set whenever a file is read
_OF_LIBRARIES = {  # set as they are loaded
    *("KMP_INIT_AT_FORK", "KMP_DUPLICATE_LIB_OK"),  # joblib, scikit-learn
    "_RJEM_MALLOC_CONF",  # Polars
    "HDF5_PLUGIN_PATH",  # netCDF4
    # JAX, the last one by benchmarks before it
    *("TF_CPP_MIN_LOG_LEVEL", "TPU_SKIP_MDS_QUERY", "XLA_FLAGS"),
}
_OF_PYTEST = {"PYTEST_CURRENT_TEST"}
# items of a dictionary, list or set that are looked at
_CONTAINERS, _MOST = {dict, list, set}, 2000

# What may come into a folder at any time: caches, what a person writes meanwhile, what Chromium
# keeps for sounds; and hidden entries, of editors.
CACHES = re.compile(
    r"__pycache__|build|dist|_build|generated|jupyter_execute|pictures|pytest-of-.*|dask-scratch-space|sklearn_testing_.*|pulse-.*|.*\.(py|pyi|md)"
)

_BACKEND = ("backend", "backend_fallback")  # settled by the first picture
_PANDAS = ("display.max_columns", "display.max_rows", "display.precision", "display.width")


@contextmanager
def nothing_left_in_the_process(test):
    """Fail if the block changes what belongs to the whole process."""
    before = process()
    yield
    _fail_if(test, list(changes(before, process())))


@contextmanager
def nothing_left_by_a_file(file):
    """Fail if the block changes modules or classes of ours, or leaves anything on the disk."""
    before, owners, paths = process(), spaces(), entries()
    before.pop("warnings.filters")  # are those of its first test, and in the end those of its last
    yield
    clauses = [clause for owner in owners for clause in owner.changes()]
    _fail_if(file, [*changes(before, process()), *clauses, *sorted(entries() - paths)])


def _fail_if(test, left):
    if left:
        pytest.fail(f"{test} left behind: {'; '.join(left)}.", pytrace=False)


# the process --------------------------------------------------------------------------------------


def process():
    """What a test changes easily in this process, by its name in a sentence."""
    found = {
        "os.environ": {
            name: os.environ[name] for name in os.environ.keys() - _OF_LIBRARIES - _OF_PYTEST
        },
        "the current directory": _current_directory(),
        "sys.path": list(sys.path),
        "sys.argv": list(sys.argv),
        "warnings.filters": [
            each for each in warnings.filters if getattr(each[1], "pattern", "") != _OF_XARRAY
        ],
        "numpy.geterr()": np.geterr(),
        "numpy.get_printoptions()": np.get_printoptions(),
        "the handler of Ctrl-C": signal.getsignal(signal.SIGINT),
        "the recursion limit": sys.getrecursionlimit(),
        "gc.isenabled()": gc.isenabled(),
        "the open figures": [],
    }
    matplotlib, pandas = sys.modules.get("matplotlib"), sys.modules.get("pandas")
    if hasattr(matplotlib, "rcParams"):
        found["matplotlib.rcParams"] = settings = dict(dict.items(matplotlib.rcParams))
        for name in _BACKEND:
            settings.pop(name, None)
    if "matplotlib.pyplot" in sys.modules:
        found["the open figures"] = list(sys.modules["matplotlib._pylab_helpers"].Gcf.figs)
    if hasattr(pandas, "get_option"):
        found["the options of pandas"] = {name: pandas.get_option(name) for name in _PANDAS}
    return found


def _current_directory():
    try:
        return os.getcwd()
    except FileNotFoundError:
        return "removed"


def changes(before, after):
    """A clause for each thing that is not what it was; what is new in `after` was loaded
    meanwhile."""
    for name, was in before.items():
        if was != (now := after[name]):
            yield f"{name} ({_difference(was, now)})"


def _difference(was, now):
    if isinstance(was, dict):
        names = [name for name in was.keys() | now.keys() if was.get(name) != now.get(name)]
        return ", ".join(
            f"{name} was {was.get(name)!r} and is {now.get(name)!r}" for name in sorted(names)
        )
    if isinstance(was, list):
        new, gone = (
            [item for item in now if item not in was],
            [item for item in was if item not in now],
        )
        said = [f"new {new!r}"] * bool(new) + [f"without {gone!r}"] * bool(gone)
        return " and ".join(said) or "in another order"
    return f"was {was!r} and is {now!r}"


# modules and classes ------------------------------------------------------------------------------


def _is_ours(name):
    return name == "thali" or name.startswith(("thali.", "helpers."))


def spaces():
    """The modules of thali and of the folder of helpers, and the classes defined in them, as they
    are now."""
    found = []
    for name, module in list(sys.modules.items()):
        if _is_ours(name) and isinstance(module, ModuleType):
            found.append(_Space(name, module))
            found += [
                _Space(f"{name}.{value.__qualname__}", value)
                for value in found[-1].attributes.values()
                if isinstance(value, type) and value.__module__ == name
            ]
    return found


class _Space:
    """A module or a class, its attributes, and the items of the containers among them."""

    def __init__(self, name, owner):
        self.name, self.owner, self.attributes = name, owner, vars(owner).copy()
        self.containers = {
            name: value.copy()
            for name, value in self.attributes.items()
            if type(value) in _CONTAINERS and len(value) <= _MOST and not name.startswith("__")
        }

    def changes(self):
        """A clause for each attribute that is not what it was, but for what may change."""
        if isinstance(self.owner, ModuleType) and sys.modules.get(self.name) is not self.owner:
            yield f"{self.name} (another module has its name, or none)"
        now = vars(self.owner)
        if not _same(self.attributes, now):
            for name in sorted(self.attributes.keys() | now.keys()):
                if not _same(
                    now.get(name, self), self.attributes.get(name, self)
                ) and not self.may_change(name, now):
                    how = (
                        "new"
                        if name not in self.attributes
                        else "replaced"
                        if name in now
                        else "removed"
                    )
                    yield f"{self.name}.{name} ({how})"
        for name, items in self.containers.items():
            if now.get(name) is self.attributes[name] and not _same(items, now[name]):
                if name not in self.remembered():
                    yield f"{self.name}.{name} (other items)"

    def may_change(self, name, now):
        """Whether an attribute was loaded late (a submodule or a public name), is remembered, or is
        Python's own."""
        if (
            name in _OF_PYTHON
            or name in now
            and sys.modules.get(f"{self.name}.{name}") is now[name]
        ):
            return True
        # the public module of a folder
        door = sys.modules.get(self.name.replace("thali._", "thali.", 1))
        late = {
            *now.get("__all__", ()),
            *vars(door or self.owner).get("__all__", ()),
            "__lazy_shadowed__",
        }
        # not there, or a submodule
        if name in late and isinstance(self.attributes.get(name, self.owner), ModuleType):
            return True
        stores = (now.get(store) for store in self.remembered())
        return any(
            now.get(name) is each
            for store in stores
            if isinstance(store, dict)
            for each in store.values()
        )

    def remembered(self):
        return REMEMBERED.get(self.name, ())


def _same(a, b):
    """Whether two objects are the same or equal; what cannot be compared is not."""
    try:
        return a is b or bool(a == b)
    except Exception:  # of any object that stands there
        return False


# the disk -----------------------------------------------------------------------------------------


def entries():
    """The files and folders where a test may leave one by mistake: in the project, and at the top
    of the current directory, of the folder of temporary files and of the home folder, which
    programs other than tests use as well."""
    found = set(_tree(PROJECT))
    for folder in (_current_directory(), tempfile.gettempdir()):
        found.update(path for path, _ in _listed(folder) if "thali-defect-" not in path)
    found.update(path for path, _ in _listed(Path.home(), hidden=".*thali.*"))
    return found


def _tree(folder):
    for path, is_folder in _listed(folder):
        yield path
        if is_folder:
            yield from _tree(path)


def _listed(folder, hidden="(?!)"):
    """The path of each entry that is no cache, and whether it is a folder; of the hidden ones those
    of that pattern."""
    try:
        with os.scandir(folder) as found:
            for entry in found:
                if (
                    CACHES.fullmatch(entry.name)
                    or entry.name.startswith(".")
                    and not re.fullmatch(hidden, entry.name)
                ):
                    continue
                yield entry.path, entry.is_dir(follow_symlinks=False)
    except FileNotFoundError:  # removed meanwhile
        return
