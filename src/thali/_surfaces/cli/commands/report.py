"""`thali report`: HTML reports of saved results."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from thali._inference.checksummed_files import atomic_write, check_path
from thali._inference.replaced_files import check_replaced
from thali._input_files import TABLE_SUFFIXES
from thali._model.finding_settings import DEFAULT_SETTINGS, AnswerSettings
from thali._model.model_files import RESULT_FILES
from thali._model.registry import find_spec
from thali._people.people_argument import Individuals
from thali.errors import ArgumentError, DataError

from ...figure_files import Figures
from ..data_loading import NamedData, find_data
from ..model_options import AMCE, LEADERBOARD
from ..terminal_messages import Terminal, notify
from .fit_request import request_model
from .resume_status import COMMAND, JOB, find_command, format_command, list_data_names

NO_COVER: dict[str, str] = {}  # of a report with the default title


def check_report(
    report_file: Path | None,
    cover: dict[str, str],
    inputs: Sequence[Any] = (),
    overwrite: bool = False,
) -> None:
    """Raise if the report file cannot be written, or a cover was given without report.

    Called before long computations. `inputs`: files that are read.
    """
    if report_file is not None:
        check_path(report_file.absolute())
        check_replaced(report_file, inputs, overwrite=overwrite)
    elif given_name := next((name for name, text in cover.items() if text), ""):
        raise ArgumentError(f"--{given_name} applies to the report; add --report FILE.")


def run_report(
    terminal: Terminal,
    results_path: Path,
    out_file: Path | None,
    cover: dict[str, str] = NO_COVER,
    overwrite: bool = False,
) -> None:
    """Write the report of the results in a folder or file."""
    report_file = out_file
    if report_file is None and results_path.is_dir():
        report_file = results_path / "report.html"
    elif report_file is None:
        report_file = results_path.with_suffix(".html")
    inputs = [results_path]
    if results_path.is_dir():
        inputs = [results_path / name for name in (*RESULT_FILES, COMMAND)]
    check_report(report_file, NO_COVER, inputs, overwrite)
    saved_results = load_results(terminal, results_path)
    cover = {word: text or saved_results.cover.get(word, "") for word, text in cover.items()}
    write_report(
        saved_results.subject,
        report_file,
        saved_results.command,
        terminal,
        saved_results.settings,
        cover=cover,
        data_names=saved_results.names,
    )


class SavedResults(NamedTuple):
    """Loaded results (model, leaderboard or comparison), with their command and settings.

    `subject`: a fitted model, a leaderboard or the table of a comparison.
    """

    subject: Any
    command: str = ""
    settings: AnswerSettings = DEFAULT_SETTINGS
    cover: dict[str, str] = NO_COVER
    names: Sequence[str] = ()  # of the files or data sets


def load_results(terminal: Terminal, results_path: Path) -> SavedResults:
    """Load the results in a folder or file, with the settings of their command."""
    subject = _load_subject(results_path)
    if not results_path.is_dir() or (command_record := find_command(results_path)) is None:
        return SavedResults(subject)
    command_name, arguments, command_folder = command_record
    settings = DEFAULT_SETTINGS
    if command_name == "fit" and (spec := find_spec(subject)) is not None:
        typed = arguments["typed"]
        if (
            spec.method_of_individuals
            and isinstance(subject.people, Individuals)
            and "by" not in typed
        ):
            typed = {"people": "individuals"} | typed  # the default may have set it
        request = request_model(terminal, spec, "", typed, None)
        data_table = None
        if "holdouts" in request.values:
            data_table = _find_fit_table(arguments["data_name"], command_folder)
        settings = request.settings(data_table, subject._get_fit_data(), command_folder)
    cover = arguments.get("cover") or NO_COVER
    typed_command = format_command(command_name, arguments)
    return SavedResults(subject, typed_command, settings, cover, list_data_names(arguments))


def use_options_for(terminal: Terminal, subject: Any) -> None:
    """Let messages name the options of the command that made the results."""
    from thali._conjoint.result import ConjointResult
    from thali._paired.leaderboard_result import Leaderboard

    if (spec := find_spec(subject)) is not None:
        terminal.use_options(spec.options)
    elif isinstance(subject, Leaderboard):
        terminal.use_options(LEADERBOARD)
    elif isinstance(subject, ConjointResult):
        terminal.use_options(AMCE)


def _find_fit_table(name: str, folder: Path) -> NamedData | None:
    """Return the data file of a fit; print a note and return None if missing."""
    try:
        if name == "-":
            raise DataError("The table came from standard input.")
        return find_data(str(folder / name))
    except DataError as error:
        notify(f"holdout tasks were skipped: {error}")
        return None


def write_report(
    subject: Any,
    report_file: Path,
    command: str,
    terminal: Terminal,
    settings: AnswerSettings = DEFAULT_SETTINGS,
    figures: Figures | None = None,
    cover: dict[str, str] = NO_COVER,
    data_names: Sequence[str] = (),
) -> None:
    """Write the HTML report of a model, comparison or leaderboard to a file.

    `figures`: figures drawn so far; `data_names`: files or data sets.
    """
    from ...html_report import Cover
    from ...report import render_report

    use_options_for(terminal, subject)
    report_cover = Cover(
        **{"data": ", ".join(Path(name).name for name in data_names), "date": str(date.today())}
        | cover
    )
    atomic_write(
        report_file,
        render_report(subject, command, terminal.words, settings, figures, report_cover),
    )
    notify(f"wrote the report to {report_file}.")


def _load_subject(results_path: Path) -> Any:
    """Load the model, leaderboard or comparison table in a folder or file."""
    from thali._comparison.table_from_job import TABLES, read_job_table
    from thali._inference.job_folders import read_index
    from thali._model.model_files import find_model_file, load

    if results_path.suffix == ".html":
        raise DataError(
            f"'{results_path}' is a report; give the folder passed to --out, or a file written by"
            " save."
        )
    if results_path.suffix.lower() in TABLE_SUFFIXES and results_path.is_file():
        raise DataError(f"'{results_path}' is a table; thali fit FILE reads it.")
    if not results_path.is_dir() or find_model_file(results_path) is not None:
        return load(results_path)
    job_index = read_index(results_path / JOB)
    if job_index is not None and job_index["stamp"]["kind"] in TABLES:
        return read_job_table(results_path / JOB)
    raise DataError(
        f"There are no results in '{results_path}'; give the folder passed to --out of thali fit,"
        " compare, leaderboard or amce, or a file written by save."
    )
