"""Trees as Newick text: `((a:0.1,b:0.1):0.9,c:1);`."""

import math
import re
from collections import Counter

from thali.errors import DataError

from .nodes import Nodes, children, postorder

_BLANKS = re.compile(r"(?:\s|\[[^\]]*\])*")  # comments stand in square brackets
_WORD = re.compile(r"[^\s()\[\]:;,]*")
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
# an underscore without quotes is a blank to some programs
_MUST_BE_QUOTED = re.compile(r"[\s()\[\]{}:;,'\"_]")


def parse(text: str) -> Nodes:
    """The tree that a Newick text describes.

    Names may stand between quotes, where a quote is doubled. Comments in square brackets are
    skipped. Without quotes an underscore is left as it is. The length above the root is left out.
    """
    reader, nodes = _Reader(text), Nodes([], [], [])
    waiting: list[list[int]] = []  # for each parenthesis that is open, the children read so far
    while True:
        while reader.take("("):
            waiting.append([])
        node = nodes.add(*reader.leaf(bool(waiting)))
        while waiting:
            waiting[-1].append(node)
            if reader.take(","):
                break
            if not reader.take(")"):
                raise reader.unexpected(len(waiting))
            below = waiting.pop()
            node = nodes.add(*reader.inner(bool(waiting)), below)
        else:
            break
    more = (
        "expected one tree, but text follows its semicolon"
        if reader.take(";")
        else "the tree ends before this"
    )
    if reader.here:
        raise reader.error(more)
    return nodes


def write(nodes: Nodes) -> str:
    """The Newick text of a tree, with lengths in full precision."""
    below = children(nodes.parents)
    order = postorder(below)
    first = list(range(len(order)))  # the leaf that is written first of those below
    for node in order:
        if below[node]:
            first[node] = first[below[node][0]]
    opened = Counter(first[node] for node in order if below[node])
    pieces = []
    for node in order:
        if below[node]:
            pieces.append(")")
        else:
            pieces.append("," * bool(pieces) + "(" * opened[node])
        pieces.append(_quoted(nodes.names[node]))
        if nodes.parents[node] >= 0:
            pieces.append(f":{float(nodes.lengths[node])!r}")
    return "".join(pieces) + ";"


def _quoted(name: str) -> str:
    if _MUST_BE_QUOTED.search(name):
        return "'" + name.replace("'", "''") + "'"
    return name


class _Reader:
    """A position in the text, and what stands there."""

    def __init__(self, text: str) -> None:
        self.text, self.position = text, 0
        self._skip()

    @property
    def here(self) -> str:
        return self.text[self.position : self.position + 1]

    def take(self, symbol: str) -> bool:
        """Pass the symbol if it is the next."""
        if self.here != symbol:
            return False
        self._pass(self.position + 1)
        return True

    def leaf(self, below_root: bool) -> tuple[str, float]:
        """Name and length of a leaf."""
        begin, name = self.position, self._name()
        if not name.strip():
            self.position = begin
            raise self.error("a leaf has no name" if self.text.strip() else "there is no tree")
        return name, self._length(f"leaf {name!r}") if below_root else self._root_length()

    def inner(self, below_root: bool) -> tuple[str, float]:
        """Name (often absent) and length of a node whose parenthesis was just closed."""
        name = self._name().strip()
        which = f"inner node {name!r}" if name else "inner node ending here"
        return name, self._length(which) if below_root else self._root_length()

    def unexpected(self, n_open: int) -> DataError:
        """The error where neither a comma nor a closing parenthesis stands below the root."""
        if not self.here or self.here == ";":
            return self.error(
                f"{n_open} opening parenthes{'is is' if n_open == 1 else 'es are'} not closed"
            )
        return self.error(
            "expected a comma or closing parenthesis; quote names with spaces or brackets"
        )

    def error(self, what: str) -> DataError:
        near = self.text[max(0, self.position - 12) : self.position + 12]
        return DataError(
            f"Invalid Newick text at position {self.position + 1}, near {near!r}: {what}."
        )

    def _length(self, which: str) -> float:
        if self.here != ":":
            if self.here and self.here not in ",);":
                raise self.unexpected(1)
            raise self.error(f"the {which} has no length; write it after a colon")
        self.take(":")
        begin, word = self.position, self._word()
        number = float(word) if _NUMBER.fullmatch(word) else math.nan
        if not 0.0 <= number < math.inf:
            self.position = begin
            raise self.error(
                f"the length of the {which} must be a finite number >= 0; got {word!r}"
            )
        return abs(number)

    def _root_length(self) -> float:
        """Whatever is written above the root is ignored."""
        if self.take(":"):
            self._word()
        return 0.0

    def _name(self) -> str:
        if self.here not in ("'", '"'):
            return self._word()
        match = _QUOTED.match(self.text, self.position)
        if match is None:
            raise self.error("a quoted name is not closed")
        self._pass(match.end())
        quote = match[0][0]
        return match[0][1:-1].replace(2 * quote, quote)

    def _word(self) -> str:
        match = _WORD.match(self.text, self.position)
        assert match is not None  # it matches nothing at all, too
        self._pass(match.end())
        return match[0]

    def _pass(self, position: int) -> None:
        self.position = position
        self._skip()

    def _skip(self) -> None:
        match = _BLANKS.match(self.text, self.position)
        self.position = match.end() if match else self.position
        if self.here == "[":
            raise self.error("a comment is not closed")
