"""`thali leaderboard`: rank options by comparisons of two."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali.errors import Argument, DataError

from ...figures import Figures
from ..boundary import Terminal, notify
from ..files import check_out, write_findings
from ..loading import load_pairs
from ..options import LEADERBOARD
from ..values import value_of
from .jobs import COMMAND, as_typed, noted
from .report import check_report, write_report

if TYPE_CHECKING:
    from thali._paired.board import Leaderboard
    from thali._paired.leaderboard import Made

_BOARD = ".nc"  # how the name of a saved leaderboard ends
_HOW = {"ties": "davidson", "anchor_model": None, "pool": False}
_ASKED = (
    "method",
    "random_seed",
    "people",
    "spread",
    "judges",
    "judge_sd",
    "judge_bias",
    "period",
    "drift",
    "since",
    "until",
    "ci",
)
_OF_TABLES = {"covariates": None, "by": None, "id": None}


def run_leaderboard(
    terminal: Terminal,
    names: list[str],
    typed: dict[str, Any],
    out: Path | None,
    page: Path | None,
    cover: dict[str, str],
) -> None:
    """Print the leaderboard of files, and write it with its pictures, and its report."""
    from thali._model.model_files import LEADERBOARD_FILE
    from thali._paired.board import as_json, as_netcdf
    from thali._paired.findings import findings_of
    from thali._paired.made import in_words

    wanted = {
        each.name: value_of(each, typed[each.word]) for each in LEADERBOARD if each.word in typed
    }
    check_out(out)
    check_report(page, cover)
    board = _board(names, wanted, not terminal.is_quiet)
    findings = findings_of(board)
    command = {"data_names": names, "typed": typed, "cover": cover}
    try:
        with Figures() as figures:
            if out is not None:
                others = {
                    "leaderboard.json": as_json(board),
                    LEADERBOARD_FILE: bytes(as_netcdf(board)),
                }
                others[COMMAND] = json.dumps(noted("leaderboard", command)).encode()
                drawn = write_findings(findings, out, others=others, figures=figures)
                notify(f"wrote the tables{' and the picture' * bool(drawn)} to the folder '{out}'.")
            if page is not None:
                typed_again = as_typed("leaderboard", command)
                write_report(
                    board, page, typed_again, terminal, figures=figures, cover=cover, names=names
                )
    finally:  # a full disk must not cost the answer
        report = [] if page is not None else ["--report FILE (a page)"]
        folder = "--out DIR (tables, pictures)" if out is None else "thali show DIR"
        print(terminal.text(findings, in_words(board), *report, folder))


def _board(names: list[str], wanted: dict[str, Any], progressbar: bool) -> "Leaderboard":
    """The leaderboard of all files, the first of which may hold one that was saved."""
    first, *others = names
    if Path(first).suffix.lower() != _BOARD:
        made = _begun(first, wanted)
    else:
        saved = _saved(first)
        if chosen := [name for name in wanted if name in (*_HOW, *_ASKED, *_OF_TABLES)]:
            raise DataError(
                Argument(chosen[0]),
                f" cannot be given again: it was set when {first} was made. Remove this argument.",
            )
        if not others:
            return saved
        assert saved.made is not None
        made = saved.made._replace(columns=saved.made.columns | wanted)
    for name in others:
        made = made.with_more(name, True, {})
        notify(f"{name}: {made.counted.read_as}")
    if others and made.counted.ids is None:
        notify(
            f"rows that occur in several of the {len(names)} files are counted several times; name"
            " a column of identifiers with --id."
        )
    return made.board(progressbar=progressbar)


def _saved(name: str) -> "Leaderboard":
    """The leaderboard in a file."""
    from thali._model.model_files import load
    from thali._paired.board import Leaderboard

    found = load(name)
    if not isinstance(found, Leaderboard):
        raise DataError(
            f"'{name}' contains a fitted model, not a leaderboard; give a table or a"
            " leaderboard.nc."
        )
    return found


def _begun(name: str, wanted: dict[str, Any]) -> "Made":
    """What the leaderboard of a file, or of a bundled data set, is made of; large files are read in
    batches."""
    from thali import datasets
    from thali._paired.counted import CountedComparisons, count
    from thali._paired.leaderboard import Made, checked_settings
    from thali._paired.worths import WorthsRequest
    from thali._reading.large_tables import is_large

    asked = WorthsRequest(**{key: wanted.pop(key) for key in _ASKED if key in wanted})
    how = checked_settings(
        asked, wanted.get("by"), *(wanted.pop(key, usual) for key, usual in _HOW.items())
    )
    wanted = asked.columns(wanted, False)
    named = _OF_TABLES | wanted
    is_bundled = name in {record.name for record in datasets.catalogue()}
    if is_bundled and (divided := [key for key in ("by", "id") if named[key]]):
        raise DataError(
            Argument(divided[0]),
            f" applies to files only; {name!r} is a bundled data set. Remove this argument.",
        )
    if not is_bundled and (named["by"] or named["id"] or is_large(name)):
        counted = count(name, True, named)
    else:
        data, read_as = load_pairs(name, wanted)
        counted = CountedComparisons(data, {}, None, 0, read_as, (Path(name).name,))
    notify(f"{name}: {counted.read_as}")
    return Made(counted, how, named)
