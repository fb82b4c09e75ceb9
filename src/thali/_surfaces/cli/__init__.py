"""The command line `thali`.

Module `command_signatures` declares the commands as `thali --help` shows them. Each command imports
its code when it runs, so that help stays instant. The options of `thali fit` are defined in the
specs of the models.
"""

import atexit
import gc
import os
import sys
from typing import Annotated

import typer

from . import command_signatures
from .help import (
    AmceCommand,
    CompareCommand,
    DesignCommand,
    FitCommand,
    LeaderboardCommand,
    TestCommand,
    add_help_all,
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


_HELP = (
    "Latent-feature models of choice and similarity.\n\n\x08\nthali fit celebrities          an"
    " example that comes with thali\nthali fit study.csv            what respondents prefer, and"
    " why\nthali leaderboard votes.csv    ranks with intervals, in seconds\n"
)


def _print_version(is_requested: bool) -> None:
    """Print thali's version and exit, if --version was typed."""
    if is_requested:
        from thali import __version__

        print(f"thali {__version__}")
        raise typer.Exit


@app.callback(help=_HELP)
def _declare_common_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Declare the options common to all commands."""


_COMMANDS = (
    ("fit", command_signatures.fit, FitCommand, "Fit a model to a table and print the results."),
    (
        "leaderboard",
        command_signatures.leaderboard,
        LeaderboardCommand,
        "Rank options by votes, with intervals for the ranks.",
    ),
    (
        "compare",
        command_signatures.compare,
        CompareCommand,
        "Compare how well models predict the data.",
    ),
    (
        "amce",
        command_signatures.amce,
        AmceCommand,
        "Estimate effects of a conjoint experiment, and marginal means.",
    ),
    ("test", command_signatures.test, TestCommand, "Run a classical test of paired comparisons."),
    ("design", command_signatures.design, DesignCommand, "Design pairs, sets or choice tasks."),
    ("show", command_signatures.show, None, "Show saved results: one screen, or any table."),
    (
        "report",
        command_signatures.report,
        None,
        "Write a report of saved results as one HTML file.",
    ),
    ("resume", command_signatures.resume, None, "Resume an interrupted fit or comparison."),
    ("status", command_signatures.status, None, "Show the progress of a fit or comparison."),
    ("app", command_signatures.start_app, None, "Open thali in the browser."),
    ("datasets", command_signatures.datasets, None, "List the bundled data sets, or export one."),
    ("cite", command_signatures.cite, None, "Print citations of thali and a model, as BibTeX."),
)
for _name, _command, _class, _line in _COMMANDS:
    if _class is not None:
        _command = add_help_all(_command)
    app.command(_name, cls=_class, short_help=_line)(_command)
app.add_typer(cache, name="cache")
for _name, _command, _line in (
    ("info", command_signatures.cache_info, "Show the folder and size of the cache."),
    (
        "clear",
        command_signatures.cache_clear,
        "Delete the cache; the next fit compiles again.",
    ),
    ("warm", command_signatures.cache_warm, "Compile the samplers of models in advance."),
    (
        "build",
        command_signatures.cache_build,
        "Compile for all processors of a given level.",
    ),
):
    cache.command(_name, short_help=_line)(_command)


def main() -> None:
    """Run the `thali` command with the arguments of the process."""
    os.environ["PYTHONSAFEPATH"] = "1"  # workers import nothing from the folder of the data
    for stream in (sys.stdout, sys.stderr):
        # Replace letters that the terminal's encoding lacks by "?" instead of failing.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    # Garbage collection of all loaded modules at exit would take half a second.
    atexit.register(gc.freeze)
    app()
