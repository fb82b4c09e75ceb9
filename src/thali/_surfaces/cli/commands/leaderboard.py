"""`thali leaderboard`: rank options by comparisons of two options."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali.errors import Argument, DataError

from ...figure_files import Figures
from ..data_loading import load_pairs
from ..model_options import LEADERBOARD
from ..option_parsers import parse_option
from ..result_files import check_output_folder, list_inputs, write_findings
from ..terminal_messages import Terminal, list_report_hints, notify
from .report import check_report, write_report
from .resume_status import (
    COMMAND,
    build_job_note,
    check_results_folder,
    format_command,
    refuse_other_results,
)

if TYPE_CHECKING:
    from thali._paired.leaderboard import LeaderboardRecipe
    from thali._paired.leaderboard_result import Leaderboard

_BOARD = ".nc"  # suffix of saved leaderboards
_DEFAULTS = {"ties": "davidson", "anchor_model": None, "pool": False}
_TABLE_DEFAULTS = {"covariates": None, "by": None, "id": None}


def run_leaderboard(
    terminal: Terminal,
    names: list[str],
    typed: dict[str, Any],
    out_folder: Path | None,
    report_file: Path | None,
    cover: dict[str, str],
    overwrite: bool = False,
) -> None:
    """Build the leaderboard of files; print it, write tables and report."""
    from thali._model.model_files import LEADERBOARD_FILE
    from thali._paired.leaderboard_findings import build_board_findings
    from thali._paired.leaderboard_report import describe_board
    from thali._paired.leaderboard_result import encode_json, encode_netcdf

    settings = {
        option.name: parse_option(option, typed[option.word])
        for option in LEADERBOARD
        if option.word in typed
    }
    check_output_folder(out_folder)
    inputs = list_inputs(names, typed)
    check_report(report_file, cover, inputs, overwrite)
    command = {"data_names": names, "typed": typed, "cover": cover}
    refuse_other_results(out_folder, "leaderboard", command)
    check_results_folder(out_folder, inputs, ("png",), overwrite)
    board = _build_board(names, settings, not terminal.is_quiet)
    findings = build_board_findings(board)
    try:
        with Figures() as figures:
            if out_folder is not None:
                other_files = {
                    "leaderboard.json": encode_json(board),
                    LEADERBOARD_FILE: bytes(encode_netcdf(board)),
                    COMMAND: json.dumps(build_job_note("leaderboard", command)).encode(),
                }
                picture_names = write_findings(
                    findings, out_folder, other_files=other_files, figures=figures
                )
                written_text = "the tables"
                if picture_names:
                    written_text += " and the picture"
                notify(f"wrote {written_text} to the folder '{out_folder}'.")
            if report_file is not None:
                write_report(
                    board,
                    report_file,
                    format_command("leaderboard", command),
                    terminal,
                    figures=figures,
                    cover=cover,
                    data_names=names,
                )
    finally:  # a full disk must not cost the answer
        hints = list_report_hints(out_folder, report_file)
        print(terminal.format_findings(findings, describe_board(board), *hints))


def _build_board(names: list[str], settings: dict[str, Any], progressbar: bool) -> "Leaderboard":
    """Build the leaderboard of all files, or update a saved one."""
    from thali._paired.leaderboard_posterior import WorthsRequest

    first_name, *other_names = names
    if Path(first_name).suffix.lower() != _BOARD:
        recipe = _read_first_file(first_name, settings)
    else:
        saved_board = _load_saved_board(first_name)
        for name in settings:
            if name in (*_DEFAULTS, *WorthsRequest._fields, *_TABLE_DEFAULTS):
                raise DataError(
                    Argument(name),
                    f" cannot be given again: it was set when {first_name} was made. Remove this"
                    " argument.",
                )
        if not other_names:
            return saved_board
        assert saved_board.made is not None
        recipe = saved_board.made._replace(columns=saved_board.made.columns | settings)
    for name in other_names:
        recipe = recipe.add_votes(name, True, {})
        notify(f"{name}: {recipe.counted.read_as}")
    if other_names and recipe.counted.ids is None:
        notify(
            f"rows that occur in several of the {len(names)} files are counted several times; name"
            " a column of identifiers with --id."
        )
    return recipe.build_board(progressbar=progressbar)


def _load_saved_board(name: str) -> "Leaderboard":
    """Load a leaderboard that was saved to a file."""
    from thali._model.model_files import load
    from thali._paired.leaderboard_result import Leaderboard

    board = load(name)
    if not isinstance(board, Leaderboard):
        raise DataError(
            f"'{name}' contains a fitted model, not a leaderboard; give a table or a"
            " leaderboard.nc."
        )
    return board


def _read_first_file(name: str, settings: dict[str, Any]) -> "LeaderboardRecipe":
    """Read the first file or data set; return the recipe of the leaderboard."""
    from thali import datasets
    from thali._paired.leaderboard import LeaderboardRecipe, check_settings
    from thali._paired.leaderboard_posterior import WorthsRequest
    from thali._paired.vote_counts import CountedComparisons, count_votes
    from thali._reading.large_tables import is_large

    worths_request = WorthsRequest(
        **{
            argument_name: settings.pop(argument_name)
            for argument_name in WorthsRequest._fields
            if argument_name in settings
        }
    )
    board_settings = check_settings(
        worths_request,
        settings.get("by"),
        *(settings.pop(argument_name, default) for argument_name, default in _DEFAULTS.items()),
    )
    settings = worths_request.add_date_column(settings, False)
    table_settings = _TABLE_DEFAULTS | settings
    is_bundled = name in {record.name for record in datasets.catalogue()}
    for argument_name in ("by", "id"):
        if is_bundled and table_settings[argument_name]:
            raise DataError(
                Argument(argument_name),
                f" applies to files only; {name!r} is a bundled data set. Remove this argument.",
            )
    if not is_bundled and (table_settings["by"] or table_settings["id"] or is_large(name)):
        counted_comparisons = count_votes(name, True, table_settings)
    else:
        data, reading_sentence = load_pairs(name, settings)
        counted_comparisons = CountedComparisons(
            data, {}, None, 0, reading_sentence, (Path(name).name,)
        )
    notify(f"{name}: {counted_comparisons.read_as}")
    return LeaderboardRecipe(counted_comparisons, board_settings, table_settings)
