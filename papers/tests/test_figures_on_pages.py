"""What the pages of the papers say of ours is what the printed outputs beside it have."""

import re

import pytest
from helpers.places import PROJECT

PAPERS = PROJECT / "docs" / "papers"

# The page, its text with a place for each figure, the output, and where its figures stand there;
# each is rounded as the page has it.
FIGURES = [
    (
        "elimination_2006",
        "| {} latent ones besides",
        "scan-order",
        r"celebrities: \D+ recommended +- +([\d.]+)",
    ),
    (
        "elimination_2006",
        "as printed, {}: how many",
        "scan-order",
        r"celebrities: .*storage order as printed +- +([\d.]+)",
    ),
    (
        "elimination_2006",
        "of two options {} aspects",
        "scan-order",
        r"fresh random order for every row +2.5000 +([\d.]+)",
    ),
    (
        "elimination_2006",
        "where the exact value is {}",
        "scan-order",
        r"two options, .* recommended +([\d.]+)",
    ),
    (
        "elimination_2006",
        "| {} with an error of {}; neither",
        "celebrities",
        r"iEBA +3.920 +([\d.]+) +([\d.]+)",
    ),
    (
        "elimination_2006",
        "is {} with a standard error of {}.",
        "celebrities",
        r"tEBA and iEBA \(by ([\d.]+), standard error\s([\d.]+)\)",
    ),
    (
        "index",
        "celebrities: {} with a valid sampler",
        "scan-order",
        r"celebrities: \D+ recommended +- +([\d.]+)",
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
        "in storage order {};",
        "scan-order",
        r"celebrities: .*storage order as printed +- +([\d.]+)",
    ),
    (
        "phylogenetic_2008",
        "choices a pair ({} nats, error {})",
        "pibp-blocks",
        r"largest at 100 \(([\d.]+) nats, error\s([\d.]+)\)",
    ),
    (
        "phylogenetic_2008",
        "largest at 10 ({} nats, error {})",
        "pibp-blocks",
        r"largest at 10 \(([\d.]+) nats, error\s([\d.]+)\)",
    ),
    ("phylogenetic_2008", "(R-hat up to {})", "pibp-blocks", r"R-hat above 1.01, up to ([\d.]+)\)"),
    (
        "additive_2007",
        "P(3 6 9) between {} and {}.",
        "additive-numbers",
        r"^3 6 9 +0.790 +0.\d+ +([\d.]+) +([\d.]+)$",
    ),
    (
        "additive_2007",
        "Tempered chains give {} |",
        "additive-numbers",
        r"^3 6 9 +0.790 +([\d.]+) +[\d.]+ +0.326",
    ),
    ("additive_2007", "the posterior {};", "additive-letters", r"the constant is ([\d.]+) \(paper"),
    (
        "additive_2007",
        "{} % of the chains (error",
        "additive-simulation",
        r"here (\d+) % end more than 5 nats below\sthe best\.\sn = 32",
    ),
    (
        "additive_2007",
        "{} % (11) at n = 32",
        "additive-simulation",
        r"5 of 10 chains; here (\d+) %",
    ),
    (
        "product_classes_2017",
        "(by {} nats a task, standard error {})",
        "product-classes",
        r"^known +hierarchical.* ([\d.]+) +([\d.]+)$",
    ),
    (
        "product_classes_2017",
        "for new ones ({}, error {})",
        "product-classes",
        r"^new +hierarchical.* ([\d.]+) +([\d.]+)$",
    ),
    (
        "plackett_luce_2012",
        "better optimum gives {} |",
        "plackett-luce-table2",
        r"^German +PL variational +0.298 +0.015 +([\d.]+)",
    ),
    (
        "plackett_luce_2012",
        "sparse logit errs {} (error {})",
        "plackett-luce-colon",
        r"^Colon +sparse logit +0.330 +0.150 +([\d.]+) +([\d.]+)",
    ),
    (
        "plackett_luce_2012",
        "the majority errs {} ({})",
        "plackett-luce-colon",
        r"errs ([\d.]+) \(standard error ([\d.]+)\)",
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
