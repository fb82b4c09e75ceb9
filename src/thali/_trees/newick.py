"""Reader and writer of trees as Newick text, such as `((a:0.1,b:0.1):0.9,c:1);`."""

import math
import re
from collections import Counter
from dataclasses import dataclass

from thali.errors import DataError

from .tree_nodes import TreeNodes, find_children, sort_postorder

_BLANKS = re.compile(r"(?:\s|\[[^\]]*\])*")  # comments are in square brackets
_WORD = re.compile(r"[^\s()\[\]:;,]*")
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
# an underscore without quotes is a blank to some programs
_MUST_BE_QUOTED = re.compile(r"[\s()\[\]{}:;,'\"_]")


def parse_newick(text: str) -> TreeNodes:
    """Return the nodes of a tree given as Newick text.

    Names may be quoted, with quotes doubled inside. Comments in square brackets are skipped.
    Unquoted underscores are kept. The length above the root is ignored.
    """
    reader = _NewickReader(text)
    nodes = TreeNodes([], [], [])
    open_children: list[list[int]] = []  # for each open parenthesis, the children read so far
    while True:
        while reader.take("("):
            open_children.append([])
        node = nodes.add(*reader.read_leaf(bool(open_children)))
        while open_children:
            open_children[-1].append(node)
            if reader.take(","):
                break
            if not reader.take(")"):
                raise reader.build_syntax_error(len(open_children))
            children = open_children.pop()
            node = nodes.add(*reader.read_inner(bool(open_children)), children)
        else:
            break
    problem_text = "the tree ends before this point"
    if reader.take(";"):
        problem_text = "expected one tree, but text follows its semicolon"
    if reader.next_symbol:
        raise reader.build_error(problem_text)
    return nodes


def format_newick(nodes: TreeNodes) -> str:
    """Return a tree as Newick text, with lengths in full precision."""
    children = find_children(nodes.parents)
    postorder = sort_postorder(children)
    first_leaf = list(range(len(postorder)))  # the leaf that is written first of those below
    for node in postorder:
        if children[node]:
            first_leaf[node] = first_leaf[children[node][0]]
    n_opened = Counter(first_leaf[node] for node in postorder if children[node])
    pieces = []
    for node in postorder:
        if children[node]:
            pieces.append(")")
        else:
            pieces.append("," * bool(pieces) + "(" * n_opened[node])
        pieces.append(_quote_name(nodes.names[node]))
        if nodes.parents[node] >= 0:
            pieces.append(f":{float(nodes.lengths[node])!r}")
    return "".join(pieces) + ";"


def _quote_name(name: str) -> str:
    """Return a name, quoted if Newick requires it."""
    if _MUST_BE_QUOTED.search(name):
        return "'" + name.replace("'", "''") + "'"
    return name


@dataclass
class _NewickReader:
    """Newick text with the current reading position."""

    text: str
    position: int = 0

    def __post_init__(self) -> None:
        self._skip()

    @property
    def next_symbol(self) -> str:
        """Next character of the text; "" at its end."""
        return self.text[self.position : self.position + 1]

    def take(self, symbol: str) -> bool:
        """Skip the next character if it is `symbol`; return whether it was."""
        if self.next_symbol != symbol:
            return False
        self._move(self.position + 1)
        return True

    def read_leaf(self, below_root: bool) -> tuple[str, float]:
        """Return name and length of the leaf at the position."""
        start = self.position
        name = self._read_name()
        if not name.strip():
            self.position = start
            if not self.text.strip():
                raise self.build_error("there is no tree")
            raise self.build_error("a leaf has no name")
        if not below_root:
            return name, self._skip_root_length()
        return name, self._read_length(f"leaf {name!r}")

    def read_inner(self, below_root: bool) -> tuple[str, float]:
        """Return name (often "") and length of the inner node at the position.

        The parenthesis of the node was just closed.
        """
        name = self._read_name().strip()
        if not below_root:
            return name, self._skip_root_length()
        node_description = "inner node ending here"
        if name:
            node_description = f"inner node {name!r}"
        return name, self._read_length(node_description)

    def build_syntax_error(self, n_open: int) -> DataError:
        """Return the DataError of a missing comma or parenthesis."""
        if not self.next_symbol or self.next_symbol == ";":
            if n_open == 1:
                return self.build_error("1 opening parenthesis is not closed")
            return self.build_error(f"{n_open} opening parentheses are not closed")
        return self.build_error(
            "expected a comma or closing parenthesis; enclose names that contain spaces or"
            " brackets in quotes"
        )

    def build_error(self, problem: str) -> DataError:
        """Return a DataError that quotes the text around the position."""
        context = self.text[max(0, self.position - 12) : self.position + 12]
        return DataError(
            f"Invalid Newick text at position {self.position + 1}, near {context!r}: {problem}."
        )

    def _read_length(self, node_description: str) -> float:
        """Return the length after a colon, a finite number >= 0."""
        if self.next_symbol != ":":
            if self.next_symbol and self.next_symbol not in ",);":
                raise self.build_syntax_error(1)
            raise self.build_error(f"the {node_description} has no length; write it after a colon")
        self.take(":")
        start = self.position
        length_text = self._read_word()
        length = math.nan
        if _NUMBER.fullmatch(length_text):
            length = float(length_text)
        if not 0.0 <= length < math.inf:
            self.position = start
            raise self.build_error(
                f"the length of the {node_description} must be a finite number >= 0; got"
                f" {length_text!r}"
            )
        return abs(length)

    def _skip_root_length(self) -> float:
        """Skip a length of the root, and return 0."""
        if self.take(":"):
            self._read_word()
        return 0.0

    def _read_name(self) -> str:
        """Return the name at the position, quoted or not."""
        if self.next_symbol not in ("'", '"'):
            return self._read_word()
        match = _QUOTED.match(self.text, self.position)
        if match is None:
            raise self.build_error("a quoted name is not closed")
        self._move(match.end())
        quote = match[0][0]
        return match[0][1:-1].replace(2 * quote, quote)

    def _read_word(self) -> str:
        """Return characters up to the next separator; "" without any."""
        match = _WORD.match(self.text, self.position)
        assert match is not None  # the pattern matches the empty text, too
        self._move(match.end())
        return match[0]

    def _move(self, position: int) -> None:
        """Move to a position, then past blanks and comments."""
        self.position = position
        self._skip()

    def _skip(self) -> None:
        """Skip blanks and bracketed comments at the position."""
        match = _BLANKS.match(self.text, self.position)
        assert match is not None  # the pattern matches the empty text, too
        self.position = match.end()
        if self.next_symbol == "[":
            raise self.build_error("a comment is not closed")
