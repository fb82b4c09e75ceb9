"""What is built holds what it should, and nothing else; the files about the project agree with
it."""

import inspect
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from importlib import metadata
from importlib.util import find_spec

import pytest
from helpers.places import PROJECT
from packaging.version import Version

import thali
from papers import find

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
        [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)],
        cwd=PROJECT,
        check=True,
    )
    (archive,) = tmp_path.iterdir()
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {f"src/thali/{name}" for name in NEEDED} | {
        "LICENSE",
        "SECURITY.md",
        "docs/conf.py",
        "conftest.py",
        "papers/README.md",
    } <= names
    assert not {name for name in names if name.endswith((".whl", ".nbi", ".nbc", ".pyc"))}
    assert archive.stat().st_size < 4_000_000


# where the number of `thali.__version__` stands once more, as these files cannot ask for it
VERSIONED = {
    "CITATION.cff": "\nversion: {}\n",
    "CHANGELOG.md": "\n## [{}] - ",
    "packaging/conda/recipe.yaml": '\n  version: "{}"\n',
}


@pytest.mark.parametrize("file", VERSIONED)
def test_the_version_is_the_same_everywhere(file):
    assert VERSIONED[file].format(thali.__version__) in (PROJECT / file).read_text("utf-8")


def required():
    """What the package needs, and each of its extras."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    return {"": project["dependencies"], **project["optional-dependencies"]}


def test_the_recipe_needs_what_the_package_needs():
    recipe = (PROJECT / "packaging" / "conda" / "recipe.yaml").read_text("utf-8")
    needed = {
        f"    - {name.replace('matplotlib', 'matplotlib-base')} >={bound}"
        for name, _, bound in (requirement.partition(">=") for requirement in required()[""])
    }
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0].splitlines()
    assert set(run) - needed == {"    - python >=${{ python_min }}"} and not needed - set(run)


# Versions below these are known to be vulnerable where thali uses them, or are reported by
# scanners.
MENDED = {
    "jinja2": "3.1.6",  # CVE-2025-27516 and four before: ways out of the sandbox
    "pillow": "12.3",  # CVE-2026-54060 and others: a picture of a report is opened
    "pyarrow": "23.0.1",  # CVE-2026-25087: files of Arrow IPC, which thali does not read
    # CVE-2025-62727, CVE-2026-48710, CVE-2026-54283: headers and forms of the app
    "starlette": "1.3.1",
    "h11": "0.16",  # CVE-2025-43859: lengths of requests
    "scikit-learn": "1.5",  # CVE-2024-5206
}


def test_no_version_that_is_known_to_be_vulnerable_is_allowed():
    seen = set()
    for requirements in required().values():
        for requirement in requirements:
            name, _, bound = requirement.partition(">=")
            if name in MENDED:
                seen.add(name)
                assert Version(bound) >= Version(MENDED[name]), requirement
    assert seen == MENDED.keys()


@pytest.mark.long
@pytest.mark.skipif(find_spec("hatchling") is None, reason="needs hatchling")
def test_two_builds_are_the_same_to_the_byte(tmp_path):
    """From two copies whose files have other times."""
    found = []
    for number in (1, 2):
        folder = tmp_path / f"thali-{number}"
        ignored = shutil.ignore_patterns(
            ".*", "__pycache__", "_build", "kernels", "generated", "pictures", "dist"
        )
        shutil.copytree(PROJECT, folder, ignore=ignored)
        shutil.copy(PROJECT / ".gitignore", folder)
        for file in folder.rglob("*"):
            os.utime(file, (1e9 * number, 1e9 * number))
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-d", "dist"], cwd=folder, check=True
        )
        found.append({file.name: file.read_bytes() for file in (folder / "dist").iterdir()})
    assert len(found[0]) == 2 and found[0] == found[1]


def test_the_commands_of_the_paper_exist():
    """Each row of figures names a command of thali, and a file that this command writes."""
    text = (PROJECT / "paper" / "paper.md").read_text("utf-8")
    rows = re.findall(
        r"`(thali fit|python -m papers) ([\w-]+)[^`]*--out results` \| `results/([\w-]+)\.\w+`",
        text,
    )
    assert len(rows) == text.count("`thali fit ") + text.count("`python -m papers ") >= 4
    for command, name, file in rows:
        if command == "thali fit":
            assert name in {record.name for record in thali.datasets.catalogue()}
            assert hasattr(thali.plots, file)
        else:
            source = inspect.getsource(inspect.getmodule(find(name).function))
            picture = file.removeprefix(f"{name}-")
            assert picture.isdigit() or f'"{picture}"' in source, file
