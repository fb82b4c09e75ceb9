"""Entries that can be reproduced, the settings of a run, and its results."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali.errors import ArgumentError

if TYPE_CHECKING:
    import pandas

SIZES = ("small", "standard", "full")


@dataclass(frozen=True)
class Settings:
    """How to run an entry."""

    size: str = "standard"  # "small", "standard" or "full"
    random_seed: int = 1
    cores: int | None = None  # None: all
    progressbar: bool = True
    folder: Path | None = None  # of the jobs of a long run; the same run goes on from them
    data: Path | None = None  # the file of data of an entry whose data do not come with thali
    sushi: Path | None = None  # the file of the sushi data, for the entry that can use them in addition

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

    # by title: the papers' figures beside ours; a column named "error..." is the Monte Carlo error of the one before
    tables: "dict[str, pandas.DataFrame]" = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)  # where ours and the papers' differ, and why
    pictures: dict[str, Callable[[], Any]] = field(default_factory=dict)  # by name: each draws and returns axes
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
    reads_sushi: Callable[[Path], Any] | None = None  # likewise, if it can use the sushi data

    def check(self, settings: Settings) -> None:
        """Check that the data are there, before anything is run or written."""
        if self.reads is None:
            if settings.data is not None:
                raise ArgumentError(f"{self.name} takes no data of the user's; leave out `--data`.")
        elif settings.data is None and settings.sushi is None:
            raise ArgumentError(f"{self.name} needs {self.needs}; name the file with `--data FILE`.")
        elif settings.data is not None:
            self.reads(settings.data)
        if settings.sushi is not None:
            if self.reads_sushi is None:
                raise ArgumentError(f"{self.name} takes no sushi data; leave out `--sushi`.")
            self.reads_sushi(settings.sushi)

    def run(self, settings: Settings) -> Reproduction:
        """Recompute it; what `check` raises comes first."""
        self.check(settings)
        return self.function(settings)
