"""Pictures drawn: each figure once, for a page and for files alike; the same bytes for the same
picture."""

import io
from typing import Any, Protocol

from thali._labels import printable

# Text stays text in SVG and PDF; the fonts of the reader have the widths of those that matplotlib
# reckons with.
STYLE: Any = {
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "thali",
    "pdf.fonttype": 42,
    "font.family": ["DejaVu Sans"],
}
_MARGIN = 0.05  # inches around what is drawn
_UNDATED = {"png": None, "svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}}
KINDS = tuple(_UNDATED)
_DOTS = 150
# of the place of axes, as a share of the figure, and of its part that is drawn on, in inches
_DIGITS = 9


class Drawable(Protocol):
    """A `Picture`, or what else draws axes."""

    def draw(self) -> Any:
        """The axes."""


class Figures:
    """The figures of pictures, kept open until the block ends, so that what shows one twice draws
    it once.

    A figure is laid out once, before it is saved for the first time: its files differ in their dots
    alone.

    Examples
    --------
    >>> with Figures() as figures:
    ...     figures.saved  # doctest: +ELLIPSIS
    <bound method Figures.saved ...>
    """

    def __init__(self) -> None:
        # the picture, so that its number is of no other
        self._drawn: dict[int, tuple[Drawable, Any, Any]] = {}

    def __enter__(self) -> "Figures":
        return self

    def __exit__(self, *fault: object) -> None:
        from matplotlib import pyplot

        for _, figure, _ in self._drawn.values():
            pyplot.close(figure)
        self._drawn.clear()

    def saved(
        self, picture: Drawable, kind: str, dots: float = _DOTS, across: int | None = None
    ) -> bytes:
        """A `Picture`, or what else draws axes, as a file of that kind, with `dots` per inch where
        it has any.

        `across`: the whole figure, of so many dots from left to right, rather than the part that is
        drawn on.
        """
        import matplotlib

        with matplotlib.rc_context(STYLE):
            figure, box = self._of(picture)
            if across is not None:
                dots, box = across / figure.get_size_inches()[0], None
            content = io.BytesIO()
            figure.savefig(content, format=kind, dpi=dots, bbox_inches=box, metadata=_UNDATED[kind])
        found = content.getvalue()
        return printable(found.decode()).encode() if kind == "svg" else found

    def _of(self, picture: Drawable) -> tuple[Any, Any]:
        """The figure of a picture, laid out, and the part of it that is drawn on, in inches."""
        import matplotlib
        import numpy as np
        from matplotlib import pyplot
        from matplotlib.transforms import Bbox

        if id(picture) not in self._drawn:
            matplotlib.use("Agg")  # pictures go to files, so no display is needed
            before = set(pyplot.get_fignums())
            try:
                figure = np.ravel(picture.draw())[0].figure
                figure.draw_without_rendering()
                box = figure.get_tightbbox().padded(_MARGIN)
                box = Bbox(box.get_points().round(_DIGITS))
            except BaseException:
                for number in set(pyplot.get_fignums()) - before:
                    pyplot.close(number)
                raise
            figure.set_layout_engine(None)
            # the layout of several differs in its last digits, by where they lie in memory
            for axes in figure.axes:
                axes.set_position(np.round(axes.get_position(original=True).bounds, _DIGITS))
            self._drawn[id(picture)] = picture, figure, box
        return self._drawn[id(picture)][1:]
