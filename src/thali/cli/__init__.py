"""The command line: `thali fit`, `thali compare`, `thali test`, `thali datasets`, `thali reproduce` and `thali cache`.

This module holds what `thali --help` shows and nothing else; each command imports what it needs when it
runs, so that help stays instant.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from thali.cli.boundary import plain_messages
from thali.cli.several import SpreadCommand

# What several commands take.
Unique = Annotated[bool, typer.Option("--unique/--no-unique", help="Give each option an aspect of its own besides.")]
Draws = Annotated[int, typer.Option(help="Draws kept from each chain.")]
Tune = Annotated[int, typer.Option(help="Draws thrown away first, from each chain.")]
Thin = Annotated[int | None, typer.Option(help="Sweeps for each draw.", show_default="the model's own")]
Lapse = Annotated[float, typer.Option(help="Probability of a blind choice, in [0, 1).")]
Alpha = Annotated[
    float | None,
    typer.Option(help="Concentration of the prior on aspects or features, above 0.", show_default="learned"),
]

Column = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Choices, experiments: the column of that name.", show_default="recognised"),
]

app = typer.Typer(
    help="Latent-feature models of choice and of similarity, and classifiers with a posterior.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help: nothing is cut off, and rich stays unloaded
    pretty_exceptions_enable=False,
)
cache = typer.Typer(help="The compiled samplers kept on disk.", no_args_is_help=True)
app.add_typer(cache, name="cache")


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        # A label or a Greek letter that the terminal's encoding lacks becomes "?" instead of an error.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    app()


def _print_version(wanted: bool) -> None:
    if wanted:
        from thali import __version__

        print(f"thali {__version__}")
        raise typer.Exit


def _typed(context: typer.Context) -> set[str]:
    """The options that were typed, whether or not they differ from the defaults."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name for name, source in sources.items() if source is not None and source.name != "DEFAULT"}


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave."),
    ] = False,
) -> None:
    """Latent-feature models of choice and of similarity, and classifiers with a posterior."""


@app.command(cls=SpreadCommand)
def fit(
    context: typer.Context,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A table (CSV, TSV, Excel or Parquet) of paired comparisons (a square count matrix, row chosen over"
            " column, or one comparison a line), of choices out of sets (one alternative of an occasion a line), of"
            " similarities (a symmetric square, or one pair a line), of"
            " covariates and classes (one observation a line; see --target), or of a choice experiment (one alternative"
            " of a task a line; see --monotone); or the name of a bundled data set.",
            show_default=False,
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            help="elimination-by-aspects (or elimination) for comparisons and choices, additive-clustering (or"
            " additive) for similarities,"
            " plackett-luce or sparse-logit for covariates and classes, product-classes for choice experiments.",
            show_default="what the data look like; with --target plackett-luce, with --monotone product-classes",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Classes: the column that holds them. All other columns are covariates, which must be numbers.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="How the model is fitted. mcmc or maximum-likelihood (of pairs, with known --aspects, unique unless"
            " given) for elimination-by-aspects, gibbs, map or variational for plackett-luce, polya-gamma or"
            " holmes-held for sparse-logit, annealed or smc (for the evidence) for product-classes.",
            show_default="the first",
        ),
    ] = None,
    a: Annotated[
        float | None,
        typer.Option(
            help="plackett-luce: shape of the prior of the weights, above 0; a smaller one leaves fewer of them.",
            show_default="learned; --method map needs one",
        ),
    ] = None,
    transform: Annotated[
        str,
        typer.Option(
            metavar="exponential|exponential-pairs|none",
            help="plackett-luce: what the weights weigh. e^x and e^-x of every covariate x (standardised) and 1; also"
            " those of sums of two; or covariates of 0 or more as they are.",
        ),
    ] = "exponential",
    folds: Annotated[
        int,
        typer.Option(
            min=0,
            help="Classes: parts of the cross-validation, the same for all models unless --seed differs; 0: none.",
        ),
    ] = 5,
    respondent: Column = None,
    task: Column = None,
    alternative: Column = None,
    chosen: Column = None,
    attributes: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN,...",
            help="Experiments: the columns that describe the products.",
            show_default="all others",
        ),
    ] = None,
    levels: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=A,B,...",
            help="Experiments: the levels of an attribute from worst to best; may be given several times.",
            show_default="by size, by the alphabet",
        ),
    ] = None,
    none: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL|COLUMN|COLUMN=VALUE",
            help="Experiments: the no-choice option. Its label among the alternatives, a column with 1 in its rows, or"
            " a column and what it holds in its rows.",
            show_default="there is none",
        ),
    ] = None,
    bins: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=K|NAME=A,B,...",
            help="Experiments: put an attribute of many numbers into K bins, or cut it at A, B, ...",
            show_default=False,
        ),
    ] = None,
    monotone: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=increasing|decreasing ...",
            help="Experiments: attributes of which more is better, or less is; several may follow each other.",
            show_default="all are free",
        ),
    ] = None,
    groups: Annotated[int, typer.Option(help="product-classes: chains, or with --method smc groups of particles.")] = 8,
    particles: Annotated[
        int | None,
        typer.Option(help="product-classes with --method smc: particles in each group.", show_default="64"),
    ] = None,
    final_sweeps: Annotated[
        int | None,
        typer.Option(help="product-classes: sweeps that draws are kept from.", show_default="600; smc 60"),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="product-classes: keep the state there after every step; the same command goes on from it.",
        ),
    ] = None,
    market: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="product-classes: a table of products, one a line, whose market shares are predicted.",
        ),
    ] = None,
    aspects: Annotated[
        str,
        typer.Option(
            metavar="ibp|unique|K|FILE",
            help="Comparisons: which aspects. ibp infers their number, unique gives each option its own and no other"
            " (Bradley-Terry-Luce), an integer K allows K of them, FILE is a table of options and aspects.",
        ),
    ] = "ibp",
    unique: Unique = True,
    lapse: Annotated[
        float,
        typer.Option(help="Probability of a blind choice, in [0, 1).", show_default="0.01; product-classes 0.02"),
    ] = 0.01,
    features: Annotated[
        str,
        typer.Option(
            metavar="ibp|K|FILE",
            help="Similarities: which features. ibp infers their number, an integer K allows K of them, FILE is a table"
            " of objects and features.",
        ),
    ] = "ibp",
    sigma: Annotated[
        float | None,
        typer.Option(
            help="Similarities: their standard deviation about the fitted ones.",
            show_default="that of the data, or learned",
        ),
    ] = None,
    weight_prior: Annotated[
        str,
        typer.Option(
            metavar="SHAPE,RATE",
            help="Similarities: Gamma prior of each weight and of the constant; the default is meant for similarities"
            " of about 0 to 1.",
        ),
    ] = "1,10",
    constant: Annotated[
        bool, typer.Option("--constant/--no-constant", help="Similarities: an additive constant for all pairs.")
    ] = True,
    symmetrize: Annotated[
        str | None,
        typer.Option(
            metavar="mean",
            help="Similarities: take the mean of the two sides of a square where they differ.",
            show_default="an error",
        ),
    ] = None,
    estimate: Annotated[
        str,
        typer.Option(
            metavar="expectation|map-features|conditional-map|joint-map",
            help="Similarities: which estimate is printed and written.",
        ),
    ] = "expectation",
    tree: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A tree of related options, which share aspects more readily: a table of two columns, option and"
            " group, or a Newick file. It takes the place of --aspects or --features.",
        ),
    ] = None,
    leaf_length: Annotated[
        float | None,
        typer.Option(
            help="With groups: length of the edges above the options, above 0 and at most 1; near 0 groups share"
            " nearly everything, at 1 they mean nothing.",
            show_default="0.1",
        ),
    ] = None,
    alpha: Alpha = None,
    draws: Draws = 1000,
    tune: Tune = 1000,
    chains: Annotated[int, typer.Option(help="Independent chains.")] = 4,
    thin: Thin = None,
    cores: Annotated[int | None, typer.Option(help="Chains run at once.", show_default="all there are")] = None,
    sampler: Annotated[
        str,
        typer.Option(metavar="recommended|paper", help="paper: the published one, for comparison only."),
    ] = "recommended",
    tempering: Annotated[
        str,
        typer.Option(
            metavar="auto|off|N|1,T,...",
            help="Replicas at several temperatures, so that chains change between families of features. auto: for"
            " similarities, a number of temperatures that grows while tuning; N temperatures to start with; or the"
            " temperatures themselves.",
        ),
    ] = "auto",
    seed: Annotated[int | None, typer.Option(min=0, help="Same seed, same draws.", show_default="a fresh one")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write posterior.nc (of draws), the tables and the pictures there."),
    ] = None,
) -> None:
    """Fit a model to comparisons, similarities, covariates and classes, or a choice experiment; print what it found."""
    with plain_messages():
        from thali.cli.fitting import run_fit

        run_fit(
            data,
            model_name=model,
            settings=dict(
                aspects=aspects,
                unique=unique,
                lapse=lapse,
                features=features,
                sigma=sigma,
                weight_prior=weight_prior,
                constant=constant,
                symmetrize=symmetrize,
                estimate=estimate,
                alpha=alpha,
                sampler=sampler,
                tempering=tempering,
                target=target,
                method=method,
                a=a,
                transform=transform,
                folds=folds,
                respondent=respondent,
                task=task,
                alternative=alternative,
                chosen=chosen,
                attributes=attributes,
                levels=levels,
                none=none,
                bins=bins,
                monotone=monotone,
                groups=groups,
                particles=particles,
                final_sweeps=final_sweeps,
                checkpoint=checkpoint,
                market=market,
            ),
            given=_typed(context),
            tree=tree,
            leaf_length=leaf_length,
            budget=dict(draws=draws, tune=tune, chains=chains, thin=thin, cores=cores, random_seed=seed),
            out=out,
        )


@app.command()
def compare(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A table of paired comparisons or of choices out of sets, or the name of a bundled data set, as for"
            " fit.",
            show_default=False,
        ),
    ],
    models: Annotated[
        str,
        typer.Option(
            metavar="[NAME=]ibp|unique|K|FILE|tree[:L],...",
            help="The models, between commas; each is what --aspects of fit takes, or tree for that of --tree (tree:0.5"
            " with leaf length .5), with a name before it or not.",
        ),
    ] = "unique,ibp",
    leave_out: Annotated[
        str | None,
        typer.Option(
            metavar="pair|choice|respondent",
            help="What is left out at a time: all comparisons of a pair; of choices out of sets, choices or"
            " respondents.",
            show_default="pair, choice",
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            help="Choices out of sets: leave so many parts out in turn.", show_default="a fifth is left out, once"
        ),
    ] = None,
    unique: Unique = True,
    tree: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The tree of the models named tree: two columns, option and group, or Newick."
        ),
    ] = None,
    draws: Draws = 1000,
    tune: Tune = 1000,
    chains: Annotated[int, typer.Option(help="Independent chains of each fit.")] = 4,
    thin: Thin = None,
    cores: Annotated[int | None, typer.Option(help="Fits run at once.", show_default="all there are")] = None,
    lapse: Lapse = 0.01,
    alpha: Alpha = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Same seed, same table.", show_default="a fresh one")] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep every finished fit there; the same command goes on from it."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write comparison.csv, predictions.csv and comparison.png there."),
    ] = None,
) -> None:
    """Leave each pair out in turn, or choices, and print which model predicts them best."""
    with plain_messages():
        from thali.cli.comparing import run_compare

        run_compare(
            data,
            models=models,
            settings=dict(unique=unique, lapse=lapse, alpha=alpha),
            tree=tree,
            budget=dict(
                leave_out=leave_out,
                folds=folds,
                draws=draws,
                tune=tune,
                chains=chains,
                thin=thin,
                cores=cores,
                random_seed=seed,
                checkpoint=checkpoint,
            ),
            out=out,
        )


@app.command()
def test(
    name: Annotated[
        str,
        typer.Argument(
            metavar="transitivity|circular|agreement",
            help="Stochastic transitivity; circular triads and the coefficient of consistency; Kendall's u.",
            show_default=False,
        ),
    ],
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A table of paired comparisons, or the name of a bundled data set, as for fit.",
            show_default=False,
        ),
    ],
) -> None:
    """Print a classical test of paired comparisons."""
    with plain_messages():
        from thali.cli.testing import run_test

        run_test(name, data)


@app.command()
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
        from thali.cli.bundled import export_dataset, list_datasets

        if name is not None:
            export_dataset(name, out)
        elif out is not None:
            raise typer.BadParameter("say which data set to write: thali datasets NAME --out FILE")
        else:
            list_datasets()


@app.command()
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
            help="Write the text, the tables as CSV and the pictures there; a long run that was stopped goes on from"
            " what it finds there.",
        ),
    ] = None,
) -> None:
    """Recompute a published table or figure and print the paper's figures beside ours."""
    with plain_messages():
        from thali.cli.reproducing import list_entries, run_entry

        if small and full:
            raise typer.BadParameter("a run is either --small or --full")
        if name is None or show_list:
            list_entries()
        else:
            size = "small" if small else "full" if full else "standard"
            run_entry(name, size=size, seed=seed, cores=cores, data=data, sushi=sushi, out=out)


@cache.command("info")
def cache_info() -> None:
    """Say where the compiled samplers lie and how large they are."""
    with plain_messages():
        from thali import _jit

        info = _jit.cache_info()
        print(f"{info.files:,} files, {info.bytes / 1e6:,.1f} MB")
        for path in info.paths:
            print(path)


@cache.command("clear")
def cache_clear() -> None:
    """Remove the compiled samplers; the next fit compiles."""
    with plain_messages():
        from thali import _jit

        print(f"removed {_jit.cache_clear():,} files")
