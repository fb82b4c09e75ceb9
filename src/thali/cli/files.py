"""What the command line leaves on disk: all of it complete, or nothing."""

import contextlib
import io
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

from thali._labels import shorten
from thali.errors import ArgumentError, DataError, ThaliError
from thali.inference.files import cannot_write, write_together
from thali.model.finding import FILES, Findings

from .boundary import notify

if TYPE_CHECKING:
    import pandas
    import xarray


def check_folder(folder: Path) -> Path:
    """The nearest folder that exists on the way to `folder`, once it is clear that `folder` can be written.

    Parameters
    ----------
    folder : Path
        Where files shall go; it need not exist.

    Returns
    -------
    Path
        `folder` itself, or the nearest parent that exists.

    Raises
    ------
    ArgumentError
        If a file is in the way, or the folder may not be written to.
    """
    existing = folder
    while not existing.is_dir():
        if existing.exists():
            raise ArgumentError(f"--out needs a folder; {existing} is a file. Choose another name.")
        existing = existing.parent
    if not os.access(existing, os.W_OK):
        raise ArgumentError(f"--out: you may not write to the folder {existing}. Choose another.")
    return existing


def write_results(
    tree: "xarray.DataTree",
    findings: Findings,
    folder: Path,
    formats: Iterable[str] = ("csv",),
    others: Mapping[str, bytes] = MappingProxyType({}),
) -> list[str]:
    """Write the model and each table in these formats, all or none; then each picture.

    Parameters
    ----------
    tree : xarray.DataTree
        The fitted model, which goes to posterior.nc if it has draws, else to model.nc.
    findings : Findings
    folder : Path
        Where to; made if it is absent.
    formats : iterable of str
        Of the tables: csv, tex, md, xlsx.
    others : mapping from file name to bytes
        What is written with them.

    Returns
    -------
    list of str
        The names of the pictures that are there.

    Raises
    ------
    DataError
        If the model or a table cannot be written; none of them is there then.
    """
    return write_findings(findings, folder, formats, {**_model_file(tree), **others})


def write_findings(
    findings: Findings,
    folder: Path,
    formats: Iterable[str] = ("csv",),
    others: Mapping[str, bytes | memoryview] = MappingProxyType({}),
) -> list[str]:
    """Write the tables of findings in these formats with other files, all or none; then each picture.

    Returns
    -------
    list of str
        The names of the pictures that are there.
    """
    shown = list(findings.of(FILES))
    tables = {found.key: found.table for found in shown if found.table is not None}
    write_all(folder, {**others, **table_files(tables, formats)})
    return write_pictures(folder, {found.picture.stem: found.picture.draw for found in shown if found.picture})


def write_model(tree: "xarray.DataTree", folder: Path) -> None:
    """Write the model alone."""
    write_all(folder, _model_file(tree))


def _model_file(tree: "xarray.DataTree") -> dict[str, bytes | memoryview]:
    """posterior.nc, or model.nc where there are no draws."""
    from thali.posterior import store

    return {"posterior.nc" if "posterior" in tree.children else "model.nc": store.to_netcdf(tree)}


def write_pictures(folder: Path, pictures: Mapping[str, Callable[[ModuleType], Any]]) -> list[str]:
    """Write pictures as PNG beside tables that are there; one that cannot be drawn costs a warning and nothing else.

    Parameters
    ----------
    folder : Path
    pictures : mapping from file name, without its end, to callable
        Each as `png` takes it.

    Returns
    -------
    list of str
        The names of those that were written.
    """
    from thali.surfaces.html.drawing import attempted

    made = {f"{name}.png": attempted(f"the picture {name}.png", partial(png, draw)) for name, draw in pictures.items()}
    contents = {name: content for name, content in made.items() if content is not None}
    if contents:
        write_all(folder, contents)
    return [name.removesuffix(".png") for name in contents]


def write_all(folder: Path, contents: Mapping[str, bytes | memoryview]) -> None:
    """Write files to a folder, which is made if it is absent, and say which files of other runs stand beside them.

    Parameters
    ----------
    folder : Path
    contents : mapping from file name to bytes or memoryview

    Raises
    ------
    DataError
        If a file cannot be written; none of them is there then.
    """
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
            raise DataError(cannot_write(folder, error)) from error
        raise
    kinds = {Path(name).suffix for name in contents}
    if others := sorted(f.name for f in folder.iterdir() if f.suffix in kinds and f.name not in contents):
        notify(f"{folder} also holds files that are not of this run: {shorten(others, 5)}.")


def table_formats(typed: str | None, out: Path | None) -> tuple[str, ...]:
    """The formats that `--tables` names.

    Raises
    ------
    ArgumentError
        If there is none of that name, or no folder to write to.
    """
    if typed is None:
        return ("csv",)
    if out is None:
        raise ArgumentError("--tables is about the files of --out DIR; name the folder.")
    formats = tuple(dict.fromkeys(part.strip().lstrip(".").lower() for part in typed.split(",")))
    names = {"latex": "tex", "markdown": "md", "excel": "xlsx"}
    formats = tuple(names.get(each, each) for each in formats)
    for each in formats:
        if each not in _FORMATS:
            raise ArgumentError(f"--tables must be some of {', '.join(_FORMATS)}; got {each!r}.")
    return formats


def table_files(tables: "Mapping[str, pandas.DataFrame]", formats: Iterable[str]) -> dict[str, bytes | memoryview]:
    """Tables as files, by name; the index is written if it has names."""
    return {f"{name}.{each}": _FORMATS[each](table) for name, table in tables.items() for each in formats}


def _csv(table: "pandas.DataFrame") -> bytes:
    from thali._described import is_numbered

    return csv(table, not is_numbered(table))


def _tex(table: "pandas.DataFrame") -> bytes:
    from thali._tables import Table

    return Table(table).to_latex().encode()


def _md(table: "pandas.DataFrame") -> bytes:
    from thali._tables import Table

    return f"{Table(table).to_markdown()}\n".encode()


def _xlsx(table: "pandas.DataFrame") -> bytes:
    from thali._tables import Table

    content = io.BytesIO()
    Table(table).to_excel(content)
    return content.getvalue()


_FORMATS: dict[str, "Callable[[pandas.DataFrame], bytes]"] = {"csv": _csv, "tex": _tex, "md": _md, "xlsx": _xlsx}


def csv(table: "pandas.DataFrame", index: bool = True) -> bytes:
    """A table as CSV."""
    return table.to_csv(index=index, lineterminator="\n").encode()


def png(draw: Callable[[ModuleType], Any]) -> bytes:
    """A picture as PNG.

    Parameters
    ----------
    draw : callable
        Takes the module `thali.plots`, gives back axes.

    Returns
    -------
    bytes
    """
    import matplotlib
    import numpy as np
    from matplotlib import pyplot

    from thali import plots

    matplotlib.use("Agg")  # pictures go to files, so no display is needed
    before = set(pyplot.get_fignums())
    content = io.BytesIO()
    try:
        np.ravel(draw(plots))[0].figure.savefig(content, format="png", dpi=150, bbox_inches="tight")
    finally:
        for number in set(pyplot.get_fignums()) - before:
            pyplot.close(number)
    return content.getvalue()
