"""What is written in a picture, and names that are hard to draw."""

from matplotlib.text import Text  # noqa: E402

LONG = [f"a rather long name, that of option {number}, and it goes on" for number in range(40)]


MULTIMODAL = ["$_{5 now and $10 later", "x" * 200, "two\nlines", "100 % of_this^{2}"]


def drawn_texts(figure, monkeypatch):
    """What is written in a figure, with its box in pixels; ticks outside the axes exist but are not drawn."""
    drawn, draw = {}, Text.draw
    monkeypatch.setattr(Text, "draw", lambda text, renderer: (drawn.update({id(text): text}), draw(text, renderer)))
    figure.canvas.draw()
    for text in drawn.values():
        if text.get_visible() and text.get_text().strip():
            yield text.get_text(), text.get_window_extent()
