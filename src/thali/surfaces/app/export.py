"""A study as one folder in a zip, which the command line reads where it is unpacked.

::

    drinks/                 what `thali fit --out` writes: posterior, tables, pictures, report, job
      data.csv              the data, and files of options
      compare/ evidence/    as `thali compare --out` has them
      test/                 the answer of a classical test, and its tables
"""

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from starlette.responses import Response, StreamingResponse

from thali.errors import DataError
from thali.inference.jobs import INDEX, LOCK, read_index, sealed

from ..cli.commands.jobs import COMMAND, JOB
from .studies import COMPARE, EVIDENCE, FIT, TEST, Study
from .tickets import stem, without_formulas

_INSIDE = {FIT: PurePosixPath(), **{name: PurePosixPath(name) for name in (COMPARE, EVIDENCE, TEST)}}
_CHUNK = 1 << 20  # bytes


def folder_of(study: Study) -> Response:
    """The zip as a download."""
    name = stem(study)
    headers = {"Content-Disposition": f'attachment; filename="{name}.zip"'}
    return StreamingResponse(exported(study, name), media_type="application/zip", headers=headers)


def exported(study: Study, name: str) -> Iterator[bytes]:
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


def _files(study: Study) -> Iterator[tuple[PurePosixPath, Path, bytes | None]]:
    """Where each file goes, the file, and its content if that is changed; no links."""
    for file in sorted([*study.path.glob("data.*"), *study.path.glob("answers.*"), *study.path.glob("for-*.*")]):
        if file.is_file() and not file.is_symlink():
            yield PurePosixPath(file.name), file, None
    for run, inside in _INSIDE.items():
        root = study.path / run
        for file in sorted(root.rglob("*")) if not root.is_symlink() else ():
            within = PurePosixPath(file.relative_to(root).as_posix())
            if file.is_file() and not file.is_symlink() and within != PurePosixPath(JOB, LOCK):
                yield inside / within, file, _changed(file, within, str(PurePosixPath(*[".."] * len(inside.parts))))


def _changed(file: Path, within: PurePosixPath, data: str) -> bytes | None:
    """A table without formulas, a command that finds its data in the folder `data`; None: as it is."""
    if within == PurePosixPath(JOB, INDEX):
        with suppress(DataError):  # a damaged one goes as it is
            index = read_index(file.parent) or {"command": None}
            return sealed(index | {"command": _moved(index["command"], data)})
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
