"""What tests share: one compilation of each kernel for all workers, and the command line in this
process."""

import gc
import os
import re
import signal
import tempfile
from collections import Counter
from contextlib import nullcontext
from functools import cache
from types import SimpleNamespace

import pytest
import scipy.stats  # noqa: F401  # sets filters of warnings when it is loaded
from filelock import FileLock
from helpers import (
    budgets,
    chromium,
    compiled_code,
    leftovers,
    read_once,
    real_data,
    sentences,
    sketches,
)
from helpers.places import PROJECT
from numba.core.compiler import Compiler
from numba.core.dispatcher import Dispatcher
from typer.main import get_command
from xdist.scheduler import LoadFileScheduling

from thali._aspects.maximum_likelihood import goodness_of_fit
from thali._compile import jit
from thali._compile.compiled_code_files import KernelCache
from thali._designs import choice_designs
from thali._model.model_spec import ModelSpec
from thali._paired import worth_estimates
from thali._surfaces.cli import app
from thali._worths import posterior_sample, reliability

KINDS = ("unit", "fit", "exact")
_running = {"unit": ""}  # the unit test that is running, if one is


KIND_OF_FOLDER = {  # of tests that are not marked; in all other folders they are `unit`
    "statistics": "exact",
    "comparison": "fit",
    "compile": "fit",
    "house": "fit",
    "choice/logits": "fit",
    "surfaces/app": "fit",
    "surfaces/cli": "fit",
    "classify/plackett_luce": "fit",
    "choice/product_classes": "fit",
    "classify/sparse_logit": "fit",
    "papers/tests": "fit",
    "plots": "fit",
    "testing": "fit",
}


@cache
def folder_of(path):
    """Return the folder of a test, without `tests/` in front."""
    return path.parent.relative_to(PROJECT).as_posix().removeprefix("tests/")


def pytest_addoption(parser):
    """An option of ours, which writes golden files."""
    parser.addoption(
        "--rewrite-golden",
        action="store_true",
        help="write the sentences of these tests anew (-n 0)",
    )


def pytest_configure(config):
    """The budgets of the suite are looked at by a plugin of ours."""
    config.pluginmanager.register(budgets)
    if config.getoption("rewrite_golden"):
        if config.getoption("numprocesses", 0):
            raise pytest.UsageError("--rewrite-golden needs -n 0: one process writes the files.")
        sentences.rewritten = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """A test that fails or is skipped keeps the sentences that it had."""
    report = yield
    if sentences.rewritten is not None and not report.passed:
        sentences.rewritten.pop(tuple(item.nodeid.removeprefix("tests/").split("::", 1)), None)
    return report


def pytest_sessionfinish():
    """Golden files are written at the end."""
    if sentences.rewritten:
        sentences.write()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Each test is of one kind: `unit`, `fit` or `exact`; of the cases of a `first(n, *names)` all
    but n and those that are named are `long`.

    Then the files, and the tests within each, are shuffled by pytest-randomly. The scopes with most
    tests that may compile come first all the same, so that no worker is left with one of them at
    the end.
    """
    if not any("::" in argument for argument in config.args):
        sentences.record_collected(item.nodeid for item in items)
    cases = Counter()
    for item in items:
        if first := item.get_closest_marker("first"):
            test, _, case = item.nodeid.removesuffix("]").partition("[")
            cases[test] += 1
            n, *names = first.args
            if cases[test] > n and case not in names:
                item.add_marker("long")
        if not any(item.get_closest_marker(kind) for kind in KINDS):
            folder = folder_of(item.path)
            is_quick = not any(map(item.get_closest_marker, ("data", "long", "study")))
            item.add_marker(KIND_OF_FOLDER.get(folder, "unit" if is_quick else "fit"))
    yield
    slow = Counter(
        scope_of(item.nodeid)
        for item in items
        if not any(map(item.get_closest_marker, ("unit", "long", "study", "data")))
    )
    items.sort(key=lambda item: -slow[scope_of(item.nodeid)])


def pytest_terminal_summary(terminalreporter, config):
    """The seed of the order, also where `-q` leaves out the header."""
    if (seed := config.getoption("randomly_seed", None)) is not None:
        terminalreporter.write_line(f"The same order again: --randomly-seed={seed}")


def pytest_sessionstart():
    """A shell that starts the tests in the background lets them ignore Ctrl-C, which many of them
    press."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection():
    """What is loaded from now on stays."""
    gc.disable()


def pytest_collection_finish():
    """What is loaded by now stays: the garbage collector need not look through it again and
    again."""
    gc.enable()
    gc.freeze()


# Files whose kernels have parts in common: a worker that has compiled one of these kernels needs
# half the time for the next. All other files go to workers one by one.
TOGETHER = {
    "product classes": r"product_class|test_conformance",
    "similarities": r"(statistics|aspects)/test_additive",
    "elimination": r"statistics/|aspects/test_(chains|deltas|cache_drift|scan)",
}


def scope_of(nodeid):
    """What goes to one worker: a file, or a name in `TOGETHER`."""
    file = nodeid.partition("::")[0]
    return next((name for name, files in TOGETHER.items() if re.search(files, file)), file)


class TogetherScheduling(LoadFileScheduling):
    """Files to workers, those of `TOGETHER` to the same one, in the order in which they were
    collected."""

    def __init__(self, config, log):
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid):
        return scope_of(nodeid)

    def remove_node(self, node):
        """Reassign only the unfinished files of a crashed worker: xdist waits for finished ones."""
        files = self.assigned_work[node]
        self.assigned_work[node] = {
            f: tests for f, tests in files.items() if not all(tests.values())
        }
        return super().remove_node(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return TogetherScheduling(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(scope="session", autouse=True)
def folder_of_temporary_files(tmp_path_factory):
    """The folder of temporary files is this worker's own: what is left there, its tests have left.

    Its path is short, as sockets want it; that of `tmp_path` stays where it is.
    """
    base = str(tmp_path_factory.getbasetemp())
    sentences.temporary[:] = dict.fromkeys([base, repr(base)[1:-1], base.replace("\\", "/")])
    with (
        tempfile.TemporaryDirectory(prefix="thali-", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield


@pytest.fixture(scope="module", autouse=True)
def clean_after_each_file(request, folder_of_temporary_files):
    """A file of tests leaves modules, classes and folders as they were."""
    with leftovers.nothing_left_by_a_file(request.node.nodeid):
        yield


@pytest.fixture(autouse=True)
def guarded(request):
    """What each test is held to: one fixture, since each costs a tenth of a millisecond for each of
    10,000 tests.

    - A test marked `data` reads the folder of real data; where it is absent it is skipped, or fails
      if CI is set.
    - A unit test that calls a kernel is an error, even where an earlier test or an earlier run has
      compiled it.
    - Pictures that the command line, the app and `papers` write are rendered only if a test asks
      for it, and a saved result is read once by each test.
    - A test leaves the environment and the options of this process as they were.
    """
    marker = request.node.get_closest_marker
    if not real_data.open_for(marker("data") is not None):
        (pytest.fail if os.environ.get("CI") else pytest.skip)(
            "the folder of real data is not beside this project"
        )
    _running["unit"] = request.node.name if marker("unit") else ""
    folder = folder_of(request.path)
    is_sketched = folder in sketches.FOLDERS and not marker("rendered")
    try:
        with (
            leftovers.nothing_left_in_the_process(request.node.nodeid),
            sketches.instead_of_pictures() if is_sketched else nullcontext(),
            read_once.within_a_test() if folder in read_once.FOLDERS else nullcontext(),
        ):
            yield
    finally:
        _running["unit"] = ""
        real_data.open_for(False)


@pytest.fixture(scope="module")
def browser():
    """A real browser."""
    with chromium.opened() as found:
        yield found


@pytest.fixture
def pictures():
    """The pictures of a test are closed at its end."""
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.fixture
def few_replicates(monkeypatch):
    """Tests of fit by bootstrap have 39 replicates: their shares are tested elsewhere."""
    monkeypatch.setattr(goodness_of_fit, "SAMPLES", 39)
    monkeypatch.setattr(goodness_of_fit, "FEW_SAMPLES", 39)


@pytest.fixture
def few_starts(monkeypatch):
    """A design of choices is looked for from two places, not from five to forty."""
    monkeypatch.setattr(choice_designs, "_MIN_STARTS", 2)
    monkeypatch.setattr(choice_designs, "_MAX_POSITIONS", 1)


@pytest.fixture
def few_draws(request, monkeypatch):
    """Boards by Laplace's approximation have 400 draws, not 4000, after few steps and sweeps, and
    are split in halves twice, not 20 times, but in tests that are `exact`."""
    if request.node.get_closest_marker("exact"):
        return
    monkeypatch.setattr(worth_estimates, "DRAWS", 400)
    monkeypatch.setattr(posterior_sample, "_N_STEPS", 5)
    monkeypatch.setattr(posterior_sample, "_FIRST_SWEEPS_OF_TARGET", 40)
    monkeypatch.setattr(reliability, "_N_SPLITS", 2)


@pytest.fixture
def uncompiled(monkeypatch):
    """Kernels run as Python: for a rare combination of which a few sweeps tell enough."""
    compiled_code.run_as_python(monkeypatch)


@pytest.fixture
def in_plain_python(monkeypatch):
    """A function of names of a prior and a likelihood, whose kernels then run as Python: all others
    are compiled."""
    rare, call = [], jit.kernel.__call__

    def run(kernel, rng, model, *rest):
        if tuple(type(part).__name__ for part in (model.prior, model.likelihood)) in rare:
            return kernel.python(rng, model, *rest)
        return call(kernel, rng, model, *rest)

    monkeypatch.setattr(jit.kernel, "__call__", run)
    return lambda *names: rare.append(names)


@pytest.fixture(scope="session", autouse=True)
def compiled_by_one_worker(tmp_path_factory):
    """Workers that need the same kernel wait for the first of them to compile it, and then load
    what it kept.

    Each compilation is held against the digest that names what is kept: no function may be compiled
    in that the digest does not count.
    """
    locks = tmp_path_factory.getbasetemp().parent
    compile_it = Dispatcher.compile
    counted, seen = {}, []

    def compile_once(self, signature):
        if _running["unit"]:
            pytest.fail(
                f"{_running['unit']} is a unit test, but compiles {self.py_func.__qualname__}:"
                " mark it `fit`."
            )
        # a part of several kernels, and nobody else's to load
        if not isinstance(self._cache, KernelCache):
            return compile_it(self, signature)
        name = self.py_func.__qualname__
        budgets.count(self.py_func)
        with FileLock(locks / (re.sub(r"\W", "_", name) + ".lock")):
            seen.clear()
            result = compile_it(self, signature)
        missed = {f.__qualname__ for f in seen if is_ours(f)} - counted[name.rpartition("-")[2]]
        assert not missed, f"The digest of {name} does not count {sorted(missed)}."
        return result

    def is_ours(function):
        return (function.__module__ or "").startswith("thali") and "-" not in function.__qualname__

    def note(self):
        seen.append(self.state.func_id.func)
        return define(self)

    def count(*arguments):
        reached = reach(*arguments)
        plain = [getattr(each, "py_func", each) for each in reached.functions]
        counted[reached.digest[:20]] = {each.__qualname__ for each in plain}
        return reached

    def called(call):
        def call_it(entry, *args):
            if _running["unit"] and not jit._is_disabled():
                pytest.fail(
                    f"{_running['unit']} is a unit test, but calls {entry.python.__qualname__}:"
                    " mark it `fit`."
                )
            return call(entry, *args)

        return call_it

    reach, define = jit.collect_sources, Compiler.define_pipelines
    with pytest.MonkeyPatch.context() as patch:
        for kind in (jit.kernel, jit.compiled):  # whether an earlier test has compiled it is chance
            patch.setattr(kind, "__call__", called(kind.__call__))
        patch.setattr(Dispatcher, "compile", compile_once)
        patch.setattr(Compiler, "define_pipelines", note)
        patch.setattr(jit, "collect_sources", count)
        yield


@pytest.fixture
def stand_in(monkeypatch):
    """A function of a model's name and a class, which the command line then fits in place of the
    model."""
    load, others = ModelSpec.load, {}
    monkeypatch.setattr(
        ModelSpec, "load", lambda spec: others[spec.name] if spec.name in others else load(spec)
    )

    def put(name, model):
        if model is not None and not hasattr(model, "_describe_use"):  # a function
            model._describe_use = lambda data, arguments: None
        others[name] = model

    return put


@pytest.fixture(scope="session")
def command_line():
    """The commands and their options, which are made of the specs once, and not for every line that
    is run."""
    return get_command(app)


@pytest.fixture
def run(capsys, command_line):
    """Run the command line in this process: its exit code, what it printed, what it said
    besides."""

    def run(*words):
        with pytest.raises(SystemExit) as stop:
            command_line([str(word) for word in words])
        out, err = capsys.readouterr()
        return SimpleNamespace(code=stop.value.code, out=out, err=err)

    return run


@pytest.fixture
def done(run):
    """Run a command line that ends well: what it printed, what it said besides."""

    def done(*words):
        result = run(*words)
        assert result.code == 0 and "an error of thali" not in result.err, result.err
        return result

    return done


@pytest.fixture
def refused(run, tmp_path):
    """Run a command line that is refused, prints nothing and leaves all files as they are: what it
    said."""

    def files():
        return {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*") if not path.is_dir()}

    def refused(*words):
        before = files()
        result = run(*words)
        assert result.code == 2 and result.out == "" and "Traceback" not in result.err, result
        assert files() == before
        return result.err

    return refused
