"""`python -m papers`: recompute a published table or figure, or all, and print the paper's figures
beside ours."""

import hashlib
import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import typer

import papers
from thali._inference.job_folders import note_command
from thali._inference.progress_display import Progress
from thali._inference.resumable_tasks import Batch, PartsFolder, Record
from thali._labels import format_plural
from thali._surfaces.cli import result_files
from thali._surfaces.cli.commands.resume_status import OVERWRITE, open_job
from thali._surfaces.cli.terminal_messages import INTERRUPTED, notify, plain_messages
from thali._surfaces.figure_files import Figures
from thali._surfaces.text_tables import align
from thali.errors import ArgumentError

if TYPE_CHECKING:
    import pandas

    from .reproduction_entry import Entry, Reproduction, Settings

_WIDTH = 110  # of a line of sentences, on the pages of the papers, too

app: typer.Typer = typer.Typer(
    add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
)


@app.command()
def recompute(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE]", help="Table or figure to recompute.", show_default="list them"
        ),
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the tables and figures.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Recompute all whose data are there, as one job.")
    ] = False,
    small: Annotated[bool, typer.Option("--small", help="A short run.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="A long run, with small Monte Carlo errors.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same figures.")] = 1,
    cores: Annotated[
        int | None, typer.Option(min=1, help="Processors to use.", show_default="all")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="Folder of the data that thali does not contain, or one file."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the text, tables, pictures and finished parts of long runs.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Discard the unfinished job in --out.")
    ] = False,
) -> None:
    """Recompute a published table or figure and print the paper's figures beside ours."""
    with plain_messages() as terminal:
        terminal.use_options([OVERWRITE])
        if small and full:
            raise typer.BadParameter("a run is either --small or --full")
        size = "small" if small else "full" if full else "standard"
        settings = papers.Settings(size, seed, cores, data=data)
        if show_list or (name is None and not everything):
            list_entries()
        elif everything:
            if name is not None:
                raise typer.BadParameter(f"--all takes no name; leave out {name!r} or --all")
            if out is None:
                raise typer.BadParameter("--all writes what it finds; name a folder with --out DIR")
            run_all(settings, out, overwrite)
        else:
            run_entry(name, settings, out, overwrite)


def main() -> None:
    """Run the command line."""
    app(prog_name="python -m papers")


def list_entries() -> None:
    """Print one paragraph for each entry."""
    for entry in papers.catalogue():
        takes = ", ".join(
            f"--{size} {time}" if size != "standard" else time for size, time in entry.takes.items()
        )
        print(f"{entry.name}\n    {entry.shows}\n    {entry.paper}; on two cores: {takes}")
        if entry.needs:
            print(f"    needs --data: {entry.needs}")
            print(f"    in the folder: {' or '.join(f'{name}.csv' for name in entry.named)}")


def run_entry(name: str, settings: "Settings", out: Path | None, overwrite: bool) -> None:
    """Run the entry of that name and print what it found."""
    entry = papers.find(name)
    if settings.data is not None and settings.data.is_dir():
        settings = entry.with_data_of(settings) or settings
    entry.check(settings)
    if out is not None:
        result_files.check_folder(out)
        out.mkdir(parents=True, exist_ok=True)
        settings = replace(settings, folder=out / _jobs(entry, settings.size))
    with note_command(None, overwrite):
        found = _show(entry, settings, out)
    if found.interrupted:
        notify("stopped by Ctrl-C; what is printed rests on what was finished.")
        raise typer.Exit(INTERRUPTED)


def run_all(settings: "Settings", out: Path, overwrite: bool = False) -> None:
    """Run every entry whose data are there, as one job: what it finished is not done again."""
    if settings.data is not None and not settings.data.is_dir():
        raise ArgumentError(
            f"--data of --all is a folder with the tables of all entries; '{settings.data}' is"
            " none."
        )
    result_files.check_folder(out)
    entries = {entry.name: entry for entry in papers.catalogue()}
    chosen: dict[str, Settings] = {}
    for entry in entries.values():
        of_entry = entry.with_data_of(replace(settings, folder=out / _jobs(entry, settings.size)))
        if of_entry is None:
            tables = " or ".join(f"{name}.csv" for name in entry.named)
            notify(f"{entry.name} is left out: it needs {tables} in the folder of --data.")
        else:
            entry.check(of_entry)
            chosen[entry.name] = of_entry
    keys = {name: _key(entries[name], each) for name, each in chosen.items()}
    notify(f"{format_plural(len(chosen), 'reproduction')}: {', '.join(chosen)}.")

    def made(name: str) -> Record:
        began = time.process_time()
        found = _show(entries[name], chosen[name], out)
        if found.interrupted:
            raise KeyboardInterrupt
        return {"seconds": time.process_time() - began}

    stamp = {
        "kind": "reproduction",
        "models": {},
        "settings": {"entries": "all", "size": settings.size},
        "data": "",
    }
    with (
        open_job(out, overwrite, None) as path,
        PartsFolder(path, stamp, settings.random_seed) as folder,
    ):
        folder.plan({key: name for name, key in keys.items()}, "reproductions")
        for name, key in keys.items():
            if not (out / f"{name}.txt").exists():  # somebody removed what was written
                folder.records.pop(key, None)
        batch = Batch(list(chosen), keys.__getitem__, made, folder=folder)
        interrupted = batch.finish(Progress(False, "", len(chosen)), lambda record: math.inf)
    if interrupted:
        notify("stopped by Ctrl-C; the same command goes on.")
        raise typer.Exit(INTERRUPTED)
    seconds = sum(record["seconds"] for record in batch.records.values())
    notify(
        f"{format_plural(len(chosen), 'reproduction')} in {out}; {seconds / 60:.0f} minutes of the"
        " processor."
    )


def _jobs(entry: "Entry", size: str) -> str:
    """The folder of the parts of a long run."""
    return f"{entry.name}-{size}-jobs"


def _key(entry: "Entry", settings: "Settings") -> str:
    """What stands for an entry in the job of all: its name, and a hash of its data if they are the
    user's."""
    if settings.data is None:
        return entry.name
    tables = [settings.data] if settings.data.is_file() else entry.files_in(settings.data)
    return (
        f"{entry.name}"
        f" {hashlib.sha256(b''.join(table.read_bytes() for table in tables)).hexdigest()}"
    )


def _show(entry: "Entry", settings: "Settings", out: Path | None) -> "Reproduction":
    """Run an entry, write what it found, and print it."""
    notify(
        f"{entry.name}: {entry.shows}; {entry.paper}. On two cores this takes"
        f" {entry.takes[settings.size]}."
    )
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
        rows.append(
            tuple(
                _cell(str(column), value) for column, value in zip(table.columns, row, strict=True)
            )
        )
    return align(rows, left_columns=texts)


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

    def draw(self) -> Any:
        """Its axes."""
        return self.make()


def _write(entry: "Entry", found: "Reproduction", text: str, folder: Path) -> None:
    """Write NAME.txt, NAME-1.csv, ... and one PNG for each picture, all or none."""
    contents: dict[str, bytes | memoryview] = {f"{entry.name}.txt": f"{text}\n".encode()}
    for number, table in enumerate(found.tables.values(), start=1):
        contents[f"{entry.name}-{number}.csv"] = result_files.format_csv(table, index=False)
    with Figures() as figures:
        for name, draw in found.pictures.items():
            contents[f"{entry.name}-{name}.png"] = figures.save(_Own(draw), "png")
    result_files.write_together(folder, contents)
