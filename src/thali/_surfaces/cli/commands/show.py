"""`thali show`: what was found, of results that were written."""

from dataclasses import replace
from pathlib import Path

from thali._model.finding import Finding, Findings
from thali.errors import ArgumentError

from ...readable import align
from ...text import part_of
from ..boundary import Terminal
from .report import held_in, know_options_of


def run_show(terminal: Terminal, results: Path, key: str | None, lists: bool) -> None:
    """Print the screen of results, one finding whole, or the keys of all."""
    from ...report import about, findings_of

    held = held_in(terminal, results)
    findings = findings_of(held.what, held.settings)
    know_options_of(terminal, held.what)
    if lists and key is not None:
        raise ArgumentError(f"--list lists all keys; remove {key!r}.")
    if lists:
        print(_list(findings))
    elif key is not None:
        found = replace(findings[key], is_printed=True)
        print(part_of(found, terminal.words) or _caption(found))
    else:
        print(
            terminal.text(
                findings, about(held.what), "thali show DIR FINDING", "thali show DIR --list"
            )
        )


def _caption(found: Finding) -> str:
    """What a finding without words shows."""
    return "" if found.picture is None else f"Picture: {found.picture.caption}"


def _list(findings: Findings) -> str:
    """The keys of the findings, and what each answers."""
    return align([(found.key, found.question) for found in findings], {0, 1})
