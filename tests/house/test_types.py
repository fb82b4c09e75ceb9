"""How much of what thali exports has a declared type, as pyright counts it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import thali

LEAST = 0.98  # what lacks is of packages without types: numba, starlette, typer, uvicorn


@pytest.mark.long
def test_what_is_exported_has_types(tmp_path):
    pytest.importorskip("pyright")
    asked = [
        "--pythonpath",
        sys.executable,
        *"--ignoreexternal --outputjson --verifytypes thali".split(),
    ]
    source = str(Path(thali.__file__).parents[1])
    ran = subprocess.run(
        [sys.executable, "-m", "pyright", *asked],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": source},
    )
    found = json.loads(ran.stdout)["typeCompleteness"]
    assert Path(found["packageRootDirectory"]).samefile(Path(source) / "thali")
    untyped = sorted(
        each["name"] for each in found["symbols"] if each["isExported"] and not is_declared(each)
    )
    assert found["completenessScore"] >= LEAST, "\n".join(untyped)


def is_declared(symbol):
    return symbol["isTypeKnown"] and not symbol["isTypeAmbiguous"]
