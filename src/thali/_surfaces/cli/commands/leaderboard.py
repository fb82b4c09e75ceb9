"""`thali leaderboard`: rank options by comparisons of two options."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali.errors import Argument, DataError

from ..data_loading import load_pairs
from ..model_options import LEADERBOARD
from ..option_parsers import parse_option
from ..terminal_messages import Terminal, notify
from .saved_results import run_saved_result

if TYPE_CHECKING:
    from thali._paired.leaderboard import LeaderboardRecipe
    from thali._paired.leaderboard_result import Leaderboard

_BOARD = ".nc"  # suffix of saved leaderboards
_TABLE_DEFAULTS = {"covariates": None, "by": None, "id": None}


def run_leaderboard(
    terminal: Terminal,
    names: list[str],
    typed: dict[str, Any],
    out_folder: Path | None,
    report_file: Path | None,
    cover: dict[str, str],
    overwrite: bool = False,
    audit: bool = False,
) -> None:
    """Build the leaderboard of files; print it or its audit, write tables and report."""
    from thali._model.model_files import LEADERBOARD_FILE
    from thali._paired.leaderboard_result import encode_json, encode_netcdf

    settings = {
        option.name: parse_option(option, typed[option.word])
        for option in LEADERBOARD
        if option.word in typed
    }

    def compute() -> tuple[Any, dict[str, bytes]]:
        """Return the leaderboard and its files."""
        board = _build_board(names, settings, not terminal.is_quiet)
        files = {
            "leaderboard.json": encode_json(board),
            LEADERBOARD_FILE: bytes(encode_netcdf(board)),
        }
        if audit:
            return board.audit(), files
        return board, files

    run_saved_result(
        terminal, "leaderboard", names, typed, out_folder, report_file, cover, overwrite, compute
    )


def _build_board(names: list[str], settings: dict[str, Any], progressbar: bool) -> "Leaderboard":
    """Build the leaderboard of all files, or update a saved one."""
    from thali._paired.leaderboard_posterior import BoardSettings

    first_name, *other_names = names
    if Path(first_name).suffix.lower() != _BOARD:
        recipe = _read_first_file(first_name, settings)
    else:
        saved_board = _load_saved_board(first_name)
        for name in settings:
            if name in (*BoardSettings._fields, *_TABLE_DEFAULTS):
                raise DataError(
                    Argument(name),
                    f" cannot be given again: it was set when {first_name} was made. Remove this"
                    " argument.",
                )
        if not other_names:
            return saved_board
        assert saved_board.recipe is not None
        recipe = saved_board.recipe._replace(columns=saved_board.recipe.columns | settings)
    for name in other_names:
        recipe = recipe.add_votes(name, {})
        notify(f"{name}: {recipe.counted.read_as}")
    if other_names and recipe.counted.ids is None:
        notify(
            f"rows that occur in several of the {len(names)} files are counted several times; give"
            " the name of a column of identifiers with --id."
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
    from thali._paired.leaderboard_posterior import BoardSettings
    from thali._paired.vote_counts import CountedComparisons, count_votes
    from thali._reading.layouts import BOARD_SHAPES

    board_settings = BoardSettings(
        **{
            argument_name: settings.pop(argument_name)
            for argument_name in BoardSettings._fields
            if argument_name in settings
        }
    )
    board_settings = check_settings(board_settings, settings.get("by"))
    settings = board_settings.add_date_column(settings, False)
    table_settings = _TABLE_DEFAULTS | settings
    is_bundled = name in {record.name for record in datasets.catalogue()}
    for argument_name in ("by", "id"):
        if is_bundled and table_settings[argument_name]:
            raise DataError(
                Argument(argument_name),
                f" applies to files only; {name!r} is a bundled data set. Remove this argument.",
            )
    if not is_bundled and (table_settings["by"] or table_settings["id"]):
        counted_comparisons = count_votes(name, table_settings)
    else:
        data, reading_sentence = load_pairs(name, settings | {"shapes": BOARD_SHAPES})
        counted_comparisons = CountedComparisons(
            data, {}, None, 0, reading_sentence, (Path(name).name,)
        )
    notify(f"{name}: {counted_comparisons.read_as}")
    return LeaderboardRecipe.from_votes(counted_comparisons, board_settings, table_settings)
