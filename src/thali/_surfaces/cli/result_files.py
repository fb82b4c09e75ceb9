"""Writing of result folders: tables, pictures, model; all files or none."""

import contextlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from thali._inference.checksummed_files import describe_write_error, write_together
from thali._inference.replaced_files import begins_like, check_replaced
from thali._labels import shorten
from thali._model.finding import FILES, SHEETS, Findings, Picture
from thali.errors import ArgumentError, DataError, ThaliError

from ..figure_files import PICTURE_FORMATS, Figures
from .terminal_messages import notify

if TYPE_CHECKING:
    import pandas
    import xarray


def check_folder(folder: Path) -> Path:
    """Raise if a folder cannot be written; return its nearest existing ancestor."""
    existing_folder = folder
    while not existing_folder.is_dir():
        if existing_folder.exists():
            raise ArgumentError(
                f"--out requires a folder; {existing_folder} is a file. Choose another name."
            )
        existing_folder = existing_folder.parent
    if not os.access(existing_folder, os.W_OK):
        raise ArgumentError(
            f"--out: no permission to write to the folder {existing_folder}. Choose another folder."
        )
    return existing_folder


def check_output_folder(folder: Path | None) -> None:
    """Raise DataError if the --out folder cannot be written."""
    if folder is not None:
        check_folder(folder)


def list_inputs(*typed: Any) -> list[str]:
    """Return the parts of typed arguments that may be files, such as NAME=FILE."""
    texts: list[str] = []
    for argument in typed:
        if isinstance(argument, dict):
            texts += list_inputs(*argument.values())
        elif isinstance(argument, list | tuple):
            texts += list_inputs(*argument)
        elif isinstance(argument, str | Path):
            texts += [str(argument), *re.split("[,=:]", str(argument))]
    return texts


def write_findings(
    findings: Findings,
    folder: Path,
    formats: Iterable[str] = ("csv",),
    other_files: Mapping[str, bytes | memoryview] = MappingProxyType({}),
    figures: Figures | None = None,
) -> list[str]:
    """Write the findings' tables, other files and pictures to a folder; return the file names.

    Long tables, with one row per respondent or pair, are written as CSV only.

    Returns the names of the written pictures.
    """
    file_findings = list(findings.select_surface(FILES))
    tables = {}
    long_tables = {}
    for finding in file_findings:
        if finding.table is not None:
            if SHEETS in finding.place:
                tables[finding.key] = finding.table
            else:
                long_tables[finding.key] = finding.table
    table_contents = format_tables(tables, formats) | format_tables(long_tables, ("csv",))
    write_files(folder, {**other_files, **table_contents})
    pictures = [finding.picture for finding in file_findings if finding.picture]
    if figures is not None:
        return write_pictures(folder, pictures, formats, figures)
    with Figures() as figures:
        return write_pictures(folder, pictures, formats, figures)


def write_model(datatree: "xarray.DataTree", folder: Path) -> None:
    """Write only the fitted model to a folder."""
    write_files(folder, build_model_file(datatree))


def build_model_file(datatree: "xarray.DataTree") -> dict[str, bytes | memoryview]:
    """Return {name: bytes} of the model: posterior.nc, or model.nc without draws."""
    from thali._model.model_files import MODEL_FILES
    from thali._posterior import datatree_files

    posterior_name, file_name = MODEL_FILES
    if "posterior" in datatree.children:
        file_name = posterior_name
    return {file_name: datatree_files.to_netcdf(datatree)}


def write_with_fallback(folder: Path, write_to: Callable[[Path], None]) -> Path:
    """Call `write_to` with the folder; if that fails, with one that the user types.

    Returns the folder.

    Raises
    ------
    DataError
        If the user names no other folder; the error names the temporary folder of the results.
    """
    try:
        write_to(folder)
        return folder
    except ThaliError as error:
        notify(f"{error}")
    while sys.stdin.isatty() and sys.stderr.isatty():
        sys.stderr.write(
            "thali: enter another folder for the results (Enter: a temporary folder): "
        )
        sys.stderr.flush()
        if not (typed_name := sys.stdin.readline().strip()):
            break
        try:
            write_to(Path(typed_name))
            return Path(typed_name)
        except (ThaliError, OSError) as error:
            notify(f"{error}")
    temporary_folder = Path(tempfile.mkdtemp(prefix="thali-results-"))
    write_to(temporary_folder)
    raise DataError(
        f"The results were written to '{temporary_folder}' instead of '{folder}'; move the files"
        " to a permanent folder."
    )


def write_pictures(
    folder: Path, pictures: Iterable[Picture], formats: Iterable[str], figures: Figures
) -> list[str]:
    """Write pictures to a folder; warn if one fails; return the file names.

    Returns the names of the written files.
    """
    from ..html_report import make_or_warn

    picture_formats = [file_name for file_name in formats if file_name in PICTURE_FORMATS] or [
        "png"
    ]
    painter_by_file = {
        f"{picture.stem}.{picture_format}": partial(figures.save, picture, picture_format)
        for picture in pictures
        for picture_format in picture_formats
    }
    image_by_name = {
        file_name: make_or_warn(f"the picture {file_name}", draw)
        for file_name, draw in painter_by_file.items()
    }
    written_images = {
        file_name: image for file_name, image in image_by_name.items() if image is not None
    }
    if written_images:
        write_files(folder, written_images)
    return list(written_images)


def write_tables(
    folder: Path,
    tables: "Mapping[str, pandas.DataFrame]",
    formats: Iterable[str],
    inputs: Iterable[Any],
    overwrite: bool,
) -> None:
    """Write tables to a folder of which nothing but their older versions is replaced."""
    content_by_name = format_tables(tables, formats)
    for name, content in content_by_name.items():
        check_replaced(folder / name, inputs, begins_like(content), overwrite)
    write_files(folder, content_by_name)


def write_files(folder: Path, content_by_name: Mapping[str, bytes | memoryview]) -> None:
    """Write {name: bytes} to a folder, which is created if needed.

    Reports files of the same formats from other runs in the folder.
    """
    existing_folder = check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_together(folder, content_by_name)
    except (ThaliError, OSError) as error:
        for new_folder in (folder, *folder.parents):
            if new_folder == existing_folder:
                break
            with contextlib.suppress(OSError):  # another process may have written to it
                new_folder.rmdir()
        if isinstance(error, OSError):
            raise DataError(describe_write_error(folder, error)) from error
        raise
    suffixes = {Path(name).suffix for name in content_by_name}
    if other_names := sorted(
        file.name
        for file in folder.iterdir()
        if file.suffix in suffixes and file.name not in content_by_name
    ):
        notify(
            f"the folder '{folder}' also contains files from other runs: {shorten(other_names, 5)}."
        )


def parse_formats(
    tables: str | None, pictures: str | None, out_folder: Path | None
) -> tuple[str, ...]:
    """Parse --tables and --pictures; CSV and PNG by default."""
    formats: list[str] = []
    for text, option, known_formats, default_format in (
        (tables, "--tables", (*_TABLE_FORMATS, WORKBOOK), "csv"),
        (pictures, "--pictures", PICTURE_FORMATS, "png"),
    ):
        if text is not None and out_folder is None:
            raise ArgumentError(f"{option} applies to the files that --out writes; add --out DIR.")
        if text is None:
            formats.append(default_format)
        else:
            formats += [_parse_format(name, option, known_formats) for name in text.split(",")]
    return tuple(dict.fromkeys(formats))


def parse_stored_formats(formats: Iterable[Any]) -> tuple[str, ...]:
    """Return the formats stored in a job; raise if one is unknown."""
    known_formats = (*_TABLE_FORMATS, WORKBOOK, *PICTURE_FORMATS)
    return tuple(
        _parse_format(str(name), "The format stored in the job", known_formats) for name in formats
    )


def _parse_format(text: str, option: str, known_formats: tuple[str, ...]) -> str:
    """Return the format with this name or program name, such as "excel" for xlsx."""
    plain_text = text.strip().lstrip(".").lower()
    format_name = {"latex": "tex", "markdown": "md", "excel": WORKBOOK}.get(plain_text, plain_text)
    if format_name not in known_formats:
        raise ArgumentError(
            f"{option} must be one or more of {', '.join(known_formats)}; got {format_name!r}."
        )
    return format_name


def format_tables(
    tables: "Mapping[str, pandas.DataFrame]", formats: Iterable[str]
) -> dict[str, bytes | memoryview]:
    """Return tables as {file name: bytes}; in Excel as sheets of one workbook.

    The index is written if it has names.
    """
    formats = list(formats)
    bytes_by_file: dict[str, bytes | memoryview] = {
        f"{name}.{table_format}": _TABLE_FORMATS[table_format](table)
        for name, table in tables.items()
        for table_format in formats
        if table_format in _TABLE_FORMATS
    }
    if WORKBOOK in formats and tables:
        bytes_by_file[f"tables.{WORKBOOK}"] = _build_workbook(tables)
    return bytes_by_file


def _format_table_csv(table: "pandas.DataFrame") -> bytes:
    """Return a table as CSV bytes, without a plain row index."""
    from thali._object_descriptions import is_numbered

    return format_csv(table, not is_numbered(table))


def _format_table_latex(table: "pandas.DataFrame") -> bytes:
    """Return a table as LaTeX bytes."""
    from thali._exportable_table import Table

    return Table(table).to_latex().encode()


def _format_table_markdown(table: "pandas.DataFrame") -> bytes:
    """Return a table as Markdown bytes."""
    from thali._exportable_table import Table

    return f"{Table(table).to_markdown()}\n".encode()


def _build_workbook(tables: "Mapping[str, pandas.DataFrame]") -> bytes:
    """Return an Excel workbook with one sheet per table, as bytes."""
    import pandas as pd

    from thali._exportable_table import Table, require_excel

    require_excel()
    buffer = io.BytesIO()
    with pd.ExcelWriter(buffer, engine="openpyxl") as writer:
        for name, table in tables.items():
            Table(table).to_excel(writer, sheet_name=name[:_LONGEST_SHEET])
    return buffer.getvalue()


_TABLE_FORMATS: dict[str, "Callable[[pandas.DataFrame], bytes]"] = {
    "csv": _format_table_csv,
    "tex": _format_table_latex,
    "md": _format_table_markdown,
}
WORKBOOK, _LONGEST_SHEET = "xlsx", 31  # letters that Excel allows in the name of a sheet


def format_csv(table: "pandas.DataFrame", index: bool = True) -> bytes:
    """Return a table as CSV bytes."""
    return table.to_csv(index=index, lineterminator="\n").encode()
