"""What a child process does: read the data of a study, fit a model to them, or compare models.

`python -m thali.app.child WHAT FOLDER CORES` runs the functions of the command line, so that the app can do what that
can, in the words of the app. SIGTERM is to it what Ctrl-C is at a terminal: what was drawn is kept.
"""

import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from thali.cli.boundary import Terminal
from thali.errors import ConvergenceWarning, InterruptedWarning, ThaliError, ThaliWarning
from thali.inference.locks import lock

from .reading import what_was_read
from .studies import COMPARE, FIT, READ, Study
from .words import words_of

TABLES = ("csv", "xlsx")
_FINE, _REFUSED, _STOPPED, _BROKEN = 0, 2, 130, 1


def read(study: Study, terminal: Terminal, cores: int) -> None:
    """Write down what the data were read as."""
    study.write("reading", what_was_read(study, terminal))


def fit(study: Study, terminal: Terminal, cores: int) -> None:
    """Fit the model that was asked for, or go on with it, and write the report."""
    from thali.cli.commands.fit import run_fit

    asked = study.read(FIT)
    out = Path(FIT)
    out.mkdir(exist_ok=True)
    typed = _with_cores(asked["typed"], asked["has_cores"], cores)
    for word in asked["paths"]:
        typed[word] = Path(typed[word])
    run_fit(terminal, study.data_name, asked["model"], typed, out, False, _formats(), out / "report.html")


def compare(study: Study, terminal: Terminal, cores: int) -> None:
    """Compare the models that were asked for, and write the report."""
    from thali.cli.commands.compare import run_compare
    from thali.cli.commands.report import run_report

    asked = study.read(COMPARE)
    out = Path(COMPARE)
    own = {"leave_out": None, "folds": None, "shard": None}
    typed = _with_cores(asked["typed"], True, cores)
    run_compare(terminal, study.data_name, asked["models"], own, typed, out, False, _formats())
    run_report(terminal, out, None)


_DO: dict[str, Callable[[Study, Terminal, int], None]] = {READ: read, FIT: fit, COMPARE: compare}


def main(what: str, folder: str, cores: str) -> None:
    """Do it, and leave NAME.end.json."""
    study = Study(Path(folder).resolve())
    os.chdir(study.path)
    with open(f"{what}.lock", "ab") as held:
        if not _locked(held.fileno()):
            return  # another child is at it
        study.write(f"{what}.process", {"pid": os.getpid()})
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))
        study.write(f"{what}.end", _done(what, study, int(cores)))


def _locked(descriptor: int) -> bool:
    """Take the lock, which a server that looks for children may hold for a moment."""
    for _ in range(20):
        if lock(descriptor):
            return True
        time.sleep(0.05)
    return False


def _done(what: str, study: Study, cores: int) -> dict[str, Any]:
    """How it ended: a code as at the command line, and what should be known."""
    terminal = Terminal(words_of([]), words_of)
    said: list[str] = []

    def show(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        if isinstance(message, ThaliWarning) and (sentence := message.render(terminal.words)) not in said:
            said.append(sentence)

    code, message = _FINE, ""
    with warnings.catch_warnings():
        warnings.showwarning = show
        warnings.simplefilter("always", ThaliWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)  # the report says so
        warnings.simplefilter("ignore", InterruptedWarning)
        try:
            _DO[what](study, terminal, cores)
        except ThaliError as error:
            code, message = _REFUSED, error.render(terminal.words)
        except typer.Exit as left:
            code = left.exit_code
        except OSError as error:
            code, message = _REFUSED, f"{error.filename or 'The file'}: {error.strerror or error}."
        except MemoryError:
            code, message = _REFUSED, "That needs more memory than there is; ask for fewer draws or chains."
        except KeyboardInterrupt:
            code = _STOPPED
        except Exception:
            traceback.print_exc()
            code, message = _BROKEN, "thali met an error of its own; the record of the run has the details."
    return {"code": code, "message": message, "warnings": said}


def _formats() -> tuple[str, ...]:
    """Of the tables: Excel where it can be written."""
    from importlib.util import find_spec

    return TABLES if find_spec("openpyxl") else TABLES[:1]


def _with_cores(typed: dict[str, Any], has_cores: bool, cores: int) -> dict[str, Any]:
    return {"cores": cores, **typed} if has_cores else dict(typed)


if __name__ == "__main__":
    main(*sys.argv[1:])
