"""thali does not grow unnoticed, and holds nothing that nobody uses."""

import json
import runpy

import pytest
from helpers.places import PROJECT

PACKAGING = PROJECT / "packaging"


@pytest.mark.fit
def test_no_figure_is_above_its_limit():
    limits = json.loads((PACKAGING / "meters.json").read_text())
    figures = runpy.run_path(str(PACKAGING / "meters.py"))["measure"]()
    above = {name: f"{figure:,} of {limits[name]:,}" for name, figure in figures.items() if figure > limits[name]}
    assert not above, f"{above}: take out as much as came in, or raise the limit in packaging/meters.json and say why."


@pytest.mark.fit
def test_everything_defined_is_used():
    assert runpy.run_path(str(PACKAGING / "dead_code.py"))["dead"]() == []
