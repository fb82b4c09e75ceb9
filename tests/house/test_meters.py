"""thali does not grow unnoticed, and holds nothing that nobody uses."""

import ast
import gc
import json
import runpy
from functools import cache

import pytest
from helpers.places import PROJECT

PACKAGING = PROJECT / "packaging"


@pytest.fixture(autouse=True, scope="module")
def _parsed_once():
    """Trees of syntax are millions of objects: made once, and not looked through again and again as
    they grow."""
    parse = cache(ast.parse)
    gc.disable()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ast, "parse", parse)
        yield
    gc.enable()


@pytest.mark.fit
def test_no_figure_is_above_its_limit():
    limits = json.loads((PACKAGING / "meters.json").read_text())
    figures = runpy.run_path(str(PACKAGING / "meters.py"))["measure"]()
    above = {
        name: f"{figure:,} of {limits[name]:,}"
        for name, figure in figures.items()
        if figure > limits[name]
    }
    assert not above, (
        f"{above}: take out as much as came in, or raise the limit in packaging/meters.json and"
        " say why."
    )


@pytest.mark.fit
def test_everything_defined_is_used():
    assert runpy.run_path(str(PACKAGING / "dead_code.py"))["dead"]() == []


@pytest.mark.fit
def test_private_functions_have_a_docstring_of_one_paragraph():
    """What they promise besides is a comment."""
    found = []
    for path in sorted((PROJECT / "src").rglob("*.py")):
        waiting = list(ast.parse(path.read_text(encoding="utf-8")).body)
        for node in waiting:  # statements alone
            for part in ("body", "orelse", "handlers", "finalbody"):
                waiting += getattr(node, part, [])
            if (
                isinstance(node, ast.FunctionDef)
                and node.name.startswith("_")
                and not node.name.startswith("__")
            ):
                if "\n\n" in (ast.get_docstring(node, clean=False) or ""):
                    found.append(f"{path.name}: {node.name}")
    assert not found
