"""What the pictures share: colours that everybody can tell apart, new axes, labels that fit."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe & Ito (2008), Color universal design; without its yellow, which is too pale for thin lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# One hue from pale to dark, evenly spaced to the eye with and without colour vision: darker is more.
SHADES = "viridis_r"
LONGEST_LABEL = 32


def new_axes(width: float, height: float, rows: int = 1, columns: int = 1) -> "list[Axes]":
    """Axes of a new figure of that size in inches, which makes room for whatever is drawn outside them."""
    from matplotlib import pyplot

    _, axes = pyplot.subplots(rows, columns, figsize=(width, height), layout="constrained", squeeze=False)
    return list(axes.flat)


def short(labels: list[str]) -> list[str]:
    """Labels on one line, cut to 32 characters where two do not become the same, else cut and numbered."""
    lines = [" ".join(label.split()) for label in labels]
    half = LONGEST_LABEL // 2
    for cut in (
        lambda line: f"{line[: half - 1]}…{line[-half:]}",
        lambda line: f"{line[: LONGEST_LABEL - 1]}…",
        lambda line: f"…{line[1 - LONGEST_LABEL :]}",
    ):
        shortened = [line if len(line) <= LONGEST_LABEL else cut(line) for line in lines]
        if len(set(shortened)) == len(labels):
            return shortened
    return [f"{number} {line[: LONGEST_LABEL - 1]}" for number, line in enumerate(lines)]


def short_set(members: str) -> str:
    """The labels of a set, cut to 32 characters; the rest of it is left to the table."""
    line = " ".join(members.split())
    return line if len(line) <= LONGEST_LABEL else line[: LONGEST_LABEL - 1].rstrip(", ") + "…"


def label_width(labels: list[str]) -> float:
    """Inches that the longest of these labels takes, roughly."""
    return 0.085 * max(map(len, labels), default=0)
