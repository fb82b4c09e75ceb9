"""What is written in a picture, whether it can be read, and names that are hard to draw."""

from matplotlib.text import Annotation, Text

CELEBRITIES = ["LBJ", "HW", "CDG", "JU", "CY", "AJF", "BB", "ET", "SL"]
LONG = [f"a rather long name, that of option {number}, and it goes on" for number in range(40)]
MULTIMODAL = ["$_{5 now and $10 later", "x" * 200, "two\nlines", "100 % of_this^{2}"]


def drawn_texts(figure, monkeypatch):
    """What is written in a figure, with its box in pixels; ticks outside the axes exist but are not
    drawn."""
    drawn, draw = {}, Text.draw
    monkeypatch.setattr(
        Text, "draw", lambda text, renderer: (drawn.update({id(text): text}), draw(text, renderer))
    )
    figure.canvas.draw()
    shown = [text for text in drawn.values() if text.get_visible() and text.get_text().strip()]
    # without a line that leads to it
    return [(text, Text.get_window_extent(text)) for text in shown]


def assert_readable(ax, monkeypatch, least=1, smallest=0):
    """Every text of the figure of these axes is inside, none is too small, and none overlaps
    another.

    Returns what is written in it.
    """
    figure = ax.figure
    boxes = drawn_texts(figure, monkeypatch)
    assert len(boxes) >= least
    for text, box in boxes:
        name = text.get_text()
        frame = text.axes.bbox if isinstance(text, Annotation) else figure.bbox
        assert box.x0 > frame.x0 - 1 and box.x1 < frame.x1 + 1, name
        assert box.y0 > frame.y0 - 1 and box.y1 < frame.y1 + 1, name
        assert box.height >= smallest, f"{name!r} is too small to read"
    for legend in filter(None, (axes.get_legend() for axes in figure.axes)):
        box = legend.get_window_extent()
        assert box.x0 > -1 and box.x1 < figure.bbox.x1 + 1, "a legend with its symbols"
    assert_apart(boxes)
    return [text.get_text() for text, _ in boxes]


def assert_apart(boxes):
    """No two of the texts overlap; their boxes have room above and below the letters."""
    for number, (text, box) in enumerate(boxes):
        for other, at in boxes[:number]:
            across, up = (
                min(box.x1, at.x1) - max(box.x0, at.x0),
                min(box.y1, at.y1) - max(box.y0, at.y0),
            )
            assert across <= 0.5 or up <= 2.5, f"{text.get_text()!r} overlaps {other.get_text()!r}"
