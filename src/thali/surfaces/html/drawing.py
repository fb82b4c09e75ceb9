"""Pictures as part of a page: SVG of the same bytes for the same answer, or PNG where that is smaller."""

import base64
import html
import io
import re
import warnings
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from thali.errors import IncompleteWarning
from thali.model.finding import Picture

from ..figures import Figures

MAX_SVG = 150_000  # bytes; larger ones become PNG
_DOTS, _COLOURS = 110, 64  # per inch, of a PNG
_FONTS = "'DejaVu Sans', Verdana, 'Noto Sans', sans-serif"


Made = TypeVar("Made")


def attempted(what: str, make: Callable[[], Made]) -> Made | None:
    """What `make` returns; None and a warning that names `what` if it fails, so that nothing else is lost with it."""
    try:
        return make()
    except Exception as error:  # whatever it is: the rest of the answer is worth more
        warnings.warn(
            IncompleteWarning(f"{what} could not be made ({type(error).__name__}: {error}); the rest is complete."),
            stacklevel=2,
        )
        return None


class Drawn(NamedTuple):
    """A picture as the page shows it."""

    content: str  # HTML
    caption: str
    number: int  # on the page, from 1


def drawn(figures: Figures, picture: Picture, number: int) -> Drawn:
    """The picture with that number on the page."""
    svg = figures.saved(picture, "svg").decode()
    if len(svg) <= MAX_SVG:
        content = _inline(svg, picture.caption, f"p{number}-")
    else:
        png = base64.b64encode(_few_colours(figures.saved(picture, "png", _DOTS))).decode()
        content = f'<img src="data:image/png;base64,{png}" alt="{html.escape(picture.caption)}">'
    return Drawn(content, picture.caption, number)


def _few_colours(png: bytes) -> bytes:
    """The same picture with a palette, a third of the size or less."""
    from PIL import Image  # matplotlib requires it

    content = io.BytesIO()
    picture = (
        Image.open(io.BytesIO(png))
        .convert("RGB")
        .quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    )
    picture.save(content, format="png", optimize=True)
    return content.getvalue()


def _inline(svg: str, caption: str, prefix: str) -> str:
    """The SVG as a part of a page whose other pictures have the same names inside."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = svg.replace("url(#", f"url(#{prefix}").replace('href="#', f'href="#{prefix}')
    svg = svg.replace("font-family: 'DejaVu Sans'", f"font-family: {_FONTS}")
    svg = svg.replace("'DejaVu Sans'; ", f"{_FONTS}; ").replace("'DejaVu Sans'\"", f'{_FONTS}"')
    head, rest = svg.split(">", 1)
    width = float(re.search(r'width="([\d.]+)pt"', head)[1]) * 96 / 72  # type: ignore[index]
    height = float(re.search(r'height="([\d.]+)pt"', head)[1]) * 96 / 72  # type: ignore[index]
    view = re.search(r'viewBox="[^"]*"', head)[0]  # type: ignore[index]
    head = (
        f'<svg {view} width="{width:.0f}" height="{height:.0f}" role="img" aria-labelledby="{prefix}title"'
        ' xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    )
    return f'{head}><title id="{prefix}title">{html.escape(caption)}</title>{rest}'
