"""Bugs that a maintainer could make, planted one at a time: each must turn a test of the default
suite red.

    python benchmarks/planted_bugs.py [--only TEXT] [--all-tests] [--list]

`planted_bugs.toml` holds for each an area, what is wrong, a text that stands once in all of
src/thali, what takes its place, and the tests that should see it. Neither modules nor folders are
named, so that the table survives moves of files: a bug is where its text is, a test where its name
is; where no test has that name, the whole default suite runs. `--only` takes the bugs whose area or
name holds a text, `--all-tests` runs the folder that mirrors the changed file in place of the tests
named, `--list` plants nothing and says whether each text stands exactly once.

The project is copied once; Python must import thali from that copy (an environment that puts another
thali first on sys.path is refused), and the tests named must be green there before anything is
planted. The status is 1 if a bug is not caught or has no place. Code that is compiled is kept where
NUMBA_CACHE_DIR says, but for bugs of the compiling.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "kernels", "_build")
DEFAULT_SUITE = "tests"
PYTEST = ("-q", "-x", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-p", "no:randomly")
RED = re.compile(r"^(?:FAILED|ERROR) (\S+::.*?)(?: - .*)?$", re.M)


class Bug(NamedTuple):
    """A change of one text, and the tests that should see it."""

    area: str
    name: str
    find: str
    replace: str
    tests: list[str]


class Run(NamedTuple):
    """What a run of some tests found."""

    is_green: bool
    first_red: str  # "" if no test was red
    seconds: float  # of CPU


def bugs(only: str = "") -> list[Bug]:
    """Those of the table whose area or name holds a text."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return [
        bug for bug in (Bug(**row) for row in table["bug"]) if only in f"{bug.area}: {bug.name}"
    ]


def places(root: Path, wanted: Sequence[Bug]) -> list[list[Path]]:
    """For each bug the files of the library in which its text stands, as often as it does."""
    texts = {
        path: path.read_text("utf-8") for path in sorted((root / "src" / "thali").rglob("*.py"))
    }
    return [
        [path for path, text in texts.items() for _ in range(text.count(bug.find))]
        for bug in wanted
    ]


def named_tests(root: Path, names: Sequence[str]) -> list[str]:
    """The tests of these names; the default suite if there is none of a name."""
    texts = {path: path.read_text("utf-8") for path in sorted((root / "tests").rglob("test_*.py"))}
    found = []
    for name in names:
        plain = name.partition("[")[0]
        own = [
            f"{path.relative_to(root)}::{name}"
            for path, text in texts.items()
            if f"\ndef {plain}(" in text
        ]
        if not own:
            return [DEFAULT_SUITE]
        found += own
    return found


def mirror(root: Path, file: Path) -> list[str]:
    """The folder of tests that mirrors that of a file of the library, or the nearest one above
    it."""
    folders = file.relative_to(root / "src" / "thali").parent.parts
    folder = root.joinpath("tests", *(name.removeprefix("_") for name in folders))
    while not folder.is_dir():
        folder = folder.parent
    return [str(folder.relative_to(root))]


def build_environment(root: Path) -> dict[str, str]:
    """Return the environment in which Python imports thali from a copy."""
    return os.environ | {"PYTHONPATH": str(root / "src")}


def check_import(root: Path) -> None:
    """Raise unless Python imports thali from the copy, since no other thali has the bugs."""
    command = [sys.executable, "-c", "import thali; print(thali.__file__)"]
    file = subprocess.check_output(command, cwd=root, env=build_environment(root), text=True)
    assert Path(file.strip()).is_relative_to(root), f"thali is imported from {file.strip()}"


def run(root: Path, tests: Sequence[str], **more: str) -> Run:
    """Run tests in a copy up to the first that is red."""
    alone = [DEFAULT_SUITE] if DEFAULT_SUITE in tests else ["-n", "0", *tests]
    environment = build_environment(root) | more
    before = os.times()
    command = [sys.executable, "-m", "pytest", *PYTEST, *alone]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    after = os.times()
    red = RED.search(done.stdout)
    seconds = sum(after[2:4]) - sum(before[2:4])  # of children
    return Run(done.returncode == 0, "" if red is None else red[1], seconds)


def caught(root: Path, bug: Bug, file: Path, tests: Sequence[str]) -> Run:
    """Run the tests with a bug in a file, which is then as it was, so that its byte code holds
    again."""
    text, status = file.read_text("utf-8"), file.stat()
    with tempfile.TemporaryDirectory() as kept:
        own = {"NUMBA_CACHE_DIR": kept} if bug.area == "compile" else {}
        file.write_text(text.replace(bug.find, bug.replace), "utf-8")
        try:
            return run(root, tests, PYTHONDONTWRITEBYTECODE="1", **own)
        finally:
            file.write_text(text, "utf-8")
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def main(only: str = "", all_tests: bool = False, small: bool = False) -> int:
    """How many bugs are not caught; if `small`, how many texts do not stand exactly once."""
    asked = bugs(only)
    lost = [bug for bug, own in zip(asked, places(PROJECT, asked), strict=True) if len(own) != 1]
    for bug in lost:
        print(f"{bug.area}: {bug.name}: this does not stand exactly once:\n{bug.find}")
    print(f"{len(asked) - len(lost)} of {len(asked)} texts stand exactly once", flush=True)
    wanted = [bug for bug in asked if bug not in lost]
    if small or not wanted:
        return len(lost)
    with tempfile.TemporaryDirectory(prefix="thali-") as folder:
        root = shutil.copytree(PROJECT, Path(folder) / "thali", ignore=LEFT_OUT)
        check_import(root)
        files = [file for (file,) in places(root, wanted)]
        tests = [
            mirror(root, file) if all_tests else named_tests(root, bug.tests)
            for bug, file in zip(wanted, files, strict=True)
        ]
        clean = run(root, list(dict.fromkeys(test for own in tests for test in own)))
        if not clean.is_green:
            print(f"Without any bug these tests are not green: {clean.first_red or 'none ran'}.")
            return len(asked)
        missed = len(lost)
        for bug, file, own in zip(wanted, files, tests, strict=True):
            found = caught(root, bug, file, own)
            missed += not found.first_red
            by = found.first_red.rpartition("/")[2] or "NOT CAUGHT"
            print(f"{found.seconds:5.1f} s  {bug.area}: {bug.name}\n         {by}", flush=True)
    print(f"{len(asked) - missed} of {len(asked)} bugs are caught")
    return missed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--all-tests", action="store_true")
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    sys.exit(1 if main(asked.only, asked.all_tests, asked.list) else 0)
