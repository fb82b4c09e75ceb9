"""`thali report`: one HTML file about the results of a fit, a comparison or a leaderboard."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from thali._inference.files import atomic_write, check_path
from thali._model.registry import find_spec
from thali._model.settings import DEFAULT_SETTINGS, AnswerSettings
from thali._people.populations import Individuals
from thali.errors import ArgumentError, DataError

from ..boundary import Terminal, notify
from ..files import check_folder, write_slides
from ..loading import NamedData, find_data
from ..options import LEADERBOARD
from .asked import asked_of
from .jobs import JOB, as_typed, command_of

UNTITLED: dict[str, str] = {}  # a report that is called what thali calls it


def check_report(page: Path | None, cover: dict[str, str]) -> None:
    """Refuse a report that cannot be written, and words of the cover of none, before anything long
    is computed."""
    if page is not None:
        check_path(page.absolute())
    elif named := next((name for name, text in cover.items() if text), ""):
        raise ArgumentError(f"--{named} applies to the report; add --report FILE.")


def run_report(
    terminal: Terminal,
    results: Path,
    out: Path | None,
    cover: dict[str, str] = UNTITLED,
    slides: Path | None = None,
) -> None:
    """Write the report of what a folder or a file holds, and slides of it."""
    from ...report import about, findings_of

    if slides is not None:
        check_folder(slides, "--slides")
    file = out or (results / "report.html" if results.is_dir() else results.with_suffix(".html"))
    check_path(file)
    found = held_in(terminal, results)
    cover = {word: text or found.cover.get(word, "") for word, text in cover.items()}
    write_report(
        found.what, file, found.command, terminal, found.settings, cover=cover, names=found.names
    )
    if slides is not None:
        write_slides(findings_of(found.what, found.settings), slides, terminal, about(found.what))


class Held(NamedTuple):
    """What a folder or a file holds: a model, a leaderboard or a table of a comparison, and how it
    was made."""

    what: Any
    command: str = ""
    settings: AnswerSettings = DEFAULT_SETTINGS
    cover: dict[str, str] = UNTITLED
    names: Sequence[str] = ()  # of the files or data sets


def held_in(terminal: Terminal, results: Path) -> Held:
    """What a folder or a file holds, with the settings of the command that wrote it."""
    what = _results(results)
    found = command_of(results) if results.is_dir() else None
    if found is None:
        return Held(what)
    name, arguments, folder = found
    settings = DEFAULT_SETTINGS
    if name == "fit" and (spec := find_spec(what)) is not None:
        typed = arguments["typed"]
        if (
            spec.method_of_individuals
            and isinstance(what.people, Individuals)
            and "by" not in typed
        ):
            typed = {"people": "individuals"} | typed  # which may be that of the default
        asked = asked_of(terminal, spec, "", typed, None)
        table = None
        if "holdouts" in asked.values and (table := _table(arguments["data_name"], folder)) is None:
            asked = asked.without_holdouts
        settings = asked.settings(table, what._get_fit_data(), folder)
    names = arguments.get("data_names") or [arguments["data_name"]]
    return Held(
        what, as_typed(name, arguments), settings, arguments.get("cover") or UNTITLED, names
    )


def know_options_of(terminal: Terminal, what: Any) -> None:
    """From here on messages name the options of the command that made an answer."""
    from thali._paired.board import Leaderboard

    if (spec := find_spec(what)) is not None:
        terminal.know(spec.options)
    elif isinstance(what, Leaderboard):
        terminal.know(LEADERBOARD)


def _table(name: str, folder: Path) -> NamedData | None:
    """The table of a fit, in which tasks were held out; None, which is said, if it is not there any
    more."""
    try:
        if name == "-":
            raise DataError("The table came from standard input.")
        return find_data(str(folder / name))
    except DataError as error:
        notify(f"holdout tasks were skipped: {error}")
        return None


def write_report(
    what: Any,
    file: Path,
    command: str,
    terminal: Terminal,
    settings: AnswerSettings = DEFAULT_SETTINGS,
    figures: Any = None,
    cover: dict[str, str] = UNTITLED,
    names: Sequence[str] = (),
) -> None:
    """Write the report of a fitted model, a comparison or a leaderboard.

    `figures`: those that are drawn already; `names`: files or data sets.
    """
    from ...html import Cover
    from ...report import page_of

    know_options_of(terminal, what)
    made = Cover(
        **{"data": ", ".join(Path(name).name for name in names), "date": str(date.today())} | cover
    )
    atomic_write(file, page_of(what, command, terminal.words, settings, figures, made))
    notify(f"wrote the report to {file}.")


def _results(results: Path) -> Any:
    """The model, the leaderboard, or the table of a comparison."""
    from thali._comparison.job_table import TABLES, read_job_table
    from thali._inference.jobs import read_index
    from thali._model.model_files import find_model_file, load

    if results.suffix == ".html":
        raise DataError(
            f"'{results}' is a report; give the folder passed to --out, or a file written by save."
        )
    if not results.is_dir() or find_model_file(results) is not None:
        return load(results)
    index = read_index(results / JOB)
    if index is not None and index["stamp"]["kind"] in TABLES:
        return read_job_table(results / JOB)
    raise DataError(
        f"There are no results in '{results}'; give the folder passed to --out of thali fit,"
        " compare or leaderboard, or a file written by save."
    )
