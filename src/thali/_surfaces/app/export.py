"""Results to show and to download, each at an address that is good for once, and a study as one
folder in a zip.

Frames and downloads send no header, hence the addresses. The command line reads the folder where it
is unpacked::

    drinks/                 what `thali fit --out` writes: posterior, tables, pictures, report, job
      data.csv              the data, and files of options
      compare/ evidence/    as `thali compare --out` has them
      test/                 the answer of a classical test, and its tables
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

from thali._inference.jobs import INDEX, LOCK, encode_index, read_index
from thali._labels import without_formula
from thali._model.model_files import find_model_file
from thali.errors import DataError

from ..cli.commands.jobs import COMMAND, JOB
from .guard import REPORT_POLICY
from .studies import COMPARE, ENDINGS, EVIDENCE, FIT, RUNS, TEST, StudyFolder

_VALID = 60.0  # seconds
_STEM = 40  # characters


class Tickets:
    """Responses that wait for whoever knows their name."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[float, Response]] = {}

    def new(self, response: Response) -> str:
        """The name by which the response can be had, once and for a minute."""
        now, name = time.monotonic(), secrets.token_urlsafe(32)
        self._waiting = {key: each for key, each in self._waiting.items() if each[0] > now}
        self._waiting[name] = now + _VALID, response
        return name

    def redeemed(self, name: str) -> Response | None:
        """The response, if there is one of that name."""
        until, response = self._waiting.pop(name, (0.0, None))
        return response if time.monotonic() <= until else None


def file_of(study: StudyFolder, what: str) -> Response | None:
    """What can be shown or downloaded of a run: RUN/view, report, posterior, csv or xlsx; None if
    it is not there."""
    name, _, kind = what.partition("/")
    folder = study.path / name
    if name not in RUNS or folder.is_symlink():
        return None
    report = folder / "report.html"
    if kind in ("view", "report") and _is_plain_file(report):
        saved = None if kind == "view" else f"{stem(study)}-{name}.html"
        return FileResponse(
            report,
            media_type="text/html",
            headers={"Content-Security-Policy": REPORT_POLICY},
            filename=saved,
        )
    if kind == "posterior":
        found = find_model_file(folder)
        if found is None or not _is_plain_file(found):
            return None
        return FileResponse(
            found, media_type="application/x-netcdf", filename=f"{stem(study)}-{found.name}"
        )
    if kind == "xlsx" and _is_plain_file(workbook := folder / "tables.xlsx"):
        return FileResponse(workbook, filename=f"{stem(study)}-{name}.xlsx")
    if kind == "csv" and (tables := sorted(filter(_is_plain_file, folder.glob("*.csv")))):
        return _zipped(tables, f"{stem(study)}-{name}-csv.zip")
    return None


def _is_plain_file(path: Path) -> bool:
    """Return whether there is such a file, which is no link to another."""
    return path.is_file() and not path.is_symlink()


def without_formulas(table: str) -> str:
    """A table in CSV that a spreadsheet takes for text and numbers, as in the workbooks: a formula
    gets an apostrophe.

    Examples
    --------
    >>> without_formulas("option,weight\\n=HYPERLINK(1),-0.5\\n")
    "option,weight\\n'=HYPERLINK(1),-0.5\\n"
    """
    found = io.StringIO()
    writer = csv.writer(found, lineterminator="\n")
    for row in csv.reader(io.StringIO(table, newline="")):
        writer.writerow(map(without_formula, row))
    return found.getvalue()


def stem(study: StudyFolder) -> str:
    """What downloads are called after: the study, in letters that every computer allows in the name
    of a file."""
    title = study.shown_title
    name = title[: -len(suffix)] if (suffix := Path(title).suffix).lower() in ENDINGS else title
    return re.sub(r"[^A-Za-z0-9]+", "-", name)[:_STEM].strip("-") or "thali"


def _zipped(tables: list[Path], name: str) -> Response:
    """Files in one archive; the same files give the same bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in tables:
            held = (
                without_formulas(file.read_text("utf-8")).encode()
                if file.suffix == ".csv"
                else file.read_bytes()
            )
            archive.writestr(zipfile.ZipInfo(file.name), held, zipfile.ZIP_DEFLATED)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content.getvalue(), media_type="application/zip", headers=headers)


# A study as one folder in a zip -------------------------------------------------------------------


_INSIDE = {
    FIT: PurePosixPath(),
    **{name: PurePosixPath(name) for name in (COMPARE, EVIDENCE, TEST)},
}
_CHUNK = 1 << 20  # bytes


def folder_of(study: StudyFolder) -> Response:
    """The zip as a download."""
    name = stem(study)
    headers = {"Content-Disposition": f'attachment; filename="{name}.zip"'}
    return StreamingResponse(exported(study, name), media_type="application/zip", headers=headers)


def exported(study: StudyFolder, name: str) -> Iterator[bytes]:
    """The zip, piece by piece; the same study gives the same bytes."""
    written = _Pieces()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, file, content in _files(study):
            with archive.open(_info(f"{name}/{place}"), "w", force_zip64=True) as out:
                if content is not None:
                    out.write(content)
                else:
                    with open(file, "rb") as found:
                        while chunk := found.read(_CHUNK):
                            out.write(chunk)
                            yield written.taken()
            yield written.taken()
    yield written.taken()


class _Pieces(io.RawIOBase):
    """What an archive writes, until it is taken; there is no way back in it."""

    def __init__(self) -> None:
        self._held: list[bytes] = []

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, content: Any) -> int:
        """Hold it."""
        self._held.append(bytes(content))
        return len(content)

    def taken(self) -> bytes:
        """All that was written since the last time."""
        held, self._held = b"".join(self._held), []
        return held


def _info(name: str) -> zipfile.ZipInfo:
    """An entry without a time."""
    found = zipfile.ZipInfo(name)
    found.compress_type = zipfile.ZIP_DEFLATED
    return found


def _files(study: StudyFolder) -> Iterator[tuple[PurePosixPath, Path, bytes | None]]:
    """Where each file goes, the file, and its content if that is changed; no links."""
    for file in sorted(
        [*study.path.glob("data.*"), *study.path.glob("answers.*"), *study.path.glob("for-*.*")]
    ):
        if _is_plain_file(file):
            yield PurePosixPath(file.name), file, None
    for run, inside in _INSIDE.items():
        root = study.path / run
        for file in sorted(root.rglob("*")) if not root.is_symlink() else ():
            within = PurePosixPath(file.relative_to(root).as_posix())
            if _is_plain_file(file) and within != PurePosixPath(JOB, LOCK):
                yield (
                    inside / within,
                    file,
                    _changed(file, within, str(PurePosixPath(*[".."] * len(inside.parts)))),
                )


def _changed(file: Path, within: PurePosixPath, data: str) -> bytes | None:
    """A table without formulas, a command that finds its data in the folder `data`; None: as it
    is."""
    if within == PurePosixPath(JOB, INDEX):
        with suppress(DataError):  # a damaged one goes as it is
            index = read_index(file.parent) or {"command": None}
            return encode_index(index | {"command": _moved(index["command"], data)})
    if within == PurePosixPath(COMMAND):
        return json.dumps(_moved(json.loads(file.read_bytes()), data)).encode()
    if within.suffix == ".csv" and len(within.parts) == 1:
        return without_formulas(file.read_text("utf-8")).encode()
    return None


def _moved(command: dict[str, Any] | None, data: str) -> dict[str, Any] | None:
    """A command that was typed in the folder of the data, and has its report there."""
    if command is None:
        return None
    arguments = command["arguments"]
    if "page" in arguments:
        arguments = arguments | {"page": {"path": "report.html"}}
    return command | {"folder": data, "arguments": arguments}
