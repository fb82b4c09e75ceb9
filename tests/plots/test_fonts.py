"""Characters that the usual font lacks: another font, or a box and one sentence."""

import warnings

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.ft2font import FT2Font

import thali as th
from thali.errors import DataWarning

NOWHERE = "\U0010fffd"  # a character for private use that no font has


@pytest.fixture(autouse=True)
def closed(monkeypatch):
    monkeypatch.setattr("thali._plots._fonts._warned", set())
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


def test_missing_characters_are_boxes_and_reported_once():
    tree = th.Tree.from_groups(
        {f"g{NOWHERE}": [f"tea{NOWHERE}", "milk"], "warm": ["coffee", "water"]}
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ax = th.plots.tree(tree)
        ax.figure.canvas.draw()
        th.plots.tree(tree)  # another picture with the same characters
    (sentence,) = [str(each.message) for each in said]
    assert sentence.startswith(
        f"No installed font has some characters of the labels ({NOWHERE}), so pictures"
    )
    assert issubclass(said[0].category, DataWarning)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["tea□", "milk", "coffee", "water"]
    assert "g□" in {text.get_text() for text in ax.texts}


@pytest.mark.parametrize(
    ("letter", "font"),
    [
        ("香", "Noto Sans CJK"),
        ("파", "Noto Sans CJK"),
        ("ع", "Noto Sans Arabic"),
        ("🌹", "Noto Emoji (in black"),
    ],
)
def test_the_sentence_names_a_font(letter, font, monkeypatch):
    monkeypatch.setattr(
        "thali._plots._fonts._read_font_characters",
        lambda path: frozenset(map(chr, range(128))) | {"□"},
    )
    install_fonts(monkeypatch, [])
    with pytest.warns(DataWarning, match="No installed font") as said:
        ax = th.plots.tree(
            th.Tree.from_groups({"a": [f"tea {letter}", "milk"], "b": ["coffee", "water"]})
        )
    assert f"({letter}), so pictures show boxes instead; install {font}" in str(said[0].message)
    assert ax.get_yticklabels()[0].get_text() == "tea □"


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


def test_ascii_labels_cost_nothing(monkeypatch):
    monkeypatch.setattr("thali._plots._fonts._find_fallback_fonts", None)
    assert np.all(
        [read_families(text) for text in th.plots.tree(th.Tree.star("ab")).get_yticklabels()]
    )
