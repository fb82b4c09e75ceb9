"""Downloads of the app: files by one-time addresses, and a study as a zip archive.

Frames and downloads send no header with the key, hence the secret addresses. The command line reads
the unpacked folder::

    drinks/                 results of `thali fit --out`: posterior, tables, pictures, report, job
      data.csv              the data, and files of options
      compare/ evidence/    results of `thali compare --out`
      test/                 the report of a classical test, and its tables
"""

import csv
import io
import json
import re
import secrets
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from starlette.responses import FileResponse, Response, StreamingResponse

from thali._inference.job_folders import INDEX, LOCK, encode_index, read_index
from thali._labels import escape_formula
from thali._model.model_files import find_model_file
from thali.errors import DataError

from ..cli.commands.resume_status import COMMAND, JOB
from .request_guard import REPORT_POLICY
from .study_folders import COMPARE, EVIDENCE, FIT, RUNS, SUFFIXES, TEST, StudyFolder

_VALID = 60.0  # seconds
_STEM = 40  # characters


class Tickets:
    """HTTP responses that can each be fetched once, under a secret name."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[float, Response]] = {}

    def issue(self, response: Response) -> str:
        """Store a response; return the secret name under which it can be fetched once."""
        now = time.monotonic()
        ticket_name = secrets.token_urlsafe(32)
        self._waiting = {key: entry for key, entry in self._waiting.items() if entry[0] > now}
        self._waiting[ticket_name] = now + _VALID, response
        return ticket_name

    def redeem(self, ticket_name: str) -> Response | None:
        """Return and forget the response with this secret name; None if unknown or expired."""
        expiry_time, response = self._waiting.pop(ticket_name, (0.0, None))
        if time.monotonic() > expiry_time:
            return None
        return response


def find_file(study: StudyFolder, address: str) -> Response | None:
    """Return the response for RUN/view, report, posterior, csv or xlsx; None if no such file."""
    run_name, _, file_kind = address.partition("/")
    run_folder = study.path / run_name
    if run_name not in RUNS or run_folder.is_symlink():
        return None
    report_file = run_folder / "report.html"
    file_stem = format_stem(study)
    if file_kind in ("view", "report") and _is_plain_file(report_file):
        download_name = None
        if file_kind == "report":
            download_name = f"{file_stem}-{run_name}.html"
        return FileResponse(
            report_file,
            media_type="text/html",
            headers={"Content-Security-Policy": REPORT_POLICY},
            filename=download_name,
        )
    if file_kind == "posterior":
        model_file = find_model_file(run_folder)
        if model_file is None or not _is_plain_file(model_file):
            return None
        return FileResponse(
            model_file,
            media_type="application/x-netcdf",
            filename=f"{file_stem}-{model_file.name}",
        )
    if file_kind == "xlsx" and _is_plain_file(workbook := run_folder / "tables.xlsx"):
        return FileResponse(workbook, filename=f"{file_stem}-{run_name}.xlsx")
    if file_kind == "csv" and (
        csv_files := sorted(filter(_is_plain_file, run_folder.glob("*.csv")))
    ):
        return _zip_tables(csv_files, f"{file_stem}-{run_name}-csv.zip")
    return None


def _is_plain_file(path: Path) -> bool:
    """Return whether the path is a regular file, not a link."""
    return path.is_file() and not path.is_symlink()


def escape_formulas(table: str) -> str:
    """Return a CSV text in which cells that start like formulas get an apostrophe.

    Spreadsheets then read only text and numbers, as in the workbooks.

    Examples
    --------
    >>> escape_formulas("option,weight\\n=HYPERLINK(1),-0.5\\n")
    "option,weight\\n'=HYPERLINK(1),-0.5\\n"
    """
    csv_buffer = io.StringIO()
    writer = csv.writer(csv_buffer, lineterminator="\n")
    for row in csv.reader(io.StringIO(table, newline="")):
        writer.writerow(map(escape_formula, row))
    return csv_buffer.getvalue()


def format_stem(study: StudyFolder) -> str:
    """Return a study's title as a file name that all systems accept."""
    title = study.shown_title
    suffix = Path(title).suffix
    if suffix.lower() in SUFFIXES:
        title = title.removesuffix(suffix)
    return re.sub(r"[^A-Za-z0-9]+", "-", title)[:_STEM].strip("-") or "thali"


def _zip_tables(csv_files: list[Path], archive_name: str) -> Response:
    """Return a response with CSV files in a zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for csv_file in csv_files:
            file_bytes = escape_formulas(csv_file.read_text("utf-8")).encode()
            archive.writestr(zipfile.ZipInfo(csv_file.name), file_bytes, zipfile.ZIP_DEFLATED)
    headers = {"Content-Disposition": f'attachment; filename="{archive_name}"'}
    return Response(buffer.getvalue(), media_type="application/zip", headers=headers)


# A study as one folder in a zip -------------------------------------------------------------------


_INSIDE = {
    FIT: PurePosixPath(),
    **{name: PurePosixPath(name) for name in (COMPARE, EVIDENCE, TEST)},
}
_CHUNK = 1 << 20  # bytes


def zip_study(study: StudyFolder) -> Response:
    """Return a response that streams a study's folder as a zip archive."""
    archive_stem = format_stem(study)
    headers = {"Content-Disposition": f'attachment; filename="{archive_stem}.zip"'}
    return StreamingResponse(
        iterate_zip(study, archive_stem), media_type="application/zip", headers=headers
    )


def iterate_zip(study: StudyFolder, name: str) -> Iterator[bytes]:
    """Yield the bytes of a study's zip archive piece by piece."""
    zip_buffer = _ZipBuffer()
    with zipfile.ZipFile(zip_buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for inner_path, file, changed_bytes in _list_files(study):
            with archive.open(
                _build_zip_entry(f"{name}/{inner_path}"), "w", force_zip64=True
            ) as entry:
                if changed_bytes is not None:
                    entry.write(changed_bytes)
                else:
                    with open(file, "rb") as source_file:
                        while chunk := source_file.read(_CHUNK):
                            entry.write(chunk)
                            yield zip_buffer.take()
            yield zip_buffer.take()
    yield zip_buffer.take()


class _ZipBuffer(io.RawIOBase):
    """Write-only file object from which written bytes are taken piece by piece."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []

    def writable(self) -> bool:
        """Return True, as zipfile requires."""
        return True

    def write(self, written: Any) -> int:
        """Append bytes."""
        self._chunks.append(bytes(written))
        return len(written)

    def take(self) -> bytes:
        """Return and clear the bytes written since the last call."""
        taken_bytes = b"".join(self._chunks)
        self._chunks = []
        return taken_bytes


def _build_zip_entry(name: str) -> zipfile.ZipInfo:
    """Build an archive entry with a fixed date, for reproducible archives."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _list_files(study: StudyFolder) -> Iterator[tuple[PurePosixPath, Path, bytes | None]]:
    """Yield (archive path, file, replaced content or None) for each file of a study."""
    # Links are excluded.
    for file in sorted(
        [*study.path.glob("data.*"), *study.path.glob("answers.*"), *study.path.glob("for-*.*")]
    ):
        if _is_plain_file(file):
            yield PurePosixPath(file.name), file, None
    for run_name, archive_folder in _INSIDE.items():
        run_folder = study.path / run_name
        if run_folder.is_symlink():
            continue
        data_folder = str(PurePosixPath(*[".."] * len(archive_folder.parts)))
        for file in sorted(run_folder.rglob("*")):
            run_path = PurePosixPath(file.relative_to(run_folder).as_posix())
            if _is_plain_file(file) and run_path != PurePosixPath(JOB, LOCK):
                yield archive_folder / run_path, file, _rewrite_file(file, run_path, data_folder)


def _rewrite_file(file: Path, run_path: PurePosixPath, data: str) -> bytes | None:
    """Return the content with paths made relative, for files that contain paths; else None."""
    # Formulas in tables are escaped, and commands find their data in the folder `data`.
    if run_path == PurePosixPath(JOB, INDEX):
        with suppress(DataError):  # a damaged index is exported unchanged
            job_index = read_index(file.parent) or {"command": None}
            return encode_index(
                job_index | {"command": _localise_command(job_index["command"], data)}
            )
    if run_path == PurePosixPath(COMMAND):
        return json.dumps(_localise_command(json.loads(file.read_bytes()), data)).encode()
    if run_path.suffix == ".csv" and len(run_path.parts) == 1:
        return escape_formulas(file.read_text("utf-8")).encode()
    return None


def _localise_command(command: dict[str, Any] | None, data: str) -> dict[str, Any] | None:
    """Return a stored command with its data path relative to the archive; None unchanged."""
    if command is None:
        return None
    arguments = command["arguments"]
    if "page" in arguments:
        arguments = arguments | {"page": {"path": "report.html"}}
    return command | {"folder": data, "arguments": arguments}
