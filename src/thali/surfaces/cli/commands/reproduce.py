"""`thali reproduce`: recompute a published table or figure and print the paper's figures beside ours."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import typer

from thali.inference.jobs import command_noted

from ...readable import align
from ..boundary import INTERRUPTED, Terminal, notify
from .jobs import OVERWRITE

if TYPE_CHECKING:
    import pandas

    from thali.reproduce import Entry, Reproduction


def list_entries() -> None:
    """Print one paragraph for each entry."""
    from thali import reproduce

    for entry in reproduce.catalogue():
        takes = ", ".join(f"--{size} {time}" if size != "standard" else time for size, time in entry.takes.items())
        print(f"{entry.name}\n    {entry.shows}\n    {entry.paper}; on two cores: {takes}")
        if entry.needs:
            print(f"    needs --data FILE: {entry.needs}")


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
    jobs = None if out is None else out / f"{entry.name}-{size}-jobs"
    settings = reproduce.Settings(size, seed, cores, True, jobs, data, sushi)
    entry.check(settings)
    if out is not None:
        check_folder(out)
        out.mkdir(parents=True, exist_ok=True)
    notify(f"{entry.name}: {entry.shows}; {entry.paper}. On two cores this takes about {entry.takes[size]}.")
    with command_noted(None, overwrite):
        found = entry.run(settings)
    text = report(entry, found)
    try:
        if out is not None:
            _write(entry, found, text, out)
            notify(f"wrote the text, the tables and the pictures to {out}.")
    finally:  # a full disk must not cost the answer of a long run
        print(text)
    if found.interrupted:
        notify("stopped by Ctrl-C; what is printed rests on what was finished.")
        raise typer.Exit(INTERRUPTED)


def report(entry: "Entry", found: "Reproduction") -> str:
    """The tables and remarks as plain text."""
    parts = [f"{entry.shows} ({entry.paper})"]
    parts += [f"{title}\n{_plain(table)}" for title, table in found.tables.items()]
    return "\n\n".join([*parts, "\n".join(found.remarks)])


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
