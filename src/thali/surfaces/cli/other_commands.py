"""The other commands: tests, designs, interviews, bundled data, reproductions of tables, the app."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .boundary import OptionWords, plain_messages
from .classical import TESTS
from .options import LEADERBOARD, Overwrite, Tables, takes_options, takes_options_of_models


@takes_options_of_models(specs=TESTS)
def test(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help=" ".join(f"{spec.name}: {spec.answers}." for spec in TESTS),
            show_default="list them",
        ),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA...",
            help="A table of paired comparisons, or the name of a bundled data set, as for fit; of group and order"
            " several.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write all tables of the answer there.", show_default=False)
    ] = None,
    tables: Tables = None,
    **typed: Any,
) -> None:
    """Print a classical test of paired comparisons."""
    with plain_messages() as terminal:
        from .commands.test import list_tests, run_test
        from .files import formats_of

        if name is None:
            list_tests()
            return
        given = {word.replace("_", "-"): value for word, value in typed.items() if value is not None}
        run_test(terminal, name, data or [], given, out, formats_of(tables, None, out))


def design(
    options: Annotated[
        list[str],
        typer.Argument(
            metavar="OPTION...|FILE",
            help="The options, three or more; or how many. With --tasks a table of attributes and levels, one level a"
            " line, with the columns attribute, level and, if utilities are expected, utility.",
            show_default=False,
        ),
    ],
    tasks: Annotated[
        int | None,
        typer.Option(help="Of a choice experiment: the tasks of each person.", show_default="pairs are laid out"),
    ] = None,
    alternatives: Annotated[
        int | None, typer.Option(help="With --tasks: the products in each task.", show_default=False)
    ] = None,
    versions: Annotated[int, typer.Option(help="With --tasks: sets of tasks; each person answers one.")] = 1,
    none: Annotated[bool, typer.Option("--none", help="With --tasks: a no-choice option in each.")] = False,
    seed: Annotated[
        int | None, typer.Option(min=0, help="With --tasks: same seed, same design.", show_default="a fresh one")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the design there, as a table.", show_default=False),
    ] = None,
    tables: Tables = None,
) -> None:
    """Lay out all pairs of options in a balanced order, or the tasks of a choice experiment (with --tasks)."""
    with plain_messages(OptionWords.of_names({name: name for name in ("tasks", "alternatives", "versions", "none")})):
        from .commands.design import print_choice_design, print_design
        from .files import formats_of

        formats = formats_of(tables, None, out)
        if tasks is None:
            print_design(options, out, formats)
            return
        how = {"versions": versions, "none": none, "random_seed": seed}
        print_choice_design(options, tasks, alternatives, out, formats, **how)


@takes_options(LEADERBOARD)
def leaderboard(
    data: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Comparisons of two (CSV, TSV, Excel or Parquet of any length): the log of an arena (model_a, model_b,"
            " winner), winners and losers, results of games, a square of counts; or the name of a bundled data set.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write leaderboard.csv, leaderboard.json and leaderboard.png there."),
    ] = None,
    **typed: Any,
) -> None:
    """Rank options by comparisons of two: worths, intervals of ranks, groups that cannot be told apart."""
    from .commands.leaderboard import run_leaderboard

    with plain_messages(OptionWords(LEADERBOARD)):
        run_leaderboard(data, {name: value for name, value in typed.items() if value is not None}, out)


def ask(
    options: Annotated[Path, typer.Argument(metavar="FILE", help="The options, one a line.", show_default=False)],
    goal: Annotated[str, typer.Option(metavar="best|ranks|everything", help="What the answers are to teach.")] = "best",
    questions: Annotated[
        int | None, typer.Option(help="End after so many answers.", show_default="everything: ten an option")
    ] = None,
    sure: Annotated[
        float, typer.Option(help="End when the best, or the ranks, are known with this probability.")
    ] = 0.95,
    shown: Annotated[
        int,
        typer.Option(metavar="2|3", help="Options to choose from at a time; a log of pairs goes on with pairs."),
    ] = 2,
    aspects: Annotated[str, typer.Option(metavar="unique|ibp|K", help="The model, as of thali fit.")] = "unique",
    log: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The answers; a log that is there goes on.", show_default="beside the options"
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, show_default="a fresh one")] = None,
) -> None:
    """Interview somebody: of two or three options one is chosen, and the answers decide which are shown next."""
    named = ("goal", "questions", "sure", "shown", "aspects")
    with plain_messages(OptionWords.of_names({name: name for name in named})):
        from .commands.ask import run_ask

        run_ask(options, log, goal, questions, sure, aspects, seed, shown)


def datasets(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A bundled data set.", show_default="list them all")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write its table there, as CSV.", show_default="print it"),
    ] = None,
) -> None:
    """List the bundled data sets, or export one.

    An exported table is a square that `thali fit` reads: counts, row chosen over column, or similarities.
    """
    with plain_messages():
        from .commands.datasets import export_dataset, list_datasets

        if name is not None:
            export_dataset(name, out)
        elif out is not None:
            raise typer.BadParameter("say which data set to write: thali datasets NAME --out FILE")
        else:
            list_datasets()


def cite(
    model: Annotated[
        str | None,
        typer.Argument(metavar="[MODEL]", help="A model of `thali fit --model`.", show_default="thali alone"),
    ] = None,
) -> None:
    """Print how to cite thali and the paper of a model, as BibTeX."""
    with plain_messages():
        from .commands.cite import cite

        cite(model)


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="What to reproduce.", show_default="list what there is"),
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List what there is.")] = False,
    small: Annotated[bool, typer.Option("--small", help="A short run, to see what comes out.")] = False,
    full: Annotated[bool, typer.Option("--full", help="A long run, with small Monte Carlo errors.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same figures.")] = 1,
    cores: Annotated[int | None, typer.Option(min=1, help="Processors to use.", show_default="all there are")] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The data, for what needs some that do not come with thali: see --list."),
    ] = None,
    sushi: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The sushi preferences, for plackett-luce-table2: a table with the kind of sushi in the last column."
            " They may not be handed on, so bring your own.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the text, the tables as CSV and the pictures there, and what a long run has finished; after a"
            " crash the same command goes on from that.",
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Recompute a published table or figure and print the paper's figures beside ours."""
    with plain_messages() as terminal:
        from .commands.reproduce import list_entries, run_entry

        if small and full:
            raise typer.BadParameter("a run is either --small or --full")
        if name is None or show_list:
            list_entries()
        else:
            size = "small" if small else "full" if full else "standard"
            settings = {"size": size, "seed": seed, "cores": cores, "data": data, "sushi": sushi}
            run_entry(terminal, name, **settings, out=out, overwrite=overwrite)


def start_app(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: a free one.")] = 0,
    host: Annotated[
        str,
        typer.Option(
            help="Another address than that of this computer itself lets others in, who need a password; what they send"
            " is not encrypted."
        ),
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option(help="Open the app in the browser.")] = True,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where data and results lie.", show_default="the user's folder for thali"),
    ] = None,
) -> None:
    """Open thali in the browser: drop a file, see what it was read as, choose a model, read the report."""
    with plain_messages():
        from ..app.start import run_app

        run_app(port, host, browser, folder)


Models = Annotated[
    list[str] | None,
    typer.Argument(metavar="[MODEL]...", help="As for fit --model.", show_default="all"),
]


def cache_info() -> None:
    """Say where the compiled samplers lie and how large they are."""
    with plain_messages():
        from .commands import cache

        cache.show_info()


def cache_clear() -> None:
    """Remove the compiled samplers; the next fit compiles."""
    with plain_messages():
        from .commands import cache

        cache.clear()


def cache_warm(models: Models = None) -> None:
    """Compile ahead for this machine, so that no fit waits for it."""
    with plain_messages(OptionWords([])):
        from .commands import cache

        cache.warm(models or [])


def cache_build(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the code is written; made if need be.")],
    models: Models = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL",
            help="The least processor that the code is for: x86-64-v2, x86-64-v3, x86-64-v4, apple-m1 or generic.",
            show_default="x86-64-v3, apple-m1 on a Mac, generic elsewhere",
        ),
    ] = None,
) -> None:
    """Compile for every processor of a level, as wheels carry it (see CONTRIBUTING)."""
    with plain_messages(OptionWords.of_names({"target": "target", "out": "out"})):
        from .commands import cache

        cache.build(models or [], target, out)
