"""`thali reproduce`: recompute a published table or figure, or all, and print the paper's figures beside ours."""

import hashlib
import math
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import typer

from thali._labels import plural
from thali.errors import ArgumentError
from thali.inference.jobs import command_noted
from thali.inference.parts import Batch, PartsFolder, Record
from thali.inference.progress import Progress

from ...readable import align
from ..boundary import INTERRUPTED, Terminal, notify
from .jobs import OVERWRITE, job_in, noted

if TYPE_CHECKING:
    import pandas

    from thali.reproduce import Entry, Reproduction, Settings

_WIDTH = 110  # of a line of sentences, on the pages of the papers, too


def list_entries() -> None:
    """Print one paragraph for each entry."""
    from thali import reproduce

    for entry in reproduce.catalogue():
        takes = ", ".join(f"--{size} {time}" if size != "standard" else time for size, time in entry.takes.items())
        print(f"{entry.name}\n    {entry.shows}\n    {entry.paper}; on two cores: {takes}")
        if entry.needs:
            print(f"    needs --data FILE: {entry.needs}")
            print(f"    in the folder of --all: {' or '.join(f'{name}.csv' for name in entry.named)}")


def run_entry(
    terminal: Terminal,
    name: str,
    *,
    size: str,
    seed: int,
    cores: int | None,
    data: Path | None,
    sushi: Path | None,
    out: Path | None,
    overwrite: bool,
) -> None:
    """Run the entry of that name and print what it found."""
    from thali import reproduce

    from ..files import check_folder

    terminal.know([OVERWRITE])
    entry = reproduce.find(name)
    settings = reproduce.Settings(
        size, seed, cores, True, None if out is None else out / _jobs(entry, size), data, sushi
    )
    entry.check(settings)
    if out is not None:
        check_folder(out)
        out.mkdir(parents=True, exist_ok=True)
    with command_noted(None, overwrite):
        found = _show(entry, settings, out)
    if found.interrupted:
        notify("stopped by Ctrl-C; what is printed rests on what was finished.")
        raise typer.Exit(INTERRUPTED)


def run_all(
    terminal: Terminal,
    *,
    size: str,
    seed: int,
    cores: int | None,
    data: Path | None,
    out: Path,
    overwrite: bool = False,
) -> None:
    """Run every entry whose data are there, as one job: what it finished is not done again."""
    from thali import reproduce

    from ..files import check_folder

    terminal.know([OVERWRITE])
    if data is not None and not data.is_dir():
        raise ArgumentError(f"--data of --all is a folder with the tables of all entries; {str(data)!r} is none.")
    check_folder(out)
    entries = {entry.name: entry for entry in reproduce.catalogue()}
    chosen: dict[str, Settings] = {}
    for entry in entries.values():
        common = reproduce.Settings(size, seed, cores, True, out / _jobs(entry, size), data)
        settings = entry.with_data_of(common)
        if settings is None:
            files = " or ".join(f"{name}.csv" for name in entry.named)
            notify(f"{entry.name} is left out: it needs {files} in the folder of --data.")
        else:
            entry.check(settings)
            chosen[entry.name] = settings
    keys = {name: _key(entries[name], settings) for name, settings in chosen.items()}
    notify(f"{plural(len(chosen), 'reproduction')}: {', '.join(chosen)}.")

    def made(name: str) -> Record:
        began = time.process_time()
        found = _show(entries[name], chosen[name], out)
        if found.interrupted:
            raise KeyboardInterrupt
        return {"seconds": time.process_time() - began}

    stamp = {"kind": "reproduction", "models": {}, "settings": {"entries": "all", "size": size}, "data": ""}
    command = noted("reproduce", {"size": size, "seed": seed, "cores": cores, "data": data})
    with job_in(out, overwrite, command) as path, PartsFolder(path, stamp, seed) as folder:
        folder.plan({key: name for name, key in keys.items()}, "reproductions")
        for name, key in keys.items():
            if not (out / f"{name}.txt").exists():  # somebody removed what was written
                folder.records.pop(key, None)
        batch = Batch(list(chosen), keys.__getitem__, made, folder=folder)
        interrupted = batch.finish(Progress(False, "", len(chosen)), lambda record: math.inf)
    if interrupted:
        notify(f"stopped by Ctrl-C; thali resume {out} goes on with it.")
        raise typer.Exit(INTERRUPTED)
    seconds = sum(record["seconds"] for record in batch.records.values())
    notify(f"{plural(len(chosen), 'reproduction')} in {out}; {seconds / 60:.0f} minutes of the processor.")


def _jobs(entry: "Entry", size: str) -> str:
    """The folder of the parts of a long run."""
    return f"{entry.name}-{size}-jobs"


def _key(entry: "Entry", settings: "Settings") -> str:
    """What stands for an entry in the job of all: its name, and a hash of its data if they are the user's."""
    if settings.data is None:
        return entry.name
    files = [settings.data] if settings.data.is_file() else entry.files_in(settings.data)
    return f"{entry.name} {hashlib.sha256(b''.join(file.read_bytes() for file in files)).hexdigest()}"


def _show(entry: "Entry", settings: "Settings", out: Path | None) -> "Reproduction":
    """Run an entry, write what it found, and print it."""
    notify(f"{entry.name}: {entry.shows}; {entry.paper}. On two cores this takes {entry.takes[settings.size]}.")
    found = entry.run(settings)
    text = report(entry, found)
    try:
        if out is not None:
            _write(entry, found, text, out)
            notify(f"wrote the text, the tables and the pictures to {out}.")
    finally:  # a full disk must not cost the answer of a long run
        print(text)
    return found


def report(entry: "Entry", found: "Reproduction") -> str:
    """The tables and remarks as plain text."""
    parts = [fill(f"{entry.shows} ({entry.paper})", _WIDTH)]
    parts += [f"{title}\n{_plain(table)}" for title, table in found.tables.items()]
    return "\n\n".join([*parts, "\n".join(fill(remark, _WIDTH) for remark in found.remarks)])


def _plain(table: "pandas.DataFrame") -> str:
    texts = {k for k, column in enumerate(table.columns) if table[column].dtype.kind not in "fi"}
    rows = [tuple(map(str, table.columns))]
    for row in table.itertuples(index=False):
        rows.append(tuple(_cell(str(column), value) for column, value in zip(table.columns, row, strict=True)))
    return align(rows, left=texts)


def _cell(column: str, value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if value != value:
        return "-"
    return f"{value:.4f}" if column.startswith(("error", "IS", "exact")) else f"{value:.3f}"


class _Own(NamedTuple):
    """A picture of a reproduction, as `Figures` takes it."""

    make: Callable[[], Any]

    def draw(self, plots: Any) -> Any:
        """Its axes."""
        return self.make()


def _write(entry: "Entry", found: "Reproduction", text: str, folder: Path) -> None:
    """Write NAME.txt, NAME-1.csv, ... and one PNG for each picture, all or none."""
    from thali.inference.files import write_together

    from ...figures import Figures
    from ..files import csv, drawn

    contents: dict[str, bytes | memoryview] = {f"{entry.name}.txt": f"{text}\n".encode()}
    for number, table in enumerate(found.tables.values(), start=1):
        contents[f"{entry.name}-{number}.csv"] = csv(table, index=False)
    with Figures() as figures:
        for name, draw in found.pictures.items():
            contents[f"{entry.name}-{name}.png"] = drawn(figures, _Own(draw), "png")
    write_together(folder, contents)
