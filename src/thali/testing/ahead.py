"""Compile samplers before anybody waits for them: for this machine, or for machines that have a level of processor."""

import os
import platform
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from thali.compile import targets
from thali.errors import Argument, ArgumentError

from .smallest import SMALLEST

_FIT = "import sys; from thali.testing.ahead import fit; fit(sys.argv[1])"


@dataclass(frozen=True)
class Fitted:
    """A row of `SMALLEST` that was fitted in a process of its own.

    Parameters
    ----------
    name : str
        Of the row.
    error : str
        The last line that the process printed; empty if it ended well.
    """

    name: str
    error: str


def rows_of(models: Sequence[str]) -> list[str]:
    """The names of the rows of these models; of all, if there are none."""
    return [name for name in SMALLEST if not models or name.partition(",")[0] in models]


def fit(name: str) -> None:
    """Fit a row, predict and write its report, which compiles and keeps what they need."""
    warnings.simplefilter("ignore")
    model = SMALLEST[name].fitted()
    SMALLEST[name].ask(model)
    with tempfile.TemporaryDirectory() as folder:
        model.report(Path(folder) / "report.html")


def level_here() -> str:
    """The level of processors that most machines of this kind have."""
    if platform.machine().lower() in targets.X86:
        return "x86-64-v3"
    return "apple-m1" if sys.platform == "darwin" else "generic"


def environment_of(level: str, folder: Path) -> dict[str, str]:
    """What makes a process compile for a level of processor, and keep the code in a folder.

    Raises
    ------
    ArgumentError
        If there is no such level, or this processor cannot run its code, which must be tried out.
    """
    if level not in targets.LEVELS:
        raise ArgumentError(Argument("target"), f" must be one of {', '.join(targets.LEVELS)}; got {level!r}.")
    reason = targets.lacking(level)
    if reason:
        raise ArgumentError(Argument("target"), f" {level} cannot be built here, because {reason}.")
    if folder.exists() and not folder.is_dir():
        raise ArgumentError(Argument("out"), f" must be a folder; '{folder}' is a file. Choose another name.")
    return {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(folder.absolute())}


def fit_each(names: Sequence[str], cores: int, environment: dict[str, str] | None = None) -> Iterator[Fitted]:
    """Fit rows, each in a process of its own, `cores` at a time; yields them as they end."""

    def run(name: str) -> Fitted:
        command = [sys.executable, "-c", _FIT, name]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
        lines = done.stderr.strip().splitlines() or [f"it ended with exit code {done.returncode}"]
        return Fitted(name, lines[-1] if done.returncode else "")

    with ThreadPoolExecutor(cores) as pool:
        for future in as_completed([pool.submit(run, name) for name in names]):
            yield future.result()
