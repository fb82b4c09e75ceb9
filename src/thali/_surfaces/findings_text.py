"""Findings as plain text with complete tables."""

from collections.abc import Iterable

from thali._labels import escape_unprintable
from thali._model.finding import TEXT, Finding, Findings
from thali.errors import Words

from .text_tables import align, format_table


def format_all_findings(findings: Findings, words: Words) -> str:
    """Format all findings as text with complete tables."""
    return "\n\n".join(
        filter(None, (format_finding(finding, words) for finding in findings.select_surface(TEXT)))
    )


def format_finding(finding: Finding, words: Words) -> str:
    """Format one finding as text: sentences, then the table."""
    lines = finding.format_sentences(words)
    if finding.good is False and finding.table is None:
        lines[:1] = [f"WARNING: {sentence}" for sentence in lines[:1]]
    n_sentences_before = 0  # notes follow the table
    if finding.sentence != "":
        n_sentences_before = 1
    sentences_after = lines[n_sentences_before:]
    lines[n_sentences_before:] = [*_format_finding_table(finding), *sentences_after]
    return escape_unprintable("\n".join(lines))


def _format_finding_table(finding: Finding) -> Iterable[str]:
    """Yield the lines of a finding's table."""
    table = finding.main_table
    if table is None or not finding.is_printed or not len(table):
        return ()
    text_table = format_table(table)
    rows = [tuple(row) for row in (text_table.head, *text_table.rows)]
    aligned_table = align(rows, {k for k, is_text in enumerate(text_table.is_text) if is_text})
    if finding.title:
        return [finding.title, aligned_table]
    return [aligned_table]
