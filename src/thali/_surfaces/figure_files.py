"""Pictures as PNG, SVG or PDF files; each figure is drawn once."""

import io
import warnings
from typing import Any

from thali._labels import escape_unprintable
from thali._model.finding import Picture

# Text remains text in SVG and PDF; the reader's fonts must have the widths of matplotlib's fonts.
STYLE: Any = {
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "thali",
    "pdf.fonttype": 42,
    "font.family": ["DejaVu Sans"],
}
_MARGIN = 0.05  # inches around the drawing
_UNDATED = {"png": None, "svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}}
PICTURE_FORMATS = tuple(_UNDATED)
_DOTS = 150
_DIGITS = 9  # decimals of the positions of axes and of the bounding box


class Figures:
    """Cache of drawn matplotlib figures, by picture.

    A figure is laid out once, before it is first saved, so its files differ only in resolution.

    Examples
    --------
    >>> with Figures() as figures:
    ...     figures.save  # doctest: +ELLIPSIS
    <bound method Figures.save ...>
    """

    def __init__(self) -> None:
        # keeps each picture alive, so that its id is unique
        self._drawn: dict[int, tuple[Picture, Any, Any]] = {}

    def __enter__(self) -> "Figures":
        return self

    def __exit__(self, *fault: object) -> None:
        from matplotlib import pyplot

        for _, figure, _ in self._drawn.values():
            pyplot.close(figure)
        self._drawn.clear()

    def save(self, picture: Picture, picture_format: str, dots: float = _DOTS) -> bytes:
        """Return a picture as the bytes of a file."""
        import matplotlib

        with matplotlib.rc_context(STYLE), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing")  # plots warn of missing fonts
            figure, box = self._lay_out(picture)
            buffer = io.BytesIO()
            figure.savefig(
                buffer,
                format=picture_format,
                dpi=dots,
                bbox_inches=box,
                metadata=_UNDATED[picture_format],
            )
        image_bytes = buffer.getvalue()
        if picture_format == "svg":
            return escape_unprintable(image_bytes.decode()).encode()
        return image_bytes

    def _lay_out(self, picture: Picture) -> tuple[Any, Any]:
        """Draw a picture; return its figure and bounding box in inches."""
        import matplotlib
        import numpy as np
        from matplotlib import pyplot
        from matplotlib.transforms import Bbox

        if id(picture) not in self._drawn:
            matplotlib.use("Agg")  # pictures go to files, so no display is needed
            open_figure_numbers = set(pyplot.get_fignums())
            try:
                figure = np.ravel(picture.draw())[0].figure
                figure.draw_without_rendering()
                box = figure.get_tightbbox().padded(_MARGIN)
                box = Bbox(box.get_points().round(_DIGITS))
            except BaseException:
                for figure_number in set(pyplot.get_fignums()) - open_figure_numbers:
                    pyplot.close(figure_number)
                raise
            figure.set_layout_engine(None)
            # layouts of several axes differ in the last digits, by their order in memory
            for axes in figure.axes:
                axes.set_position(np.round(axes.get_position(original=True).bounds, _DIGITS))
            self._drawn[id(picture)] = picture, figure, box
        return self._drawn[id(picture)][1:]
