"""Findings on one screen of a terminal: warnings first, then the answers, then where the rest
is."""

import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from thali._digits import is_p_value, probability
from thali._labels import display_width, printable
from thali._model.finding import (
    CHAPTERS,
    MISSES,
    SCREEN,
    STATISTICS,
    Brief,
    Finding,
    Findings,
    render_text,
)
from thali._model.table_columns import COLUMNS, PROBABILITY
from thali.errors import Words

from .readable import align, readable

if TYPE_CHECKING:
    import pandas

LINES = 24
_NARROWEST, _USUAL, _WIDEST = 40, 80, 120  # columns
_MAX_HEAD, _MAX_ROWS, _MAX_NAME = 4, 10, 30
_LEAST_CELL = 12  # columns that texts in a table keep
# The tables that are shown, their rows and the lines of a text at most: the first of these with
# which all fits.
_LIMITS = [*((9, rows, 6) for rows in range(10, 5, -1)), (9, 6, 4), (9, 5, 3), (9, 4, 2), (9, 3, 2)]
_LIMITS += [
    (2, 5, 2),
    (2, 3, 2),
    (1, 5, 2),
    (1, 3, 2),
    *((1, rows, 1) for rows in range(8, 0, -1)),
    (0, 0, 1),
]
_WARNING = "WARNING"


_Blocks = list[tuple[str, list[str]]]  # labels, and the lines beside each


class _Block(NamedTuple):
    """A label, lines of text and of parts, and a table in lines, the first of which is its
    heading."""

    label: str
    text: list[str]
    parts: list[str]
    table: list[str]
    n_rows: int  # of the whole table
    place: int  # of the table among all

    def lines(self, tables: int, rows: int, texts: int, width: int) -> list[str]:
        """The lines with so many rows and lines of text at most; warnings keep theirs while there
        are rows."""
        most = 6 if rows and self.label == _WARNING else texts
        text = [*shortened(self.text, most, width), *shortened(self.parts, texts, width)]
        if not self.table or self.place >= tables:
            return text
        more = [f"... and {self.n_rows - rows:,} more"] if self.n_rows > rows else []
        return [*text, *self.table[: rows + 1], *more]


def screen(
    findings: Findings, words: Words, head: str, more: Sequence[str], is_read: bool = False
) -> str:
    """What one screen shows of findings; `head`: what was read; `more`: options and commands that
    show more; `is_read`: whether the head is on the screen already, so that it takes lines and is
    left out."""
    briefs, width = _in_order(findings), columns()
    labels = [_WARNING if _is_warning(found) else brief.label for found, brief in briefs]
    indent = 2 + max(map(display_width, [*labels, "More"]))
    room = width - indent
    blocks: list[_Block] = []
    for label, (found, brief) in zip(labels, briefs, strict=True):
        place = sum(bool(block.table) for block in blocks)
        blocks.append(_block(label, _text(found, brief, words), brief, room, place))
    tail = [("More", _in_lines(more, room))]
    tail += [
        ("Next", wrap(render_text(brief.next, words), room))
        for _, brief in briefs
        if brief.next != ""
    ]
    first = shortened(wrap(head, width), _MAX_HEAD, width)
    left = LINES - 2 - len(first) - _height(tail)
    tried = ([(block.label, block.lines(*limits, room)) for block in blocks] for limits in _LIMITS)
    answers = min(tried, key=lambda found: max(0, _height(found) - left))  # the first that fits
    parts = [[] if is_read else first, _labelled(answers, indent), _labelled(tail, indent)]
    return printable("\n\n".join("\n".join(lines) for lines in parts if lines))


def _height(blocks: _Blocks) -> int:
    """The lines of blocks."""
    return sum(len(lines) for _, lines in blocks)


def result(findings: Findings, words: Words) -> str:
    """What is wrong with what was found, a line each, and the sentence of the first answer."""
    briefs = _in_order(findings)
    wrong = [
        f"{_WARNING}: {_text(found, brief, words)}" for found, brief in briefs if _is_warning(found)
    ]
    answers = [
        render_text(found.sentence or brief.text or "", words)
        for found, brief in briefs
        if not _is_warning(found)
    ]
    return printable("\n".join([*wrong, *list(filter(None, answers))[:1]]))


def columns() -> int:
    """The columns of the terminal, of those that sentences fill well; 80 of what is no terminal."""
    return min(max(shutil.get_terminal_size((_USUAL, LINES)).columns, _NARROWEST), _WIDEST)


def _in_order(findings: Findings) -> list[tuple[Finding, Brief]]:
    """The findings that a screen shows: what is wrong, then by chapters."""
    shown = [
        (found, found.brief or Brief(""))
        for found in findings.select_surface(SCREEN)
        if found.brief or _is_warning(found)
    ]
    return sorted(
        shown,
        key=lambda each: (not _is_warning(each[0]), CHAPTERS.index(each[0].chapter), each[1].order),
    )


def _is_warning(found: Finding) -> bool:
    """Whether a finding is bad news about the fit, or failed."""
    return found.good is False and (found.brief is None or found.chapter in (MISSES, STATISTICS))


def _text(found: Finding, brief: Brief, words: Words) -> str:
    return render_text(found.sentence if brief.text is None else brief.text, words)


def _block(label: str, sentence: str, brief: Brief, width: int, place: int) -> _Block:
    """A finding as a block of that width, whose table has that place."""
    parts = [f"{cut(name, _MAX_NAME)} {value}" for name, value in brief.parts[:_MAX_ROWS]]
    more = [f"and {len(brief.parts) - len(parts):,} more"] if len(brief.parts) > len(parts) else []
    text = wrap(sentence, width), _in_lines([*parts, *more], width)
    if brief.table is None or not len(brief.table):
        return _Block(label, *text, [], 0, place)
    return _Block(label, *text, _table(brief.table, width), len(brief.table), place)


def _table(table: "pandas.DataFrame", width: int) -> list[str]:
    """The heading and the first rows of a table: texts are cut if need be, then columns are left
    out."""
    shown = readable(_in_short(table.head(_MAX_ROWS)))
    rows = [
        [cut(" ".join(cell.split()), width // 2) for cell in row]
        for row in (shown.head, *shown.rows)
    ]
    columns, is_text = list(zip(*rows, strict=True)), list(shown.is_text)
    if is_text[-1]:
        most = max(_LEAST_CELL, width - 2 - _width(columns[:-1]))
        columns[-1] = tuple(cut(cell, most) for cell in columns[-1])
    while len(columns) > 1 and _width(columns) > width:
        place = -2 if is_text[-1] and len(columns) > 2 else -1  # names in the last column stay
        del columns[place], is_text[place]
    left = {place for place, each in enumerate(is_text) if each}
    return [cut(line, width) for line in align(list(zip(*columns, strict=True)), left).splitlines()]


def _width(columns: Sequence[tuple[str, ...]]) -> int:
    """The columns of a terminal that columns take."""
    return sum(max(map(display_width, column)) + 2 for column in columns) - 2


def _in_short(table: "pandas.DataFrame") -> "pandas.DataFrame":
    """The table with its probabilities, and the ends of their intervals, as sentences have them."""
    names = [
        name
        for name in table
        if name in COLUMNS and COLUMNS[name].unit == PROBABILITY and not is_p_value(name)
    ]
    before = dict(zip(table.columns[1:], table.columns, strict=False))
    ends = ["low", "high"] if before.get("low") in names else []
    return table.assign(
        **{
            name: ["-" if p != p else probability(p) for p in table[name]]
            for name in [*names, *ends]
        }
    )


def _labelled(blocks: _Blocks, indent: int) -> list[str]:
    """The lines of blocks beside their labels."""
    found = []
    for label, lines in blocks:
        named = [label, *[""] * len(lines)]
        found += [
            f"{name}{' ' * (indent - display_width(name))}{line}"
            for name, line in zip(named, lines, strict=False)
        ]
    return found


# Lines of a width ---------------------------------------------------------------------------------


def wrap(text: str, width: int) -> list[str]:
    """A text in lines of that width at most, as a terminal shows it; no line breaks at a zero byte,
    which is a blank.

    Examples
    --------
    >>> wrap("tea and milk, 緑茶緑茶", 8)
    ['tea and', 'milk,', '緑茶緑茶']
    """
    lines: list[str] = []
    for word in text.replace(" %", "\0%").split():
        for piece in _pieces(word, width):
            if lines and display_width(f"{lines[-1]} {piece}") <= width:
                lines[-1] += f" {piece}"
            else:
                lines.append(piece)
    return [line.replace("\0", " ") for line in lines]


def shortened(lines: list[str], most: int, width: int) -> list[str]:
    """The first lines, with a mark where more follow."""
    return (
        lines
        if len(lines) <= most
        else [*lines[: most - 1], cut(" ".join(lines[most - 1 :]), width)]
    )


def cut(text: str, width: int) -> str:
    """A text of that width at most, with a mark where it is cut."""
    return text if display_width(text) <= width else f"{_pieces(text, width - 1)[0].rstrip()}…"


def _pieces(word: str, width: int) -> list[str]:
    """A word in pieces of that width at most."""
    pieces = [""]
    for letter in word:
        if display_width(pieces[-1] + letter) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def _in_lines(parts: Sequence[str], width: int) -> list[str]:
    """Parts in lines, which break between them."""
    return wrap("\0| ".join(part.replace(" ", "\0") for part in parts), width)
