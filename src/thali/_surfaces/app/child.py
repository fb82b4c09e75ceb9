"""What a child process does: read the data of a study, fit a model to them, or compare models.

`python -m thali._surfaces.app.child WHAT FOLDER CORES` runs the functions of the command line, so
that the app can do what that can, in the words of the app. SIGTERM is to it what Ctrl-C is at a
terminal: what was drawn is kept.

Python lets a signal raise between any two instructions: in an import, which then holds its lock for
ever, or where an exception is lost. So SIGTERM raises nothing. What can be stopped half-way notes
it (`DelayedInterrupt`); anything else is given up on the spot, and the process begins again as
`python -m thali._surfaces.app.child WHAT FOLDER CORES stopped`, which reports what the job holds.
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

from thali._inference.files import atomic_write, lock_file
from thali._inference.jobs import encode_index, read_index
from thali.errors import (
    ConvergenceWarning,
    DataError,
    InterruptedWarning,
    LongRunWarning,
    ThaliError,
    ThaliWarning,
)

from ..cli.commands.jobs import JOB, format_command
from ..cli.terminal import Terminal
from .english import AppWords, sentence_and_names
from .reading import what_was_read
from .runs import REFUSED
from .studies import (
    COMPARE,
    COVER,
    EVIDENCE,
    FIT,
    LOOK,
    READ,
    TEST,
    TOOK,
    TOOK_TO_COMPARE,
    StudyFolder,
)

TABLES = ("csv", "xlsx")
STOPPED = "stopped"
_AT_ONCE = 1e-3  # seconds of drawing, after which what there is is reported
_FINE, _STOPPED, _BROKEN = 0, 130, 1
MEMORY_TO_READ = 8 << 30  # bytes, of which a table of the largest upload needs a part


def read(study: StudyFolder, terminal: Terminal, cores: int) -> None:
    """Write down what the data were read as."""
    try:
        found = what_was_read(study, terminal)
    except MemoryError:
        raise DataError(
            "The table does not fit into memory; remove columns that the model does not use."
        ) from None
    study.write("reading", found)


def fit(study: StudyFolder, terminal: Terminal, cores: int) -> None:
    """Fit the model that was asked for, or go on with it, and write the report."""
    began, before = time.monotonic(), study.read(TOOK).get("seconds", 0.0)
    try:
        _fit(study, terminal, cores, {})
    except KeyboardInterrupt:  # while it did not draw
        stopped(study, terminal, cores)
    finally:
        study.write(TOOK, {"seconds": before + time.monotonic() - began})


def stopped(study: StudyFolder, terminal: Terminal, cores: int) -> None:
    """Write the report of the draws that the job of a fit holds, if any, and end as a fit that was
    stopped."""
    index = read_index(Path(FIT) / JOB)
    if index is not None and any(index.get("recorded", ())):
        _fit(study, terminal, cores, {"max-time": _AT_ONCE})
    raise KeyboardInterrupt


def _fit(study: StudyFolder, terminal: Terminal, cores: int, more: dict[str, Any]) -> None:
    """Fit the model that was asked for, with more options."""
    from ..cli.commands.fit import run_fit

    asked = study.read(FIT)
    out = Path(FIT)
    out.mkdir(exist_ok=True)
    typed = _typed(asked) | (
        {"cores": cores} if asked["has_cores"] and "cores" not in asked["typed"] else {}
    )
    page = out / "report.html"
    run_fit(
        terminal,
        study.data_name,
        asked["model"],
        typed | more,
        out,
        False,
        _formats(),
        page,
        _cover(study),
    )


def look(study: StudyFolder, terminal: Terminal, cores: int) -> None:
    """Write the report of what a fit has drawn so far: that of a copy of its job, which is stopped
    at once."""
    from ..cli.commands.fit import run_fit

    asked = study.read(FIT)
    out = Path(LOOK)
    _copy_job(Path(FIT) / JOB, out / JOB)
    typed = _typed(asked) | {"max-time": _AT_ONCE, "cores": 1}
    run_fit(
        terminal,
        study.data_name,
        asked["model"],
        typed,
        out,
        False,
        (),
        out / "report.html",
        _cover(study),
    )


def _cover(study: StudyFolder) -> dict[str, str]:
    """The cover of its report: what was written for it, with the name of the study where that was
    given."""
    about = study.about
    title = {"title": about["title"]} if "data" in about else {}
    return {"data": about.get("data", about["title"]), **title, **study.read(FIT).get(COVER, {})}


def _copy_job(job: Path, copy: Path) -> None:
    """Copy a job that another process writes to; its index, which is replaced last, says which
    files count."""
    for _ in range(50):
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir(parents=True)
        try:
            index = read_index(job)
            if index is not None:
                for entry in [*index["segments"], index["state"]]:
                    shutil.copyfile(job / entry["file"], copy / entry["file"])
                atomic_write(copy / "job.json", encode_index(index))
                return
        except FileNotFoundError:  # the state was replaced meanwhile
            pass
        time.sleep(0.1)
    raise DataError("There are no draws yet; try again later.")


def compare(study: StudyFolder, terminal: Terminal, cores: int) -> None:
    """Compare the models that were asked for, and write the report."""
    from ..cli.commands.compare import DEFAULT_SETTINGS, run_compare
    from ..cli.commands.report import run_report

    asked = study.read(COMPARE)
    out, began, before = (
        Path(COMPARE),
        time.monotonic(),
        study.read(TOOK_TO_COMPARE).get("seconds", 0.0),
    )
    typed = {**_typed(asked), "cores": cores}
    try:
        own = DEFAULT_SETTINGS | {"by": "prediction"}
        run_compare(terminal, study.data_name, asked["models"], own, typed, out, False, _formats())
    finally:
        took = before + time.monotonic() - began
        study.write(TOOK_TO_COMPARE, {"seconds": took, "models": len(asked["names"])})
    run_report(terminal, out, None)


def evidence(study: StudyFolder, terminal: Terminal, cores: int) -> None:
    """Compare the models that were asked for by their evidence, and write the report."""
    from ..cli.commands.compare import DEFAULT_SETTINGS, run_compare

    asked = study.read(EVIDENCE)
    own = DEFAULT_SETTINGS | {"by": "evidence", "sensitivity": asked["sensitivity"]}
    typed = {**_typed(asked), "cores": cores}
    run_compare(
        terminal, study.data_name, asked["models"], own, typed, Path(EVIDENCE), False, _formats()
    )


def test(study: StudyFolder, terminal: Terminal, cores: int) -> None:
    """Carry out the classical test that was asked for, and write the report."""
    from ..cli.commands.test import run_test
    from ..report import page_of

    asked = study.read(TEST)
    out = Path(TEST)
    shutil.rmtree(out, ignore_errors=True)
    result = run_test(terminal, asked["name"], [study.data_name], _typed(asked), out, _formats())
    words = format_command(
        "test", {"data_name": study.data_name, "typed": asked["typed"]}
    ).removeprefix("thali test ")
    command = f"thali test {asked['name']} {words}"
    atomic_write(out / "report.html", page_of(result, command, terminal.words))


DO: dict[str, Callable[[StudyFolder, Terminal, int], None]] = {
    READ: read,
    FIT: fit,
    LOOK: look,
    COMPARE: compare,
    EVIDENCE: evidence,
    TEST: test,
}


def main(what: str, folder: str, cores: str, how: str = "") -> None:
    """Do it, or end as one that was stopped, and leave NAME.end.json."""
    study = StudyFolder(Path(folder).resolve())
    os.chdir(study.path)
    with open(f"{what}.lock", "ab") as held:
        if not _locked(held.fileno()):
            return  # another child is at it
        study.write(f"{what}.process", {"pid": os.getpid()})
        if what == READ:
            _limit_memory()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, lambda number, frame: _stop(frame, what, folder, cores))
        do = {"": DO[what], STOPPED: stopped if what == FIT else _nothing}[how]
        study.write(f"{what}.end", carried_out(what, do, study, int(cores)))


def _stop(frame: FrameType | None, *words: str) -> None:
    """Note it where it is waited for; else begin again, to end with what the job holds."""
    handler: Any = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        os.execv(
            sys.executable,
            [sys.executable, "-P", "-m", "thali._surfaces.app.child", *words, STOPPED],
        )
    handler(signal.SIGINT, frame)


def _limit_memory() -> None:
    """Let this process have no more memory than a table needs, where the system counts it."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_TO_READ, MEMORY_TO_READ))


def _nothing(study: StudyFolder, terminal: Terminal, cores: int) -> None:
    """End as a run that was stopped; what was finished is in its job."""
    raise KeyboardInterrupt


def _locked(descriptor: int) -> bool:
    """Take the lock, which a server that looks for children may hold for a moment."""
    for _ in range(20):
        if lock_file(descriptor):
            return True
        time.sleep(0.05)
    return False


def carried_out(
    what: str, do: Callable[[StudyFolder, Terminal, int], None], study: StudyFolder, cores: int
) -> dict[str, Any]:
    """How it ended: a code as at the command line, what should be known, and which arguments a
    refusal names.

    How long it takes is written down while it runs.
    """
    terminal = Terminal(AppWords([]), AppWords)
    shown: list[str] = []
    named: list[str] = []

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if isinstance(message, LongRunWarning):
            study.write(f"{what}.long", {"sentence": message.render(terminal.words)})
        elif (
            isinstance(message, ThaliWarning)
            and (sentence := message.render(terminal.words)) not in shown
        ):
            shown.append(sentence)

    code, message = _FINE, ""
    with warnings.catch_warnings():
        warnings.showwarning = show
        warnings.simplefilter("always", ThaliWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)  # the report says so
        warnings.simplefilter("ignore", InterruptedWarning)
        try:
            do(study, terminal, cores)
        except ThaliError as error:
            code, (message, named) = REFUSED, sentence_and_names(error, terminal.words)
        except typer.Exit as left:
            code = left.exit_code
        except OSError as error:
            code, message = REFUSED, f"{error.filename or 'The file'}: {error.strerror or error}."
        except MemoryError:
            code, message = REFUSED, "Not enough memory; use fewer draws or chains."
        except KeyboardInterrupt:
            code = _STOPPED
        except Exception:
            traceback.print_exc()
            code, message = (
                _BROKEN,
                "thali met an internal error; see the log of the fit for details.",
            )
    return {"code": code, "message": message, "named": named, "warnings": shown}


def _formats() -> tuple[str, ...]:
    """Of the tables: Excel where it can be written."""
    from importlib.util import find_spec

    return TABLES if find_spec("openpyxl") else TABLES[:1]


def _typed(asked: dict[str, Any]) -> dict[str, Any]:
    """What was entered, as the command line has it."""
    return {
        word: Path(value) if word in asked["paths"] else value
        for word, value in asked["typed"].items()
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
