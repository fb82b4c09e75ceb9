"""Findings in a terminal: plain text, aligned, names never cut off."""

from collections.abc import Iterable

from thali._labels import printable
from thali._model.finding import TEXT, Finding, Findings
from thali.errors import Words

from .readable import align, readable


def text_of(findings: Findings, words: Words) -> str:
    """All that a terminal shows of findings, one after the other."""
    return "\n\n".join(
        filter(None, (part_of(found, words) for found in findings.select_surface(TEXT)))
    )


def part_of(found: Finding, words: Words) -> str:
    """One finding: its sentences and its table."""
    sentences = found.format_sentences(words)
    if found.good is False and found.table is None:
        sentences[:1] = [f"WARNING: {each}" for each in sentences[:1]]
    first, notes = (sentences[:1], sentences[1:]) if found.sentence != "" else ([], sentences)
    return printable("\n".join([*first, *_table(found), *notes]))


def _table(found: Finding) -> Iterable[str]:
    """The table of a finding, in lines."""
    table = found.main_table
    if table is None or not found.is_printed or not len(table):
        return ()
    shown = readable(table)
    rows = [tuple(row) for row in (shown.head, *shown.rows)]
    lines = [found.title] if found.title else []
    lines.append(align(rows, {k for k, text in enumerate(shown.is_text) if text}))
    return lines
