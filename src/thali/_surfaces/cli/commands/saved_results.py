"""What `thali leaderboard` and `thali amce` share: printing, result folder and report."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...figure_files import Figures
from ..result_files import check_output_folder, list_inputs, write_findings
from ..terminal_messages import Terminal, list_report_hints, notify
from .report import check_report, write_report
from .resume_status import (
    COMMAND,
    build_job_note,
    check_results_folder,
    format_command,
    refuse_other_results,
)


def run_saved_result(
    terminal: Terminal,
    command_name: str,
    names: list[str],
    typed: dict[str, Any],
    out_folder: Path | None,
    report_file: Path | None,
    cover: dict[str, str],
    overwrite: bool,
    compute: Callable[[], tuple[Any, dict[str, bytes]]],
) -> None:
    """Compute a result; print it, write its tables, pictures, files and report.

    `compute` returns the result and its other files.
    """
    from ...report import compute_findings, describe_subject

    check_output_folder(out_folder)
    inputs = list_inputs(names, typed)
    check_report(report_file, cover, inputs, overwrite)
    command = {"data_names": names, "typed": typed, "cover": cover}
    refuse_other_results(out_folder, command_name, command)
    check_results_folder(out_folder, inputs, ("png",), overwrite)
    subject, other_files = compute()
    findings = compute_findings(subject)
    try:
        with Figures() as figures:
            if out_folder is not None:
                note = json.dumps(build_job_note(command_name, command)).encode()
                picture_names = write_findings(
                    findings,
                    out_folder,
                    other_files=other_files | {COMMAND: note},
                    figures=figures,
                )
                written_text = "the tables"
                if picture_names:
                    written_text += " and the picture"
                notify(f"wrote {written_text} to the folder '{out_folder}'.")
            if report_file is not None:
                write_report(
                    subject,
                    report_file,
                    format_command(command_name, command),
                    terminal,
                    figures=figures,
                    cover=cover,
                    data_names=names,
                )
    finally:  # a full disk must not cost the answer
        hints = list_report_hints(out_folder, report_file)
        print(terminal.format_findings(findings, describe_subject(subject), *hints))
