"""Fonts for labels in any script: installed ones that have the characters, or a sentence that says
what to install."""

import unicodedata
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from thali._inference.warn import warn
from thali._labels import listed
from thali.errors import ArgumentError, DataWarning

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.font_manager import FontEntry
    from matplotlib.text import Text

_BOX = "□"  # in place of a character that no font has
_BOXES = "Last Resort"  # a font that matplotlib brings, with a box for every character
_UNSEEN = ("Cc", "Cf", "Mn")  # categories of characters that have no place of their own on the line
_MAX_NAMED = 5
# characters that were warned of: the pictures of one report lack about the same
_warned: set[str] = set()
_P = ParamSpec("_P")
_Drawn = TypeVar("_Drawn")


def picture(
    *columns: str, made_by: str = "", attrs: tuple[str, ...] = (), has: str = "columns"
) -> Callable[[Callable[_P, _Drawn]], Callable[_P, _Drawn]]:
    """Make a function draw only what has these columns and attrs (or that attribute), and find
    fonts for all of it."""

    def decorated(draw: Callable[_P, _Drawn]) -> Callable[_P, _Drawn]:
        @wraps(draw)
        def drawn(*arguments: _P.args, **named: _P.kwargs) -> _Drawn:
            given: Any = (*arguments, *named.values())[0]
            if made_by and not hasattr(given, has):
                raise ArgumentError(
                    f"plots.{draw.__name__} draws what {made_by} returns; got"
                    f" {type(given).__name__}. A fitted model draws the picture with"
                    f" `plot({draw.__name__!r})`."
                )
            needed = {repr(name): name in given.columns for name in columns}
            needed |= {f"attrs[{name!r}]": name in given.attrs for name in attrs}
            missing = [name for name, is_there in needed.items() if not is_there]
            if missing:
                raise ArgumentError(
                    f"plots.{draw.__name__} requires {listed([*needed])}, as in the table that"
                    f" {made_by} returns; {listed(missing)} {'is' if len(missing) == 1 else 'are'}"
                    " missing."
                )
            axes = draw(*arguments, **named)
            find_fonts(np.ravel(axes))  # type: ignore[call-overload]
            return axes

        return drawn

    return decorated


def find_fonts(axes: "Iterable[Axes]") -> None:
    """Give the texts in these axes fonts for the characters that theirs lack; warn of those that no
    font has."""
    from matplotlib.text import Text

    axes = list(axes)
    texts: list[Text] = [text for ax in axes for text in ax.findobj(Text)]  # type: ignore[assignment]
    lacking = {text: found for text in texts if (found := _lacking(text))}
    if not lacking:
        return
    names, nowhere = _fallbacks(frozenset().union(*lacking.values()))
    for text in lacking:
        text.set_fontfamily([*text.get_fontfamily(), *names])
    if not nowhere:
        return
    for axis in (axis for ax in axes for axis in (ax.xaxis, ax.yaxis)):
        labels = [text.get_text() for text in axis.get_ticklabels()]
        # an axis writes its labels again whenever it is drawn
        if any(nowhere & set(label) for label in labels):
            axis.set_ticklabels([_with_boxes(label, nowhere) for label in labels])
    for text, letters in lacking.items():
        if letters & nowhere:
            text.set_text(_with_boxes(text.get_text(), nowhere))
    seen = sorted(letter for letter in nowhere if _is_seen(letter))
    if not _warned.issuperset(seen):
        _warned.update(seen)
        named = ", ".join(seen[:_MAX_NAMED]) + (", ..." if len(seen) > _MAX_NAMED else "")
        wanted = " and ".join(dict.fromkeys(map(_font_of, seen)))
        warn(
            DataWarning(
                f"No installed font has some characters of the labels ({named}), so pictures show"
                f" boxes instead; install {wanted}, or another font with these characters."
            )
        )


def _with_boxes(text: str, nowhere: frozenset[str]) -> str:
    """The text with boxes for the characters that no font has."""
    return "".join(letter if letter not in nowhere else _BOX * _is_seen(letter) for letter in text)


def _is_seen(letter: str) -> bool:
    """Whether a character has a place of its own on the line."""
    return unicodedata.category(letter) not in _UNSEEN


def _lacking(text: "Text") -> frozenset[str]:
    """The characters of a text that none of its fonts has."""
    from matplotlib.font_manager import FontProperties, findfont

    letters = {letter for letter in text.get_text() if not letter.isspace()}
    if not letters or all(map(str.isascii, letters)):
        return frozenset()
    for family in text.get_fontfamily():
        letters -= _characters(str(findfont(FontProperties(family=[family]))))
    return frozenset(letters)


@cache
def _characters(path: str) -> frozenset[str]:
    """The characters of a font."""
    from matplotlib.font_manager import get_font

    return frozenset(map(chr, get_font(path).get_charmap()))


def _fallbacks(letters: frozenset[str]) -> tuple[list[str], frozenset[str]]:
    """The names of installed fonts that have these characters between them, and the characters that
    none has."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    names, letters = _among(fontManager.ttflist, letters)
    # matplotlib keeps a list of fonts, which lacks those that were installed since
    if any(map(_is_seen, letters)):
        known = {entry.fname for entry in fontManager.ttflist}
        for path in sorted(set(findSystemFonts()) - known):
            # of fonts that matplotlib cannot draw, such as those of pictures
            with suppress(Exception):
                fontManager.addfont(path)
        added, letters = _among(
            [entry for entry in fontManager.ttflist if entry.fname not in known], letters
        )
        names += added
    return names, letters


def _among(
    fonts: "Iterable[FontEntry]", letters: frozenset[str]
) -> tuple[list[str], frozenset[str]]:
    """The names of those of the fonts that have the characters, plain ones first, and the
    characters that none has."""
    names: list[str] = []
    for font in sorted(
        (font for font in fonts if not font.name.startswith(_BOXES)), key=_fanciness
    ):
        if not letters:
            break
        if found := letters & _characters(font.fname):
            names.append(font.name)
            letters -= found
    return names, letters


def _fanciness(font: "FontEntry") -> tuple[bool, bool, bool, str]:
    """Small for an upright sans-serif of the usual weight."""
    return (
        font.style != "normal",
        str(font.weight) not in ("400", "normal", "regular"),
        "Sans" not in font.name,
        font.name,
    )


def _font_of(letter: str) -> str:
    """The name of a free font that has a character."""
    script = unicodedata.name(letter, "").partition(" ")[0].capitalize()
    if script in ("Cjk", "Hiragana", "Katakana", "Hangul", "Ideographic", "Fullwidth"):
        return "Noto Sans CJK"
    if unicodedata.category(letter) in ("So", "Sk"):
        return "Noto Emoji (in black and white; coloured ones cannot be drawn)"
    return f"Noto Sans {script}" if script else "Noto Sans"
