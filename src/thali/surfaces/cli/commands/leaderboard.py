"""`thali leaderboard`: rank options by comparisons of two."""

from pathlib import Path
from typing import Any

from thali.errors import PYTHON

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
    how = {"ties": "davidson", "method": "laplace", "random_seed": 0}
    how |= {name: wanted.pop(name) for name in how if name in wanted}
    if out is not None:
        check_folder(out)
    data, recognised = _read(data_name, wanted)
    notify(f"{data_name}: {recognised}")
    board = leaderboard_of(data, **how, progressbar=True)
    findings = findings_of(board)
    try:
        if out is not None:
            drawn = write_findings(findings, out, others={"leaderboard.json": as_json(board)})
            notify(f"wrote the tables{' and the picture' * bool(drawn)} to {out}.")
    finally:  # a full disk must not cost the answer
        print(text_of(findings, PYTHON))


def _read(data_name: str, wanted: dict[str, Any]) -> tuple[Any, str]:
    """The comparisons of that name; those of a large file in batches."""
    from thali import datasets
    from thali.reading.counting import is_large, read_counts

    if data_name not in {record.name for record in datasets.catalogue()} and is_large(data_name):
        return read_counts(data_name, True, **wanted)
    return load_pairs(data_name, wanted)
