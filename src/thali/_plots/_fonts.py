"""Fonts for plot labels in any script, with advice on missing fonts."""

import unicodedata
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from thali._inference.user_warnings import warn
from thali._labels import choose_number, list_names
from thali.errors import ArgumentError, DataWarning

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.font_manager import FontEntry
    from matplotlib.text import Text

_MISSING_GLYPH = "□"  # replaces a character that no font has
_LAST_RESORT_FONT = "Last Resort"  # font of matplotlib with a box for every character
# categories of characters that occupy no space on the line
_INVISIBLE_CATEGORIES = ("Cc", "Cf", "Mn")
_MAX_NAMED = 5
# characters reported in a warning, as the plots of one report lack the same characters
_warned: set[str] = set()
_P = ParamSpec("_P")
_Drawn = TypeVar("_Drawn")


def picture(
    *columns: str, made_by: str = "", attrs: tuple[str, ...] = (), has: str = "columns"
) -> Callable[[Callable[_P, _Drawn]], Callable[_P, _Drawn]]:
    """Return a decorator of plot functions: checks their table, sets fonts.

    `attrs` are keys that the attrs of the table must contain; `has` is an attribute that the data
    must have.
    """

    def decorate(draw: Callable[_P, _Drawn]) -> Callable[_P, _Drawn]:
        """Return the plot function with checks and fonts."""

        @wraps(draw)
        def draw_checked(*arguments: _P.args, **keywords: _P.kwargs) -> _Drawn:
            """Check the table, draw the plot, set fonts for all characters."""
            data: Any = (*arguments, *keywords.values())[0]
            if made_by and not hasattr(data, has):
                raise ArgumentError(
                    f"plots.{draw.__name__} draws what {made_by} returns; got"
                    f" {type(data).__name__}. A fitted model draws the picture with"
                    f" `plot({draw.__name__!r})`."
                )
            has_column = {repr(name): name in data.columns for name in columns}
            has_column |= {f"attrs[{name!r}]": name in data.attrs for name in attrs}
            missing_columns = [name for name, is_there in has_column.items() if not is_there]
            verb = choose_number(len(missing_columns), "is", "are")
            if missing_columns:
                raise ArgumentError(
                    f"plots.{draw.__name__} requires {list_names([*has_column])}, as in the table"
                    f" that {made_by} returns; {list_names(missing_columns)} {verb} missing."
                )
            axes = draw(*arguments, **keywords)
            set_fallback_fonts(np.ravel(axes))  # type: ignore[call-overload]
            return axes

        return draw_checked

    return decorate


def set_fallback_fonts(axes: "Iterable[Axes]") -> None:
    """Set fonts for all characters in these axes; warn of characters without font."""
    from matplotlib.text import Text

    axes = list(axes)
    texts: list[Text] = [text for ax in axes for text in ax.findobj(Text)]  # type: ignore[assignment]
    missing_letters_by_text = {
        text: missing_letters
        for text in texts
        if (missing_letters := _find_missing_characters(text))
    }
    if not missing_letters_by_text:
        return
    font_names, missing_everywhere = _find_fallback_fonts(
        frozenset().union(*missing_letters_by_text.values())
    )
    for text in missing_letters_by_text:
        text.set_fontfamily([*text.get_fontfamily(), *font_names])
    if not missing_everywhere:
        return
    for axis in (axis for ax in axes for axis in (ax.xaxis, ax.yaxis)):
        tick_labels = [text.get_text() for text in axis.get_ticklabels()]
        # an axis rewrites its labels whenever it is drawn
        if any(missing_everywhere & set(label) for label in tick_labels):
            axis.set_ticklabels(
                [_replace_with_boxes(label, missing_everywhere) for label in tick_labels]
            )
    for text, letters in missing_letters_by_text.items():
        if letters & missing_everywhere:
            text.set_text(_replace_with_boxes(text.get_text(), missing_everywhere))
    visible_letters = sorted(letter for letter in missing_everywhere if _is_visible(letter))
    if not _warned.issuperset(visible_letters):
        _warned.update(visible_letters)
        character_list = ", ".join(visible_letters[:_MAX_NAMED])
        if len(visible_letters) > _MAX_NAMED:
            character_list += ", ..."
        suggested_fonts = " and ".join(dict.fromkeys(map(_suggest_font, visible_letters)))
        warn(
            DataWarning(
                f"No installed font has some characters of the labels ({character_list}), so"
                f" pictures show boxes instead; install {suggested_fonts}, or another font with"
                " these characters."
            )
        )


def _replace_with_boxes(text: str, missing_letters: frozenset[str]) -> str:
    """Return a text with missing characters replaced by boxes."""
    for letter in missing_letters & set(text):
        box = ""
        if _is_visible(letter):
            box = _MISSING_GLYPH
        text = text.replace(letter, box)
    return text


def _is_visible(letter: str) -> bool:
    """Return whether a character occupies space when printed."""
    return unicodedata.category(letter) not in _INVISIBLE_CATEGORIES


def _find_missing_characters(text: "Text") -> frozenset[str]:
    """Return the characters that none of a text's fonts has."""
    from matplotlib.font_manager import FontProperties, findfont

    missing_letters = {letter for letter in text.get_text() if not letter.isspace()}
    if not missing_letters or all(map(str.isascii, missing_letters)):
        return frozenset()
    for font_family in text.get_fontfamily():
        missing_letters -= _read_font_characters(
            str(findfont(FontProperties(family=[font_family])))
        )
    return frozenset(missing_letters)


@cache
def _read_font_characters(path: str) -> frozenset[str]:
    """Return the set of characters in a font file."""
    from matplotlib.font_manager import get_font

    return frozenset(map(chr, get_font(path).get_charmap()))


def _find_fallback_fonts(letters: frozenset[str]) -> tuple[list[str], frozenset[str]]:
    """Return installed fonts that cover these characters, and characters uncovered."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    font_names, letters = _choose_fonts(fontManager.ttflist, letters)
    # matplotlib caches a list of fonts, without fonts that were installed later
    if any(map(_is_visible, letters)):
        listed_paths = {entry.fname for entry in fontManager.ttflist}
        for path in sorted(set(findSystemFonts()) - listed_paths):
            # matplotlib cannot draw some fonts, such as emoji
            with suppress(Exception):
                fontManager.addfont(path)
        added_names, letters = _choose_fonts(
            [entry for entry in fontManager.ttflist if entry.fname not in listed_paths], letters
        )
        font_names += added_names
    return font_names, letters


def _choose_fonts(
    fonts: "Iterable[FontEntry]", letters: frozenset[str]
) -> tuple[list[str], frozenset[str]]:
    """Return few of these fonts that cover the characters, and characters uncovered."""
    # Plain fonts come first.
    font_names: list[str] = []
    for font in sorted(
        (font for font in fonts if not font.name.startswith(_LAST_RESORT_FONT)), key=_font_sort_key
    ):
        if not letters:
            break
        if covered_letters := letters & _read_font_characters(font.fname):
            font_names.append(font.name)
            letters -= covered_letters
    return font_names, letters


def _font_sort_key(font: "FontEntry") -> tuple[bool, bool, bool, str]:
    """Return a sort key by which upright sans-serif fonts come first."""
    return (
        font.style != "normal",
        str(font.weight) not in ("400", "normal", "regular"),
        "Sans" not in font.name,
        font.name,
    )


def _suggest_font(letter: str) -> str:
    """Return the name of a free font that has this character."""
    script = unicodedata.name(letter, "").partition(" ")[0].capitalize()
    if script in ("Cjk", "Hiragana", "Katakana", "Hangul", "Ideographic", "Fullwidth"):
        return "Noto Sans CJK"
    if unicodedata.category(letter) in ("So", "Sk"):
        return "Noto Emoji (in black and white; coloured ones cannot be drawn)"
    return f"Noto Sans {script}".rstrip()
