"""`thali resume` and `thali status`: what a job says of itself."""

import os
from pathlib import Path
from typing import Any

from thali.errors import DataError
from thali.inference.jobs import is_running, read_index

JOB = "job"  # in the folder of the results


def as_json(command: dict[str, Any]) -> dict[str, Any]:
    """What was typed, as JSON can hold it."""
    typed = {word: {"path": str(v)} if isinstance(v, Path) else v for word, v in command["typed"].items()}
    return {**command, "typed": typed, "out": str(command["out"]), "folder": os.getcwd()}


def command_in(folder: Path) -> dict[str, Any]:
    """The arguments of `run_fit` by which a job was begun, in the folder where it was.

    Raises
    ------
    DataError
        If there is no such job.
    """
    found = _index(folder).get("command")
    if found is None:
        raise DataError(f"The job in '{folder}' was not begun by thali fit; go on with it where it was begun.")
    typed = {word: Path(v["path"]) if isinstance(v, dict) else v for word, v in found["typed"].items()}
    out = folder.absolute()
    if not Path(found["folder"]).is_dir():
        raise DataError(f"The job in '{folder}' was begun in '{found['folder']}', which is no folder any more.")
    os.chdir(found["folder"])
    return {"data_name": found["data_name"], "model_name": found["model_name"], "typed": typed, "out": out}


def print_status(folder: Path) -> None:
    """Print how far a job is."""
    index = _index(folder)
    place, stamp = index["place"], index["stamp"]
    state = "running" if is_running(folder / JOB) else "finished" if index["ended"] else "stopped"
    print(f"{stamp['model']}: {state}")
    print(f"{place['done']:,} of {place['total']:,} {place['unit']} ({place['done'] / max(1, place['total']):.0%})")
    if index["recorded"]:
        print(f"draws of each chain: {', '.join(f'{n:,}' for n in index['recorded'])}; aimed at {place['draws']:,}")
    print(f"last snapshot: {index['written']}")
    if state == "stopped" and index.get("command"):
        print(f"thali resume {folder} goes on with it.")


def _index(folder: Path) -> dict[str, Any]:
    index = read_index(folder / JOB)
    if index is None:
        raise DataError(f"There is no job in '{folder}'; give the folder that --out of thali fit named.")
    return index
