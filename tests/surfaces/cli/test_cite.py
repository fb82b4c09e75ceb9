"""`thali cite`, and the literature that it prints."""

from importlib.resources import files

import pytest
from helpers.sentences import said

import thali as th
from thali._model.registry import SPECS


def entries():
    """The bibliography, by the keys of its entries."""
    found = (files("thali._surfaces") / "references.bib").read_text("utf-8").split("\n\n")
    return {
        entry[entry.index("{") + 1 : entry.index(",")]: entry.strip()
        for entry in found
        if entry.strip()
    }


def test_thali_cite_prints_thali_alone(run):
    assert run("cite").out.startswith("@software{thali,\n") and th.__version__ in run("cite").out


@pytest.mark.parametrize(
    "name, key", [("iEBA", "gorur2006"), ("adclus", "navarro2007"), ("HB", "rossi2005")]
)
def test_a_model_is_cited_by_any_of_its_names(run, name, key):
    assert entries()[key] in run("cite", name).out


def test_another_name_is_refused(refused):
    said(refused("cite", "ABC"), "'ABC'")


def test_every_model_has_papers():
    assert all(spec.papers and set(spec.papers) <= set(entries()) for spec in SPECS)
