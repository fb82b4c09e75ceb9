"""Every command as `thali --help` shows it: its arguments and options, and no work."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .boundary import OptionWords, plain_messages
from .classical import TESTS
from .models import TYPED
from .options import (
    COMPARED,
    LEADERBOARD,
    Author,
    Form,
    Overwrite,
    Pictures,
    Question,
    Quiet,
    Tables,
    Title,
    takes_options,
    takes_options_of_models,
)

_Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write a report there: one HTML file, to mail and to print.", show_default=False),
]

_Slides = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Write a slide of 16 to 9 for each answer that has a picture there, as PNG and SVG.",
        show_default=False,
    ),
]


@takes_options_of_models()
def fit(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A table (CSV, TSV, Excel, Parquet, JSON Lines) of paired comparisons (a square count matrix, row over"
            " column, or one comparison a line), of choices out of sets (one alternative of an occasion a line), of"
            " similarities (a symmetric square, or one pair a line), of"
            " covariates and classes (one observation a line; see --target), or of a choice experiment (one alternative"
            " of a task a line; see --monotone); the name of a bundled data set; or - for what is piped in.",
            show_default=False,
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            help=" ".join(f"{spec.name} ({', '.join(spec.aliases)}): {spec.answers}." for spec in TYPED),
            show_default="the usual one of such data, which is printed; with --target plackett-luce, with --monotone"
            " product-classes",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write posterior.nc (model.nc if there are no draws), the tables and the pictures there. While it"
            " draws, its job lies in"
            " DIR/job: after a crash the same command, or thali resume DIR, goes on from it.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    tables: Tables = None,
    pictures: Pictures = None,
    report: _Report = None,
    slides: _Slides = None,
    title: Title = "",
    author: Author = "",
    question: Question = "",
    form: Form = None,
    quiet: Quiet = False,
    **typed: Any,
) -> None:
    """Fit a model to comparisons, similarities, covariates and classes, or a choice experiment; print what it found."""
    from .commands.fit import run_fit
    from .files import formats_of

    with plain_messages() as terminal:
        terminal.print_as(form, quiet)
        run_fit(
            terminal,
            data,
            model,
            {name.replace("_", "-"): value for name, value in typed.items() if value is not None},
            out,
            overwrite,
            formats_of(tables, pictures, out),
            report,
            {"title": title, "author": author, "question": question},
            slides,
        )


_Job = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        help="The folder that --out of thali fit or compare named.",
        show_default=False,
    ),
]


def resume(folder: _Job) -> None:
    """Go on with a fit or a comparison that was stopped or killed, by the command that began them."""
    from .commands.jobs import command_in

    with plain_messages() as terminal:
        name, arguments = command_in(folder)
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
            help="The folder that --out of thali fit, compare or leaderboard named, or a file that save wrote.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="The report.", show_default="report.html in the folder"),
    ] = None,
    slides: _Slides = None,
    title: Title = "",
    author: Author = "",
    question: Question = "",
) -> None:
    """Write a report of a fit, a comparison or a leaderboard: one HTML file, to mail and to print."""
    with plain_messages() as terminal:
        from .commands.report import run_report

        run_report(terminal, results, out, {"title": title, "author": author, "question": question}, slides)


def show(
    results: Annotated[
        Path,
        typer.Argument(
            metavar="RESULTS",
            help="The folder that --out of thali fit, compare or leaderboard named, or a file that save wrote.",
            show_default=False,
        ),
    ],
    finding: Annotated[
        str | None,
        typer.Argument(metavar="[FINDING]", help="The key of a table, as --list shows it.", show_default="one screen"),
    ] = None,
    lists: Annotated[bool, typer.Option("--list", help="List the keys, and what each answers.")] = False,
    form: Form = None,
    quiet: Quiet = False,
) -> None:
    """Show what was found, of results that were written: one screen, one table whole, or everything."""
    with plain_messages() as terminal:
        from .commands.show import run_show

        terminal.print_as(form, quiet)
        run_show(terminal, results, finding, lists)


def status(folder: _Job) -> None:
    """Say how far a fit or a comparison is, running or not."""
    with plain_messages():
        from .commands.jobs import print_status

        print_status(folder)


@takes_options_of_models(COMPARED)
def compare(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="A table, or the name of a bundled data set, as for fit.", show_default=False
        ),
    ],
    models: Annotated[
        str | None,
        typer.Option(
            metavar="[NAME=]ibp|unique|K|FILE|tree[:L]|MODEL|WEIGHTS[:...]|PEOPLE[:...]|classes:N[:...],...",
            help="The models, between commas, with a name before them or not. For choices and similarities what"
            " --aspects or --features of fit takes, or tree for that of --tree (tree:0.5 with leaf length 0.5); a model"
            " of thali by its name, such as plackett-luce or multinomial-logit, with its defaults. With --group the"
            " weights of the groups, common, free or similar, or similar:unique for other aspects than ibp. Of"
            " respondents classes:2 or classes:2:unique, and independent, adjusted, individuals or individuals:unique,"
            " as --people of fit. Of experiments attention:hierarchical-logit, whose people may ignore attributes.",
            show_default="those for such data",
        ),
    ] = None,
    leave_out: Annotated[
        str | None,
        typer.Option(
            metavar="pair|respondent|choice|task|row",
            help="What is left out at a time: all comparisons of a pair or of respondents, or the similarity of a pair;"
            " choices or respondents; of experiments, the last tasks of everybody or respondents; rows, in folds.",
            show_default="the first that the data have",
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            help="Leave so many parts out in turn.",
            show_default="classes 5; pairs each, or 6 above 20 fits; else a fifth or a quarter is left out, once",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="prediction|evidence",
            help="evidence: leave nothing out, and find the probability of the data under each model, with posterior"
            " probabilities and Bayes factors; of models with latent features by MCMC.",
            show_default="evidence where every model has one and nothing is said of what is left out, else prediction",
        ),
    ] = None,
    sensitivity: Annotated[
        bool | None,
        typer.Option(
            help="With --by evidence: under other priors, too, which takes two to six times as long.",
            show_default="no-sensitivity",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write comparison.csv, predictions.csv and, of pairs, comparison.png there. Finished fits lie in"
            " DIR/job: after a crash the same command, or thali resume DIR, goes on from them. By evidence,"
            " comparison.csv, temperatures.csv and report.html, and finished models.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    tables: Tables = None,
    pictures: Pictures = None,
    form: Form = None,
    quiet: Quiet = False,
    **typed: Any,
) -> None:
    """Compare models by evidence, or by how well each predicts pairs, choices, tasks or rows that are left out."""
    from .commands.compare import run_compare
    from .files import formats_of

    with plain_messages() as terminal:
        terminal.print_as(form, quiet)
        own = {"leave_out": leave_out, "folds": folds, "by": by, "sensitivity": sensitivity}
        run_compare(
            terminal,
            data,
            models,
            own,
            {name.replace("_", "-"): value for name, value in typed.items() if value is not None},
            out,
            overwrite,
            formats_of(tables, pictures, out),
        )


# The other commands: tests, designs, bundled data, reproductions of tables, the app -----------------------


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
    form: Form = None,
    quiet: Quiet = False,
    **typed: Any,
) -> None:
    """Print a classical test of paired comparisons."""
    with plain_messages() as terminal:
        from .commands.test import list_tests, run_test
        from .files import formats_of

        if name is None:
            list_tests()
            return
        terminal.print_as(form, quiet)
        given = {word.replace("_", "-"): value for word, value in typed.items() if value is not None}
        run_test(terminal, name, data or [], given, out, formats_of(tables, None, out))


def design(
    options: Annotated[
        list[str],
        typer.Argument(
            metavar="OPTION...|FILE",
            help="The options, three or more; or how many. With --tasks a table of attributes and levels, one level a"
            " line, with the columns attribute, level and, if utilities are expected, utility; if these are uncertain,"
            " sd, their standard deviations.",
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
    size: Annotated[
        int | None,
        typer.Option(help="Sets of so many options in place of pairs: 3 for triplets.", show_default=False),
    ] = None,
    per_person: Annotated[
        int | None,
        typer.Option(help="A balanced part of so many pairs or sets in place of all.", show_default=False),
    ] = None,
    versions: Annotated[
        int | None,
        typer.Option(help="With --tasks or --per-person: different parts; each person answers one.", show_default="1"),
    ] = None,
    none: Annotated[bool, typer.Option("--none", help="With --tasks: a no-choice option in each.")] = False,
    interaction: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=A,B,...",
            help="With --tasks: attributes whose effects depend on those of others, such as price=brand.",
            show_default=False,
        ),
    ] = None,
    overlap: Annotated[
        str | None,
        typer.Option(
            metavar="minimal|balanced",
            help="With --tasks: how often products of a task have the same level.",
            show_default="minimal",
        ),
    ] = None,
    direction: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=increasing|decreasing ...",
            help="With --tasks: which levels everybody prefers, so that no product is worse than another of its task.",
            show_default=False,
        ),
    ] = None,
    prohibit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=A,NAME=B,C",
            help="With --tasks: what no product may have together; several such rules by several of these.",
            show_default=False,
        ),
    ] = None,
    holdouts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --tasks: a table of further tasks, the same for everybody: task, and the attributes.",
            show_default=False,
        ),
    ] = None,
    pilot: Annotated[
        Path | None,
        typer.Option(
            metavar="RESULTS",
            help="With --tasks: the folder or file of a logit that was fitted to a pilot study, for utilities and how"
            " uncertain they are. With --power, of options: that of a model of worths (fit --model BTL).",
            show_default=False,
        ),
    ] = None,
    power: Annotated[
        int | None,
        typer.Option(
            metavar="PEOPLE",
            help="With --tasks and utilities: simulate studies of so many people with the design, and print how often"
            " each utility is told from 0; of options how often the first three are told apart, 0: of as many people"
            " as that takes.",
            show_default="no simulation",
        ),
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(help="With --power: the standard deviation of each utility between people.", show_default="0"),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="With --tasks, --size or --per-person: same seed, same design.", show_default="a fresh one"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the design there, as a table.", show_default=False),
    ] = None,
    tables: Tables = None,
    form: Form = None,
    quiet: Quiet = False,
) -> None:
    """Lay out all pairs of options in a balanced order, sets of them (--size, --per-person), or tasks (--tasks)."""
    named = {name: name for name in ("tasks", "alternatives", "versions", "none", "overlap", "holdouts", "size")}
    named["per_person"] = "per-person"
    named |= {"interactions": "interaction", "directions": "direction", "prohibited": "prohibit"}
    named |= {"respondents": "power", "spread": "spread"} | ({} if pilot is None else {"prior": "pilot"})
    with plain_messages(OptionWords.of_names(named)) as terminal:
        from thali.errors import ArgumentError

        from .commands.design import print_choice_design, print_design, print_set_design
        from .files import formats_of

        terminal.print_as(form, quiet)
        formats = formats_of(tables, None, out)
        parts = 1 if versions is None else versions
        if tasks is None:
            of_tasks = {"alternatives": alternatives, "interaction": interaction, "direction": direction}
            of_tasks |= {"prohibit": prohibit, "holdouts": holdouts, "none": none or None, "overlap": overlap}
            if given := [word for word, value in of_tasks.items() if value is not None]:
                raise ArgumentError(f"--{given[0]} is about the tasks of a choice experiment; say how many by --tasks.")
            if power is None and (pilot is not None or spread is not None):
                raise ArgumentError(
                    "--pilot and --spread are of the people who are simulated; say how many by --power."
                )
            simulated = None if power is None else (power or None, spread or 0.0, pilot)
            if size is None and per_person is None:
                of_parts = (("versions", versions), ("seed", None if power is not None else seed))
                if given := [word for word, value in of_parts if value is not None]:
                    raise ArgumentError(
                        f"--{given[0]} is about parts of the pairs, sets or tasks; say --per-person, --size or --tasks."
                    )
                print_design(terminal, options, out, formats, simulated, seed)
            else:
                of_sets = (2 if size is None else size, per_person, parts, seed)
                print_set_design(terminal, options, *of_sets, out, formats, simulated)
            return
        if size is not None or per_person is not None:
            raise ArgumentError("--size and --per-person are about options; tasks have --alternatives and --tasks.")
        how = {"versions": parts, "none": none, "overlap": overlap or "minimal", "random_seed": seed}
        typed = {"interactions": interaction or [], "directions": direction or [], "prohibited": prohibit or []}
        if spread is not None and power is None:
            raise ArgumentError("--spread is of the people who are simulated; say how many by --power.")
        simulated = None if power is None else (power, spread or 0.0)
        of_study = (formats, typed, holdouts, simulated, pilot)
        print_choice_design(terminal, options, tasks, alternatives, out, *of_study, **how)


@takes_options(LEADERBOARD)
def leaderboard(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Comparisons of two (CSV, TSV, Excel, Parquet, JSON Lines of any length): the log of an arena"
            " (model_a, model_b, winner), winners and losers, results of games, a square of counts; or rankings,"
            " choices out of sets, the best and the worst of sets; or the name of a bundled data set."
            " Several files are put together; the first may be the leaderboard.nc of an earlier run.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write leaderboard.csv, leaderboard.json and leaderboard.png there, and leaderboard.nc, which further"
            " files can be added to.",
        ),
    ] = None,
    report: _Report = None,
    title: Title = "",
    author: Author = "",
    question: Question = "",
    form: Form = None,
    quiet: Quiet = False,
    **typed: Any,
) -> None:
    """Rank options by comparisons of two, or rankings: worths, intervals of ranks, groups that cannot be told apart."""
    from .commands.leaderboard import run_leaderboard

    with plain_messages(OptionWords(LEADERBOARD)) as terminal:
        given = {name.replace("_", "-"): value for name, value in typed.items() if value is not None}
        terminal.print_as(form, quiet)
        run_leaderboard(terminal, data, given, out, report, {"title": title, "author": author, "question": question})


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


DesignToAsk = Annotated[
    Path,
    typer.Argument(
        metavar="DESIGN",
        help="A text with an option or a picture a line, a folder of pictures, a table with the columns option and"
        " picture, or a design: its table, or the folder of thali design --out.",
        show_default=False,
    ),
]
Asked = Annotated[
    str | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="pairs, best, best-worst, ranking, odd-one-out, ratings or choice.",
        show_default="pairs; choice of a design with products",
    ),
]
Titled = Annotated[str | None, typer.Option("--title", help="What the page is called.", show_default=False)]
StudyFile = Annotated[
    Path | None,
    typer.Option(
        "--study",
        metavar="FILE",
        help="A study.toml: words, consent, questions, practice, address.",
        show_default=False,
    ),
]
TaskSeed = Annotated[int, typer.Option("--seed", min=0, help="Same seed, same tasks, where nobody sees all.")]
_ASKED = {"kind": "kind", "title": "title", "random_seed": "seed", "design": "DESIGN", "to": "to"}


def field_make(
    design: DesignToAsk,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page, such as study.html.", show_default=False)],
    kind: Asked = None,
    title: Titled = None,
    study: StudyFile = None,
    seed: TaskSeed = 0,
) -> None:
    """Write a questionnaire as one HTML file that needs nothing but a browser."""
    with plain_messages(OptionWords.of_names(_ASKED)):
        from .commands.field import make

        make(design, out, kind, title, study, seed)


def field_export(
    design: DesignToAsk,
    to: Annotated[str, typer.Option(metavar="TOOL", help="jspsych or psychopy.", show_default=False)],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the files are written.", show_default=False)],
    kind: Asked = None,
    title: Titled = None,
    study: StudyFile = None,
    seed: TaskSeed = 0,
) -> None:
    """Write the same study for jsPsych or PsychoPy."""
    with plain_messages(OptionWords.of_names(_ASKED)):
        from .commands.field import hand_over

        asked = {"kind": kind, "title": title, "study": study, "random_seed": seed}
        hand_over(design, to, out, asked)


def field_collect(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The files of answers.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The answers of all, for thali fit.", show_default="only the report"),
    ] = None,
) -> None:
    """Join the answers of many people to a questionnaire, and say who is missing, twice or careless."""
    with plain_messages(OptionWords.of_names({"where": "where"})):
        from .commands.field import join

        join(folder, out)
