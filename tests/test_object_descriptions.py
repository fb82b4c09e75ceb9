"""What notebooks show of data, trees and results, and what `print` shows."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from helpers.pages import Page, notebook
from helpers.terminals import narrow

import thali as th
from thali._object_descriptions import Description, format_html, format_text

NASTY = ("<script>alert(1)</script>", "a \"quoted\" 'label' & more", "two\nlines\tand\x1b a bell")


def read(shown):
    """The page of an object, in which nothing is wrong."""
    page = Page(notebook(shown))
    assert not page.faults
    assert page.elements[:2] == ["div", "style"]
    return page


@pytest.mark.parametrize(
    "part", ["title", "fact", "name", "names", "text", "note", "index", "column", "cell"]
)
@pytest.mark.parametrize("nasty", NASTY)
def test_nothing_that_a_user_names_becomes_markup(part, nasty):
    table = pd.DataFrame({nasty if part == "column" else "x": [nasty if part == "cell" else 1.0]})
    table.index = pd.Index([nasty if part == "index" else "a"])
    shown = Description(
        nasty if part == "title" else "",
        (
            (
                nasty if part == "name" else "",
                nasty if part == "fact" else (nasty,) if part == "names" else "",
            ),
        ),
        table,
        nasty if part == "text" else "",
        nasty if part == "note" else "",
        True,
    )
    page = Page(format_html(shown))
    assert not page.faults
    readable = " ".join(nasty.replace("\x1b", r"\x1b").split())
    assert readable in " ".join(page.text.replace("\\n", " ").replace("\\t", " ").split())


def test_half_a_character_does_not_spoil_the_notebook():
    format_html(Description("a \ud800", (("options", ("\udfff",)),), note="\ud800")).encode()


def test_the_first_names_stand_for_all():
    page = Page(
        format_html(Description("Data", (("options", tuple(f"o{k}" for k in range(200))),)))
    )
    assert page.text.endswith("o8, o9, ... and 190 more") and "o10" not in page.text
    assert page.elements.count("bdi") == 10  # Hebrew beside English keeps to itself
    assert format_text(Description("Data", (("options", ("a",) * 12),))).endswith(
        "a, a, ... and 2 more"
    )
    assert "more" not in format_text(Description("Data", (("options", ("a",) * 10),)))


def test_long_names_and_long_tables_are_shortened():
    page = Page(format_html(Description("t" * 300, (("options", ("b" * 300, "c")),))))
    assert "t" * 197 + "..." in page.text and "b" * 37 + "..., c" in page.text
    page = Page(format_html(Description("", table=pd.DataFrame({"x": np.arange(500.0)}))))
    assert page.elements.count("tr") < 70
    page = Page(format_html(Description("", text="\n".join(map(str, range(100))))))
    assert page.text == "\n".join(map(str, range(60))) + "\n... and 40 more lines"


@pytest.mark.parametrize(
    ("good", "kind"), [(True, "thali-good"), (False, "thali-bad"), (None, None)]
)
def test_good_news_differ_from_bad(good, kind):
    page = Page(format_html(Description("", note="so it is", good=good)))
    assert page.classes == ["thali", *([kind] if kind else [])]


def test_colours_are_those_of_the_notebook():
    style = format_html(Description("")).partition("</style>")[0]
    assert (
        "color:inherit" in style and "background:#" not in style and "background-color" not in style
    )


LABELS = ["<b>tea</b>", "milk & sugar", 'שלום "עולם"']


def test_data_show_their_size_and_their_options():
    counts = np.array([[0, 3, 1], [2, 0, 4], [1, 2, 0]])
    page = read(th.PairedComparisons(counts, labels=LABELS))
    assert "3 options, 3 pairs, 13 comparisons" in page.text and ", ".join(LABELS) in page.text
    assert "b" not in page.elements
    choices = th.Choices.from_comparisons(th.PairedComparisons(counts, labels=LABELS))
    assert str(choices) in read(choices).text and ", ".join(LABELS) in read(choices).text
    similar = th.Similarities(np.eye(3) + 0.5, labels=LABELS)
    assert str(similar) in read(similar).text and ", ".join(LABELS) in read(similar).text


def test_choice_experiments_show_their_attributes():
    data = th.datasets.product_choices(people=3, tasks=2, random_seed=1).data
    text = read(data).text
    assert str(data) in text and "quality" in text and "low < fair < high" in text


def test_trees_are_drawn():
    tree = th.Tree.from_groups({"hot": ["<b>tea</b>", "coffee"], "cold": ["milk", "water"]})
    page = read(tree)
    assert str(tree) in page.text and "4 leaves" in page.text and "pre" in page.elements


def _pairs():
    return th.PairedComparisons(np.array([[0, 30, 12], [20, 0, 40], [15, 22, 0]]), labels=LABELS)


def _by_likelihood():
    return th.EliminationByAspects("unique", method="maximum-likelihood").fit(_pairs())


class _Ratings(NamedTuple):
    rating: np.ndarray
    labels: list


def _log_likelihood(data, features, weights):
    return -0.5 * np.sum((data.rating - features @ weights) ** 2)


RESULTS = {  # one of every kind that is no data frame
    "transitivity": lambda: th.paired.transitivity(_pairs()),
    "triads": lambda: th.paired.circular_triads(_pairs()),
    "thurstone": lambda: th.paired.thurstone(_pairs()),
    "agreement": lambda: th.paired.agreement(_pairs()),
    "convergence": lambda: _by_likelihood().convergence(),
    "fit": lambda: _by_likelihood().maximum_likelihood.fit_test(),
    "check": lambda: th.testing.check(
        th.likelihoods.Custom(_log_likelihood), _Ratings(np.array([0.5, 2.0]), ["a", "b"])
    ),
}


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=pytest.mark.long if kind == "check" else ()) for kind in RESULTS],
)
def test_results_show_what_they_print(kind):
    result = RESULTS[kind]()
    shown = read(result).text.split()
    missing = [word for word in str(result).split() if word not in " ".join(shown)]
    assert not missing


def test_a_narrow_terminal_shows_the_answer():
    shown = narrow(th.models())
    assert "class" in shown and "answers" in shown and "EliminationByAspects" in shown
