"""What can be reproduced, how long it shall run, and what comes out."""

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
    """How to run an entry.

    Parameters
    ----------
    size : {"small", "standard", "full"}
    random_seed : int
    cores : int, optional
        None means all.
    progressbar : bool
    folder : Path, optional
        Where finished parts of a long run are kept, so that the same run goes on from them.
    data : Path, optional
        The file of data, for an entry whose data do not come with thali.
    sushi : Path, optional
        The file of the sushi data, for the entry that can tell of them, too.
    """

    size: str = "standard"
    random_seed: int = 1
    cores: int | None = None
    progressbar: bool = True
    folder: Path | None = None
    data: Path | None = None
    sushi: Path | None = None

    def pick(self, small: int, standard: int, full: int) -> int:
        """The number that belongs to the size."""
        return {"small": small, "standard": standard, "full": full}[self.size]


@dataclass
class Reproduction:
    """What an entry found.

    Parameters
    ----------
    tables : dict from title to pandas.DataFrame
        The papers' figures beside ours; a column that begins with "error" is the Monte Carlo error of the one before.
    remarks : list of str
        Where ours and the papers' differ, and why.
    pictures : dict from name to function
        Each draws, when called, and gives back matplotlib axes.
    interrupted : bool
        Whether Ctrl-C ended the run before all was finished.
    """

    tables: "dict[str, pandas.DataFrame]" = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    pictures: dict[str, Callable[[], Any]] = field(default_factory=dict)
    interrupted: bool = False


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
    reads_sushi: Callable[[Path], Any] | None = None  # likewise, if it can tell of the sushi data

    def check(self, settings: Settings) -> None:
        """See to it that the data are there, before anything is run or written.

        Raises
        ------
        ThaliError
            A file of data is missing, cannot be used, or was given to an entry that takes none.
        """
        if self.reads is None:
            if settings.data is not None:
                raise ArgumentError(f"{self.name} takes no data of the user's; leave out `--data`.")
        elif settings.data is None and settings.sushi is None:
            raise ArgumentError(f"{self.name} needs {self.needs}; name the file with `--data FILE`.")
        elif settings.data is not None:
            self.reads(settings.data)
        if settings.sushi is not None:
            if self.reads_sushi is None:
                raise ArgumentError(f"{self.name} does not tell of sushi; leave out `--sushi`.")
            self.reads_sushi(settings.sushi)

    def run(self, settings: Settings) -> Reproduction:
        """Recompute it; what `check` raises comes first."""
        self.check(settings)
        return self.function(settings)
