"""Slides: a picture of each answer on a page of 16 to 9, under the sentence that it shows."""

import re
import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._model.finding import ANSWERS, PAGE, Findings, Picture
from thali.errors import Words

from .figures import Figures

_WIDE, _HIGH = 8.0, 4.5  # inches: letters of pictures have the size that a slide needs
_PIXELS = 1920  # across
_LETTERS, _LINES = 74, 3  # of the sentence: letters on a line, lines
_SENTENCE, _LINE = 13.0, 0.24  # points, inches
_SMALL, _SMALL_LINE, _SMALL_LETTERS = 8.0, 0.16, 120  # the same of what stands below it
_DENSER = 0.8  # how far rows of a tall picture may move together, so that its letters stay large
_EDGE = 0.18  # inches
_KINDS = ("png", "svg")
_FILE = re.compile(r"\d\d_\w+\.(?:png|svg)")
_SENTENCES = re.compile(r"(?<=[.!?]) (?=[A-Z“])")  # between two of them


@dataclass(frozen=True)
class Slide:
    """The picture of a finding, with its sentence above."""

    picture: Picture
    sentence: str
    about: str  # what the data are

    def draw(self) -> Any:
        """Axes on a figure of 16 to 9 that is as large as the picture needs."""
        axes = self.picture.draw()
        figure = np.ravel(axes)[0].figure
        lines = textwrap.wrap(
            self.sentence.replace(" %", "\N{NO-BREAK SPACE}%"),
            _LETTERS,
            max_lines=_LINES,
            placeholder=" …",
        )
        texts = filter(None, (self.picture.caption, self.about))
        below = [textwrap.shorten(text, _SMALL_LETTERS, placeholder=" …") for text in texts]
        head = _EDGE + _LINE * len(lines) + _SMALL_LINE * (len(below) + 1)
        wide, high = figure.get_size_inches()
        larger = max(1.0, wide / _WIDE, _DENSER * high / (_HIGH - head))
        figure.set_size_inches(_WIDE * larger, _HIGH * larger)
        at = _EDGE
        for text, size, line, colour in (
            *((text, _SENTENCE, _LINE, "black") for text in lines),
            *((text, _SMALL, _SMALL_LINE, "0.4") for text in below),
        ):
            weight = "bold" if size == _SENTENCE else "normal"
            how = {
                "fontsize": size * larger,
                "fontweight": weight,
                "color": colour,
                "parse_math": False,
            }
            figure.text(_EDGE / _WIDE, 1.0 - at / _HIGH, text, va="top", **how)
            at += line
        figure.set_layout_engine("constrained", rect=(0.01, 0.01, 0.98, 0.99 - head / _HIGH))
        return axes


def slides(findings: Findings, words: Words, about: str) -> dict[str, Slide]:
    """A slide for each answer with a picture, by the names of their files, in the order of a
    reader's questions."""
    made: dict[str, Slide] = {}
    for found in findings.select_surface(PAGE):
        if found.picture is None or found.chapter != ANSWERS:
            continue
        said, *_ = found.format_sentences(words) or [found.question]
        first, *_ = _SENTENCES.split(said)
        made[f"{len(made) + 1:02}_{found.picture.stem}"] = Slide(found.picture, first, about)
    return made


def is_slide(name: str) -> bool:
    """Whether a file is called as slides are."""
    return _FILE.fullmatch(name) is not None


def slide_files(slides: dict[str, Slide]) -> dict[str, bytes]:
    """Each slide as a file of each kind."""
    with Figures() as figures:
        return {
            f"{name}.{kind}": figures.saved(slide, kind, across=_PIXELS)
            for name, slide in slides.items()
            for kind in _KINDS
        }
