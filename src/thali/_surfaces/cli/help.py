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
    "--print all": "Print every table; without it, one screen",
    "--quiet": "Print the sentence of the result only",
}
_OUT = {
    "--out DIR": "Write tables, pictures and draws to a folder",
    "--report FILE": "Write one page to mail or print",
    **_PRINT,
}
_COLUMNS = {
    "--where CONDITION": "Use the rows that meet it, such as 'age >= 18'",
    "--without COLUMN": "Leave out a column",
    "--respondent COLUMN": "Name the column of who answered",
    "--chosen COLUMN": "Name the column of what was chosen",
}
_MODELS = {
    "elimination-by-aspects": "Pairs, rankings, choices: aspects (EBA), or BTL",
    "additive-clustering": "Similarities and triplets: features (ADCLUS)",
    "hierarchical-logit": "Choice studies: individual part-worths (HB)",
    "multinomial-logit": "Choice studies: one utility for all (MNL)",
    "latent-class-logit": "Choice studies: segments (LCL)",
    "product-classes": "Choice studies: classes of products",
    "plackett-luce, sparse-logit": "Classes of rows; with --target COLUMN",
}

FIT_PANELS: Panels = {
    "Your data": {**_COLUMNS, "--group COLUMN": "Fit groups of respondents side by side"},
    "The model": {
        "--model NAME": "Choose a model; below, by kind of data",
        "--method METHOD": "Choose how it is fitted, such as maximum-likelihood",
        "--aspects FILE": "Give the aspects that you expect, in a table",
        "--people WORD": "Let respondents differ: individuals or classes:3",
    },
    "How long": {
        "--draws N": "Set the draws of each chain",
        "--max-time SECONDS": "Stop after so many seconds, and keep what was drawn",
        "--cores N": "Set how many chains run at once",
        "--seed N": "Repeat a fit: same seed, same draws",
    },
    "Where it goes": _OUT,
    "Models": _MODELS,
}

COMPARE_PANELS: Panels = {
    "Your data": _COLUMNS,
    "What is compared": {
        "--models A,B,...": "Name the models, such as ibp,unique or BTL,MNL",
        "--by WORD": "Compare by evidence (where models have it) or prediction",
        "--leave-out PART": "Leave out pairs, respondents, choices, tasks or rows",
        "--folds N": "Leave out so many parts in turn",
        "--group COLUMN": "Compare how groups of respondents differ",
    },
    "How long": {
        "--draws N": "Set the draws of each chain",
        "--cores N": "Set how many fits run at once",
        "--seed N": "Repeat a comparison: same seed, same draws",
    },
    "Where it goes": {"--out DIR": "Write tables and pictures; resume from there", **_PRINT},
}

LEADERBOARD_PANELS: Panels = {
    "Your data": {
        **_COLUMNS,
        "--since DATE": "Count from this date on; --until DATE: up to it",
        "--id COLUMN": "Count answers with the same identifier once",
    },
    "The board": {
        "--by COLUMN": "Make a board of each value, such as the language, too",
        "--judges": "Let judges differ in how sharply they see",
        "--covariate NAME": "Correct for a difference, such as in length",
        "--period WORD": "Let options change by day, week, month or year",
        "--ties WORD": "Say what a tie counts: davidson, half or drop",
        "--anchor-model NAME": "Give this option the rating 1000",
        "--method METHOD": "Choose laplace (seconds), mcmc or maximum-likelihood",
    },
    "Where it goes": _OUT,
}

_TESTS = {
    "transitivity": "Count violations of transitivity",
    "circular": "Test whether each judge is consistent (zeta)",
    "agreement": "Test whether judges agree (Kendall's u)",
    "trinary": "Test the trinary inequality of a preference tree",
    "likelihood-ratio": "Compare a model with one of fewer aspects",
    "wald": "Test whether options are worth the same",
    "group": "Test whether groups differ",
    "order": "Test for an advantage of being first, or at home",
    "thurstone": "Scale by Thurstone's Case V",
    "davidson": "Fit Bradley-Terry-Luce with ties",
    "bootstrap": "Estimate standard errors by drawing respondents",
    "parametric-bootstrap": "Estimate standard errors by drawing choices",
}
TEST_PANELS: Panels = {
    "Tests": _TESTS,
    "Your data": _COLUMNS,
    "The test": {
        "--aspects FILE": "Give the aspects, in a table; otherwise one of each option",
        "--smaller FILE": "Give the smaller model; --larger FILE: the other",
        "--group COLUMN": "Name the column of groups",
        "--seed N": "Repeat a bootstrap: same seed, same samples",
    },
    "Where it goes": {"--out DIR": "Write all tables to a folder", **_PRINT},
}
DESIGN_PANELS: Panels = {
    "Pairs and sets of options": {
        "--size N": "Show sets of so many in place of pairs",
        "--per-person N": "Ask each person a balanced part",
    },
    "Tasks of a choice study": {
        "--tasks N": "Ask each person so many tasks",
        "--alternatives N": "Show so many products in a task",
        "--none": "Offer none of them as well",
        "--prohibit RULE": "Never show levels together, such as price=high,brand=own",
        "--direction RULE": "Say which levels all prefer, such as price=decreasing",
        "--holdouts FILE": "Add the same tasks for everybody",
        "--pilot RESULTS": "Use what a pilot study found",
    },
    "Both": {
        "--versions N": "Make several versions; each person answers one",
        "--power N": "Simulate so many people, and say what they would show",
        "--seed N": "Repeat a design: same seed, same design",
    },
    "Where it goes": {"--out DIR": "Write the design there, as a table", **_PRINT},
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
        typer.Option("--help-all", callback=_show_all, is_eager=True, help="Show every option and exit."),
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
        return [f"Every option: {ctx.command_path} --help-all"]


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
        return [*super().more(ctx), f"Those for your table: {ctx.command_path} FILE --help"]


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
        "How long": _lines(spec, {FIT}),
        "Where it goes": _OUT,
    }


def _lines(spec: ModelSpec, owners: set[str]) -> dict[str, str]:
    """The options that these take, each with the beginning of what it means."""
    return {f"--{each.word}": _beginning(text_of_option(spec, each)) for each in spec.options if each.to in owners}


def _beginning(text: str) -> str:
    """The first sentence of a text, or as much of it as fits into a line."""
    sentence = text.split(". ")[0].rstrip(".")
    if len(sentence) <= _LONGEST:
        return sentence
    start = sentence[:_LONGEST]
    clause = re.match(r".{24,}(?=[:;,(] )", start)
    return start.rpartition(" ")[0] + " …" if clause is None else clause[0]
