"""The digest of compiled code changes with all that is compiled in, and with nothing else."""

import cmath
import math
import re
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from helpers.patience import PATIENCE
from helpers.places import PROJECT

import thali._aspects.samplers.default_sweeps as recommended
from thali._compile.jit import scalar
from thali._compile.source_digest import collect_sources
from thali.priors import Given, IndianBuffet

LIBRARY = """
'''A module.'''
import math
import numpy as np
from typing import NamedTuple
from thali._compile.jit import generic, kernel, part, scalar
from thali.errors import ArgumentError

LEAK = 0.05
TABLE = np.array([1.0, 2.0])
UNUSED = 3

class Point(NamedTuple):
    x: float
    y: float = 0.0

@generic
def size(model):
    '''Its size.'''

@scalar
def half(x):
    return 0.5 * x

@scalar
def clear(b):
    b[0] = 0.0

@part
def leaky(x, by=1.0):
    return half(x) + LEAK * by + TABLE[0]

@size.register(Point)
def _size(model):
    return leaky(model.x) + math.log(model.y)

@size.register(object)
def _none(model):
    return 0.0

def entry(rng, model):
    clear(model.x)
    return size(model)
"""

SAME = {
    "a comment": ("    return 0.5 * x", "    # half of it\n    return 0.5 * x  # really"),
    "a docstring": ("def half(x):", "def half(x):\n    '''Half of x.'''"),
    "a docstring where nothing is returned": (
        "def clear(b):",
        "def clear(b):\n    '''Set it to zero.'''",
    ),
    "another docstring": ("Its size.", "How large it is."),
    "a line further down": ("import math", "\n\n\nimport math"),
    "an annotation": ("def half(x):", "def half(x: float) -> float:"),
    "what nobody uses": ("UNUSED = 3", "UNUSED = 4\ndef another(x):\n    return x"),
}
OTHER = {
    "a callee": ("0.5 * x", "0.25 * x"),
    "a constant": ("LEAK = 0.05", "LEAK = 0.06"),
    "the type of a constant": ("LEAK = 0.05", "LEAK = np.float32(0.05)"),
    "an array": ("[1.0, 2.0]", "[1.0, 2.5]"),
    "a default": ("by=1.0", "by=2.0"),
    "an answer": ("return leaky(model.x)", "return leaky(model.x) + 1"),
    "the answer for everything": ("return 0.0", "return 1.0"),
    "how it is compiled": ("@part", "@scalar"),
    "a field": ("    y: float = 0.0", "    z: float = 0.0\n    y: float = 0.0"),
    "the default of a field": ("y: float = 0.0", "y: float = 1.0"),
    "another function of the same name": ("math.log", "math.exp"),
    "the order of operations": ("half(x) + LEAK * by", "LEAK * by + half(x)"),
    "the entry point": ("return size(model)", "return 2 * size(model)"),
}


@pytest.fixture
def digest(tmp_path):
    def digest(text=LIBRARY):
        """That of `entry` in a module with this text."""
        names = {"__name__": "thali.library"}
        exec(compile(text, str(tmp_path / "library.py"), "exec"), names)
        return collect_sources(names["entry"], [names["Point"]]).digest

    return digest


@pytest.mark.parametrize("change", list(SAME))
def test_the_digest_ignores_what_is_not_compiled(change, digest):
    old, new = SAME[change]
    assert old in LIBRARY and digest(LIBRARY.replace(old, new, 1)) == digest() != ""


@pytest.mark.parametrize("change", list(OTHER))
def test_the_digest_changes_with_any_compiled_part(change, digest):
    old, new = OTHER[change]
    assert old in LIBRARY and digest(LIBRARY.replace(old, new, 1)) not in (digest(), "")


def test_a_constant_without_text_has_no_digest(digest):
    assert digest(LIBRARY.replace("LEAK = 0.05", "LEAK = object()")) == ""


def made(f, g):
    def entry(x):
        return f(x) - g(x)

    return entry


def test_two_functions_in_each_others_place_count():
    plus, minus = scalar(lambda x: x + 1.0), scalar(lambda x: x - 1.0)
    assert collect_sources(made(plus, minus)).digest != collect_sources(made(minus, plus)).digest
    assert collect_sources(made(plus, minus)).digest == collect_sources(made(plus, minus)).digest


def test_functions_of_one_name_in_two_modules_of_python_count():
    assert (
        collect_sources(made(math.sqrt, abs)).digest
        != collect_sources(made(cmath.sqrt, abs)).digest
    )


def test_the_digest_is_equal_in_another_process():
    """Whatever the order of sets is there."""
    code = (
        "from thali._compile import jit\nfrom thali._compile.source_digest import collect_sources\n"
    )
    code += "from thali._aspects.samplers import default_sweeps\n"
    code += "from thali._aspects.priors.indian_buffet import Buffet\n"
    code += "print(collect_sources(default_sweeps.sweep_infinite.python, [Buffet], jit._describe_options()).digest)"
    run = {"capture_output": True, "text": True, "check": True, "timeout": PATIENCE}
    assert len({subprocess.run([sys.executable, "-c", code], **run).stdout for _ in range(2)}) == 1


def test_a_kernel_counts_the_answers_of_the_classes_of_its_model_alone():
    priors = IndianBuffet().compiled(3), Given(np.ones((3, 1))).compiled(3)
    buffet, given = (
        collect_sources(recommended.sweep_infinite.python, [type(prior)]) for prior in priors
    )
    assert buffet.digest and given.digest and buffet.digest != given.digest
    of_buffet, of_given = (
        {function.__qualname__ for function in sources.functions} for sources in (buffet, given)
    )
    assert "draw_option_subset" in of_buffet - of_given and "store_alpha" in of_given - of_buffet


def entry_points():
    """Every function of the library that is compiled for no model: its module and its name."""
    for file in sorted((PROJECT / "src").rglob("*.py")):
        module = ".".join(file.relative_to(PROJECT / "src").with_suffix("").parts)
        for name in re.findall(
            r"^@(?:compiled|allocating)\ndef (\w+)", file.read_text("utf-8"), re.MULTILINE
        ):
            yield module, name


def test_every_entry_point_is_kept():
    """No name in one means something else in its module, of which no text can tell one value from
    another."""
    points = {point: getattr(import_module(point[0]), point[1]).python for point in entry_points()}
    assert len(points) > 20
    assert {
        point: collect_sources(function).unidentified for point, function in points.items()
    } == dict.fromkeys(points, ())
