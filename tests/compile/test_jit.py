"""Compiled code is kept, is compiled again when a source changes, and is not spoiled by what users
define."""

import gc
import os
import re
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from helpers.sentences import refused
from numba import njit
from numba.core.codegen import JITCodeLibrary

import thali
from thali._compile.jit import generic, kernel, part, scalar
from thali._inference.numerics.discrete_draws import draw_bessel_count

PLAIN = thali.priors.Given(np.zeros((1, 0))).compiled(1)  # a model class of the library

TINY = """
from thali._compile.jit import kernel
from thali._inference.numerics.discrete_draws import draw_index

@kernel
def roll(rng, model):
    return draw_index(rng, 10)
"""

RUN = """
import numpy as np
from thali._aspects.priors.given_features import GivenColumns
from thali import tiny

model = GivenColumns(3)
compiled = tiny.roll.is_compiled(model)
value = tiny.roll(np.random.default_rng(1), model)
stats = tiny.roll.dispatcher(model).stats
print(compiled, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), value)
"""

OWN_LIKELIHOOD = """
from typing import NamedTuple
import numpy as np
from thali._compile.jit import kernel
from thali._aspects import kernel_operations

class Mine(NamedTuple):
    value: float

@kernel_operations.is_scale_free.register(Mine)
def _is_scale_free(likelihood):
    return np.zeros(3).size == 3 and likelihood.value > 1.0   # may allocate

@kernel
def ask(rng, likelihood):
    return kernel_operations.is_scale_free(likelihood)
"""


@pytest.fixture
def copy_of_thali(tmp_path):
    """A copy of the package that may be edited, and a function that runs scripts with it."""
    shutil.copytree(Path(thali.__file__).parent, tmp_path / "thali")
    (tmp_path / "thali" / "tiny.py").write_text(TINY)

    def run(text, name="script.py"):
        script = tmp_path / name
        script.write_text(text)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
        environment |= {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, str(script)],
            capture_output=True,
            text=True,
            env=environment,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    return tmp_path, run


def test_a_second_process_compiles_nothing_and_an_edited_callee_is_compiled_anew(copy_of_thali):
    folder, run = copy_of_thali
    compiled, hits, misses, first = run(RUN)
    assert (compiled, hits, misses) == ("False", "0", "1")
    compiled, hits, misses, second = run(RUN)
    assert (compiled, hits, misses) == ("True", "1", "0")
    assert first == second
    callee = folder / "thali" / "_inference" / "numerics" / "discrete_draws.py"
    callee.write_text(
        callee.read_text().replace(
            "return int(rng.random() * n)", "return 100 + int(rng.random() * n)"
        )
    )
    compiled, hits, misses, third = run(RUN)
    assert (compiled, hits, misses) == ("False", "0", "1")
    assert int(third) == 100 + int(first)


@pytest.mark.long
def test_a_likelihood_of_a_users_script_does_not_spoil_the_cache(copy_of_thali):
    folder, run = copy_of_thali
    run(RUN)
    script = OWN_LIKELIHOOD + "print(ask(None, Mine(2.0)), ask(None, Mine(0.5)))"
    assert run(script, "mine.py") == ["True", "False"]
    assert run(script.replace("> 1.0", "> 0.1"), "mine.py") == ["True", "True"]
    assert run(RUN)[:3] == ["True", "1", "0"]
    # in a module of the user's own it is kept, until that module is edited
    (folder / "own.py").write_text(OWN_LIKELIHOOD)
    use = "import own\nm = own.Mine(0.5)\nprint(own.ask.is_compiled(m), own.ask(None, m))"
    assert run(use) == ["False", "False"]
    assert run(use) == ["True", "False"]
    (folder / "own.py").write_text(OWN_LIKELIHOOD.replace("> 1.0", "> 0.1"))
    assert run(use) == ["False", "True"]
    # ... which one beside it does not change
    (folder / "beside.py").write_text("x = 1")
    assert run(use) == ["True", "True"]


def test_code_that_only_others_call_becomes_machine_code_with_them(monkeypatch):
    made, make = [], JITCodeLibrary._finalize_specific
    monkeypatch.setattr(
        JITCodeLibrary, "_finalize_specific", lambda self: made.append(self.name) or make(self)
    )

    @scalar
    def half(x):
        return 0.5 * x

    @part
    def third(x):
        return half(x) / 1.5

    @scalar
    def their_sum(x):
        return half(x) + third(x)

    @njit
    def both(x):
        return their_sum(x)

    assert both(6.0) == 5.0
    assert made and not {"Linked", "CalledApart"} & set(made)
    (code,) = both.inspect_llvm().values()
    assert re.search(r"call [^\n]*third", code) and not re.search(r"call [^\n]*half", code)


def test_a_verb_without_an_answer_says_so():
    @generic
    def colour(model):
        """Its colour."""

    @colour.register(int)
    def _colour(model):
        return "blue"

    assert colour(3) == "blue"
    with refused(TypeError, "colour is not defined"):
        colour("x")
    with refused(TypeError, "must take the"):
        colour.register(float)(lambda a, b: None)

    @colour.register(object)
    def _any(model):
        return "grey"

    assert (colour(3), colour("x")) == ("blue", "grey")


@kernel
def compiled_count(rng, model, x):
    return draw_bessel_count(rng, x, 1)


def test_python_and_compiled_code_agree():
    arguments = [(seed, x) for seed in range(50) for x in (0.0, 0.3, 7.0, 900.0, 1e7)]
    expected = [draw_bessel_count(np.random.default_rng(seed), x, 1) for seed, x in arguments]
    got = [compiled_count(np.random.default_rng(seed), PLAIN, x) for seed, x in arguments]
    assert got == expected


def test_threads_that_compile_at_once_leave_the_collector_and_the_filters_as_they_were():
    def compile_one(number):
        kernel(lambda rng, model: number)(None, PLAIN)

    filters = list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(compile_one, range(12)))
    assert gc.isenabled() and warnings.filters == filters
