"""`thali resume`, `thali status`, and the commands stored in job folders."""

import contextlib
import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from thali._inference.job_folders import is_running, note_command, read_index
from thali._inference.replaced_files import check_replaced, is_page
from thali._model.model_files import RESULT_FILES, find_model_file
from thali._model.model_spec import Option
from thali._number_format import format_percent
from thali.errors import DataError

from ..result_files import parse_stored_formats
from ..terminal_messages import notify

JOB = "job"  # in the folder of the results
DATA_NAMED = "data"  # what the app calls the data, for which there is no option
COVER: tuple[str, ...] = ("title", "author", "question", DATA_NAMED)  # of a report
COMMAND = "command.json"  # in the folder of a fit without chains, which has no job
# arguments of a command that writes a report
_REPORT_ARGUMENTS = {"page", "cover"}
# Types of the arguments in the note of each command.
_SHARED_ARGUMENTS = {"data_name": str, "typed": dict, "formats": list}
_ARGUMENTS: dict[str, dict[str, Any]] = {
    "fit": _SHARED_ARGUMENTS
    | {"model_name": str | None, "page": Path | None, "cover": dict | None},
    "compare": _SHARED_ARGUMENTS | {"models": str | None, "own": dict},
}
OVERWRITE = Option("overwrite", "Replace an existing job.", bool)


def build_job_note(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the dict that a job folder stores about its command."""
    return {"name": name, "arguments": _encode_paths(arguments), "folder": os.getcwd()}


@contextmanager
def open_job(out_folder: Path, overwrite: bool, command: dict[str, Any] | None) -> Iterator[Path]:
    """Open the job in `out_folder`, created if needed; yield its path.

    New folders are removed again if nothing was saved. `command`: from `build_job_note`; with it
    the job can be resumed.
    """
    new_folders = [folder for folder in (out_folder, *out_folder.parents) if not folder.exists()]
    out_folder.mkdir(parents=True, exist_ok=True)
    try:
        with note_command(command, overwrite):
            yield out_folder / JOB
    finally:
        for folder in new_folders:
            with contextlib.suppress(OSError):  # the folder is not empty
                folder.rmdir()


def read_job_command(folder: Path) -> tuple[str, dict[str, Any]]:
    """Read a job's command and arguments; change to the folder it was typed in.

    If the folder does not exist, the current folder is used. A relative path of the command starts
    at the folder of the results.
    """
    command_record = _read_job_index(folder)["command"]
    if command_record is None:
        raise DataError(
            f"The job in '{folder}' was not started from the command line; resume it where it was"
            " started."
        )
    out_folder = folder.absolute()
    arguments = _decode_paths(command_record["arguments"])
    is_valid = command_record["name"] in _ARGUMENTS and _match_parameters(
        arguments, _ARGUMENTS[command_record["name"]]
    )
    if not is_valid or not _is_cover(arguments.get("cover", {})):
        raise DataError(
            f"The job in '{folder}' does not name a thali command; give a folder written by thali."
        )
    if "formats" in arguments:
        arguments["formats"] = parse_stored_formats(arguments["formats"])
    report_file = arguments.get("page")
    if report_file is not None and not _may_write_report(report_file, out_folder):
        arguments["page"] = out_folder / "report.html"
        notify(
            f"the report is written to {arguments['page']}, because {report_file} is another file,"
            " which must not be replaced."
        )
    if (start_folder := out_folder / command_record["folder"]).is_dir():
        if start_folder.samefile(Path.cwd()):
            out_folder = folder  # printed as it was typed
        os.chdir(start_folder)
    else:
        notify(
            f"the folder {command_record['folder']}, where the job was started, does not exist"
            f" here; looking for the data in {os.getcwd()}."
        )
    return command_record["name"], {**arguments, "out": out_folder}


def _may_write_report(report_file: Path, job_folder: Path) -> bool:
    """Return whether a job may write its report to this file."""
    # It may write to its own folder, create a file, or replace a report by thali.
    if report_file.resolve().is_relative_to(job_folder.resolve()):
        return True
    if not os.path.lexists(report_file):
        return True
    return report_file.is_file() and is_page(report_file)


def _match_parameters(arguments: Mapping[str, Any], type_by_name: Mapping[str, Any]) -> bool:
    """Return whether stored arguments have the command's names and types."""
    if not isinstance(arguments, dict):
        return False
    return (
        type_by_name.keys() - _REPORT_ARGUMENTS <= arguments.keys() <= type_by_name.keys()
        and all(isinstance(arguments.get(name), type_by_name[name]) for name in type_by_name)
    )


def _is_cover(cover: Any) -> bool:
    """Return whether a stored value is a valid cover (title, author, ...)."""
    return (
        cover is not None
        and cover.keys() <= set(COVER)
        and all(isinstance(text, str) for text in cover.values())
    )


def find_command(folder: Path) -> tuple[str, dict[str, Any], Path] | None:
    """Return name, arguments and folder of the command that wrote a results folder, or None."""
    job_index = read_index(folder / JOB)
    if job_index is None and (folder / COMMAND).exists():
        job_index = {"command": json.loads((folder / COMMAND).read_text("utf-8"))}
    if job_index is None or not (command_record := job_index["command"]):
        return None
    return (
        command_record["name"],
        _decode_paths(command_record["arguments"]),
        folder / command_record["folder"],
    )


def refuse_other_results(folder: Path | None, name: str, arguments: Mapping[str, Any]) -> None:
    """Raise DataError if a folder contains results of another command, data, model or method."""
    if folder is None or (found := find_command(folder)) is None:
        return
    found_name, found_arguments, _ = found

    def identify(given: Mapping[str, Any]) -> list[Any]:
        """Return what decides which files a command writes."""
        names = [given.get(key) for key in ("data_name", "data_names", "model_name")]
        return [*names, given["typed"].get("method")]

    if found_name != name or identify(found_arguments) != identify(arguments):
        raise DataError(
            f"The folder '{folder}' contains the results of"
            f" '{format_command(found_name, found_arguments)}'; choose another folder, or delete"
            " this one."
        )


def check_results_folder(
    folder: Path | None, inputs: Iterable[Any], formats: Iterable[str], overwrite: bool
) -> None:
    """Raise DataError if the results of a fit would replace other files of a folder.

    Called when the modules of the findings are imported, whose keys are names of files.
    """
    from thali import plots
    from thali._model.finding import FINDING_KEYS

    if folder is None or not folder.is_dir():
        return
    has_results = find_model_file(folder) is not None or find_command(folder) is not None
    names = (*RESULT_FILES, COMMAND, "report.html", "tables.xlsx")
    stems = {*FINDING_KEYS, *dir(plots), *(Path(name).stem for name in names)}
    suffixes = {f".{name}" for name in (*formats, "csv", "json", "nc", "html")}
    for file in folder.iterdir():
        if file.stem in stems and file.suffix in suffixes:
            check_replaced(file, inputs, lambda _: has_results, overwrite)


def format_command(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a command as the user typed it, without --out."""
    setting_by_option = {
        word: text
        for word, text in (arguments.get("cover") or {}).items()
        if text and word != DATA_NAMED
    }
    setting_by_option |= {"model": arguments.get("model_name"), "models": arguments.get("models")}
    setting_by_option |= arguments.get("own", {}) | arguments.get("typed", {})
    option_words = [
        part
        for word, setting in setting_by_option.items()
        for part in _format_option(word.replace("_", "-"), setting)
    ]
    return shlex.join(["thali", name, *list_data_names(arguments), *option_words])


def list_data_names(arguments: Mapping[str, Any]) -> list[str]:
    """Return the files and data sets in a command's arguments."""
    if "data_names" in arguments:
        return arguments["data_names"]
    return [arguments["data_name"]]


def _format_option(word: str, setting: Any) -> list[str]:
    """Return the words of a typed option, such as ["--draws", "500"]."""
    if setting is None:
        return []
    if isinstance(setting, bool):
        if setting:
            return [f"--{word}"]
        return [f"--no-{word}"]
    if isinstance(setting, list | tuple):
        return [part for element in setting for part in _format_option(word, element)]
    return [f"--{word}", str(setting)]


def print_status(folder: Path) -> None:
    """Print the progress of the job in a folder."""
    job_index = _read_job_index(folder)
    progress = job_index["place"]
    stamp = job_index["stamp"]
    state = "stopped"
    if is_running(folder / JOB):
        state = "running"
    elif job_index["ended"]:
        state = "finished"
    job_name = stamp["kind"]
    if job_name == "fit":
        job_name = stamp["models"][""]["class"]
    print(f"{job_name}: {state}")
    print(
        f"{progress['done']:,} of {progress['total']:,} {progress['unit']}"
        f" ({format_percent(progress['done'] / max(1, progress['total']))})"
    )
    for part_name, (n_done, n_total) in progress.get("each", {}).items():
        print(f"  {part_name}: {n_done:,} of {n_total:,}")
    if draws_by_chain := job_index.get("recorded"):
        print(
            f"draws per chain: {', '.join(f'{n:,}' for n in draws_by_chain)}; target"
            f" {progress['draws']:,}"
        )
    print(f"last saved: {job_index['written']}")
    if state == "stopped" and job_index["command"]:
        print(f"to resume: thali resume {folder}")


def _read_job_index(folder: Path) -> dict[str, Any]:
    """Return the index of a job; raise DataError if there is no job."""
    job_index = read_index(folder / JOB)
    if job_index is None:
        raise DataError(
            f"There is no job in '{folder}'; give the folder that was passed to --out of thali fit"
            " or compare."
        )
    return job_index


def _encode_paths(arguments: Any) -> Any:
    """Replace each Path in arguments by {"path": text}, for JSON."""
    if isinstance(arguments, dict):
        return {word: _encode_paths(argument) for word, argument in arguments.items()}
    if isinstance(arguments, Path):
        return {"path": str(arguments)}
    return arguments


def _decode_paths(encoded: Any) -> Any:
    """Replace each {"path": text} in arguments by a Path."""
    if not isinstance(encoded, dict):
        return encoded
    if encoded.keys() == {"path"}:
        return Path(encoded["path"])
    return {word: _decode_paths(argument) for word, argument in encoded.items()}
