"""`thali field`: a questionnaire as a page, and the answers that come back as a table."""

from pathlib import Path
from typing import Any

from thali._inference.files import atomic_write
from thali.errors import ArgumentError

from ..boundary import notify
from ..files import check_folder, csv, write_all


def make(
    design: Path, out: Path, kind: str | None, title: str | None, study: Path | None, seed: int
) -> None:
    """Write the page and say what it asks."""
    from thali._field.questionnaire import build_page

    _check_file(out)
    page = build_page(design, kind, title, None, study, seed)
    out.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(out, page.text.encode())
    print(page.sentence)
    notify(
        f"wrote {out}; send it to respondents or put it on a server. Merge the returned files with"
        " thali field collect FOLDER."
    )


def hand_over(design: Path, to: str, out: Path, settings: dict[str, Any]) -> None:
    """Write the study for another tool and say what it asks."""
    from thali._field.export import build_export

    check_folder(out)
    found = build_export(design, to, words=None, **settings)
    write_all(out, found.files)
    print(found.sentence)
    notify(f"wrote {', '.join(sorted(found.files))} to the folder '{out}'.")


def join(folder: Path, out: Path | None) -> None:
    """Print what the folder holds, and write the answers."""
    from thali._field.collect import collect

    if out is not None:
        _check_file(out)
    found = collect(folder)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(out, csv(found.answers, index=False))
    print(found)
    if out is not None:
        notify(f"wrote {out}; analyse it with thali fit {out}.")


def _check_file(out: Path) -> None:
    """Refuse a folder, and a place that cannot be written."""
    if out.is_dir():
        raise ArgumentError(f"--out requires a file name; {out} is a folder.")
    check_folder(out.parent)
