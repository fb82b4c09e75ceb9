"""The commands that fit and compare models, and those that go on with what they began or tell of it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .boundary import plain_messages
from .models import TYPED
from .options import COMPARED, Author, Overwrite, Pictures, Question, Tables, Title, takes_options_of_models

_Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write a report there: one HTML file, to mail and to print.", show_default=False),
]


@takes_options_of_models()
def fit(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A table (CSV, TSV, Excel or Parquet) of paired comparisons (a square count matrix, row chosen over"
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
            show_default="what the data look like; with --target plackett-luce, with --monotone product-classes",
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
    title: Title = "",
    author: Author = "",
    question: Question = "",
    **typed: Any,
) -> None:
    """Fit a model to comparisons, similarities, covariates and classes, or a choice experiment; print what it found."""
    from .commands.fit import run_fit
    from .files import formats_of

    with plain_messages() as terminal:
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
        )


_Job = Annotated[
    Path,
    typer.Argument(
        metavar="DIR", help="The folder that --out of thali fit, compare or merge named.", show_default=False
    ),
]


def resume(folder: _Job) -> None:
    """Go on with a fit or a comparison that was stopped or killed, by the command that began it."""
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
            help="The folder that --out of thali fit or compare named, or a file that save wrote.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="The report.", show_default="report.html in the folder"),
    ] = None,
    title: Title = "",
    author: Author = "",
    question: Question = "",
) -> None:
    """Write a report of a fit or a comparison: one HTML file, to mail and to print."""
    with plain_messages() as terminal:
        from .commands.report import run_report

        run_report(terminal, results, out, {"title": title, "author": author, "question": question})


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
            metavar="[NAME=]ibp|unique|K|FILE|tree[:L]|MODEL|WEIGHTS[:...]|kinds:N[:...],...",
            help="The models, between commas, with a name before them or not. For choices and similarities what"
            " --aspects or --features of fit takes, or tree for that of --tree (tree:0.5 with leaf length .5); a model"
            " of thali by its name, such as plackett-luce or multinomial-logit, with its defaults. With --group the"
            " weights of the groups, common, free or similar, or similar:unique for other aspects than ibp. Of people"
            " who are told apart kinds:2 or kinds:2:unique.",
            show_default="those for such data",
        ),
    ] = None,
    leave_out: Annotated[
        str | None,
        typer.Option(
            metavar="pair|subject|choice|task|row|respondent",
            help="What is left out at a time: all comparisons of a pair or of subjects, or the similarity of a pair;"
            " choices or respondents; of experiments, the last tasks of everybody or respondents; rows, in folds.",
            show_default="the first that the data have",
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            help="Leave so many parts out in turn (not of paired comparisons).",
            show_default="classes 5; similarities each pair; else a fifth or a quarter is left out, once",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="prediction|evidence",
            help="evidence: leave nothing out, and find the probability of the data under each model, with posterior"
            " probabilities and Bayes factors; of models with latent features by MCMC.",
            show_default="prediction",
        ),
    ] = None,
    sensitivity: Annotated[
        bool | None,
        typer.Option(
            help="With --by evidence: under other priors, too, which takes two to six times as long.",
            show_default="no-sensitivity",
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="K/N",
            help="Carry out the K-th of N shares of the fits, or by evidence of the models, for N processes or"
            " machines; needs --out, one folder a share, and --seed. thali merge joins them.",
            show_default="all",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write comparison.csv, predictions.csv and, of pairs, comparison.png there. Finished fits lie in"
            " DIR/job: after a crash the same command, or thali resume DIR, goes on from them. By evidence,"
            " comparison.csv, temperatures.csv, pictures and report.html, and finished models.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    tables: Tables = None,
    pictures: Pictures = None,
    **typed: Any,
) -> None:
    """Leave out pairs, choices, tasks or rows, and print which model predicts them best; or compare by evidence."""
    from .commands.compare import run_compare
    from .files import formats_of

    with plain_messages() as terminal:
        own = {"leave_out": leave_out, "folds": folds, "shard": shard, "by": by, "sensitivity": sensitivity}
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


def merge(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="The folders of all shards of a comparison.", show_default=False),
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder of the whole, with its results.", show_default=False)
    ],
) -> None:
    """Join the shards of a comparison, and print which model predicts best."""
    from .commands.compare import run_merge

    with plain_messages() as terminal:
        run_merge(terminal, folders, out)
