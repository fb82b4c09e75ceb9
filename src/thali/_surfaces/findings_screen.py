"""Findings on one terminal screen: warnings, results, hints."""

import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from thali._labels import display_width, escape_unprintable
from thali._model.column_headings import COLUMNS, PROBABILITY
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
from thali._number_format import format_probability, is_p_value
from thali.errors import Words

from .text_tables import align, format_table

if TYPE_CHECKING:
    import pandas

LINES = 24
_NARROWEST, _DEFAULT_WIDTH, _WIDEST = 40, 80, 120  # columns
_MAX_HEAD, _MAX_ROWS, _MAX_NAME = 4, 10, 30
_LEAST_CELL = 12  # minimum width of texts in a table
# Maximum numbers of tables, rows and lines of text; the first limits with which all lines fit are
# used.
_LIMITS = [
    *((9, rows, 6) for rows in range(10, 5, -1)),
    *((9, 6, 4), (9, 5, 3), (9, 4, 2), (9, 3, 2)),
    *((2, 5, 2), (2, 3, 2), (1, 5, 2), (1, 3, 2)),
    *((1, rows, 1) for rows in range(8, 0, -1)),
    (0, 0, 1),
]
_WARNING = "WARNING"


_LabelledLines = list[tuple[str, list[str]]]  # label, and its lines


class _Block(NamedTuple):
    """One finding on the screen: label, lines of text, and table rows."""

    label: str
    text: list[str]
    parts: list[str]
    table: list[str]
    n_rows: int  # rows of the complete table
    place: int  # position of the table among all tables

    def lines(self, max_tables: int, max_rows: int, max_text_lines: int, width: int) -> list[str]:
        """Return the block's lines within limits on tables, rows and text lines."""
        max_lines = max_text_lines
        if max_rows and self.label == _WARNING:
            max_lines = 6
        lines = shorten_lines(self.text, max_lines, width)
        lines = lines + shorten_lines(self.parts, max_text_lines, width)
        if self.table and self.place < max_tables:
            lines += self.table[: max_rows + 1]
            if self.n_rows > max_rows:
                lines.append(f"... and {self.n_rows - max_rows:,} more")
        return lines


def format_screen(
    findings: Findings,
    words: Words,
    data_sentence: str,
    hints: Sequence[str],
    is_read: bool = False,
) -> str:
    """Format findings as one screen of text.

    `data_sentence`: a sentence about the data; `hints`: options and commands that show more;
    `is_read`: whether the terminal already shows the sentence, which then only takes up lines.
    """
    briefs = _order_findings(findings)
    width = find_terminal_width()
    labels = [_find_label(finding, brief) for finding, brief in briefs]
    indent = 2 + max(map(display_width, [*labels, "More"]))
    text_width = width - indent
    blocks: list[_Block] = []
    for label, (finding, brief) in zip(labels, briefs, strict=True):
        n_tables = sum(bool(block.table) for block in blocks)
        blocks.append(
            _build_block(label, _format_text(finding, brief, words), brief, text_width, n_tables)
        )
    hint_blocks = [("More", _join_parts(hints, text_width))]
    hint_blocks += [
        ("Next", wrap(render_text(brief.next, words), text_width))
        for _, brief in briefs
        if brief.next != ""
    ]
    head_lines = shorten_lines(wrap(data_sentence, width), _MAX_HEAD, width)
    n_free_lines = LINES - 2 - len(head_lines) - _count_lines(hint_blocks)
    layouts = (
        [(block.label, block.lines(*limits, text_width)) for block in blocks] for limits in _LIMITS
    )
    # the first that fits
    chosen_layout = min(layouts, key=lambda blocks: max(0, _count_lines(blocks) - n_free_lines))
    line_groups = [_add_labels(chosen_layout, indent), _add_labels(hint_blocks, indent)]
    if not is_read:
        line_groups.insert(0, head_lines)
    return escape_unprintable("\n\n".join("\n".join(lines) for lines in line_groups if lines))


def _count_lines(blocks: _LabelledLines) -> int:
    """Return the total number of lines of all blocks."""
    return sum(len(lines) for _, lines in blocks)


def format_summary(findings: Findings, words: Words) -> str:
    """Format findings as warnings and one sentence, for --quiet."""
    ordered_findings = _order_findings(findings)
    warning_sentences = [
        f"{_WARNING}: {_format_text(finding, brief, words)}"
        for finding, brief in ordered_findings
        if _is_warning(finding)
    ]
    answer_sentences = [
        render_text(finding.sentence or brief.text or "", words)
        for finding, brief in ordered_findings
        if not _is_warning(finding)
    ]
    return escape_unprintable(
        "\n".join([*warning_sentences, *list(filter(None, answer_sentences))[:1]])
    )


def find_terminal_width() -> int:
    """Return the terminal's width in characters, within limits."""
    return min(max(shutil.get_terminal_size((_DEFAULT_WIDTH, LINES)).columns, _NARROWEST), _WIDEST)


def _order_findings(findings: Findings) -> list[tuple[Finding, Brief]]:
    """Return (finding, brief) pairs in screen order: warnings, then by chapter."""
    briefed_findings = [
        (finding, finding.brief or Brief(""))
        for finding in findings.select_surface(SCREEN)
        if finding.brief or _is_warning(finding)
    ]
    return sorted(
        briefed_findings,
        key=lambda pair: (not _is_warning(pair[0]), CHAPTERS.index(pair[0].chapter), pair[1].order),
    )


def _is_warning(finding: Finding) -> bool:
    """Return whether a finding reports a problem and so becomes a WARNING."""
    return finding.good is False and (
        finding.brief is None or finding.chapter in (MISSES, STATISTICS)
    )


def _find_label(finding: Finding, brief: Brief) -> str:
    """Return the label at the left of a finding: "WARNING" or its own."""
    if _is_warning(finding):
        return _WARNING
    return brief.label


def _format_text(finding: Finding, brief: Brief, words: Words) -> str:
    """Return the sentence that the screen shows for a finding."""
    text = brief.text
    if text is None:
        text = finding.sentence
    return render_text(text, words)


def _build_block(label: str, sentence: str, brief: Brief, width: int, n_tables: int) -> _Block:
    """Build the block of one finding, `width` characters wide."""
    part_texts = [
        f"{cut_text(name, _MAX_NAME)} {part_text}" for name, part_text in brief.parts[:_MAX_ROWS]
    ]
    if len(brief.parts) > len(part_texts):
        part_texts.append(f"and {len(brief.parts) - len(part_texts):,} more")
    table_lines = []
    n_rows = 0
    if brief.table is not None and len(brief.table):
        table_lines = _format_short_table(brief.table, width)
        n_rows = len(brief.table)
    text_lines = wrap(sentence, width)
    return _Block(label, text_lines, _join_parts(part_texts, width), table_lines, n_rows, n_tables)


def _format_short_table(table: "pandas.DataFrame", width: int) -> list[str]:
    """Format a table's first rows as lines of at most `width` characters."""
    # Texts are cut, then columns are removed, until the table fits.
    text_table = format_table(_round_probabilities(table.head(_MAX_ROWS)))
    cell_rows = [
        [cut_text(" ".join(cell.split()), width // 2) for cell in row]
        for row in (text_table.head, *text_table.rows)
    ]
    cells_by_column = list(zip(*cell_rows, strict=True))
    is_text = list(text_table.is_text)
    if is_text[-1]:
        max_width = max(_LEAST_CELL, width - 2 - _measure_width(cells_by_column[:-1]))
        cells_by_column[-1] = tuple(cut_text(cell, max_width) for cell in cells_by_column[-1])
    while len(cells_by_column) > 1 and _measure_width(cells_by_column) > width:
        removed_index = -1
        if is_text[-1] and len(cells_by_column) > 2:
            removed_index = -2  # names in the last column stay
        del cells_by_column[removed_index], is_text[removed_index]
    left_indices = {number for number, is_left in enumerate(is_text) if is_left}
    return [
        cut_text(line, width)
        for line in align(list(zip(*cells_by_column, strict=True)), left_indices).splitlines()
    ]


def _measure_width(columns: Sequence[tuple[str, ...]]) -> int:
    """Return the display width of columns joined by two blanks."""
    return sum(max(map(display_width, column)) + 2 for column in columns) - 2


def _round_probabilities(table: "pandas.DataFrame") -> "pandas.DataFrame":
    """Return the table with probabilities as rounded texts."""
    probability_columns = [
        name
        for name in table
        if name in COLUMNS and COLUMNS[name].unit == PROBABILITY and not is_p_value(name)
    ]
    column_before = dict(zip(table.columns[1:], table.columns, strict=False))
    if column_before.get("low") in probability_columns:
        probability_columns += ["low", "high"]
    return table.assign(
        **{name: list(map(_format_known_probability, table[name])) for name in probability_columns}
    )


def _format_known_probability(probability: float) -> str:
    """Format a probability as text; NaN as "-"."""
    if probability != probability:
        return "-"
    return format_probability(probability)


def _add_labels(blocks: _LabelledLines, indent: int) -> list[str]:
    """Return the lines of all blocks, with labels in the left margin."""
    labelled_lines = []
    for label, lines in blocks:
        labels = [label, *[""] * len(lines)]
        labelled_lines += [
            f"{name}{' ' * (indent - display_width(name))}{line}"
            for name, line in zip(labels, lines, strict=False)
        ]
    return labelled_lines


# Wrapped lines ------------------------------------------------------------------------------------


def wrap(text: str, width: int) -> list[str]:
    """Wrap a text into lines of at most `width` characters.

    A zero byte is an unbreakable blank.

    Examples
    --------
    >>> wrap("tea and milk, 緑茶緑茶", 8)
    ['tea and', 'milk,', '緑茶緑茶']
    """
    lines: list[str] = []
    for word in text.replace(" %", "\0%").split():
        for piece in _split_word(word, width):
            if lines and display_width(f"{lines[-1]} {piece}") <= width:
                lines[-1] += f" {piece}"
            else:
                lines.append(piece)
    return [line.replace("\0", " ") for line in lines]


def shorten_lines(lines: list[str], max_lines: int, width: int) -> list[str]:
    """Return at most `max_lines` lines; "…" marks missing ones."""
    if len(lines) <= max_lines:
        return lines
    last_line = lines[max_lines - 1]
    if display_width(last_line) + 2 > width:
        last_line = last_line.rpartition(" ")[0]
    return [*lines[: max_lines - 1], f"{last_line.rstrip(' ,;:(|')} …"]


def cut_text(text: str, width: int) -> str:
    """Cut a text to a display width, with "…" at the end."""
    if display_width(text) <= width:
        return text
    return f"{_split_word(text, width - 1)[0].rstrip()}…"


def _split_word(word: str, width: int) -> list[str]:
    """Split a word into pieces of at most `width` characters."""
    pieces = [""]
    for letter in word:
        if display_width(pieces[-1] + letter) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def _join_parts(parts: Sequence[str], width: int) -> list[str]:
    """Join parts with "|" into lines that break only between parts."""
    return wrap("\0| ".join(part.replace(" ", "\0") for part in parts), width)
