"""Findings on one terminal screen: warnings, results, hints."""

import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from thali._labels import display_width, escape_unprintable, format_plural
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
_MAX_HEAD = 6
_MAX_TEXT = 10
_MAX_ROWS = 10
_MAX_NAME = 30
_LEAST_CELL = 12  # minimum width of texts in a table
# Maximum numbers of tables and of their rows; the first limits with which all lines fit are used.
_LIMITS = [*((9, rows) for rows in range(10, 2, -1)), (2, 5), (2, 3), (1, 5), (1, 3)]
_WARNING = "WARNING"


_LabelledLines = list[tuple[str, list[str]]]  # label, and its lines


class _Block(NamedTuple):
    """One finding on the screen: label, lines of text, and table rows."""

    label: str
    text: list[str]
    table: list[str]
    n_rows: int  # rows of the complete table
    place: int  # position of the table among all tables

    def lines(self, max_tables: int, max_rows: int) -> list[str]:
        """Return the block's whole text, and its table within limits on tables and rows."""
        lines = list(self.text)
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
    `is_read`: whether the terminal already shows the sentence, which then only takes up lines, if
    all results fit below it.
    Sentences are shown whole or not at all: findings that do not fit are omitted, the last first.
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
    next_blocks = [
        ("Next", wrap(render_text(brief.next, words), text_width))
        for _, brief in briefs
        if brief.next != ""
    ]
    head_lines = wrap(data_sentence, width)
    if len(head_lines) > _MAX_HEAD:
        head_lines = []
    n_blocks = len(blocks)
    while True:
        hint_parts = list(hints)
        if len(blocks) < n_blocks:
            hint_parts.insert(0, format_plural(n_blocks - len(blocks), "more result"))
        hint_blocks = [("More", _join_parts(hint_parts, text_width)), *next_blocks]
        n_free_lines = LINES - 1 - _count_lines(hint_blocks)
        if head_lines:
            n_free_lines -= len(head_lines) + 1
        layout = _fit_blocks(blocks, n_free_lines)
        if _count_lines(layout) <= n_free_lines:
            break
        if is_read and head_lines:
            head_lines = []
        elif len(blocks) > 2:
            del blocks[-2]  # the last is the convergence check
        elif next_blocks:
            next_blocks = []
        elif not blocks:
            break
        else:
            del blocks[-1]
    line_groups = [_add_labels(layout, indent), _add_labels(hint_blocks, indent)]
    if not is_read:
        line_groups.insert(0, head_lines)
    return escape_unprintable("\n\n".join("\n".join(lines) for lines in line_groups if lines))


def _fit_blocks(blocks: Sequence[_Block], n_lines: int) -> _LabelledLines:
    """Return the lines of all blocks, with as many tables and rows as fit."""
    limits_to_try = _LIMITS
    if len(blocks) == 1:
        limits_to_try = [*_LIMITS, (0, 0)]
    layout: _LabelledLines = []
    for n_tables, n_rows in limits_to_try:
        layout = [(block.label, block.lines(n_tables, n_rows)) for block in blocks]
        if _count_lines(layout) <= n_lines:
            break
    return layout


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
        f"{shorten_cell(name, _MAX_NAME)} {part_text}"
        for name, part_text in brief.parts[: brief.max_parts]
    ]
    if len(brief.parts) > len(part_texts):
        part_texts.append(f"and {len(brief.parts) - len(part_texts):,} more")
    table_lines = []
    n_rows = 0
    if brief.table is not None and len(brief.table):
        table_lines = _format_short_table(brief.table, width)
        n_rows = len(brief.table)
    text_lines = wrap(sentence, width) + _join_parts(part_texts, width)
    if table_lines and len(text_lines) > _MAX_TEXT:
        text_lines = []
    return _Block(label, text_lines, table_lines, n_rows, n_tables)


def _format_short_table(table: "pandas.DataFrame", width: int) -> list[str]:
    """Format a table's first rows as lines of at most `width` characters."""
    # Texts are shortened once, then columns are removed, until the table fits.
    text_table = format_table(_round_probabilities(table.head(_MAX_ROWS)))
    full_columns = [
        [" ".join(cell.split()) for cell in column]
        for column in zip(text_table.head, *text_table.rows, strict=True)
    ]
    cells_by_column = [_shorten_column(column, width // 2) for column in full_columns]
    is_text = list(text_table.is_text)
    if is_text[-1]:
        max_width = max(_LEAST_CELL, width - 2 - _measure_width(cells_by_column[:-1]))
        cells_by_column[-1] = _shorten_column(full_columns[-1], max_width)
    while len(cells_by_column) > 1 and _measure_width(cells_by_column) > width:
        removed_index = -1
        if is_text[-1] and len(cells_by_column) > 2:
            removed_index = -2  # names in the last column stay
        del cells_by_column[removed_index], is_text[removed_index]
    left_indices = {number for number, is_left in enumerate(is_text) if is_left}
    return align(list(zip(*cells_by_column, strict=True)), left_indices).splitlines()


def _shorten_column(column: Sequence[str], width: int) -> tuple[str, ...]:
    """Return the cells of a column, shortened to `width` characters each."""
    return tuple(shorten_cell(cell, width) for cell in column)


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


def shorten_cell(text: str, width: int) -> str:
    """Shorten a list to "a, b and 12 more", and a longer name by "…" for its middle.

    Examples
    --------
    >>> shorten_cell("shark, horse, cow, eagle", 20), shorten_cell("one very long name", 10)
    ('shark and 3 more', 'one ve…ame')
    """
    if display_width(text) <= width:
        return text
    names = text.split(", ")
    shortened_text = ""
    for n_names in range(1, len(names)):
        longer_text = f"{', '.join(names[:n_names])} and {len(names) - n_names:,} more"
        if display_width(longer_text) > width:
            break
        shortened_text = longer_text
    if shortened_text:
        return shortened_text
    tail = _split_word(text[::-1], width // 3)[0][::-1]
    return f"{_split_word(text, width - 1 - display_width(tail))[0]}…{tail}"


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
