"""What is built holds what it should, and nothing else; the files about the project agree with it."""

import inspect
import re
import subprocess
import sys
import tarfile
from importlib import metadata
from importlib.util import find_spec

import pytest
from places import PROJECT

import thali
from thali.model.registry import SPECS
from thali.reproduce import find

SOURCES = PROJECT / "src" / "thali"
NEEDED = {
    file.relative_to(SOURCES).as_posix()
    for file in SOURCES.rglob("*")
    if file.is_file() and file.suffix not in {".pyc", ".nbi", ".nbc"}
}


def test_what_is_installed_is_complete():
    files = {str(file) for file in metadata.files("thali") or ()}
    if "thali/__init__.py" not in files:
        pytest.skip("thali is installed as a link to its sources")
    assert {f"thali/{name}" for name in NEEDED} <= files
    assert all(file.startswith(("thali/", "thali-", "..")) for file in files)


@pytest.mark.long
@pytest.mark.skipif(find_spec("hatchling") is None, reason="needs hatchling")
def test_the_source_archive_holds_sources_alone(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)], cwd=PROJECT, check=True
    )
    (archive,) = tmp_path.iterdir()
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {f"src/thali/{name}" for name in NEEDED} | {"LICENSE", "docs/conf.py", "tests/conftest.py"} <= names
    assert not {name for name in names if name.endswith((".whl", ".nbi", ".nbc", ".pyc"))}
    assert archive.stat().st_size < 3_000_000


def test_the_citation_is_of_this_version():
    assert f"version: {thali.__version__}\n" in (PROJECT / "CITATION.cff").read_text("utf-8")


def test_the_recipe_needs_what_the_package_needs():
    recipe = (PROJECT / "packaging" / "conda" / "recipe.yaml").read_text("utf-8")
    for requirement in metadata.requires("thali") or ():
        if "extra ==" not in requirement:
            name, _, bound = requirement.partition(">=")
            assert f"- {name.replace('matplotlib', 'matplotlib-base')} >={bound}\n" in recipe, requirement


def test_the_commands_of_the_paper_exist():
    """Each row of figures names a command of thali, and a file that this command writes."""
    text = (PROJECT / "paper" / "paper.md").read_text("utf-8")
    rows = re.findall(r"`thali (fit|reproduce) ([\w-]+)[^`]*--out results` \| `results/([\w-]+)\.\w+`", text)
    assert len(rows) == text.count("`thali fit ") + text.count("`thali reproduce ") >= 4
    for command, name, file in rows:
        if command == "fit":
            assert name in {record.name for record in thali.datasets.catalogue()}
            assert file in next(spec for spec in SPECS if spec.name == "elimination-by-aspects").pictures
        else:
            source = inspect.getsource(inspect.getmodule(find(name).function))
            picture = file.removeprefix(f"{name}-")
            assert picture.isdigit() or f'"{picture}"' in source, file
