"""`picture`, which checks the table of a plot function, and fonts for labels in any script."""

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

_LAST_RESORT_FONT = "Last Resort"  # font of matplotlib with a box for every character
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
                    f"plots.{draw.__name__} draws the result of {made_by}; got"
                    f" {type(data).__name__}. To draw it from a fitted model, call"
                    f" model.plot({draw.__name__!r})."
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
    """Give texts in these axes fonts with all their characters; warn if no font has some."""
    from matplotlib.text import Text

    texts: list[Text] = [text for ax in axes for text in ax.findobj(Text)]  # type: ignore[assignment]
    letters_by_text = {text: _find_missing_characters(text) for text in texts}
    if not any(letters_by_text.values()):
        return
    fonts = _list_fonts()
    letters_without_font: set[str] = set()
    for text, missing_letters in letters_by_text.items():
        for font in fonts:
            if found_letters := missing_letters & _read_font_characters(font.fname):
                text.set_fontfamily([*text.get_fontfamily(), font.name])
                missing_letters -= found_letters
        letters_without_font |= missing_letters
    if letters_without_font:
        warn(
            DataWarning(
                "No installed font has all characters of the labels, so pictures show boxes"
                " instead; install fonts that have them, such as Noto Sans, Noto Sans CJK or Noto"
                " Emoji (in black and white)."
            )
        )


def _find_missing_characters(text: "Text") -> frozenset[str]:
    """Return the characters that none of a text's fonts has."""
    from matplotlib.font_manager import FontProperties, findfont

    letters = text.get_text()
    if letters.isascii():
        return frozenset()
    font_paths = [findfont(FontProperties(family=[name])) for name in text.get_fontfamily()]
    visible_letters = frozenset(letter for letter in letters if not letter.isspace())
    return visible_letters.difference(*map(_read_font_characters, map(str, font_paths)))


@cache
def _read_font_characters(path: str) -> frozenset[str]:
    """Return the set of characters in a font file."""
    from matplotlib.font_manager import get_font

    return frozenset(map(chr, get_font(path).get_charmap()))


def _list_fonts() -> "list[FontEntry]":
    """Return the installed fonts, upright sans-serif fonts first."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    # matplotlib keeps its list of fonts between runs, without fonts that were installed later
    for path in {*findSystemFonts()} - {font.fname for font in fontManager.ttflist}:
        # matplotlib cannot draw some fonts, such as coloured emoji
        with suppress(Exception):
            fontManager.addfont(path)
    fonts = [font for font in fontManager.ttflist if not font.name.startswith(_LAST_RESORT_FONT)]
    return sorted(fonts, key=_font_sort_key)


def _font_sort_key(font: "FontEntry") -> tuple[bool, bool, bool, str]:
    """Return a sort key by which upright sans-serif fonts come first."""
    return (
        font.style != "normal",
        str(font.weight) not in ("400", "normal", "regular"),
        "Sans" not in font.name,
        font.name,
    )
