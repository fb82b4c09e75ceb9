"""Help of one screen: the options that people use, in panels; `--help-all` has every option."""

import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from thali._model.spec import DATA, FIT, ModelSpec

from .options import SpreadCommand, SpreadTest, text_of_option

Panels = dict[str, dict[str, str]]  # title, then option as it is typed, then a line about it

_ALL, _TABLE = "thali.help_all", "thali.table"
_LONGEST = 56  # letters of a line about an option

_PRINT = {
    "--print all": "Print every table [one screen]",
    "--quiet": "Print only the sentence with the result",
}
_OUT = {
    "--out DIR": "Write tables, pictures and draws to a folder",
    "--report FILE": "Write a report as one HTML file",
    **_PRINT,
}
_COLUMNS = {
    "--where CONDITION": "Keep rows that meet a condition, e.g. 'age >= 18'",
    "--without COLUMN": "Ignore a column",
    "--respondent COLUMN": "Column with the respondent",
    "--chosen COLUMN": "Column with the chosen option",
}
_MODELS = {
    "bradley-terry-luce": "Pairs, rankings: one worth per option (BTL)",
    "elimination-by-aspects": "Pairs, choices: shared aspects (EBA)",
    "additive-clustering": "Similarities and triplets: features (ADCLUS)",
    "hierarchical-logit": "Choice studies: individual part-worths (HB)",
    "multinomial-logit": "Choice studies: one utility for all (MNL)",
    "latent-class-logit": "Choice studies: segments (LCL)",
    "product-classes": "Choice studies: classes of products",
    "plackett-luce, sparse-logit": "Classification; with --target COLUMN",
}

FIT_PANELS: Panels = {
    "Your data": {
        **_COLUMNS,
        "--group COLUMN": "Column with groups of respondents, fitted jointly",
    },
    "The model": {
        "--model NAME": "Model; listed below by kind of data",
        "--method METHOD": "Estimation method, such as maximum-likelihood",
        "--aspects FILE": "Table with the aspects you expect",
        "--people WORD": "How respondents differ: individuals, classes:3",
    },
    "Run time": {
        "--draws N": "Draws per chain",
        "--max-time SECONDS": "Stop after this time and keep the draws",
        "--cores N": "Number of chains run in parallel",
        "--seed N": "Random seed: same seed, same draws",
    },
    "Output": _OUT,
    "Models": _MODELS,
}

COMPARE_PANELS: Panels = {
    "Your data": _COLUMNS,
    "The comparison": {
        "--models A,B,...": "Models, such as ibp,unique or BTL,MNL",
        "--by WORD": "Criterion: evidence (if available) or prediction",
        "--leave-out PART": "What to hold out: pair, respondent, choice, task, row",
        "--folds N": "Number of cross-validation folds",
        "--group COLUMN": "Column with groups of respondents",
    },
    "Run time": {
        "--draws N": "Draws per chain",
        "--cores N": "Number of fits run in parallel",
        "--seed N": "Random seed: same seed, same draws",
    },
    "Output": {"--out DIR": "Write tables and pictures; needed to resume", **_PRINT},
}

LEADERBOARD_PANELS: Panels = {
    "Your data": {
        **_COLUMNS,
        "--since DATE": "First date to include; --until DATE: the last",
        "--id COLUMN": "Column with an identifier of each vote, to drop repeats",
    },
    "The leaderboard": {
        "--by COLUMN": "Also one leaderboard per value, such as per language",
        "--judges": "Estimate how well each judge discriminates",
        "--covariate NAME": "Adjust for a covariate, such as a difference in length",
        "--period WORD": "Track changes by day, week, month or year",
        "--ties WORD": "Treatment of ties: davidson, half or drop",
        "--anchor-model NAME": "Option with a fixed rating of 1000",
        "--method METHOD": "laplace (seconds), mcmc or maximum-likelihood",
    },
    "Output": _OUT,
}

_TESTS = {
    "transitivity": "Count violations of stochastic transitivity",
    "circular": "Test whether each judge is consistent (zeta)",
    "agreement": "Test whether judges agree (Kendall's u)",
    "trinary": "Test the trinary inequality of a preference tree",
    "likelihood-ratio": "Compare a model with one that has fewer aspects",
    "wald": "Test whether all options have the same worth",
    "group": "Test whether groups of respondents differ",
    "order": "Test for an order effect or a home advantage",
    "thurstone": "Scale by Thurstone's Case V",
    "davidson": "Fit Bradley-Terry-Luce with ties as a third outcome",
    "bootstrap": "Standard errors from resampled respondents",
    "parametric-bootstrap": "Standard errors from simulated choices",
}
TEST_PANELS: Panels = {
    "Tests": _TESTS,
    "Your data": _COLUMNS,
    "The test": {
        "--aspects FILE": "Table with the aspects [one unique aspect per option]",
        "--smaller FILE": "Aspects of the smaller model; --larger FILE: the larger",
        "--group COLUMN": "Column with groups of respondents",
        "--seed N": "Random seed of a bootstrap: same seed, same samples",
    },
    "Output": {"--out DIR": "Write all tables to a folder", **_PRINT},
}
DESIGN_PANELS: Panels = {
    "Pairs and sets of options": {
        "--size N": "Show sets of N options instead of pairs",
        "--per-person N": "Show each respondent a balanced subset of N",
    },
    "Tasks of a choice study": {
        "--tasks N": "Number of tasks per respondent",
        "--alternatives N": "Number of products per task",
        "--none": 'Add a "none of these" option',
        "--prohibit RULE": "Forbid combinations, such as price=high,brand=own",
        "--direction RULE": "Direction of preference, such as price=decreasing",
        "--holdouts FILE": "Add holdout tasks, the same for all respondents",
        "--pilot RESULTS": "Use the estimates of a pilot study",
    },
    "Both": {
        "--versions N": "Number of versions; each respondent answers one",
        "--power N": "Simulate N respondents to estimate power",
        "--seed N": "Random seed: same seed, same design",
    },
    "Output": {"--out DIR": "Write the design as a table", **_PRINT},
}


def _show_all(ctx: typer.Context, _: Any, wanted: bool) -> None:
    """Print every option and leave."""
    if wanted and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        typer.echo(ctx.get_help())
        ctx.exit()


_HELP_ALL = inspect.Parameter(
    "help_all",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool,
        typer.Option(
            "--help-all", callback=_show_all, is_eager=True, help="Show all options and exit."
        ),
    ],
)


def explained(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option that shows every option."""
    signature = inspect.signature(command)
    every = [*signature.parameters.values(), _HELP_ALL]

    def call(help_all: bool = False, **given: Any) -> None:
        command(**given)

    call.__doc__ = command.__doc__
    call.__signature__ = signature.replace(parameters=every)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in every}
    return call


class _Brief(TyperCommand):
    """A command whose plain help is one screen."""

    panels: Panels

    def format_help(self, ctx: Any, formatter: Any) -> None:
        if ctx.meta.get(_ALL):
            super().format_help(ctx, formatter)
            return
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        for title, lines in self.panels_shown(ctx).items():
            with formatter.section(title):
                formatter.write_dl(list(lines.items()))
        formatter.write_paragraph()
        for line in self.more(ctx):
            formatter.write_text(line)

    def panels_shown(self, ctx: Any) -> Panels:
        """The panels of this command."""
        return self.panels

    def more(self, ctx: Any) -> list[str]:
        """Where the rest is."""
        return [f"All options: {ctx.command_path} --help-all"]


class FitCommand(SpreadCommand, _Brief):
    """`thali fit`, whose help after the name of a table is about that table."""

    panels = FIT_PANELS

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--help" in args and not args[0].startswith("-"):
            ctx.meta[_TABLE] = args[0]
        return super().parse_args(ctx, args)

    def panels_shown(self, ctx: Any) -> Panels:
        name = ctx.meta.get(_TABLE)
        return self.panels if name is None else _panels_of_table(name)

    def more(self, ctx: Any) -> list[str]:
        return [*super().more(ctx), f"Options for your table: {ctx.command_path} FILE --help"]


class CompareCommand(SpreadCommand, _Brief):
    """`thali compare`."""

    panels = COMPARE_PANELS


class LeaderboardCommand(SpreadCommand, _Brief):
    """`thali leaderboard`."""

    panels = LEADERBOARD_PANELS


class TestCommand(SpreadTest, _Brief):
    """`thali test`."""

    panels = TEST_PANELS


class DesignCommand(_Brief):
    """`thali design`."""

    panels = DESIGN_PANELS


def _panels_of_table(name: str) -> Panels:
    """All options for the data of that name, a line each."""
    from .boundary import plain_messages
    from .loading import find_data, kind_of_data
    from .models import model_for

    with plain_messages():
        spec = model_for(kind_of_data(find_data(name)))
    others = {option.to for option in spec.options} - {DATA, FIT}
    return {
        "Your data": _lines(spec, {DATA}),
        f"The model, {spec.name}": _lines(spec, others),
        "Run time": _lines(spec, {FIT}),
        "Output": _OUT,
    }


def _lines(spec: ModelSpec, owners: set[str]) -> dict[str, str]:
    """The options that these take, each with the beginning of what it means."""
    return {
        f"--{each.word}": _beginning(text_of_option(spec, each))
        for each in spec.options
        if each.to in owners
    }


def _beginning(text: str) -> str:
    """The first sentence of a text, or as much of it as fits into a line."""
    sentence = text.split(". ")[0].rstrip(".")
    if len(sentence) <= _LONGEST:
        return sentence
    start = sentence[:_LONGEST]
    clause = re.match(r".{24,}(?=[:;,(] )", start)
    return start.rpartition(" ")[0] + " …" if clause is None else clause[0]
