"""What the default suite may cost: a pytest plugin that counts kernels and looks at the time of
unit tests.

Neither depends on chance: kernels are counted; and a unit test is too slow only if it is so three
times in a row, so that what it is the first to import does not count, in seconds of a quiet
machine, as a loop that is timed at the same moment tells them. Processors differ, too: what is
somewhat above the budget is named, and fails from twice the budget.
"""

import os
import sys
import time

import pytest
from _pytest.runner import runtestprotocol

# of the library, for combinations of model classes: a sampler takes 5 to 30 seconds to compile
MOST_KERNELS = 32
MOST_SECONDS = 0.5  # of CPU time, child processes included, of a unit test
LOOP_SECONDS = 0.015  # that the loop of `slowness` takes on a quiet machine
DEFAULT = "not long and not data and not study"  # as in pyproject.toml

# Matrices of tests are small: a second thread only waits, and burns the time of the other workers
# while it does. This is read when NumPy and SciPy are loaded, by this process or by the workers and
# programs that it starts.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
# Bytecode is kept, in `__pycache__`: else each worker rewrites the assertions of all tests, which
# takes 8 seconds, and each program that a test starts compiles the package.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

_kernels: set[str] = set()
_slow: dict[str, float] = {}
_last = {"seconds": 0.0}


def count(function):
    """A kernel of the library, under the name by which its code is kept, was compiled or loaded."""
    kernel = function.__qualname__.rpartition("-")[0]
    # else an entry point that serves no model
    if "-" in kernel and function.__module__.startswith("thali."):
        _kernels.add(kernel)


def _cpu():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def slowness():
    """How many times as long as on a quiet machine a loop takes now; 1 where it takes less."""
    began = time.process_time()
    total = 0
    for i in range(300_000):
        total += i * i % 7
    return max(1.0, (time.process_time() - began) / LOOP_SECONDS)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    began = _cpu()
    try:
        return (yield)
    finally:
        _last["seconds"] = _cpu() - began


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    """Runs a unit test that took too long twice more, with what it needs made again."""
    _last["seconds"] = 0.0
    result = yield
    if item.get_closest_marker("unit"):
        for _ in range(2):
            if _last["seconds"] > MOST_SECONDS:
                item._initrequest()
                runtestprotocol(item, log=False, nextitem=nextitem)
        if (
            _last["seconds"] > MOST_SECONDS
            and (quiet := _last["seconds"] / slowness()) > MOST_SECONDS
        ):
            _slow[item.nodeid] = quiet
    return result


def pytest_sessionfinish(session):
    """A worker sends what it found; whoever collects it fails if it is too much."""
    found = getattr(session.config, "workeroutput", None)
    if found is not None:
        found.update(kernels=sorted(_kernels), slow=_slow)
    elif session.exitstatus == 0 and _is_too_much(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    output = getattr(node, "workeroutput", {})
    _kernels.update(output.get("kernels", ()))
    _slow.update(output.get("slow", {}))


def _is_too_much(config):
    too_slow = any(quiet > 2 * MOST_SECONDS for quiet in _slow.values())
    return too_slow or (config.option.markexpr == DEFAULT and len(_kernels) > MOST_KERNELS)


def pytest_terminal_summary(terminalreporter, config):
    """What was found, and what to do if it is too much."""
    write = terminalreporter.write_line
    if _kernels:
        write(
            f"{len(_kernels)} kernels (budget of the default suite: {MOST_KERNELS}):"
            f" {', '.join(sorted(_kernels))}"
        )
    if config.option.markexpr == DEFAULT and len(_kernels) > MOST_KERNELS:
        write(
            "That is too many: run rare combinations as Python (`uncompiled`, `in_plain_python`),"
            " or mark them `long`."
        )
    for test in sorted(_slow):
        took = f"{test} ({_slow[test]:.2f} s)"
        write(
            f"A unit test takes {MOST_SECONDS} CPU seconds at most, mark it `fit` or make it"
            f" smaller: {took}"
        )
