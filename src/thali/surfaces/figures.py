"""Pictures drawn: each figure once, for a page and for files alike; the same bytes for the same picture."""

import io
from typing import Any

# Text stays text in SVG and PDF; the fonts of the reader have the widths of those that matplotlib reckons with.
STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "thali",
    "pdf.fonttype": 42,
    "font.family": ["DejaVu Sans"],
}
_MARGIN = 0.05  # inches around what is drawn
_UNDATED = {"png": None, "svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}}
KINDS = tuple(_UNDATED)
_OF_PAGES, _DOTS = "svg", 150


class Figures:
    """The figures of pictures, kept open until the block ends, so that what shows one twice draws it once.

    Parameters
    ----------
    for_page : bool
        Whether a page will show them: each is saved as SVG before anything else, because a figure that was saved with
        other dots per inch may be laid out in another way.

    Examples
    --------
    >>> with Figures() as figures:
    ...     figures.saved  # doctest: +ELLIPSIS
    <bound method Figures.saved ...>
    """

    def __init__(self, for_page: bool = False) -> None:
        self._for_page = for_page
        self._drawn: dict[int, tuple[Any, Any]] = {}  # the picture, so that its number is of no other
        self._pages: dict[int, bytes] = {}

    def __enter__(self) -> "Figures":
        return self

    def __exit__(self, *fault: object) -> None:
        from matplotlib import pyplot

        for _, figure in self._drawn.values():
            pyplot.close(figure)
        self._drawn.clear()
        self._pages.clear()

    def saved(self, picture: Any, kind: str, dots: int = _DOTS) -> bytes:
        """A `Picture`, or what else draws axes, as a file of that kind, with `dots` per inch where it has any."""
        import matplotlib

        with matplotlib.rc_context(STYLE):
            figure = self._of(picture)
            if kind == _OF_PAGES and id(picture) in self._pages:
                return self._pages[id(picture)]
            return _saved(figure, kind, dots)

    def _of(self, picture: Any) -> Any:
        """The figure of a picture."""
        import matplotlib
        import numpy as np
        from matplotlib import pyplot

        from thali import plots

        if id(picture) not in self._drawn:
            matplotlib.use("Agg")  # pictures go to files, so no display is needed
            before = set(pyplot.get_fignums())
            try:
                figure = np.ravel(picture.draw(plots))[0].figure
            except BaseException:
                for number in set(pyplot.get_fignums()) - before:
                    pyplot.close(number)
                raise
            self._drawn[id(picture)] = picture, figure
            if self._for_page:
                self._pages[id(picture)] = _saved(figure, _OF_PAGES, _DOTS)
        return self._drawn[id(picture)][1]


def _saved(figure: Any, kind: str, dots: int) -> bytes:
    """The bytes of a file."""
    content = io.BytesIO()
    figure.savefig(content, format=kind, dpi=dots, bbox_inches="tight", pad_inches=_MARGIN, metadata=_UNDATED[kind])
    return content.getvalue()
