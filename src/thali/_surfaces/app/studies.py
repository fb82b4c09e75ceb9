"""Studies on disk: a folder each, with its data, what was asked, and what children found.

::

    FOLDER/20261121-1745-3f9c2a/
      study.json        title, and the data: a file beside it, or a bundled data set
      data.csv          what was dropped, under a name of ours
      read.json         what was typed about the table
      reading.json      what the table was read as
      fit.json          model and options
      fit/              results and job, as `thali fit --out` has them
      fit.took.json     seconds of the fit
      look.json         what is asked of the results so far of a fit that runs
      look/             results so far
      compare.json      the models compared
      compare/          as `thali compare --out` has them
      compare.took.json seconds of the comparison
      evidence.json     the models compared by their evidence
      evidence/         as `thali compare --by evidence --out` has them
      test.json         the classical test
      test/             its report and tables
      NAME.long.json    that NAME takes more than a minute, and what is quicker
      NAME.queued NAME.process.json NAME.end.json NAME.log NAME.lock   each as in `runs`
"""

import contextlib
import json
import os
import re
import secrets
import shutil
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from thali._inference.files import atomic_write
from thali._labels import printable
from thali.errors import Argument, ArgumentError, DataError

READ, FIT, LOOK, COMPARE, EVIDENCE, TEST = "read", "fit", "look", "compare", "evidence", "test"
COVER = "cover"  # of what a fit was asked: the head of its report
TOOK = "fit.took"  # the seconds of the fit so far
TOOK_TO_COMPARE = "compare.took"  # those of a comparison, and of how many models
QUEUED_RUNS = (FIT, COMPARE, EVIDENCE)
RUNS = (*QUEUED_RUNS, LOOK, TEST)
ENDINGS = (".csv", ".tsv", ".txt", ".xlsx", ".xlsm", ".parquet", ".jsonl", ".ndjson", ".json")
ENDINGS += (".soc", ".soi", ".toc", ".toi", ".nwk", ".tree")
_NAME = re.compile(r"\d{8}-\d{4}-[0-9a-f]{8}")
_FILE = re.compile(r"data\.[a-z]{2,8}")  # the name of the data in the folder
_LONGEST = 200  # characters of a title
# What a file must hold to be of use.
_HELD: dict[str, dict[str, type]] = {
    "study": {"title": str, "created": str},
    FIT: {"model": str, "typed": dict, "paths": list, "has_cores": bool},
}
_MAY_HOLD: dict[str, dict[str, type]] = {READ: {"kind": str, "typed": dict, "others": list}}
_LOG = 20_000  # bytes


def _has_kinds(found: dict[str, Any], name: str) -> bool:
    """Whether what was read is as thali wrote it."""
    present = {key: kind for key, kind in _MAY_HOLD.get(name, {}).items() if key in found}
    return all(
        isinstance(found.get(key), kind) for key, kind in (_HELD.get(name, {}) | present).items()
    )


def default_folder() -> Path:
    """Where studies lie unless another folder is named."""
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "thali"
    if sys.platform == "win32":
        return home / "AppData" / "Local" / "thali"
    return home / ".local" / "share" / "thali"


class StudyFolder:
    """The folder of a study."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        """The name of its folder, by which pages know it."""
        return self.path.name

    def read(self, name: str) -> dict[str, Any]:
        """What NAME.json holds; nothing if there is none.

        Raises
        ------
        DataError
            If it is not as thali wrote it.
        """
        try:
            found = json.loads((self.path / f"{name}.json").read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or not _has_kinds(found, name):
            raise DataError(
                f"The file '{self.path / name}.json' is damaged; restore it from a copy."
            )
        return found

    def write(self, name: str, content: dict[str, Any]) -> None:
        """Replace NAME.json."""
        atomic_write(
            self.path / f"{name}.json",
            json.dumps(content, ensure_ascii=False).encode("utf-8", "backslashreplace"),
        )

    def remove(self, *names: str) -> None:
        """Remove files that may be absent."""
        for name in names:
            (self.path / name).unlink(missing_ok=True)

    def clear(self, name: str) -> None:
        """Remove the results of a run, and its job."""
        shutil.rmtree(self.path / name, ignore_errors=True)

    def log(self, name: str) -> str:
        """The last lines that were printed while it ran."""
        file = self.path / f"{name}.log"
        return file.read_bytes()[-_LOG:].decode("utf-8", "replace") if file.is_file() else ""

    @property
    def typed(self) -> dict[str, Any]:
        """What was typed about the table, by the words of the options."""
        return self.read(READ).get("typed", {})

    @property
    def has_report(self) -> bool:
        """Whether a fit has left its report."""
        return (self.path / FIT / "report.html").exists()

    @property
    def title(self) -> str:
        """What it is called."""
        return self.about["title"]

    @property
    def shown_title(self) -> str:
        """What pages and downloads call it: the name that it was given, else the title of its
        report, else its data."""
        about = self.about
        written: str = self.read(FIT).get(COVER, {}).get("title", "")
        return about["title"] if "data" in about else written or about["title"]

    @property
    def about(self) -> dict[str, Any]:
        """Its title, when it was made, and where the data are."""
        if found := self.read("study"):
            if (
                not _FILE.fullmatch(str(found.get("file", "data.csv")))
                or (self.path / "study.json").is_symlink()
            ):
                raise DataError(
                    f"The file '{self.path / 'study.json'}' is damaged; restore it from a copy."
                )
            return found
        raise DataError(
            f"The file '{self.path / 'study.json'}' is missing; restore it from a copy."
        )

    @property
    def data_name(self) -> str:
        """The data, as the command line names them from within the folder."""
        about = self.about
        if not isinstance(name := about.get("file") or about.get("dataset"), str):
            raise DataError(
                f"The file '{self.path / 'study.json'}' does not name the data; restore it from a"
                " copy."
            )
        return name

    def files(self) -> dict[str, str]:
        """The files that were given for options, by the words of these."""
        return {file.stem.removeprefix("for-"): file.name for file in self.path.glob("for-*.*")}


class Studies:
    """All studies in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise DataError(
                f"Cannot create the folder '{folder}': {error.strerror}; choose another."
            ) from None

    def all(self) -> list[StudyFolder]:
        """The latest first, those that are damaged too."""
        found = [StudyFolder(path) for path in self.folder.iterdir() if _NAME.fullmatch(path.name)]
        return sorted(found, key=lambda each: each.name, reverse=True)

    def named(self, name: str) -> StudyFolder | None:
        """The study of that name; None if there is none, or the name is no name of a study."""
        study = StudyFolder(self.folder / name) if _NAME.fullmatch(name) else None
        return study if study is not None and os.path.lexists(study.path) else None

    def new(self, title: str, **data: str) -> StudyFolder:
        """An empty study; `data`: file or dataset."""
        now = datetime.now()
        study = StudyFolder(self.folder / f"{now:%Y%m%d-%H%M}-{secrets.token_hex(4)}")
        study.path.mkdir(mode=0o700)
        shown = " ".join(printable(title).split())[:_LONGEST] or "data"
        study.write(
            "study",
            {"title": shown, "created": now.astimezone().isoformat(timespec="seconds"), **data},
        )
        return study

    def rename(self, study: StudyFolder, title: str) -> None:
        """Call a study something else; messages go on naming its data as they came.

        Raises
        ------
        ArgumentError
            If nothing is left of the name, it is too long, or another study has it.
        """
        shown, name = " ".join(printable(title).split()), Argument("title")
        if not shown or len(shown) > _LONGEST:
            raise ArgumentError(name, f" must have 1 to {_LONGEST} characters; got {len(shown)}.")
        about = study.about
        for other in self.all():
            with contextlib.suppress(DataError):
                if other.shown_title == shown != study.shown_title:
                    begun = other.about["created"][:16].replace("T", ", ")
                    raise ArgumentError(
                        name, f" must be unique; {shown!r} is the name of a study started {begun}."
                    )
        study.write("study", {"data": about["title"], **about, "title": shown})

    def again(self, study: StudyFolder) -> StudyFolder:
        """Another study of the same data, read in the same way."""
        about = study.about
        data = {key: about[key] for key in ("file", "dataset", "data") if key in about}
        other = self.new(about["title"], **data)
        kept = [*study.path.glob("data.*"), *study.path.glob("for-*.*")]
        for file in [*kept, *(study.path / f"{name}.json" for name in (READ, "reading"))]:
            if file.exists():
                shutil.copy2(file, other.path / file.name)
        return other

    def delete(self, study: StudyFolder) -> None:
        """Remove a study with all that it holds, whatever it is."""
        if study.path.is_dir() and not study.path.is_symlink():
            shutil.rmtree(study.path, ignore_errors=True)
        else:
            study.path.unlink(missing_ok=True)
        if os.path.lexists(study.path):
            raise DataError(f"Cannot delete the folder '{study.path}'; delete it by hand.")


def ending_of(name: str) -> str:
    """The ending of an uploaded file, if it is one of a table; tables are recognised by their
    content."""
    ending = Path(name.replace("\\", "/")).suffix.lower()
    return ending if ending in ENDINGS else ".txt"
