"""Child process of the app: reads data, fits a model, compares models or runs a test.

`python -m thali._surfaces.app.child_process RUN FOLDER CORES` runs the functions of the command
line with the texts of the app. SIGTERM has the effect of Ctrl-C at a terminal: draws are kept.

Python may raise an exception for a signal between any two instructions, for example in an import,
which then keeps its lock, or where exceptions are lost. Therefore SIGTERM raises nothing. Code that
can be interrupted records the signal (`DelayedInterrupt`). In all other code the process is
replaced by `python -m thali._surfaces.app.child_process RUN FOLDER CORES stopped`, which reports
the draws in the job.
"""

import os
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import typer

from thali._inference.checksummed_files import atomic_write, lock_file
from thali._inference.job_folders import read_index
from thali.errors import (
    ConvergenceWarning,
    DataError,
    InterruptedWarning,
    LongRunWarning,
    ThaliError,
    ThaliWarning,
)

from ..cli.commands.resume_status import JOB, format_command
from ..cli.terminal_messages import Terminal
from .background_runs import REFUSED
from .data_description import describe_table
from .english_texts import AppWords, render_error
from .study_folders import (
    COMPARE,
    COVER,
    EVIDENCE,
    FIT,
    READ,
    TEST,
    StudyFolder,
)

TABLES = ("csv", "xlsx")
STOPPED = "stopped"
_SHORT_TIME = 1e-3  # maximum seconds of sampling when only a report of existing draws is needed
_SUCCESS = 0
_STOPPED = 130
_FAILED = 1
MEMORY_TO_READ = 8 << 30  # bytes; a table of the largest upload needs less


def read_data(study: StudyFolder, terminal: Terminal, cores: int) -> None:
    """Read the study's data; write their description to reading.json."""
    try:
        description = describe_table(study, terminal)
    except MemoryError:
        raise DataError(
            "The table does not fit into memory; remove columns that the model does not use."
        ) from None
    study.write("reading", description)


def fit_model(study: StudyFolder, terminal: Terminal, cores: int) -> None:
    """Fit the requested model, or resume its fit; write results and report."""
    try:
        _run_fit_command(study, terminal, cores, {})
    except KeyboardInterrupt:  # before the first draws
        report_stopped_fit(study, terminal, cores)


def report_stopped_fit(study: StudyFolder, terminal: Terminal, cores: int) -> None:
    """Write the report of the draws made before a stop; then raise KeyboardInterrupt."""
    job_index = read_index(Path(FIT) / JOB)
    if job_index is not None and any(job_index.get("recorded", ())):
        _run_fit_command(study, terminal, cores, {"max-time": _SHORT_TIME})
    raise KeyboardInterrupt


def _run_fit_command(
    study: StudyFolder, terminal: Terminal, cores: int, extra_options: dict[str, Any]
) -> None:
    """Run `thali fit` with the study's requested options and these additional ones."""
    from ..cli.commands.fit import run_fit

    fit_request = study.read(FIT)
    if fit_request["has_cores"] and "cores" not in fit_request["typed"]:
        extra_options = {"cores": cores} | extra_options
    out_folder = Path(FIT)
    out_folder.mkdir(exist_ok=True)
    run_fit(
        terminal,
        study.data_name,
        fit_request["model"],
        _convert_paths(fit_request) | extra_options,
        out_folder,
        formats=_list_table_formats(),
        page=out_folder / "report.html",
        cover={"data": study.about["title"]} | study.read(FIT).get(COVER, {}),
    )


def compare_by_prediction(study: StudyFolder, terminal: Terminal, cores: int) -> None:
    """Compare the requested models by held-out predictions; write the report."""
    from ..cli.commands.report import run_report

    _run_comparison(study, terminal, cores, COMPARE, {"by": "prediction"})
    run_report(terminal, Path(COMPARE), None)


def compare_by_evidence(study: StudyFolder, terminal: Terminal, cores: int) -> None:
    """Compare the requested models by log evidence; write the report."""
    settings = {"by": "evidence", "sensitivity": study.read(EVIDENCE)["sensitivity"]}
    _run_comparison(study, terminal, cores, EVIDENCE, settings)


def _run_comparison(
    study: StudyFolder, terminal: Terminal, cores: int, run_name: str, settings: dict[str, Any]
) -> None:
    """Run `thali compare` with the models in the run's request and these settings."""
    from ..cli.commands.compare import DEFAULT_SETTINGS, run_compare

    comparison_request = study.read(run_name)
    run_compare(
        terminal,
        study.data_name,
        comparison_request["models"],
        DEFAULT_SETTINGS | settings,
        {**_convert_paths(comparison_request), "cores": cores},
        Path(run_name),
        formats=_list_table_formats(),
    )


def run_classical_test(study: StudyFolder, terminal: Terminal, cores: int) -> None:
    """Run the requested classical test; write tables and report."""
    from ..cli.commands.test import run_test
    from ..report import render_report

    test_request = study.read(TEST)
    out_folder = Path(TEST)
    shutil.rmtree(out_folder, ignore_errors=True)
    test_result = run_test(
        terminal,
        test_request["name"],
        [study.data_name],
        _convert_paths(test_request),
        out_folder,
        _list_table_formats(),
    )
    typed_text = format_command(
        "test", {"data_name": study.data_name, "typed": test_request["typed"]}
    ).removeprefix("thali test ")
    command = f"thali test {test_request['name']} {typed_text}"
    atomic_write(out_folder / "report.html", render_report(test_result, command, terminal.words))


RUN_FUNCTIONS: dict[str, Callable[[StudyFolder, Terminal, int], None]] = {
    READ: read_data,
    FIT: fit_model,
    COMPARE: compare_by_prediction,
    EVIDENCE: compare_by_evidence,
    TEST: run_classical_test,
}


def main(run_name: str, folder: str, cores: str, mode: str = "") -> None:
    """Carry out one run in a study's folder; write its result to NAME.end.json."""
    study = StudyFolder(Path(folder).resolve())
    os.chdir(study.path)
    with open(f"{run_name}.lock", "ab") as lock_file:
        if not _take_lock(lock_file.fileno()):
            return  # another child carries out the run
        study.write(f"{run_name}.process", {"pid": os.getpid()})
        if run_name == READ:
            _limit_memory()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(
            signal.SIGTERM, lambda number, frame: _handle_stop(frame, run_name, folder, cores)
        )
        run_function = RUN_FUNCTIONS[run_name]
        if mode == STOPPED:
            run_function = _end_stopped_run
            if run_name == FIT:
                run_function = report_stopped_fit
        study.write(f"{run_name}.end", carry_out(run_name, run_function, study, int(cores)))


def _handle_stop(frame: FrameType | None, *child_arguments: str) -> None:
    """On SIGTERM, end the running fit cleanly, or restart the process in the mode "stopped"."""
    interrupt_handler: Any = signal.getsignal(signal.SIGINT)
    if interrupt_handler is signal.default_int_handler:
        os.execv(
            sys.executable,
            [
                sys.executable,
                "-P",
                "-m",
                "thali._surfaces.app.child_process",
                *child_arguments,
                STOPPED,
            ],
        )
    interrupt_handler(signal.SIGINT, frame)


def _limit_memory() -> None:
    """Limit the memory of this process to `MEMORY_TO_READ` bytes, on Linux."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_TO_READ, MEMORY_TO_READ))


def _end_stopped_run(study: StudyFolder, terminal: Terminal, cores: int) -> None:
    """Raise KeyboardInterrupt, so that the run ends as stopped."""
    raise KeyboardInterrupt


def _take_lock(descriptor: int) -> bool:
    """Lock an open file, with retries for a second; return whether it succeeded."""
    for _ in range(20):
        if lock_file(descriptor):
            return True
        time.sleep(0.05)
    return False


def carry_out(
    run_name: str,
    run_function: Callable[[StudyFolder, Terminal, int], None],
    study: StudyFolder,
    cores: int,
) -> dict[str, Any]:
    """Call the run's function; return its exit code, message, arguments, warnings.

    The estimated duration is written to a file during the run.
    """
    terminal = Terminal(AppWords([]), AppWords)
    warning_sentences: list[str] = []
    argument_names: list[str] = []

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        """Collect the sentence of a warning; store that of a long run."""
        if isinstance(message, LongRunWarning):
            study.write(f"{run_name}.long", {"sentence": message.render(terminal.words)})
        elif (
            isinstance(message, ThaliWarning)
            and (sentence := message.render(terminal.words)) not in warning_sentences
        ):
            warning_sentences.append(sentence)

    exit_code = _SUCCESS
    message = ""
    with warnings.catch_warnings():
        warnings.showwarning = show
        warnings.simplefilter("always", ThaliWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)  # the report says so
        warnings.simplefilter("ignore", InterruptedWarning)
        try:
            run_function(study, terminal, cores)
        except ThaliError as error:
            exit_code = REFUSED
            message, argument_names = render_error(error, terminal.words)
        except typer.Exit as exit_request:
            exit_code = exit_request.exit_code
        except OSError as error:
            exit_code = REFUSED
            message = f"{error.filename or 'The file'}: {error.strerror or error}."
        except MemoryError:
            exit_code = REFUSED
            message = "Not enough memory; use fewer draws or chains."
        except KeyboardInterrupt:
            exit_code = _STOPPED
        except Exception:
            traceback.print_exc()
            exit_code = _FAILED
            message = "thali met an internal error; see the log of the fit for details."
    return {
        "code": exit_code,
        "message": message,
        "named": argument_names,
        "warnings": warning_sentences,
    }


def _list_table_formats() -> tuple[str, ...]:
    """Return table formats to write: CSV, and Excel if openpyxl is installed."""
    from importlib.util import find_spec

    if find_spec("openpyxl"):
        return TABLES
    return TABLES[:1]


def _convert_paths(request: dict[str, Any]) -> dict[str, Any]:
    """Return the typed options of a request, with file names as `Path` objects."""
    typed = request["typed"]
    return typed | {option_name: Path(typed[option_name]) for option_name in request["paths"]}


if __name__ == "__main__":
    main(*sys.argv[1:])
