"""What the pages of the papers say of ours is what the printed outputs beside it have."""

import re

import pytest
from helpers.places import PROJECT

PAPERS = PROJECT / "docs" / "papers"

# The page, its text with a place for each figure, the output, and where its figures stand there;
# each is rounded as the page has it.
FIGURES = [
    (
        "index",
        "| {} latent ones besides",
        "scan-order",
        r"celebrities: \D+ recommended +- +([\d.]+)",
    ),
    (
        "../house/sampler",
        "finds {} with thali",
        "scan-order",
        r"two options, .* recommended +([\d.]+)",
    ),
    (
        "../house/sampler",
        "mean is {} latent aspects",
        "scan-order",
        r"celebrities: \D+ recommended +- +([\d.]+)",
    ),
    (
        "../house/sampler",
        "columns gives {};",
        "scan-order",
        r"celebrities: .*order for every row +- +([\d.]+)",
    ),
    (
        "../house/sampler",
        "in storage order {}. Choice",
        "scan-order",
        r"celebrities: .*storage order as printed +- +([\d.]+)",
    ),
    (
        "index",
        "(at most {} nats, error {})",
        "pibp-blocks",
        r"largest at 10 \(([\d.]+) nats, error\s([\d.]+)\)",
    ),
    ("index", "(R-hat up to {})", "pibp-blocks", r"R-hat above 1.01, up to ([\d.]+)\)"),
    (
        "index",
        "P(3 6 9) between {} and {}.",
        "additive-numbers",
        r"^3 6 9 +0.790 +0.\d+ +([\d.]+) +([\d.]+)$",
    ),
    (
        "index",
        "Tempered chains give {} |",
        "additive-numbers",
        r"^3 6 9 +0.790 +([\d.]+) +[\d.]+ +0.326",
    ),
    (
        "index",
        "{} % of the chains end",
        "additive-simulation",
        r"here (\d+) % end more than 5 nats below\sthe best\.\sn = 32",
    ),
]


@pytest.mark.parametrize(("page", "text", "output", "where"), FIGURES, ids=lambda text: text[:30])
def test_figures_of_the_text_are_those_of_the_output(page, text, output, where):
    said = re.search(
        re.escape(text).replace(r"\{\}", r"(\d*\.?\d+)"), (PAPERS / f"{page}.md").read_text("utf-8")
    )
    assert said, f"{page}.md does not say {text!r}"
    found = re.search(
        where, (PAPERS / "results" / f"{output}.txt").read_text("utf-8"), re.MULTILINE
    )
    assert found, f"{output}.txt lacks {where!r}"
    for figure, printed in zip(said.groups(), found.groups(), strict=True):
        half = 0.5 * 10.0 ** -len(figure.partition(".")[2])
        assert abs(float(figure) - float(printed)) <= half + 1e-9, (figure, printed)
