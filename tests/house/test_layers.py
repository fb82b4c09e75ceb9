"""The layers of `pyproject.toml`: nothing imports upwards, no circles; maps of folders."""

import graphlib
import importlib
import re
from pathlib import Path

import grimp
import pytest
from importlinter.cli import lint_imports

from thali import _lazy_imports

CONTRACTS = Path(__file__).parents[2] / "pyproject.toml"


def test_the_contracts_are_kept(monkeypatch):
    monkeypatch.syspath_prepend(CONTRACTS.parent)  # lint_imports puts the current directory there
    assert lint_imports(config_filename=str(CONTRACTS), no_cache=True) == 0


def test_no_file_imports_another_in_a_circle():
    graph = grimp.build_graph("thali", exclude_type_checking_imports=True, cache_dir=None)
    imported = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    assert len(imported) > 300
    # raises CycleError, which names the circle
    tuple(graphlib.TopologicalSorter(imported).static_order())


def test_a_circle_would_be_found():
    with pytest.raises(graphlib.CycleError, match="circle|cycle"):
        tuple(graphlib.TopologicalSorter({"a": {"b"}, "b": {"a"}}).static_order())


MAPS = {
    path.parent: files
    for path in (CONTRACTS.parent / "src/thali").rglob("__init__.py")
    if (files := re.findall(r"^(\w+\.py)[ ,]|(?<=, )(\w+\.py)  ", path.read_text("utf-8"), re.M))
}


@pytest.mark.parametrize("folder", MAPS, ids=lambda folder: folder.name)
def test_the_map_of_a_folder_names_every_file(folder):
    named = sorted(first or second for first, second in MAPS[folder])
    assert named == sorted(path.name for path in folder.glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("method", _lazy_imports.HOMES)
def test_a_late_name_is_there(method):
    """The only imports that point upwards stand in one table."""
    assert callable(_lazy_imports.load_method(method))
    module, _, name = _lazy_imports.HOMES[method].partition(":")
    assert _lazy_imports.load_method(method) == getattr(importlib.import_module(module), name)
