"""The command line: `thali fit`, `thali compare`, `thali test`, `thali datasets`, `thali reproduce` and `thali cache`.

This module holds what `thali --help` shows and nothing else; each command imports what it needs when it
runs, so that help stays instant.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from thali.cli import options
from thali.cli.boundary import plain_messages
from thali.cli.several import SpreadCommand

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
    data: options.Data,
    model: options.Model = None,
    target: options.Target = None,
    method: options.Method = None,
    a: options.Shape = None,
    transform: options.Transform = "exponential",
    folds: options.Folds = 5,
    respondent: options.Column = None,
    task: options.Column = None,
    alternative: options.Column = None,
    chosen: options.Column = None,
    attributes: options.Attributes = None,
    levels: options.Levels = None,
    none: options.NoChoice = None,
    bins: options.Bins = None,
    monotone: options.Monotone = None,
    groups: options.Groups = 8,
    particles: options.Particles = None,
    final_sweeps: options.FinalSweeps = None,
    checkpoint: options.Checkpoint = None,
    market: options.Market = None,
    aspects: options.Aspects = "ibp",
    unique: options.Unique = True,
    lapse: options.FitLapse = None,
    features: options.Features = "ibp",
    sigma: options.Sigma = None,
    weight_prior: options.WeightPrior = "1,10",
    constant: options.Constant = True,
    symmetrize: options.Symmetrize = None,
    estimate: options.Estimate = "expectation",
    tree: options.FeatureTree = None,
    leaf_length: options.LeafLength = None,
    alpha: options.Alpha = None,
    draws: options.Draws = 1000,
    tune: options.Tune = 1000,
    chains: options.Chains = 4,
    thin: options.Thin = None,
    cores: options.Cores = None,
    sampler: options.Sampler = "recommended",
    tempering: options.Tempering = "auto",
    seed: options.Seed = None,
    out: options.Out = None,
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
    unique: options.Unique = True,
    tree: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The tree of the models named tree: two columns, option and group, or Newick."
        ),
    ] = None,
    draws: options.Draws = 1000,
    tune: options.Tune = 1000,
    chains: Annotated[int, typer.Option(help="Independent chains of each fit.")] = 4,
    thin: options.Thin = None,
    cores: Annotated[int | None, typer.Option(help="Fits run at once.", show_default="all there are")] = None,
    lapse: options.Lapse = 0.01,
    alpha: options.Alpha = None,
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
            print(f"{path}: not used, because {info.refused[path]}" if path in info.refused else path)


@cache.command("clear")
def cache_clear() -> None:
    """Remove the compiled samplers; the next fit compiles."""
    with plain_messages():
        from thali import _jit

        print(f"removed {_jit.cache_clear():,} files")
