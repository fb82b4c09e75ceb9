"""What the command line leaves on disk: all of it complete, or nothing."""

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from thali._inference.files import describe_write_error, write_together
from thali._labels import plural, shorten
from thali._model.finding import FILES, SHEETS, Findings, Picture
from thali.errors import ArgumentError, DataError, ThaliError

from ..figures import KINDS, Drawable, Figures
from .boundary import Terminal, notify

if TYPE_CHECKING:
    import pandas
    import xarray


def check_folder(folder: Path, option: str = "--out") -> Path:
    """The nearest folder that exists on the way to `folder`, once it is clear that `folder` can be
    written."""
    existing = folder
    while not existing.is_dir():
        if existing.exists():
            raise ArgumentError(
                f"{option} requires a folder; {existing} is a file. Choose another name."
            )
        existing = existing.parent
    if not os.access(existing, os.W_OK):
        raise ArgumentError(
            f"{option}: no permission to write to the folder {existing}. Choose another folder."
        )
    return existing


def check_out(out: Path | None) -> None:
    """Refuse a folder of --out that cannot be written, if there is one."""
    if out is not None:
        check_folder(out)


def write_findings(
    findings: Findings,
    folder: Path,
    formats: Iterable[str] = ("csv",),
    others: Mapping[str, bytes | memoryview] = MappingProxyType({}),
    figures: Figures | None = None,
) -> list[str]:
    """Write the tables of findings in these formats with other files, all or none; then each
    picture.

    Long tables, of single persons or pairs, are CSV alone.
    """
    shown = list(findings.select_surface(FILES))
    tables = {
        found.key: found.table
        for found in shown
        if found.table is not None and SHEETS in found.place
    }
    long = {
        found.key: found.table
        for found in shown
        if found.table is not None and SHEETS not in found.place
    }
    write_all(folder, {**others, **table_files(tables, formats), **table_files(long, ("csv",))})
    pictures = [found.picture for found in shown if found.picture]
    if figures is not None:
        return write_pictures(folder, pictures, formats, figures)
    with Figures() as own:
        return write_pictures(folder, pictures, formats, own)


def write_model(tree: "xarray.DataTree", folder: Path) -> None:
    """Write the model alone."""
    write_all(folder, model_file(tree))


def model_file(tree: "xarray.DataTree") -> dict[str, bytes | memoryview]:
    """posterior.nc, or model.nc where there are no draws."""
    from thali._model.model_files import MODEL_FILES
    from thali._posterior import store

    with_draws, without = MODEL_FILES
    return {with_draws if "posterior" in tree.children else without: store.to_netcdf(tree)}


def write_somewhere(folder: Path, write: Callable[[Path], None]) -> Path:
    """Write to a folder or, if that fails, to another that the user names; return it.

    Raises
    ------
    DataError
        If nobody names another; the error names the temporary folder of the results.
    """
    try:
        write(folder)
        return folder
    except ThaliError as error:
        notify(f"{error}")
    while sys.stdin.isatty() and sys.stderr.isatty():
        sys.stderr.write(
            "thali: enter another folder for the results (Enter: a temporary folder): "
        )
        sys.stderr.flush()
        if not (name := sys.stdin.readline().strip()):
            break
        try:
            write(Path(name))
            return Path(name)
        except (ThaliError, OSError) as error:
            notify(f"{error}")
    temporary = Path(tempfile.mkdtemp(prefix="thali-results-"))
    write(temporary)
    raise DataError(
        f"The results were written to '{temporary}' instead of '{folder}'; move the files to a"
        " permanent folder."
    )


def write_pictures(
    folder: Path, pictures: Iterable[Picture], formats: Iterable[str], figures: Figures
) -> list[str]:
    """Write pictures beside tables that are there; one that cannot be drawn costs a warning and
    nothing else."""
    from ..html import attempted

    kinds = [each for each in formats if each in KINDS] or ["png"]
    files = {
        f"{each.stem}.{kind}": partial(drawn, figures, each, kind)
        for each in pictures
        for kind in kinds
    }
    made = {name: attempted(f"the picture {name}", draw) for name, draw in files.items()}
    contents = {name: content for name, content in made.items() if content is not None}
    if contents:
        write_all(folder, contents)
    return list(contents)


def write_slides(findings: Findings, folder: Path, terminal: Terminal, about: str) -> None:
    """Write a slide for each answer that has a picture."""
    from ..slides import slide_files, slides

    made = slides(findings, terminal.words, about)
    if not made:
        notify("no result has a picture, so no slides were written.")
        return
    write_all(folder, slide_files(made))
    notify(f"wrote {plural(len(made), 'slide')} to the folder '{folder}'.")


def drawn(figures: Figures, picture: Drawable, kind: str) -> bytes:
    """A picture as a file of that kind."""
    return figures.saved(picture, kind)


def write_all(folder: Path, contents: Mapping[str, bytes | memoryview]) -> None:
    """Write files to a folder, which is made if it is absent, and say which files of other runs
    stand beside them."""
    existing = check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_together(folder, contents)
    except (ThaliError, OSError) as error:
        for new in (folder, *folder.parents):
            if new == existing:
                break
            with contextlib.suppress(OSError):  # one that another process has written to meanwhile
                new.rmdir()
        if isinstance(error, OSError):
            raise DataError(describe_write_error(folder, error)) from error
        raise
    kinds = {Path(name).suffix for name in contents}
    if others := sorted(
        f.name for f in folder.iterdir() if f.suffix in kinds and f.name not in contents
    ):
        notify(f"the folder '{folder}' also contains files from other runs: {shorten(others, 5)}.")


def formats_of(tables: str | None, pictures: str | None, out: Path | None) -> tuple[str, ...]:
    """The formats that `--tables` and `--pictures` name, CSV and PNG where they do not."""
    found = ()
    for typed, option, known, usual in (
        (tables, "--tables", (*_TABLES, WORKBOOK), "csv"),
        (pictures, "--pictures", KINDS, "png"),
    ):
        if typed is not None and out is None:
            raise ArgumentError(f"{option} applies to the files that --out writes; add --out DIR.")
        found += (
            (usual,)
            if typed is None
            else tuple(_format(each, option, known) for each in typed.split(","))
        )
    return tuple(dict.fromkeys(found))


def checked_formats(formats: Iterable[Any]) -> tuple[str, ...]:
    """The formats that a job names, each of which is one."""
    known = (*_TABLES, WORKBOOK, *KINDS)
    return tuple(_format(str(each), "The format stored in the job", known) for each in formats)


def _format(typed: str, option: str, known: tuple[str, ...]) -> str:
    """A format by its name, or by that of its program."""
    plain = typed.strip().lstrip(".").lower()
    name = {"latex": "tex", "markdown": "md", "excel": WORKBOOK}.get(plain, plain)
    if name not in known:
        raise ArgumentError(f"{option} must be one or more of {', '.join(known)}; got {name!r}.")
    return name


def table_files(
    tables: "Mapping[str, pandas.DataFrame]", formats: Iterable[str]
) -> dict[str, bytes | memoryview]:
    """Tables as files, by name; the index is written if it has names; in Excel all are sheets of
    one workbook."""
    formats = list(formats)
    found: dict[str, bytes | memoryview] = {
        f"{name}.{each}": _TABLES[each](table)
        for name, table in tables.items()
        for each in formats
        if each in _TABLES
    }
    return found | (
        {f"tables.{WORKBOOK}": _workbook(tables)} if WORKBOOK in formats and tables else {}
    )


def _csv(table: "pandas.DataFrame") -> bytes:
    from thali._described import is_numbered

    return csv(table, not is_numbered(table))


def _tex(table: "pandas.DataFrame") -> bytes:
    from thali._tables import Table

    return Table(table).to_latex().encode()


def _md(table: "pandas.DataFrame") -> bytes:
    from thali._tables import Table

    return f"{Table(table).to_markdown()}\n".encode()


def _workbook(tables: "Mapping[str, pandas.DataFrame]") -> bytes:
    """A sheet for each table."""
    import pandas as pd

    from thali._tables import Table, needs_excel

    needs_excel()
    content = io.BytesIO()
    with pd.ExcelWriter(content, engine="openpyxl") as writer:
        for name, table in tables.items():
            Table(table).to_excel(writer, sheet_name=name[:_LONGEST_SHEET])
    return content.getvalue()


_TABLES: dict[str, "Callable[[pandas.DataFrame], bytes]"] = {"csv": _csv, "tex": _tex, "md": _md}
WORKBOOK, _LONGEST_SHEET = "xlsx", 31  # letters that Excel allows in the name of a sheet


def csv(table: "pandas.DataFrame", index: bool = True) -> bytes:
    """A table as CSV."""
    return table.to_csv(index=index, lineterminator="\n").encode()
