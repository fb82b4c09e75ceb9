"""Help of the commands: common options on one screen, `--help-all` for all."""

import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from thali._model.model_spec import DATA, FIT, ModelSpec

from .model_options import MultiValueCommand, MultiValueTest, format_option_help

Panels = dict[str, dict[str, str]]  # title -> option -> description of one line

_ALL = "thali.help_all"
_TABLE = "thali.table"
_LONGEST = 56  # maximum letters of a description

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
    "nonnegative-dimensions": "Similarities and triplets: many objects (SPoSE)",
    "hierarchical-logit": "Choice studies: individual part-worths (HB)",
    "multinomial-logit": "Choice studies: one utility for all (MNL)",
    "latent-class-logit": "Choice studies: segments (LCL)",
    "product-classes": "Choice studies: classes of products",
    "plackett-luce, sparse-logit": "Classification; with --target COLUMN",
}

FIT_PANELS: Panels = {
    "Your data": _COLUMNS,
    "The model": {
        "--model NAME": "Model; listed below by kind of data",
        "--method METHOD": "Estimation method, such as maximum-likelihood",
        "--aspects FILE": "Table with the aspects you expect",
        "--people WORD": "How respondents differ, such as individuals",
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
        "--audit": "Print what the first place depends on",
        "--covariate NAME": "Adjust for a covariate, such as a difference in length",
        "--period WORD": "Track changes by day, week, month or year",
        "--ties WORD": "Treatment of ties: davidson, half or drop",
        "--anchor-model NAME": "Option with a fixed rating of 1000",
        "--method METHOD": "laplace (seconds), mcmc or maximum-likelihood",
    },
    "Output": _OUT,
}

AMCE_PANELS: Panels = {
    "Your data": {
        **_COLUMNS,
        "--task COLUMN": "Column with the number of the task",
        "--outcome COLUMN": "Column with ratings, if these are analysed",
        "--weights COLUMN": "Column with weights of respondents",
        "--attributes COLUMN,...": "Columns that describe the profiles",
    },
    "The estimates": {
        "--by COLUMN": "Compare subgroups of respondents or tasks",
        "--baseline NAME=LEVEL": "Baseline level of an attribute",
        "--restriction NAME,NAME": "Attributes that were not independent [found]",
        "--repeated TASK,TASK": "A task asked twice: correct for measurement error",
        "--ci NUMBER": "Probability of intervals [0.95]",
    },
    "Output": _OUT,
}

_TESTS = {
    "transitivity": "Count violations of stochastic transitivity",
    "circular": "Test whether each judge is consistent (zeta)",
    "agreement": "Test whether judges agree (Kendall's u)",
    "trinary": "Test the trinary inequality of a preference tree",
    "likelihood-ratio": "Compare a model with one that has fewer aspects",
    "wald": "Test contrasts of weights, such as two equal options",
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
        "--contrast A=1,B=-1": "Contrast of the Wald test: A and B are equal",
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


def _show_all(ctx: typer.Context, _: typer.CallbackParam, is_requested: bool) -> None:
    """Print the help with all options and exit, if --help-all was typed."""
    if is_requested and not ctx.resilient_parsing:
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


def add_help_all(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command function with an additional option --help-all."""
    signature = inspect.signature(command)
    parameters = [*signature.parameters.values(), _HELP_ALL]

    def call(help_all: bool = False, **arguments: Any) -> None:
        command(**arguments)

    call.__doc__ = command.__doc__
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


class _Brief(TyperCommand):
    """Typer command whose --help fits on one screen."""

    panels: Panels

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the one-screen help, or all options after --help-all."""
        if ctx.meta.get(_ALL):
            super().format_help(ctx, formatter)
            return
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        for title, panel_lines in self.list_panels(ctx).items():
            with formatter.section(title):
                formatter.write_dl(list(panel_lines.items()))
        formatter.write_paragraph()
        for hint in self.list_hints(ctx):
            formatter.write_text(hint)

    def list_panels(self, ctx: typer.Context) -> Panels:
        """Return the option groups of the one-screen help."""
        return self.panels

    def list_hints(self, ctx: typer.Context) -> list[str]:
        """Return lines on how to see the other options."""
        return [f"All options: {ctx.command_path} --help-all"]


class FitCommand(MultiValueCommand, _Brief):
    """`thali fit`, whose help after a data file shows the options for that data."""

    panels = FIT_PANELS

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; remember the data file that help is requested for."""
        if "--help" in args and not args[0].startswith("-"):
            ctx.meta[_TABLE] = args[0]
        return super().parse_args(ctx, args)

    def list_panels(self, ctx: typer.Context) -> Panels:
        """Return the option groups of `thali fit`, or those for a data file."""
        if _TABLE in ctx.meta:
            return _build_table_panels(ctx.meta[_TABLE])
        return self.panels

    def list_hints(self, ctx: typer.Context) -> list[str]:
        """Return lines on how to see the other options."""
        return [*super().list_hints(ctx), f"Options for your table: {ctx.command_path} FILE --help"]


class CompareCommand(MultiValueCommand, _Brief):
    """The command `thali compare`."""

    panels = COMPARE_PANELS


class LeaderboardCommand(MultiValueCommand, _Brief):
    """The command `thali leaderboard`."""

    panels = LEADERBOARD_PANELS


class AmceCommand(MultiValueCommand, _Brief):
    """The command `thali amce`."""

    panels = AMCE_PANELS


class TestCommand(MultiValueTest, _Brief):
    """The command `thali test`."""

    panels = TEST_PANELS


class DesignCommand(_Brief):
    """The command `thali design`."""

    panels = DESIGN_PANELS


def _build_table_panels(data_name: str) -> Panels:
    """Return option groups that apply to a data file."""
    from thali._model.default_models import choose_model

    from .data_loading import detect_data_kind, find_data
    from .terminal_messages import plain_messages

    with plain_messages():
        spec = choose_model(detect_data_kind(find_data(data_name)))
    model_places = {option.to for option in spec.options} - {DATA, FIT}
    return {
        "Your data": _describe_options(spec, {DATA}),
        f"The model, {spec.name}": _describe_options(spec, model_places),
        "Run time": _describe_options(spec, {FIT}),
        "Output": _OUT,
    }


def _describe_options(spec: ModelSpec, destinations: set[str]) -> dict[str, str]:
    """Return {--option: help line} of the model's options that fill these parameters."""
    return {
        f"--{option.word}": _shorten_text(format_option_help(spec, option))
        for option in spec.options
        if option.to in destinations
    }


def _shorten_text(text: str) -> str:
    """Return the first sentence of a text, or its first clause if it is longer than a line."""
    sentence = text.split(". ")[0].rstrip(".")
    if len(sentence) <= _LONGEST:
        return sentence
    clause_match = re.match(r".{24,}(?=[:;,(] )", sentence[:_LONGEST])
    if clause_match is None:
        return sentence
    return clause_match[0]
