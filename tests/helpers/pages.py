"""HTML as a browser reads it: its text, and whatever would be wrong with it in a notebook."""

from html.parser import HTMLParser

_EMPTY = {"br", "hr", "img", "input", "link", "meta"}  # elements without an end
# attributes that fetch something
_FOREIGN = {"src", "href", "srcset", "action", "background", "poster", "data"}


class Page(HTMLParser):
    """A piece of HTML; `faults` has a line for everything that should not be there."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[str] = []
        self.texts: list[str] = []
        self.classes: list[str] = []
        self.faults = [
            "a style fetches something" for word in ("url(", "@import") if word in text.lower()
        ]
        self.feed(text)
        self.close()
        self.faults += [f"<{name}> has no end" for name in self.open]

    @property
    def text(self) -> str:
        """What a reader sees, blanks and all."""
        return "".join(self.texts)

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        if tag not in _EMPTY:
            self.open.append(tag)
        if tag in ("script", "iframe", "object", "embed", "link", "img", "form"):
            self.faults.append(f"<{tag}> has no place in a notebook")
        self.classes += [name for key, value in attrs if key == "class" for name in value.split()]
        self.faults += [
            f"attribute {name}" for name, _ in attrs if name in _FOREIGN or name.startswith("on")
        ]

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> ends nothing")
        else:
            self.open.pop()

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)


def notebook(thing):
    """What a notebook shows of it."""
    return thing._repr_html_()
