"""`thali resume` and `thali status`: what a job says of itself; and where the job of a command
lies."""

import contextlib
import json
import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from thali._digits import percent
from thali._inference.jobs import is_running, note_command, read_index
from thali._model.spec import Option
from thali.errors import DataError

from ...slides import is_slide
from ..boundary import notify
from ..files import checked_formats

_OF_THALI = b'<meta name="generator" content="thali">'  # near the beginning of a report

JOB = "job"  # in the folder of the results
DATA_NAMED = "data"  # what the app calls the data, for which there is no option
COVER: tuple[str, ...] = ("title", "author", "question", DATA_NAMED)  # of a report
COMMAND = "command.json"  # there, of a fit without chains, which is no job
_OF_REPORTS = {"page", "cover", "slides"}  # arguments of a command that writes a report, or slides
# What `noted` takes for each command.
_BOTH = {"data_name": str, "typed": dict, "formats": list}
_ARGUMENTS: dict[str, dict[str, Any]] = {
    "fit": _BOTH
    | {"model_name": str | None, "page": Path | None, "cover": dict | None, "slides": Path | None},
    "compare": _BOTH | {"models": str | None, "own": dict},
}
OVERWRITE = Option("overwrite", "Replace an existing job.", bool)


def noted(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A command and its arguments, as a job holds them."""
    return {"name": name, "arguments": _as_json(arguments), "folder": os.getcwd()}


@contextmanager
def job_in(out: Path, overwrite: bool, command: dict[str, Any] | None) -> Iterator[Path]:
    """The folder of the job of a command, as `noted`, by which it can go on; `out` is removed if
    nothing was kept."""
    new = [folder for folder in (out, *out.parents) if not folder.exists()]
    out.mkdir(parents=True, exist_ok=True)
    try:
        with note_command(command, overwrite):
            yield out / JOB
    finally:
        for folder in new:
            with contextlib.suppress(OSError):  # it holds something
                folder.rmdir()


def command_in(folder: Path) -> tuple[str, dict[str, Any]]:
    """The command by which a job was begun, with its arguments, in the folder where it was if that
    is here.

    A relative path of the command starts at the folder of the results.
    """
    found = _index(folder)["command"]
    if found is None:
        raise DataError(
            f"The job in '{folder}' was not started from the command line; resume it where it was"
            " started."
        )
    out, arguments = folder.absolute(), _from_json(found["arguments"])
    is_known = found["name"] in _ARGUMENTS and _are_of(arguments, _ARGUMENTS[found["name"]])
    if not is_known or not _is_cover(arguments.get("cover", {})):
        raise DataError(
            f"The job in '{folder}' does not name a thali command; give a folder written by thali."
        )
    if "formats" in arguments:
        arguments["formats"] = checked_formats(arguments["formats"])
    if (page := arguments.get("page")) is not None and not _may_be_written(page, out):
        arguments["page"] = out / "report.html"
        notify(
            f"the report is written to {arguments['page']}, because {page} is another file, which"
            " must not be replaced."
        )
    if (slides := arguments.get("slides")) is not None and not _may_hold_slides(slides, out):
        arguments["slides"] = out / "slides"
        notify(
            f"the slides are written to {arguments['slides']}, because {slides} contains other"
            " files."
        )
    if (begun := out / found["folder"]).is_dir():
        os.chdir(begun)
    else:
        notify(
            f"the folder {found['folder']}, where the job was started, does not exist here;"
            f" looking for the data in {os.getcwd()}."
        )
    return found["name"], {**arguments, "out": out}


def _may_be_written(page: Path, out: Path) -> bool:
    """Whether a job may write its report there: to its own folder, to a new file, or in place of a
    report of thali."""
    return _is_own(page, out) or (page.is_file() and _OF_THALI in page.read_bytes()[:1000])


def _may_hold_slides(slides: Path, out: Path) -> bool:
    """Whether a job may write its slides there: to its own folder, a new one, or one that holds
    slides alone."""
    if _is_own(slides, out):
        return True
    return slides.is_dir() and all(
        is_slide(each.name) and each.is_file() for each in slides.iterdir()
    )


def _is_own(place: Path, out: Path) -> bool:
    """Whether a place is in the folder of a job, or new."""
    return place.resolve().is_relative_to(out.resolve()) or not os.path.lexists(place)


def _are_of(arguments: Any, kinds: Mapping[str, Any]) -> bool:
    """Whether arguments are those of a command, each of its kind."""
    if not isinstance(arguments, dict):
        return False
    return kinds.keys() - _OF_REPORTS <= arguments.keys() <= kinds.keys() and all(
        isinstance(arguments.get(name), kinds[name]) for name in kinds
    )


def _is_cover(given: Any) -> bool:
    """Whether these are texts of the cover of a report."""
    return (
        given is not None
        and given.keys() <= set(COVER)
        and all(isinstance(text, str) for text in given.values())
    )


def command_of(folder: Path) -> tuple[str, dict[str, Any], Path] | None:
    """The command whose results are in a folder, its arguments, and the folder where it was typed,
    if that is known."""
    index = read_index(folder / JOB)
    if index is None and (folder / COMMAND).exists():
        index = {"command": json.loads((folder / COMMAND).read_text("utf-8"))}
    if index is None or not (found := index["command"]):
        return None
    return found["name"], _from_json(found["arguments"]), folder / found["folder"]


def as_typed(name: str, arguments: Mapping[str, Any]) -> str:
    """A command with the arguments that `noted` takes, as it was typed, but for where its results
    go."""
    given = dict(arguments)
    cover = {
        word: text
        for word, text in (given.get("cover") or {}).items()
        if text and word != DATA_NAMED
    }
    options = cover | {"model": given.get("model_name"), "models": given.get("models")}
    options |= given.get("own", {}) | given.get("typed", {})
    words = [
        part for word, value in options.items() for part in _as_typed(word.replace("_", "-"), value)
    ]
    tables = given.get("data_names", [given["data_name"]] if "data_name" in given else [])
    return shlex.join(["thali", name, *tables, *words])


def _as_typed(word: str, value: Any) -> list[str]:
    """An option as it is typed."""
    if value is None:
        return []
    if isinstance(value, bool):
        return [f"--{word}" if value else f"--no-{word}"]
    if isinstance(value, list | tuple):
        return [part for each in value for part in _as_typed(word, each)]
    return [f"--{word}", str(value)]


def print_status(folder: Path) -> None:
    """Print how far a job is."""
    index = _index(folder)
    place, stamp = index["place"], index["stamp"]
    state = "running" if is_running(folder / JOB) else "finished" if index["ended"] else "stopped"
    name = stamp["models"][""]["class"] if stamp["kind"] == "fit" else stamp["kind"]
    print(f"{name}: {state}")
    print(
        f"{place['done']:,} of {place['total']:,} {place['unit']}"
        f" ({percent(place['done'] / max(1, place['total']))})"
    )
    for group, (done, total) in place.get("each", {}).items():
        print(f"  {group}: {done:,} of {total:,}")
    if recorded := index.get("recorded"):
        print(
            f"draws per chain: {', '.join(f'{n:,}' for n in recorded)}; target {place['draws']:,}"
        )
    print(f"last saved: {index['written']}")
    if state == "stopped" and index["command"]:
        print(f"to resume: thali resume {folder}")


def _index(folder: Path) -> dict[str, Any]:
    index = read_index(folder / JOB)
    if index is None:
        raise DataError(
            f"There is no job in '{folder}'; give the folder that was passed to --out of thali fit"
            " or compare."
        )
    return index


def _as_json(arguments: Any) -> Any:
    """What was typed, as JSON can hold it."""
    if isinstance(arguments, dict):
        return {word: _as_json(value) for word, value in arguments.items()}
    return {"path": str(arguments)} if isinstance(arguments, Path) else arguments


def _from_json(held: Any) -> Any:
    """What `_as_json` was given."""
    if not isinstance(held, dict):
        return held
    return (
        Path(held["path"])
        if held.keys() == {"path"}
        else {word: _from_json(each) for word, each in held.items()}
    )
