"""`thali show`: print saved results."""

from dataclasses import replace
from pathlib import Path

from thali._model.finding import Finding, Findings
from thali.errors import ArgumentError

from ...readable import align
from ...text import format_finding
from ..terminal import Terminal
from .report import load_results, use_options_for


def run_show(terminal: Terminal, results_path: Path, key: str | None, shows_keys: bool) -> None:
    """Print saved results: one screen, one finding, or all keys."""
    from ...report import compute_findings, describe_subject

    saved = load_results(terminal, results_path)
    findings = compute_findings(saved.subject, saved.settings)
    use_options_for(terminal, saved.subject)
    if shows_keys and key is not None:
        raise ArgumentError(f"--list lists all keys; remove {key!r}.")
    if shows_keys:
        print(_format_keys(findings))
    elif key is not None:
        finding = replace(findings[key], is_printed=True)
        print(format_finding(finding, terminal.words) or _format_caption(finding))
    else:
        print(
            terminal.format_findings(
                findings,
                describe_subject(saved.subject),
                "thali show DIR FINDING",
                "thali show DIR --list",
            )
        )


def _format_caption(finding: Finding) -> str:
    """Return the caption of a finding that has only a picture."""
    return "" if finding.picture is None else f"Picture: {finding.picture.caption}"


def _format_keys(findings: Findings) -> str:
    """Return the keys of the findings and their questions."""
    return align([(finding.key, finding.question) for finding in findings], {0, 1})
