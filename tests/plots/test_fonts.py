"""Characters that the usual font lacks: another font, or one sentence."""

import warnings

import numpy as np
import pytest
from helpers.sentences import warned
from matplotlib import pyplot as plt
from matplotlib.ft2font import FT2Font

import thali as th
from thali.errors import DataWarning

NOWHERE = "\U0010fffd"  # a character for private use that no font has


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def install_fonts(monkeypatch, files):
    """Make matplotlib find these system fonts."""
    monkeypatch.setattr("matplotlib.font_manager.findSystemFonts", lambda: files)


def read_families(text):
    return text.get_fontfamily()


def test_a_font_that_has_the_characters_takes_over():
    tree = th.Tree.from_groups({"Ωρα": ["tea", "молоко"], "warm": ["coffee", "water"]})
    with plt.rc_context({"font.family": ["cmss10"]}), warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = th.plots.tree(tree)
        texts = {text.get_text(): text for text in (*ax.get_yticklabels(), *ax.texts)}
        ax.figure.canvas.draw()
    assert read_families(texts["tea"]) == ["cmss10"] and read_families(texts["warm"]) == ["cmss10"]
    for name in ("Ωρα", "молоко"):
        assert read_families(texts[name])[0] == "cmss10" and len(read_families(texts[name])) > 1


@pytest.mark.filterwarnings("ignore:Glyph")
def test_characters_of_no_font_are_reported_in_one_sentence():
    tree = th.Tree.from_groups(
        {f"g{NOWHERE}": [f"tea{NOWHERE}", "milk"], "warm": ["coffee", "water"]}
    )
    with warned(DataWarning, "No installed font", "Noto Sans"):
        ax = th.plots.tree(tree)
    assert ax.get_yticklabels()[0].get_text() == f"tea{NOWHERE}"


def test_a_font_installed_since_matplotlib_looked_is_found(monkeypatch):
    from matplotlib import font_manager

    listed = font_manager.fontManager.ttflist
    hidden = {font.fname for font in listed if "Ω" in read_characters(font.fname)}
    monkeypatch.setattr(
        font_manager.fontManager, "ttflist", [font for font in listed if font.fname not in hidden]
    )
    install_fonts(monkeypatch, sorted(hidden))
    font_manager.fontManager._findfont_cached.cache_clear()
    with plt.rc_context({"font.family": ["cmss10"]}), warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = th.plots.tree(th.Tree.from_groups({"a": ["tea Ω", "milk"], "b": ["coffee", "water"]}))
    assert len(read_families(ax.get_yticklabels()[0])) > 1


def read_characters(path):
    return set(map(chr, FT2Font(path).get_charmap()))


@pytest.mark.long
def test_ascii_labels_cost_nothing(monkeypatch):
    monkeypatch.setattr("thali._plots._fonts._list_fonts", None)
    assert np.all(
        [read_families(text) for text in th.plots.tree(th.Tree.star("ab")).get_yticklabels()]
    )
