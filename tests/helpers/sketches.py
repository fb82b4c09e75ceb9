"""Pictures that are made and not rendered, which would take most of the time of the command line
and of reports.

Every artist is there, so that whatever fails while a picture is made fails; only layout and ink are
lacking. That each picture can be rendered is tested in `plots`, and that the rendered ones come to
their files by tests marked `rendered`.
"""

import base64
from contextlib import contextmanager

import pytest

FOLDERS = (
    "house",
    "paired",
    "surfaces/app",
    "surfaces/cli",
    "surfaces/report",
    "papers/tests",
)  # whose tests ask which pictures there are, and not what is to be seen in them
_DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_EMPTY = {
    "png": base64.b64decode(_DOT),
    "pdf": b"%PDF-1.4",
    "svg": b'<svg width="72pt" height="72pt" viewBox="0 0 72 72"></svg>',
}


def _without_ink(figure, file, *, format, **how):
    file.write(_EMPTY[format])


_FAKES = {
    "draw_without_rendering": lambda figure: None,
    "get_tightbbox": lambda figure: figure.bbox_inches,
    "savefig": _without_ink,
}


@contextmanager
def instead_of_pictures():
    """Within the block figures are saved without ink."""
    from matplotlib.figure import Figure

    with pytest.MonkeyPatch.context() as patch:
        for name, fake in _FAKES.items():
            patch.setattr(Figure, name, fake)
        yield
