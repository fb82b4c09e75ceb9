"""Results to show and to download, each at an address that is good for once: frames and downloads send no header."""

import csv
import io
import re
import secrets
import time
import zipfile
from pathlib import Path

from starlette.responses import FileResponse, Response

from thali.model.saved import model_in

from .guard import REPORT_POLICY
from .studies import ENDINGS, RUNS, Study

_VALID = 60.0  # seconds
_STEM = 40  # characters
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a formula begins with


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


def file_of(study: Study, what: str) -> Response | None:
    """What can be shown or downloaded of a run: RUN/view, report, posterior, csv or xlsx; None if it is not there."""
    name, _, kind = what.partition("/")
    folder = study.path / name
    if name not in RUNS:
        return None
    report = folder / "report.html"
    if kind in ("view", "report") and report.is_file():
        saved = None if kind == "view" else f"{stem(study)}-{name}.html"
        return FileResponse(
            report, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY}, filename=saved
        )
    if kind == "posterior":
        found = model_in(folder)
        if found is None:
            return None
        return FileResponse(found, media_type="application/x-netcdf", filename=f"{stem(study)}-{found.name}")
    if kind == "xlsx" and (workbook := folder / "tables.xlsx").is_file():
        return FileResponse(workbook, filename=f"{stem(study)}-{name}.xlsx")
    if kind == "csv" and (tables := sorted(folder.glob("*.csv"))):
        return _zipped(tables, f"{stem(study)}-{name}-csv.zip")
    return None


def without_formulas(table: str) -> str:
    """A table in CSV that a spreadsheet takes for text and numbers, as in the workbooks: a formula gets an apostrophe.

    Examples
    --------
    >>> without_formulas("option,weight\\n=HYPERLINK(1),-0.5\\n")
    "option,weight\\n'=HYPERLINK(1),-0.5\\n"
    """
    found = io.StringIO()
    writer = csv.writer(found, lineterminator="\n")
    for row in csv.reader(io.StringIO(table, newline="")):
        writer.writerow([f"'{cell}" if cell[:1] in _FORMULA and not _is_number(cell) else cell for cell in row])
    return found.getvalue()


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def stem(study: Study) -> str:
    """What downloads are called after: the study, in letters that every computer allows in the name of a file."""
    title = study.shown_title
    name = title[: -len(suffix)] if (suffix := Path(title).suffix).lower() in ENDINGS else title
    return re.sub(r"[^A-Za-z0-9]+", "-", name)[:_STEM].strip("-") or "thali"


def _zipped(tables: list[Path], name: str) -> Response:
    """Files in one archive; the same files give the same bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in tables:
            held = without_formulas(file.read_text("utf-8")).encode() if file.suffix == ".csv" else file.read_bytes()
            archive.writestr(zipfile.ZipInfo(file.name), held, zipfile.ZIP_DEFLATED)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content.getvalue(), media_type="application/zip", headers=headers)
