"""The picture of the README is drawn by the code as it is."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "readme_picture.py"


def test_the_picture_of_the_readme_is_drawn_by_the_code_as_it_is():
    image = pytest.importorskip("PIL.Image")
    script = runpy.run_path(str(SCRIPT))
    with image.open(script["PICTURE"]) as picture:
        assert picture.text["Description"] == script["digest"](), f"run python docs/{SCRIPT.name}"
