"""`thali show`: print saved results."""

from dataclasses import replace
from pathlib import Path

from thali._model.finding import render_text
from thali.errors import ArgumentError

from ...findings_text import format_finding
from ...text_tables import align
from ..terminal_messages import Terminal
from .report import load_results, use_options_for


def run_show(terminal: Terminal, results_path: Path, key: str | None, shows_keys: bool) -> None:
    """Print saved results: all on one screen, one finding, or the keys."""
    from ...report import compute_findings, describe_subject

    saved_results = load_results(terminal, results_path)
    findings = compute_findings(saved_results.subject, saved_results.settings)
    use_options_for(terminal, saved_results.subject)
    if shows_keys and key is not None:
        raise ArgumentError(f"--list lists all keys; remove {key!r}.")
    if shows_keys:
        print(align([(finding.key, finding.question) for finding in findings], {0, 1}))
    elif key is not None:
        finding = replace(findings[key], is_printed=True)
        finding_text = format_finding(finding, terminal.words)
        if terminal.is_quiet and finding.sentence != "":
            finding_text = render_text(finding.sentence, terminal.words)
        elif not finding_text and finding.picture is not None:
            finding_text = f"Picture: {finding.picture.caption}"
        print(finding_text)
    else:
        print(
            terminal.format_findings(
                findings,
                describe_subject(saved_results.subject),
                "thali show DIR FINDING",
                "thali show DIR --list",
            )
        )
