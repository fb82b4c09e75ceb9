"""`thali leaderboard`: rank options by comparisons of two."""

from pathlib import Path
from typing import Any

from thali.errors import PYTHON, Argument, DataError

from ...text import text_of
from ..boundary import notify
from ..files import check_folder, write_findings
from ..loading import load_pairs
from ..options import LEADERBOARD
from ..values import value_of


def run_leaderboard(data_name: str, typed: dict[str, Any], out: Path | None) -> None:
    """Print the leaderboard of a file, and write it with its picture."""
    from thali.paired.findings import findings_of
    from thali.paired.leaderboard import as_json, leaderboard_of

    wanted = {each.name: value_of(each, typed[each.word]) for each in LEADERBOARD if each.word in typed}
    by = wanted.pop("by", [])
    how = {"ties": "davidson", "method": "laplace", "random_seed": 0}
    how |= {name: wanted.pop(name) for name in how if name in wanted}
    if out is not None:
        check_folder(out)
    data, recognised, parts = _read(data_name, wanted, by)
    notify(f"{data_name}: {recognised}")
    board = leaderboard_of(data, **how, progressbar=True, parts=parts)
    findings = findings_of(board)
    try:
        if out is not None:
            drawn = write_findings(findings, out, others={"leaderboard.json": as_json(board)})
            notify(f"wrote the tables{' and the picture' * bool(drawn)} to {out}.")
    finally:  # a full disk must not cost the answer
        print(text_of(findings, PYTHON))


def _read(data_name: str, wanted: dict[str, Any], by: list[str]) -> tuple[Any, str, dict[str, Any]]:
    """The comparisons of that name, how they were read, and their parts; those of a large file in batches."""
    from thali import datasets
    from thali.paired.leaderboard import parts_by
    from thali.reading.counting import is_large, read_rows

    is_file = data_name not in {record.name for record in datasets.catalogue()}
    if is_file and (by or is_large(data_name)):
        rows = read_rows(data_name, by, True, wanted.pop("where", None), wanted)
        return *rows.reading().build(), parts_by(by, rows.by)
    if by:
        raise DataError(Argument("by"), f" is about a file, and {data_name} is a bundled data set; leave it out.")
    return *load_pairs(data_name, wanted), {}
