"""The command line: `thali fit`, `thali compare`, `thali test` and so on.

The commands stand in `declared`: what `thali --help` shows and nothing else. Each imports what it needs when it runs,
so that help stays instant. The options of `thali fit` stand in the specs of the models.
"""

import atexit
import gc
import os
import sys
from typing import Annotated

import typer

from . import declared
from .options import SpreadCommand, SpreadTest

__all__ = ["app", "main"]

app: typer.Typer = typer.Typer(
    help="Latent-feature models of choice and of similarity, and classifiers with a posterior.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help: nothing is cut off, and rich stays unloaded
    pretty_exceptions_enable=False,
)
cache: typer.Typer = typer.Typer(help="The compiled samplers kept on disk.", no_args_is_help=True)
app.add_typer(cache, name="cache")
field: typer.Typer = typer.Typer(
    help="Questionnaires: one HTML file asks, or a class is asked at once; a folder of answers is joined.",
    no_args_is_help=True,
)
app.add_typer(field, name="field")


def _print_version(wanted: bool) -> None:
    if wanted:
        from thali import __version__

        print(f"thali {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave."),
    ] = False,
) -> None:
    """Latent-feature models of choice and of similarity, and classifiers with a posterior."""


app.command(cls=SpreadCommand)(declared.fit)
for _command in (declared.resume, declared.report, declared.status):
    app.command()(_command)
app.command(cls=SpreadCommand)(declared.compare)
app.command(cls=SpreadTest)(declared.test)
app.command()(declared.design)
app.command(cls=SpreadCommand)(declared.leaderboard)
for _command in (declared.datasets, declared.cite):
    app.command()(_command)
app.command("app")(declared.start_app)
field.command("make")(declared.field_make)
field.command("export")(declared.field_export)
field.command("collect")(declared.field_collect)
cache.command("info")(declared.cache_info)
cache.command("clear")(declared.cache_clear)
cache.command("warm")(declared.cache_warm)
cache.command("build")(declared.cache_build)


def main() -> None:
    """Run the command line."""
    os.environ["PYTHONSAFEPATH"] = "1"  # workers import nothing from the folder of the data
    for stream in (sys.stdout, sys.stderr):
        # A label or a Greek letter that the terminal's encoding lacks becomes "?" instead of an error.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    # Python would look through all that was loaded for garbage before it ends, which takes half a second.
    atexit.register(gc.freeze)
    app()
