"""Signatures of all commands as `thali --help` shows them; the code is in `commands`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from thali._model.model_spec import Option

from .classical_test_options import TESTS
from .model_lookup import TYPED
from .model_options import (
    AMCE,
    COMPARED,
    COMPARISON,
    LEADERBOARD,
    STUDY_DESIGN,
    Author,
    Form,
    Overwrite,
    Pictures,
    Question,
    Quiet,
    ReplaceFiles,
    Tables,
    Title,
    add_model_options,
    add_options,
)
from .terminal_messages import OptionWords, plain_messages

_Report = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Write a report: one HTML file to mail or print.", show_default=False
    ),
]


def _select_typed_options(typed: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were typed, by option name."""
    return {
        name.replace("_", "-"): typed_value
        for name, typed_value in typed.items()
        if typed_value is not None
    }


@add_model_options()
def fit(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A table (CSV, TSV, Excel, Parquet, JSON Lines), the name of a bundled data set,"
            " or - for standard input. Paired comparisons: a square matrix of counts (row over"
            " column), or one comparison per row. Choices: one alternative of a choice set per"
            " row. Similarities: a symmetric matrix, or one pair per row. Classification: one"
            " observation per row (see --target). Choice experiments: one alternative of a"
            " task per row (see --monotone).",
            show_default=False,
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            help=" ".join(
                f"{spec.name} ({', '.join(spec.aliases)}): {spec.answers}." for spec in TYPED
            ),
            show_default="chosen by kind of data, and printed; plackett-luce with --target,"
            " product-classes with --monotone",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write posterior.nc (model.nc if the fit has no draws), tables and pictures to a"
            " folder. To resume after a crash, run the same command again, or thali resume"
            " DIR.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    tables: Tables = None,
    pictures: Pictures = None,
    report: _Report = None,
    title: Title = "",
    author: Author = "",
    question: Question = "",
    form: Form = None,
    quiet: Quiet = False,
    **typed: Any,
) -> None:
    """Fit a model to comparisons, choices, similarities, an experiment or data with covariates;
    print the results."""
    from .commands.fit import run_fit
    from .result_files import parse_formats

    with plain_messages() as terminal:
        terminal.set_print_form(form, quiet)
        typed_options = _select_typed_options(typed)
        formats = parse_formats(tables, pictures, out)
        cover = {"title": title, "author": author, "question": question}
        run_fit(terminal, data, model, typed_options, out, overwrite, formats, report, cover)


_Job = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        help="The folder given to thali fit --out or thali compare --out.",
        show_default=False,
    ),
]


def resume(folder: _Job) -> None:
    """Resume an interrupted fit or comparison by repeating its command."""
    from .commands.resume_status import read_job_command

    with plain_messages() as terminal:
        name, arguments = read_job_command(folder)
        if name == "fit":
            from .commands.fit import run_fit as run
        else:
            from .commands.compare import run_compare as run
        run(terminal, **arguments)


def report(
    results: Annotated[
        Path,
        typer.Argument(
            metavar="RESULTS",
            help="The folder passed as --out to thali fit, compare, leaderboard or amce, or a file"
            " written by save.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="File name of the report.",
            show_default="report.html in the folder",
        ),
    ] = None,
    title: Title = "",
    author: Author = "",
    question: Question = "",
    overwrite: ReplaceFiles = False,
) -> None:
    """Write a report of a fit, comparison or leaderboard: one HTML file to mail or print."""
    with plain_messages() as terminal:
        from .commands.report import run_report

        cover = {"title": title, "author": author, "question": question}
        run_report(terminal, results, out, cover, overwrite)


def show(
    results: Annotated[
        Path,
        typer.Argument(
            metavar="RESULTS",
            help="The folder passed as --out to thali fit, compare, leaderboard or amce, or a file"
            " written by save.",
            show_default=False,
        ),
    ],
    finding: Annotated[
        str | None,
        typer.Argument(
            metavar="[FINDING]",
            help="Key of a table, as listed by --list.",
            show_default="one screen",
        ),
    ] = None,
    lists: Annotated[
        bool,
        typer.Option(
            "--list", help="List the keys of all tables, with the question that each answers."
        ),
    ] = False,
    form: Form = None,
    quiet: Quiet = False,
) -> None:
    """Show saved results: one screen, one complete table, or everything."""
    with plain_messages() as terminal:
        from .commands.show import run_show

        terminal.set_print_form(form, quiet)
        run_show(terminal, results, finding, lists)


def status(folder: _Job) -> None:
    """Show the progress of a fit or comparison, running or interrupted."""
    with plain_messages():
        from .commands.resume_status import print_status

        print_status(folder)


@add_model_options(COMPARED)
@add_options(COMPARISON)
def compare(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A table, or the name of a bundled data set, as for thali fit.",
            show_default=False,
        ),
    ],
    models: Annotated[
        str | None,
        typer.Option(
            metavar="[NAME=]ibp|unique|K|FILE|tree[:L]|MODEL|PEOPLE[:...],...",
            help="Models to compare, separated by commas. NAME=MODEL sets the name that is printed."
            " A model is a name of thali fit --model (such as plackett-luce), with default"
            " settings; a value of --aspects or --features (such as ibp or unique); or tree"
            " (with --tree; tree:0.5 sets the leaf length to 0.5). With respondents, also a value"
            " of --people, such as adjusted or individuals:BTL.",
            show_default="default models for the kind of data",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the tables, the pictures and, with --by evidence, a report and the finished"
            " models to a folder. To resume after a crash, run the same command again, or"
            " thali resume DIR.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    tables: Tables = None,
    pictures: Pictures = None,
    form: Form = None,
    quiet: Quiet = False,
    **typed: Any,
) -> None:
    """Compare models by evidence, or by their predictions of held-out pairs, choices, tasks or
    rows."""
    from .commands.compare import run_compare
    from .result_files import parse_formats

    with plain_messages() as terminal:
        terminal.set_print_form(form, quiet)
        formats = parse_formats(tables, pictures, out)
        comparison_settings = {option.name: typed.pop(option.name) for option in COMPARISON}
        typed_options = _select_typed_options(typed)
        run_compare(
            terminal, data, models, comparison_settings, typed_options, out, overwrite, formats
        )


# The other commands: tests, designs, bundled data, reproductions of tables, the app ---------------


@add_model_options(specs=TESTS)
def test(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help=" ".join(f"{spec.name}: {spec.answers}." for spec in TESTS),
            show_default="list all tests",
        ),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA...",
            help="A table of paired comparisons, or the name of a bundled data set, as for thali"
            " fit. The tests 'group' and 'order' accept several tables.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write all tables to a folder.", show_default=False),
    ] = None,
    overwrite: ReplaceFiles = False,
    tables: Tables = None,
    form: Form = None,
    quiet: Quiet = False,
    **typed: Any,
) -> None:
    """Run a classical test of paired comparisons."""
    with plain_messages() as terminal:
        from .commands.test import list_tests, run_test
        from .result_files import parse_formats

        if name is None:
            list_tests()
            return
        terminal.set_print_form(form, quiet)
        typed_options = _select_typed_options(typed)
        formats = parse_formats(tables, None, out)
        run_test(terminal, name, data or [], typed_options, out, formats, overwrite)


@add_options(STUDY_DESIGN)
def design(
    options: Annotated[
        list[str],
        typer.Argument(
            metavar="OPTION...|FILE",
            help="The options (at least three), or their number. With --tasks: a table with one"
            " level per row and the columns 'attribute', 'level' and optionally 'utility'"
            " (expected utility) and 'sd' (its standard deviation).",
            show_default=False,
        ),
    ],
    tasks: Annotated[
        int | None,
        typer.Option(
            help="Number of choice tasks per respondent.", show_default="a design of pairs"
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Random seed: the same seed gives the same design (with --tasks, --size or"
            " --per-person).",
            show_default="random",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write the design to a folder, as a table.", show_default=False
        ),
    ] = None,
    overwrite: ReplaceFiles = False,
    tables: Tables = None,
    form: Form = None,
    quiet: Quiet = False,
    **typed: Any,
) -> None:
    """Design pairs (in balanced order), sets (--size, --per-person) or choice tasks (--tasks)."""
    # without --pilot, messages about expected utilities speak of the table
    known_options = [
        Option("tasks", ""),
        *(option for option in STUDY_DESIGN if typed["pilot"] or option.name != "prior"),
    ]
    with plain_messages(OptionWords(known_options)) as terminal:
        from .commands.design import run_design
        from .result_files import parse_formats

        terminal.set_print_form(form, quiet)
        formats = parse_formats(tables, None, out)
        typed_options = _select_typed_options(typed)
        run_design(terminal, options, tasks, typed_options, seed, out, formats, overwrite)


@add_options(LEADERBOARD)
def leaderboard(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Tables (CSV, TSV, Excel, Parquet or JSON Lines), or the name of a"
            " bundled data set. Tables may contain votes (model_a, model_b, winner), winners"
            " and losers, results of games, a square matrix of counts, rankings, choices or"
            " best-worst sets. Several files are merged. To update a leaderboard, give its"
            " leaderboard.nc as the first file.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for leaderboard.csv, .json and .png, and for leaderboard.nc, which later"
            " updates require.",
        ),
    ] = None,
    overwrite: ReplaceFiles = False,
    report: _Report = None,
    audit: Annotated[
        bool,
        typer.Option(
            "--audit",
            help="Instead of the leaderboard, print what its first place depends on: how many"
            " reversed votes, which respondents, ties and circular triads.",
        ),
    ] = False,
    title: Title = "",
    author: Author = "",
    question: Question = "",
    form: Form = None,
    quiet: Quiet = False,
    **typed: Any,
) -> None:
    """Rank options by votes, games or rankings: ratings, intervals for the ranks, and tiers."""
    from .commands.leaderboard import run_leaderboard

    with plain_messages(OptionWords(LEADERBOARD)) as terminal:
        typed_options = _select_typed_options(typed)
        terminal.set_print_form(form, quiet)
        run_leaderboard(
            terminal,
            data,
            typed_options,
            out,
            report,
            {"title": title, "author": author, "question": question},
            overwrite,
            audit,
        )


@add_options(AMCE)
def amce(
    data: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A table of a conjoint experiment: one row per profile, one row per task, or an"
            " export of the Conjoint Survey Design Tool.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for the tables, the pictures and amce.nc for thali show."
        ),
    ] = None,
    overwrite: Overwrite = False,
    report: _Report = None,
    title: Title = "",
    author: Author = "",
    question: Question = "",
    form: Form = None,
    quiet: Quiet = False,
    **typed: Any,
) -> None:
    """Estimate the effects of randomised attributes (AMCE) and marginal means."""
    from .commands.amce import run_amce

    with plain_messages(OptionWords(AMCE)) as terminal:
        typed_options = _select_typed_options(typed)
        terminal.set_print_form(form, quiet)
        cover = {"title": title, "author": author, "question": question}
        run_amce(terminal, data, typed_options, out, report, cover, overwrite)


def datasets(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="Name of a bundled data set.", show_default="list all"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the data set to a CSV file.", show_default="standard output"
        ),
    ] = None,
    overwrite: ReplaceFiles = False,
) -> None:
    """List the bundled data sets, or export one.

    An exported table is a square that `thali fit` reads: counts, row chosen over column, or
    similarities.
    """
    with plain_messages():
        from .commands.datasets import export_dataset, list_datasets

        if name is not None:
            export_dataset(name, out, overwrite)
        elif out is not None:
            raise typer.BadParameter("give the data set to write: thali datasets NAME --out FILE")
        else:
            list_datasets()


def cite(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODEL]", help="A model, as for thali fit --model.", show_default="thali only"
        ),
    ] = None,
) -> None:
    """Print citations of thali and of a model's paper, as BibTeX."""
    with plain_messages():
        from .commands.cite import print_citations

        print_citations(model)


def start_app(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the server; 0 picks a free one.")
    ] = 0,
    host: Annotated[
        str,
        typer.Option(
            help="Address of the server. Any address other than this computer's own opens the app"
            " to others, who need a password; traffic is not encrypted."
        ),
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option(help="Open the app in the browser.")] = True,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for data and results.",
            show_default="thali's folder in your home directory",
        ),
    ] = None,
) -> None:
    """Open thali in the browser: choose a file, check how it was read, fit a model, read the
    report."""
    with plain_messages():
        from ..app.start import run_app

        run_app(port, host, browser, folder)


Models = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[MODEL]...", help="Models, as for thali fit --model.", show_default="all"
    ),
]


def cache_info() -> None:
    """Show the folder and size of the cache of compiled samplers."""
    with plain_messages():
        from .commands import cache

        cache.show_info()


def cache_clear() -> None:
    """Delete the cache of compiled samplers; the next fit compiles again."""
    with plain_messages():
        from .commands import cache

        cache.clear()


def cache_warm(models: Models = None) -> None:
    """Compile the samplers of models for this machine in advance."""
    with plain_messages():
        from .commands import cache

        cache.warm(models or [])


def cache_build(
    out: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="Folder for the compiled code; created if necessary."),
    ],
    models: Models = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL",
            help="Minimum processor: x86-64-v2, x86-64-v3, x86-64-v4, apple-m1 or generic.",
            show_default="x86-64-v3; apple-m1 on a Mac; otherwise generic",
        ),
    ] = None,
) -> None:
    """Compile for all processors of a given level, for use in wheels (see packaging/README.md)."""
    with plain_messages(OptionWords([Option("target", ""), Option("out", "")])):
        from .commands import cache

        cache.build(models or [], target, out)
