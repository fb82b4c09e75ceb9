"""Findings on one screen of a terminal: warnings first, then the answers, then where the rest is."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thali._labels import display_width, printable
from thali._model.finding import CHAPTERS, MISSES, SCREEN, STATISTICS, Brief, Finding, Findings, rendered
from thali.errors import Words

from .readable import align, readable
from .text import cells

if TYPE_CHECKING:
    import pandas

LINES = 24
_NARROWEST, _USUAL, _WIDEST = 40, 80, 120  # columns
_MAX_HEAD, _MAX_TEXT, _MAX_ROWS = 3, 6, 10
_LEAST_CELL = 12  # columns that names in the last column of a table keep
_LONGEST_NAME = 30  # columns of a name in a line of parts
_BETWEEN = " | "  # parts of a line
# Rows and lines of text that a block keeps while others are longer: first tables get shorter, then texts.
_LEAST = ((6, _MAX_TEXT), (6, 3), (4, 2), (1, 2), (0, 1))
_WARNING = "WARNING"


@dataclass
class _Block:
    """A label with lines of text, and rows of a table or parts of a line, of which so many are shown."""

    label: str
    texts: list[str]
    head: list[str]  # of a table
    items: list[str]
    total: int  # items that there are
    width: int
    is_line: bool = False

    def __post_init__(self) -> None:
        self.n_texts, self.n_items = min(_MAX_TEXT, len(self.texts)), min(_MAX_ROWS, len(self.items))

    @property
    def n_rows(self) -> int:
        """The rows of the table, or the lines of parts below the first."""
        return len(_in_lines(self.items[: self.n_items], self.width)) - 1 if self.is_line else self.n_items

    def lines(self) -> list[str]:
        """The lines without the label."""
        texts, items = self.texts[: self.n_texts], self.items[: self.n_items]
        if len(texts) < len(self.texts):
            texts[-1] = cut(f"{texts[-1]} {self.texts[len(texts)]}", self.width)
        rest = self.total - len(items)
        more = [f"and {rest:,} more"] if items and rest else []
        if self.is_line:
            return [*texts, *_in_lines([*items, *more], self.width)]
        return [*texts, *(self.head if items else ()), *items, *(f"... {each}" for each in more)]


def screen(findings: Findings, words: Words, head: str, more: Sequence[str], is_read: bool = False) -> str:
    """What one screen shows of findings; `head`: what was read; `more`: options and commands that show more;
    `is_read`: whether the head is on the screen already, so that it takes lines and is left out."""
    lines = head_lines(head)
    below = _body(findings, words, len(lines), more)
    return printable("\n".join(below[1:] if is_read else [*lines, *below]))


def result(findings: Findings, words: Words) -> str:
    """The sentence of the first answer."""
    for found, brief in _in_order(findings):
        if not _is_warning(found) and (text := found.sentence or brief.text):
            return printable(rendered(text, words))
    return ""


def warnings_in(findings: Findings, words: Words) -> list[str]:
    """What is wrong with what was found."""
    return [_text(found, brief, words) for found, brief in _in_order(findings) if _is_warning(found)]


def head_lines(text: str) -> list[str]:
    """What was read, in lines."""
    width, lines = columns(), wrap(text, columns()) if text else []
    return lines if len(lines) <= _MAX_HEAD else [*lines[: _MAX_HEAD - 1], cut(" ".join(lines[_MAX_HEAD - 1 :]), width)]


def columns() -> int:
    """The columns of the terminal, of those that sentences fill well; 80 of what is no terminal."""
    return min(max(shutil.get_terminal_size((_USUAL, LINES)).columns, _NARROWEST), _WIDEST)


def _body(findings: Findings, words: Words, taken: int, more: Sequence[str]) -> list[str]:
    """The lines below the head, which takes so many lines."""
    briefs = _in_order(findings)
    named = [_WARNING if _is_warning(found) else brief.label for found, brief in briefs]
    indent = max(map(display_width, [*named, "More"])) + 2
    width = columns() - indent
    blocks = [_block(label, found, brief, words, width) for label, (found, brief) in zip(named, briefs, strict=True)]
    tail = [_Block("More", [], [], list(more), len(more), width, is_line=True)] if more else []
    tail += [_Block("Next", wrap(text, width), [], [], 0, width) for text in _next_steps(briefs, words)]
    above, between = ([""] if taken and blocks else []), ([""] if tail and blocks else [])
    _shrink(blocks, LINES - taken - len(above) - len(between) - sum(len(block.lines()) for block in tail))
    answers = [line for block in blocks for line in _labelled(block, indent)]
    return [*above, *answers, *between, *(line for block in tail for line in _labelled(block, indent))]


def _in_order(findings: Findings) -> list[tuple[Finding, Brief]]:
    """The findings that a screen shows: what is wrong, then by chapters."""
    shown = [(found, found.brief or Brief("")) for found in findings.of(SCREEN) if found.brief or _is_warning(found)]
    return sorted(shown, key=lambda each: (not _is_warning(each[0]), CHAPTERS.index(each[0].chapter), each[1].order))


def _is_warning(found: Finding) -> bool:
    """Whether a finding is bad news about the fit, or failed."""
    return found.verdict is False and (found.brief is None or found.chapter in (MISSES, STATISTICS))


def _text(found: Finding, brief: Brief, words: Words) -> str:
    return rendered(found.sentence if brief.text is None else brief.text, words)


def _next_steps(briefs: list[tuple[Finding, Brief]], words: Words) -> list[str]:
    return [rendered(brief.next, words) for _, brief in briefs if brief.next != ""]


def _block(label: str, found: Finding, brief: Brief, words: Words, width: int) -> _Block:
    """A finding as a block of that width."""
    texts = wrap(_text(found, brief, words), width)
    if brief.table is None or not len(brief.table):
        parts = [f"{cut(name, _LONGEST_NAME)} {value}" for name, value in brief.parts]
        return _Block(label, texts, [], parts, len(parts), width, is_line=True)
    head, *rows = _table(brief.table, width)
    return _Block(label, texts, [head], rows, len(brief.table), width)


def _table(table: "pandas.DataFrame", width: int) -> list[str]:
    """The heading and the first rows of a table; of columns those that fit, names cut if need be."""
    shown = readable(table, cells, _MAX_ROWS)
    rows, is_text = [shown.head, *shown.rows], list(shown.is_text)
    rows = [[" ".join(cell.split()) for cell in row] for row in rows]
    last = len(is_text) - 1
    for place in range(last):
        if is_text[place]:
            rows = _with_column(rows, place, width // 2)
    if is_text[last]:
        others = sum(max(map(display_width, column)) + 2 for column in list(zip(*rows, strict=True))[:-1])
        rows = _with_column(rows, last, max(_LEAST_CELL, width - others))
    while len(rows[0]) > 1 and _width(rows) > width:
        rows = [row[:-1] for row in rows]
    lines = align([tuple(row) for row in rows], {place for place, text in enumerate(is_text) if text}).splitlines()
    return [cut(line, width) for line in lines]


def _with_column(rows: list[list[str]], place: int, width: int) -> list[list[str]]:
    """The rows with the cells of a column cut to that width."""
    return [[*row[:place], cut(row[place], width), *row[place + 1 :]] for row in rows]


def _width(rows: list[list[str]]) -> int:
    """The columns of a terminal that a table takes."""
    return sum(max(map(display_width, column)) + 2 for column in zip(*rows, strict=True)) - 2


def _shrink(blocks: list[_Block], room: int) -> None:
    """Show fewer rows, then fewer lines of text, of the longest blocks, until all fit."""
    for rows, texts in _LEAST:
        while sum(len(block.lines()) for block in blocks) > room:
            longest = max(blocks, key=lambda block: block.n_rows)
            if longest.n_rows > rows:
                longest.n_items -= 1
                continue
            wordy = max(blocks, key=lambda block: block.n_texts * (block.label != _WARNING or texts == 1))
            if wordy.n_texts <= texts:
                break
            wordy.n_texts -= 1
    for block in blocks:  # what a shorter text has left is for rows
        while block.n_items < min(_MAX_ROWS, len(block.items)):
            block.n_items += 1
            if sum(len(each.lines()) for each in blocks) > room:
                block.n_items -= 1
                break


def _labelled(block: _Block, indent: int) -> list[str]:
    """The lines of a block, beside its label."""
    first, *others = block.lines() or [""]
    label = block.label + " " * (indent - display_width(block.label))
    return [f"{label}{first}".rstrip(), *(f"{'':{indent}}{line}".rstrip() for line in others)]


# Lines of a width -----------------------------------------------------------------------------------------------------


def wrap(text: str, width: int) -> list[str]:
    """A text in lines of that width at most, as a terminal shows it.

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


def _pieces(word: str, width: int) -> list[str]:
    """A word in pieces of that width at most."""
    pieces = [""]
    for letter in word:
        if display_width(pieces[-1] + letter) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def cut(text: str, width: int) -> str:
    """A text of that width at most, with a mark where it is cut."""
    return text if display_width(text) <= width else f"{_pieces(text, width - 1)[0].rstrip()}…"


def _in_lines(parts: list[str], width: int) -> list[str]:
    """Parts in lines, none of them broken that fits into one."""
    lines: list[str] = []
    for place, part in enumerate(parts):
        mark = _BETWEEN.rstrip() if place + 1 < len(parts) else ""
        if lines and display_width(f"{lines[-1]} {part}{mark}") <= width:
            lines[-1] += f" {part}{mark}"
        else:
            lines.append(f"{part}{mark}")
    return lines
