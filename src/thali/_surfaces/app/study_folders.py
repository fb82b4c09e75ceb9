"""Studies of the app on disk: one folder each, with data, requests and results.

::

    FOLDER/20261121-1745-3f9c2a/
      study.json        title, and the data: a file in the folder, or a bundled data set
      data.csv          the uploaded file, renamed
      read.json         options about the table
      reading.json      description of the table
      fit.json          model and options
      fit/              results and job of `thali fit --out`
      compare.json      models compared by prediction
      compare/          results of `thali compare --out`
      evidence.json     models compared by evidence
      evidence/         results of `thali compare --by evidence --out`
      test.json         the classical test
      test/             report and tables of the test
      NAME.long.json    warning that NAME takes more than a minute, and a faster method
      NAME.queued NAME.process.json NAME.end.json NAME.log NAME.lock   see `background_runs`
"""

import json
import os
import re
import secrets
import shutil
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from thali._inference.checksummed_files import atomic_write
from thali._input_files import TABLE_SUFFIXES
from thali._labels import escape_unprintable
from thali.errors import DataError

READ = "read"
FIT = "fit"
COMPARE = "compare"
EVIDENCE = "evidence"
TEST = "test"
COVER = "cover"  # in the request of a fit: the head of its report
QUEUED_RUNS = (FIT, COMPARE, EVIDENCE)
RUNS = (*QUEUED_RUNS, TEST)
SUFFIXES = (*TABLE_SUFFIXES, ".nwk", ".tree")
_NAME = re.compile(r"\d{8}-\d{4}-[0-9a-f]{8}")
_FILE = re.compile(r"data\.[a-z]{2,8}")  # the name of the data in the folder
_LONGEST = 200  # characters of a title
# Types of the required entries of a file.
_REQUIRED_TYPES: dict[str, dict[str, type]] = {
    "study": {"title": str, "created": str},
    FIT: {"model": str, "typed": dict, "paths": list, "has_cores": bool},
}
_OPTIONAL_TYPES: dict[str, dict[str, type]] = {READ: {"kind": str, "typed": dict, "others": list}}
_LOG = 20_000  # bytes


def _has_expected_types(content: dict[str, Any], name: str) -> bool:
    """Return whether a JSON file's content has the types that thali writes."""
    optional_types = {
        key: expected for key, expected in _OPTIONAL_TYPES.get(name, {}).items() if key in content
    }
    return all(
        isinstance(content.get(key), expected)
        for key, expected in (_REQUIRED_TYPES.get(name, {}) | optional_types).items()
    )


def find_default_folder() -> Path:
    """Return the user's default folder for studies."""
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "thali"
    if sys.platform == "win32":
        return home / "AppData" / "Local" / "thali"
    return home / ".local" / "share" / "thali"


class StudyFolder:
    """Folder of one study: data, JSON files of requests, results."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        """Folder name, which identifies the study in addresses."""
        return self.path.name

    def read(self, name: str) -> dict[str, Any]:
        """Return the content of NAME.json; {} if missing or damaged.

        Raises
        ------
        DataError
            If the file is damaged.
        """
        try:
            content = json.loads((self.path / f"{name}.json").read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError):
            content = None
        if not isinstance(content, dict) or not _has_expected_types(content, name):
            raise DataError(
                f"The file '{self.path / name}.json' is damaged; restore it from a copy."
            )
        return content

    def write(self, name: str, content: dict[str, Any]) -> None:
        """Write a dict to NAME.json."""
        atomic_write(
            self.path / f"{name}.json",
            json.dumps(content, ensure_ascii=False).encode("utf-8", "backslashreplace"),
        )

    def remove(self, *names: str) -> None:
        """Delete the files NAME.json that exist."""
        for name in names:
            (self.path / name).unlink(missing_ok=True)

    def clear(self, name: str) -> None:
        """Delete the results and the job of a run."""
        shutil.rmtree(self.path / name, ignore_errors=True)

    def read_log(self, name: str) -> str:
        """Return the last lines that a run printed; "" if none."""
        log_file = self.path / f"{name}.log"
        if not log_file.is_file():
            return ""
        return log_file.read_bytes()[-_LOG:].decode("utf-8", "replace")

    @property
    def typed(self) -> dict[str, Any]:
        """Typed options about the table, by option name."""
        return self.read(READ).get("typed", {})

    @property
    def has_report(self) -> bool:
        """Whether the fit has written report.html."""
        return (self.path / FIT / "report.html").exists()

    @property
    def shown_title(self) -> str:
        """Title of the study on pages and downloads.

        It is the title of the report, or the name of the data.
        """
        report_title: str = self.read(FIT).get(COVER, {}).get("title", "")
        return report_title or self.about["title"]

    @property
    def about(self) -> dict[str, Any]:
        """Content of about.json: title, date, data name."""
        if about_entries := self.read("study"):
            if (
                not _FILE.fullmatch(str(about_entries.get("file", "data.csv")))
                or (self.path / "study.json").is_symlink()
            ):
                raise DataError(
                    f"The file '{self.path / 'study.json'}' is damaged; restore it from a copy."
                )
            return about_entries
        raise DataError(
            f"The file '{self.path / 'study.json'}' is missing; restore it from a copy."
        )

    @property
    def data_name(self) -> str:
        """Data file or bundled data set, as typed after `thali fit`."""
        about = self.about
        if not isinstance(data_name := about.get("file") or about.get("dataset"), str):
            raise DataError(
                f"The file '{self.path / 'study.json'}' does not name the data; restore it from a"
                " copy."
            )
        return data_name

    def list_option_files(self) -> dict[str, str]:
        """Return the uploaded files of options, by option name."""
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

    def list_all(self) -> list[StudyFolder]:
        """Return all studies, the latest first."""
        studies = [
            StudyFolder(path) for path in self.folder.iterdir() if _NAME.fullmatch(path.name)
        ]
        return sorted(studies, key=lambda study: study.name, reverse=True)

    def find_study(self, name: str) -> StudyFolder | None:
        """Return the study with this folder name; None if there is none."""
        path = self.folder / name
        if _NAME.fullmatch(name) and os.path.lexists(path):
            return StudyFolder(path)
        return None

    def create(self, title: str, **data: str) -> StudyFolder:
        """Create the folder of a new study; `data` is a file or a data set."""
        now = datetime.now()
        study = StudyFolder(self.folder / f"{now:%Y%m%d-%H%M}-{secrets.token_hex(4)}")
        study.path.mkdir(mode=0o700)
        clean_title = " ".join(escape_unprintable(title).split())[:_LONGEST] or "data"
        study.write(
            "study",
            {
                "title": clean_title,
                "created": now.astimezone().isoformat(timespec="seconds"),
                **data,
            },
        )
        return study

    def copy_study(self, study: StudyFolder) -> StudyFolder:
        """Create a study with the same data and column options."""
        about = study.about
        data = {key: about[key] for key in ("file", "dataset") if key in about}
        new_study = self.create(about["title"], **data)
        data_files = [*study.path.glob("data.*"), *study.path.glob("for-*.*")]
        for study_file in [
            *data_files,
            *(study.path / f"{name}.json" for name in (READ, "reading")),
        ]:
            if study_file.exists():
                shutil.copy2(study_file, new_study.path / study_file.name)
        return new_study

    def delete(self, study: StudyFolder) -> None:
        """Delete a study's folder."""
        if study.path.is_dir() and not study.path.is_symlink():
            shutil.rmtree(study.path, ignore_errors=True)
        else:
            study.path.unlink(missing_ok=True)
        if os.path.lexists(study.path):
            raise DataError(f"Cannot delete the folder '{study.path}'; delete it by hand.")


def choose_suffix(name: str) -> str:
    """Return the file ending under which an upload is saved, such as ".csv".

    Tables are recognised by their content.
    """
    suffix = Path(name.replace("\\", "/")).suffix.lower()
    if suffix in SUFFIXES:
        return suffix
    return ".txt"
