"""Slides of 16 to 9: a picture below its sentence."""

import re
import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._model.finding import ANSWERS, PAGE, Findings, Picture
from thali.errors import Words

from .figure_files import Figures

_WIDE, _HIGH = 8.0, 4.5  # inches; letters of pictures then have the size that a slide needs
_PIXELS = 1920  # across
_LETTERS, _LINES = 74, 3  # of the sentence: letters on a line, lines
_SENTENCE, _LINE = 13.0, 0.24  # points, inches
_SMALL, _SMALL_LINE, _SMALL_LETTERS = 8.0, 0.16, 120  # the same for the text below the sentence
_DENSER = 0.8  # minimum scale of the height of a tall picture, so that its letters stay large
_EDGE = 0.18  # inches
_SLIDE_FORMATS = ("png", "svg")
_FILE = re.compile(r"\d\d_\w+\.(?:png|svg)")
_SENTENCES = re.compile(r"(?<=[.!?]) (?=[A-Z“])")  # the blank between two sentences


@dataclass(frozen=True)
class Slide:
    """A slide: sentence and picture."""

    picture: Picture
    sentence: str
    about: str  # description of the data

    def draw(self) -> Any:
        """Draw the slide as a matplotlib figure; return its axes."""
        axes = self.picture.draw()
        figure = np.ravel(axes)[0].figure
        sentence_lines = textwrap.wrap(
            self.sentence.replace(" %", "\N{NO-BREAK SPACE}%"),
            _LETTERS,
            max_lines=_LINES,
            placeholder=" …",
        )
        notes = filter(None, (self.picture.caption, self.about))
        note_lines = [textwrap.shorten(text, _SMALL_LETTERS, placeholder=" …") for text in notes]
        text_height = _EDGE + _LINE * len(sentence_lines) + _SMALL_LINE * (len(note_lines) + 1)
        width, height = figure.get_size_inches()
        scale = max(1.0, width / _WIDE, _DENSER * height / (_HIGH - text_height))
        figure.set_size_inches(_WIDE * scale, _HIGH * scale)
        line_top = _EDGE
        for text, font_size, font_weight, line_height, colour in (
            *((text, _SENTENCE, "bold", _LINE, "black") for text in sentence_lines),
            *((text, _SMALL, "normal", _SMALL_LINE, "0.4") for text in note_lines),
        ):
            figure.text(
                _EDGE / _WIDE,
                1.0 - line_top / _HIGH,
                text,
                va="top",
                fontsize=font_size * scale,
                fontweight=font_weight,
                color=colour,
                parse_math=False,
            )
            line_top += line_height
        figure.set_layout_engine("constrained", rect=(0.01, 0.01, 0.98, 0.99 - text_height / _HIGH))
        return axes


def build_slides(findings: Findings, words: Words, subtitle: str) -> dict[str, Slide]:
    """Build a slide for each finding with a picture, by file name."""
    slide_by_name: dict[str, Slide] = {}
    for finding in findings.select_surface(PAGE):
        if finding.picture is None or finding.chapter != ANSWERS:
            continue
        sentence, *_ = finding.format_sentences(words) or [finding.question]
        first_sentence, *_ = _SENTENCES.split(sentence)
        slide_by_name[f"{len(slide_by_name) + 1:02}_{finding.picture.stem}"] = Slide(
            finding.picture, first_sentence, subtitle
        )
    return slide_by_name


def is_slide(file_name: str) -> bool:
    """Return whether a file name is that of a slide."""
    return _FILE.fullmatch(file_name) is not None


def draw_slides(slides: dict[str, Slide]) -> dict[str, bytes]:
    """Return the slides as {file name: bytes}."""
    with Figures() as figures:
        return {
            f"{name}.{slide_format}": figures.save(slide, slide_format, across=_PIXELS)
            for name, slide in slides.items()
            for slide_format in _SLIDE_FORMATS
        }
