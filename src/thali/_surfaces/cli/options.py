"""The options of `thali fit`, made from the options of the models, and those that several commands
have."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from thali._data.kinds import SPECS
from thali._model.options import (
    CHOSEN,
    CI,
    CODES,
    DESIGN,
    FIRST,
    OBJECT_OPTIONS,
    OPTION_COVARIATES,
    PEOPLE,
    RESPONDENT,
    SECOND,
    SEED,
    TABLE_OPTIONS,
    TIES,
    WHERE,
    WITHOUT,
)
from thali._model.spec import ANCHOR, DATA, EACH, ModelSpec, Option

from .classical import TESTS
from .models import TYPED

Owned = tuple[ModelSpec, Option]


def by_word(specs: tuple[ModelSpec, ...] = TYPED) -> dict[str, list[Owned]]:
    """Every option of every model, by its word."""
    found: dict[str, list[Owned]] = {}
    for spec in specs:
        for option in spec.options:
            found.setdefault(option.word, []).append((spec, option))
    return found


# The options of the models that `thali compare` has, too; its models have their defaults in all
# else.
COMPARED = (
    *(
        "where",
        "without",
        "labels",
        "codes",
        "design",
        "respondent",
        "task",
        "alternative",
        "chosen",
        "target",
        "attributes",
        "levels",
        "none",
        "bought",
        "bins",
        "monotone",
        "ties",
        "best-worst",
        "group",
        "method",
    ),
    *("unique", "lapse", "alpha", "tree", "draws", "tune", "chains", "thin", "cores", "seed"),
    *(option.word for option in (*TABLE_OPTIONS, OPTION_COVARIATES, *OBJECT_OPTIONS)),
)

LEADERBOARD = (
    TIES.but(default="davidson"),
    Option(
        "method",
        "Estimation method. laplace: approximate posterior (takes seconds); mcmc: posterior draws;"
        " maximum-likelihood: no prior.",
        default="laplace; mcmc with --people individuals",
        words={name: name for name in ("laplace", "mcmc", "maximum-likelihood")},
    ),
    SEED.but(default="0"),
    Option(
        "by",
        "Column, such as the language; adds one leaderboard per value. Repeat the option for"
        " several columns.",
        EACH,
        default="none",
        metavar="COLUMN",
    ),
    Option(
        "pool",
        "Share information between the leaderboards of --by (partial pooling).",
        bool,
        default="separate leaderboards",
    ),
    Option(
        "id",
        "Column with an identifier of each vote; votes with the same identifier count once across"
        " all files.",
        default="none",
        metavar="COLUMN",
    ),
    PEOPLE.but(
        help="How respondents differ. independent: no differences, and all votes are independent;"
        " adjusted: no differences, but intervals allow for repeated votes of a respondent;"
        " individuals: each respondent has individual worths.",
        default="adjusted; independent with --method mcmc, where the convergence check warns",
        metavar="",
        words={word: PEOPLE.words[word] for word in ("independent", "adjusted", "individuals")},
        type=str,
    ),
    Option(
        "anchor_model",
        "Option whose rating is fixed at 1000, or at NUMBER; intervals are then for differences"
        " from it.",
        ANCHOR,
        default="none: ratings have mean 1000",
        metavar="OPTION|OPTION=NUMBER",
    ),
    Option(
        "judges",
        "Estimate how well each judge discriminates; ratings are for a typical judge. Requires"
        " --respondent, the column with the judge.",
        bool,
        default="all judges equal",
    ),
    Option(
        "judge_sd",
        "Standard deviation of the log discrimination of judges.",
        float,
        default="learned",
        metavar="NUMBER",
    ),
    Option(
        "judge_bias",
        "With --judges and --covariate: separate covariate effects for each judge, such as a"
        " preference for length.",
        bool,
        default="the same effects for all judges",
    ),
    Option(
        "date",
        "Column with the date of a comparison: dates, seconds since 1970, or integer periods.",
        default="none",
        metavar="COLUMN",
    ),
    Option(
        "period",
        "Length of the periods between which ratings may change, or a column of integer periods."
        " The leaderboard shows the last period.",
        default="no change over time",
        metavar="day|week|month|year|COLUMN",
    ),
    Option(
        "spread", "Standard deviation of log worths.", float, default="learned", metavar="NUMBER"
    ),
    Option(
        "drift",
        "Standard deviation of the change in log worth per period.",
        float,
        default="learned",
        metavar="NUMBER",
    ),
    *(
        Option(
            name,
            f"The {which} date to include, such as 2024-05-31 or 2024.",
            default=which,
            metavar="DATE",
        )
        for name, which in (("since", "first"), ("until", "last"))
    ),
    CI,
    WHERE,
    WITHOUT,
    DESIGN,
    RESPONDENT,
    FIRST,
    SECOND,
    CHOSEN.but(help="Column with the chosen option, or the winner."),
    *(each for each in TABLE_OPTIONS if each not in (RESPONDENT, FIRST, SECOND)),
)


def given_of_table(values: dict[str, Any]) -> dict[str, Any]:
    """What typed options say of a table, whichever model it is for: which rows count and what files
    beside it say, and unless none is about a shape of tables, all else."""
    if not {option.word for option in (*TABLE_OPTIONS, *OBJECT_OPTIONS)} & set(values):
        return {
            option.name: values[option.word]
            for option in (WHERE, WITHOUT, CODES, DESIGN)
            if option.word in values
        }
    known = {word: owned[0][1] for word, owned in by_word().items()}
    return {known[word].name: value for word, value in values.items() if known[word].to == DATA}


def takes_options_of_models(
    words: tuple[str, ...] = (), specs: tuple[ModelSpec, ...] = TYPED
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The function with a parameter for every option of the models, or for some, in place of its
    keyword arguments."""

    offered = by_word(specs).items()
    return takes(
        [
            _parameter(word, owned, len(specs))
            for word, owned in offered
            if not words or word in words
        ]
    )


def takes_options(
    options: tuple[Option, ...],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The function with a parameter for each of these options in place of its keyword arguments."""
    return takes(
        [
            _as_typer(each, each.metavar or "|".join(each.words), each.help, each.default)
            for each in options
        ]
    )


def takes(
    parameters: list[inspect.Parameter],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The function with these parameters, after its first two, in place of its keyword
    arguments."""

    def made(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command)
        own = [
            p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        every = [*own[:2], *parameters, *own[2:]]  # after the data and the model
        command.__signature__ = signature.replace(parameters=every)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in every}
        return command

    return made


def _parameter(word: str, owned: list[Owned], of: int) -> inspect.Parameter:
    """An option of several models as typer takes it; `of` is how many models there are."""
    metavars = {each.metavar or "|".join(each.words) for _, each in owned}
    metavar = metavars.pop() if len(metavars) == 1 else None
    return _as_typer(owned[0][1], metavar, _help(owned, of), _default(owned))


def _as_typer(
    option: Option, metavar: str | None, help: str, default: str | bool
) -> inspect.Parameter:
    """An option as typer takes it; None unless it was typed."""
    plain = option.type if option.type in (str, int, float, bool, Path) else str
    annotation: Any = list[str] | None if option.is_repeatable else plain | None
    word = option.word
    settings = typer.Option(
        f"--{word}/--no-{word}" if option.type is bool else f"--{word}",
        metavar=metavar or None,
        help=help,
        show_default=default or False,
    )
    name = word.replace("-", "_")
    return inspect.Parameter(
        name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=None,
        annotation=Annotated[annotation, settings],
    )


def _help(owned: list[Owned], of: int) -> str:
    """What the option means, and of which models, unless most of so many have it."""
    texts: dict[str, list[str]] = {}
    for spec, option in owned:
        if spec.name not in texts.setdefault(text_of_option(spec, option), []):
            texts[text_of_option(spec, option)].append(spec.name)
    text, names = next(iter(texts.items()))
    if len(texts) == 1 and len(names) > of / 2:
        return text
    return " ".join(f"{_whose(names)}: {text}" for text, names in texts.items())


def _whose(names: list[str]) -> str:
    """Those models, or the data whose models they all are."""
    for data in (spec.kind for spec in SPECS):
        if names == [spec.name for spec in TYPED if spec.data == (data,)]:
            return data
    return ", ".join(names)


def text_of_option(spec: ModelSpec, option: Option) -> str:
    """What an option of a model means; of `method`, which there are."""
    if option.name == "method":
        *several, last = spec.methods
        return f"Estimation method ({', '.join(several)} or {last}){option.help}."
    return option.help


def _default(owned: list[Owned]) -> str | bool:
    """The default in words, with the models that have another one."""
    names: dict[str, list[str]] = {}
    for spec, option in owned:
        default = spec.methods[0] if option.name == "method" else option.default
        if default and spec.name not in names.setdefault(default, []):
            names[default].append(spec.name)
    if not names:
        return False
    first, *others = names
    return "; ".join([first, *(f"{', '.join(names[other])}: {other}" for other in others)])


class SpreadCommand(TyperCommand):
    """A command that gives each of several values after such an option an option of its own."""

    specs = TYPED

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, spread(args, self.specs))


class SpreadTest(SpreadCommand):
    """The same, with the options of the classical tests."""

    specs = TESTS


def spread(words: list[str], specs: tuple[ModelSpec, ...] = TYPED) -> list[str]:
    """Repeat the option before each further value of the form name=value.

    Examples
    --------
    >>> spread(["a.csv", "--monotone", "price=decreasing", "zoom=increasing", "--seed", "1"])
    ['a.csv', '--monotone', 'price=decreasing', '--monotone', 'zoom=increasing', '--seed', '1']
    """
    options = {f"--{word}" for word, owned in by_word(specs).items() if owned[0][1].is_repeatable}
    result, option, first = [], "", False
    for word in words:
        if word.startswith("-"):
            name, _, value = word.partition("=")
            option, first = (name, not value) if name in options else ("", False)
        elif option and "=" in word and not first:
            result.append(option)
        elif not first:
            option = ""
        else:
            first = False
        result.append(word)
    return result


# Options that several commands have ---------------------------------------------------------------


Title = Annotated[
    str,
    typer.Option(
        metavar="TEXT", help="Title of the report.", show_default="the question it answers"
    ),
]
Author = Annotated[
    str, typer.Option(metavar="TEXT", help="Author of the report.", show_default="none")
]
Question = Annotated[
    str,
    typer.Option(
        metavar="TEXT",
        help="Research question, in your words.",
        show_default="the question of the model",
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace the job in the folder given to --out.")
]

Tables = Annotated[
    str | None,
    typer.Option(
        metavar="csv|tex|md|xlsx,...",
        help="File formats of the tables in --out.",
        show_default="csv",
    ),
]

Pictures = Annotated[
    str | None,
    typer.Option(
        metavar="png|svg|pdf,...",
        help="File formats of the pictures in --out.",
        show_default="png",
    ),
]
Form = Annotated[
    str | None,
    typer.Option(
        "--print",
        metavar="screen|all",
        help="Print a summary, or all tables.",
        show_default="screen",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only the sentence with the result.")]
