"""The list of helpers names each of them."""

import re

import helpers
from helpers.places import PROJECT


def test_the_package_of_helpers_lists_its_modules():
    folder = PROJECT / "tests" / "helpers"
    modules, packages = folder.glob("[!_]*.py"), folder.glob("*/__init__.py")
    there = {path.stem for path in modules} | {path.parent.name for path in packages}
    listed = {
        name
        for line in helpers.__doc__.replace("\n  ", " ").splitlines()
        if line.startswith("- ")
        for name in re.findall(r"`(\w+)`", line.partition(":")[0])
    }
    assert listed == there
