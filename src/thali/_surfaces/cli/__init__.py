"""The command line: `thali fit`, `thali compare`, `thali test` and so on.

The commands stand in `declared`: what `thali --help` shows and nothing else. Each imports what it
needs when it runs, so that help stays instant. The options of `thali fit` stand in the specs of the
models.
"""

import atexit
import gc
import os
import sys
from typing import Annotated

import typer

from . import declared
from .help import (
    CompareCommand,
    DesignCommand,
    FitCommand,
    LeaderboardCommand,
    TestCommand,
    explained,
)

__all__ = ["app", "main"]

app: typer.Typer = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: nothing is cut off, and rich stays unloaded
    pretty_exceptions_enable=False,
)
cache: typer.Typer = typer.Typer(
    help="Show or clear the cache of compiled samplers.", no_args_is_help=True
)
field: typer.Typer = typer.Typer(
    help="Make a questionnaire and collect the answers.",
    no_args_is_help=True,
)


_HELP = (
    "Latent-feature models of choice and similarity.\n\n\x08\nthali fit celebrities          an"
    " example that comes with thali\nthali fit study.csv            what respondents prefer, and"
    " why\nthali leaderboard votes.csv    ranks with intervals, in seconds\n"
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from thali import __version__

        print(f"thali {__version__}")
        raise typer.Exit


@app.callback(help=_HELP)
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """What every command has."""


_COMMANDS = (
    ("fit", declared.fit, FitCommand, "Fit a model to a table and print the results."),
    (
        "leaderboard",
        declared.leaderboard,
        LeaderboardCommand,
        "Rank options by votes, with intervals for the ranks.",
    ),
    ("compare", declared.compare, CompareCommand, "Compare how well models predict the data."),
    ("test", declared.test, TestCommand, "Run a classical test of paired comparisons."),
    ("design", declared.design, DesignCommand, "Design pairs, sets or choice tasks."),
    ("show", declared.show, None, "Show saved results: one screen, or any table."),
    ("report", declared.report, None, "Write a report of saved results as one HTML file."),
    ("resume", declared.resume, None, "Resume an interrupted fit or comparison."),
    ("status", declared.status, None, "Show the progress of a fit or comparison."),
    ("app", declared.start_app, None, "Open thali in the browser."),
    ("datasets", declared.datasets, None, "List the bundled data sets, or export one."),
    ("cite", declared.cite, None, "Print citations of thali and a model, as BibTeX."),
)
for _name, _command, _class, _line in _COMMANDS:
    app.command(_name, cls=_class, short_help=_line)(
        _command if _class is None else explained(_command)
    )
app.add_typer(field, name="field")
app.add_typer(cache, name="cache")
for _group, _name, _command, _line in (
    (field, "make", declared.field_make, "Write a questionnaire as one HTML file."),
    (field, "export", declared.field_export, "Export a study to jsPsych or PsychoPy."),
    (field, "collect", declared.field_collect, "Merge the answers of all respondents."),
    (cache, "info", declared.cache_info, "Show the folder and size of the cache."),
    (cache, "clear", declared.cache_clear, "Delete the cache; the next fit compiles again."),
    (cache, "warm", declared.cache_warm, "Compile the samplers of models in advance."),
    (cache, "build", declared.cache_build, "Compile for all processors of a given level."),
):
    _group.command(_name, short_help=_line)(_command)


def main() -> None:
    """Run the command line."""
    os.environ["PYTHONSAFEPATH"] = "1"  # workers import nothing from the folder of the data
    for stream in (sys.stdout, sys.stderr):
        # A label or a Greek letter that the terminal's encoding lacks becomes "?" instead of an
        # error.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    # Python would look through all that was loaded for garbage before it ends, which takes half a
    # second.
    atexit.register(gc.freeze)
    app()
