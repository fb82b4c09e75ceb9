"""Entries that can be reproduced, the settings of a run, its results, and its parts, which a job
keeps."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali._inference.progress_display import Progress
from thali._inference.resumable_tasks import Batch, PartsFolder, Record
from thali._model.model_files import compute_digest, encode_object
from thali.errors import ArgumentError, DataError

if TYPE_CHECKING:
    import pandas


SIZES = ("small", "standard", "full")
_KINDS = (".csv", ".tsv", ".txt", ".xlsx", ".parquet")


@dataclass(frozen=True)
class Settings:
    """How to run an entry."""

    size: str = "standard"  # "small", "standard" or "full"
    random_seed: int = 1
    cores: int | None = None  # None: all
    progressbar: bool = True
    folder: Path | None = None  # of the jobs of a long run; the same run goes on from them
    data: Path | None = None  # the file or the folder of data that do not come with thali

    def pick(self, small: int, standard: int, full: int) -> int:
        """The number that belongs to the size."""
        return {"small": small, "standard": standard, "full": full}[self.size]

    def job(self, name: str) -> Path | None:
        """The folder of a job, if they are kept."""
        if self.folder is None:
            return None
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / name


@dataclass
class Reproduction:
    """The result of an entry."""

    # by title: the papers' figures beside ours; a column named "error..." is the Monte Carlo error
    # of the one before
    tables: "dict[str, pandas.DataFrame]" = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)  # where ours and the papers' differ, and why
    # by name: each draws and returns axes
    pictures: dict[str, Callable[[], Any]] = field(default_factory=dict)
    interrupted: bool = False  # Ctrl-C ended the run before all was finished


@dataclass(frozen=True)
class Entry:
    """One published table or figure, or a few that belong together."""

    name: str
    paper: str
    shows: str
    takes: dict[str, str]  # roughly how long each size runs on two cores
    function: Callable[[Settings], Reproduction]
    needs: str = ""  # what the user's file of data must hold; empty: all data come with thali
    reads: Callable[[Path], Any] | None = None  # raises an error if it does not
    # how the names of its tables begin in a folder with the data of all entries
    named: tuple[str, ...] = ()

    def check(self, settings: Settings) -> None:
        """Check that the data are there, before anything is run or written."""
        if self.reads is None:
            if settings.data is not None:
                raise ArgumentError(f"{self.name} takes no data of the user's; leave out `--data`.")
        elif settings.data is None:
            raise ArgumentError(
                f"{self.name} needs {self.needs}; name it, or its folder, with `--data PATH`."
            )
        else:
            self.reads(settings.data)

    def with_data_of(self, settings: Settings) -> Settings | None:
        """The settings with its data out of a folder that holds those of all entries; None if they
        are not there."""
        if self.reads is None:
            return replace(settings, data=None)
        if settings.data is None:
            return None
        found = self.files_in(settings.data)
        if not found:
            return None
        return settings if len(self.named) > 1 else replace(settings, data=found[0])

    def files_in(self, folder: Path) -> list[Path]:
        """Its tables in a folder."""
        return [file for name in self.named if (file := file_named(folder, name)) is not None]

    def run(self, settings: Settings) -> Reproduction:
        """Recompute it; what `check` raises comes first."""
        self.check(settings)
        return self.function(settings)


def file_named(folder: Path, name: str) -> Path | None:
    """The table in a folder whose name begins so, if there is one."""
    files = (file for file in sorted(folder.iterdir()) if file.suffix.casefold() in _KINDS)
    found = [file for file in files if file.stem.casefold().startswith(name)]
    if len(found) > 1:
        both = " and ".join(file.name for file in found[:2])
        raise DataError(f"{both} may both be {name}; leave one in the folder {str(folder)!r}.")
    return found[0] if found else None


# The parts of a long run: finished ones are kept in a job, and not computed again -----------------


def finished_parts(
    settings: Settings,
    name: str,
    determined_by: Mapping[str, Any],
    data: Any,
    parts: Mapping[str, Callable[[], Record | None]],
    words: tuple[str, str],
    start: Callable[[Progress], None] = lambda progress: progress.note("compiling, once"),
) -> tuple[list[Record], bool]:
    """The records of all parts in order, up to the one where Ctrl-C came; and whether it did.

    Parameters
    ----------
    settings : Settings
    name : str
        Of the job.
    determined_by : mapping
        What determines the results besides the seed and the data.
    data
        Of the user, if there are some.
    parts : mapping from name to function
        Each makes a record that JSON can hold; None if Ctrl-C came.
    words : (doing, unit)
        Of the progress.
    start : function of the progress, optional
        What comes before the first part.
    """

    def made(part: str) -> Record:
        record = parts[part]()
        if record is None:
            raise KeyboardInterrupt
        return record

    def finish(folder: PartsFolder | None) -> tuple[list[Record], bool]:
        batch = Batch(list(parts), str, made, folder=folder)
        progress = Progress(settings.progressbar, words[0], len(parts), words[1])
        interrupted = batch.finish(
            progress, lambda record: math.inf, before_run=lambda waiting: start(progress)
        )
        return [
            batch.records[part] for part in takewhile(batch.records.__contains__, parts)
        ], interrupted

    job = settings.job(name)
    if job is None:
        return finish(None)
    stamp = {
        "kind": "reproduction",
        "models": {},
        "settings": {name: encode_object(value, None) for name, value in determined_by.items()},
        "data": compute_digest(data),
    }
    with PartsFolder(job, stamp, settings.random_seed) as folder:
        folder.plan(dict.fromkeys(parts, name), words[1])
        return finish(folder)
