"""`thali cite`, and the literature that it prints."""

import pytest
from helpers.sentences import said

from thali._model.registry import SPECS
from thali._surfaces.report import entries, of_thali


def test_thali_alone(run):
    assert run("cite").out == of_thali() + "\n"


@pytest.mark.parametrize("name, key", [("iEBA", "gorur2006"), ("adclus", "navarro2007"), ("HB", "rossi2005")])
def test_a_model_is_cited_by_any_of_its_names(run, name, key):
    assert entries()[key] in run("cite", name).out


def test_another_name_is_refused(refused):
    said(refused("cite", "ABC"), "'ABC'")


def test_every_model_has_papers():
    assert all(spec.papers and set(spec.papers) <= set(entries()) for spec in SPECS)
