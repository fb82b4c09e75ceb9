"""Command-line parameters built from the options of the models."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from thali._data.kinds import SPECS
from thali._model.command_line_options import (
    ALTERNATIVE,
    CHOSEN,
    CI,
    CODES,
    DESIGN,
    EXPERIMENT,
    FIRST,
    ITEM,
    KIND,
    OBJECT_OPTIONS,
    OPTION,
    OPTION_COVARIATES,
    PEOPLE,
    RESPONDENT,
    SCORE,
    SECOND,
    SEED,
    TABLE_OPTIONS,
    TASK,
    TIES,
    WHERE,
    WITHOUT,
)
from thali._model.model_spec import ANCHOR, DATA, EACH, FLAG, NAMES, PAIRS, ModelSpec, Option

from .classical_test_options import TESTS
from .model_lookup import TYPED, format_option_name

OwnedOption = tuple[ModelSpec, Option]


def index_options(specs: tuple[ModelSpec, ...] = TYPED) -> dict[str, list[OwnedOption]]:
    """Return the (model, option) pairs of all models, by option name; columns of tables first."""
    owned_by_word: dict[str, list[OwnedOption]] = {}
    for spec in specs:
        for option in spec.options:
            owned_by_word.setdefault(option.word, []).append((spec, option))
    for owned in owned_by_word.values():
        owned.sort(key=lambda pair: pair[1].to != DATA)
    return owned_by_word


# Options of models that `thali compare` also has; its models use defaults for all other options.
COMPARED = (
    *(
        "where",
        "without",
        "kind",
        "labels",
        "codes",
        "design",
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
        "method",
    ),
    *("unique", "lapse", "alpha", "tree", "draws", "tune", "chains", "thin", "cores", "seed"),
    *(option.word for option in (*TABLE_OPTIONS, OPTION_COVARIATES, *OBJECT_OPTIONS)),
)

LEADERBOARD = (
    TIES.but(default="davidson; half for scores"),
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
        "target",
        "With --judges: the judge whose worths are estimated, such as human; votes of the other"
        " judges make them more certain.",
        str,
        default="the typical judge",
        metavar="JUDGE",
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
    KIND,
    DESIGN,
    RESPONDENT,
    FIRST,
    SECOND,
    CHOSEN.but(help="Column with the chosen option, or the winner."),
    ITEM,
    SCORE,
    OPTION.but(help="For rankings and scores: column with the option."),
    *(option for option in TABLE_OPTIONS if option not in (RESPONDENT, FIRST, SECOND, OPTION)),
)


# Options of `thali amce`.
AMCE = (
    Option(
        "by",
        "Column that defines subgroups of respondents or of tasks; adds differences and a joint"
        " test.",
        default="no subgroups",
        metavar="COLUMN",
    ),
    Option(
        "weights",
        "Column with the weight of each respondent.",
        default="equal weights",
        metavar="COLUMN",
    ),
    Option(
        "outcome",
        "Column with the outcome: ratings of the profiles, or the choice.",
        default="the choice",
        metavar="COLUMN",
    ),
    Option(
        "baseline",
        "Baseline level of an attribute, with which its other levels are compared.",
        PAIRS,
        default="the first level",
        metavar="NAME=LEVEL",
    ),
    Option(
        "restrictions",
        "Two attributes that were not randomised independently. Repeat the option for several"
        " pairs.",
        EACH,
        typed="restriction",
        default="found in the data",
        metavar="NAME,NAME",
    ),
    Option(
        "repeated",
        "Two tasks that showed the same profiles; adds estimates corrected for measurement error.",
        NAMES,
        default="no correction",
        metavar="TASK,TASK",
    ),
    CI.but(default="0.95"),
    *(option for option in EXPERIMENT if option.name not in ("bought", "kind")),
)

# Options of `thali compare` that say how models are compared.
COMPARISON = (
    Option(
        "leave_out",
        "What to hold out. Paired comparisons: all comparisons of one pair or of one respondent;"
        " similarities: one pair; choices: single choices or all choices of a respondent; choice"
        " experiments: the last tasks of each respondent, or all tasks of some respondents;"
        " classification: rows, in folds.",
        metavar="pair|respondent|choice|task|row",
        default="the first that the data contain",
    ),
    Option(
        "folds",
        "Number of cross-validation folds.",
        int,
        default="5 for classification; each pair, or 6 above 20 fits; else one fifth or a quarter",
    ),
    Option(
        "by",
        "Criterion. evidence: the probability of the data under each model, with posterior"
        " probabilities and Bayes factors, without holding out data; only for models with a log"
        " evidence (aspects, features and worths with a prior).",
        metavar="prediction|evidence",
        default="evidence if all models have it and --leave-out is not given, else prediction",
    ),
    Option(
        "sensitivity",
        "With --by evidence: repeat the comparison under other priors (takes 2 to 6 times as"
        " long).",
        bool,
        default="no-sensitivity",
    ),
)

# Options of `thali design` after --tasks; their names are arguments of the functions in
# `thali.designs`.
STUDY_DESIGN = (
    Option("alternatives", "With --tasks: number of products per task.", int),
    Option("size", "Number of options per set, for sets larger than pairs; 3 gives triplets.", int),
    Option(
        "per_person",
        "Number of pairs or sets to show to each respondent: a balanced subset of all of them.",
        int,
    ),
    Option(
        "versions",
        "Number of versions; each respondent answers one (with --tasks or --per-person).",
        int,
        default="1",
    ),
    Option("none", "With --tasks: add a no-choice option to each task.", FLAG),
    Option(
        "interactions",
        "With --tasks: attributes whose effects depend on other attributes, such as price=brand.",
        EACH,
        typed="interaction",
        metavar="NAME=A,B,...",
    ),
    Option(
        "overlap",
        "With --tasks: how often products in a task share a level.",
        metavar="minimal|balanced",
        default="minimal",
    ),
    Option(
        "directions",
        "With --tasks: attributes for which all respondents prefer higher (increasing) or lower"
        " (decreasing) values, such as price=decreasing; the design then avoids dominated"
        " products.",
        EACH,
        typed="direction",
        metavar="NAME=increasing|decreasing ...",
    ),
    Option(
        "prohibited",
        "With --tasks: combinations of levels that no product may have; repeat the option for"
        " several rules.",
        EACH,
        typed="prohibit",
        metavar="NAME=A,NAME=B,C",
    ),
    Option(
        "holdouts",
        "With --tasks: a table of holdout tasks for all respondents (columns: 'task' and"
        " attributes).",
        Path,
        metavar="FILE",
    ),
    Option(
        "prior",
        "With --tasks: results of a logit fitted to a pilot study, which give expected utilities"
        " and their uncertainty. With --power and a design of pairs or sets: results of a model"
        " with one worth per option (thali fit --model BTL).",
        Path,
        typed="pilot",
        metavar="RESULTS",
    ),
    Option(
        "respondents",
        "Simulate studies with this number of respondents, and print how often each utility differs"
        " significantly from 0 (with --tasks), or how often the top three options differ. 0: find"
        " the number of respondents required.",
        int,
        typed="power",
        metavar="PEOPLE",
        default="no simulation",
    ),
    Option(
        "spread",
        "With --power: standard deviation of each utility between respondents.",
        float,
        default="0",
    ),
)


def select_table_arguments(values_by_word: dict[str, Any]) -> dict[str, Any]:
    """Return the option values that describe the table, for any model.

    If no option concerns the shape of tables, only the options about rows, codes and designs are
    returned.
    """
    shape_options = (*TABLE_OPTIONS, *OBJECT_OPTIONS, TASK, ALTERNATIVE)
    if not {option.word for option in shape_options} & set(values_by_word):
        return {
            option.name: values_by_word[option.word]
            for option in (WHERE, WITHOUT, KIND, CODES, DESIGN)
            if option.word in values_by_word
        }
    option_by_word = {word: owned[0][1] for word, owned in index_options().items()}
    return {
        option_by_word[word].name: parsed
        for word, parsed in values_by_word.items()
        if option_by_word[word].to == DATA
    }


def add_model_options(
    words: tuple[str, ...] = (), specs: tuple[ModelSpec, ...] = TYPED
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds the models' options to a typer command.

    `words`: names of the options to add (default: all). The parameters replace the keyword
    arguments.
    """

    owned_by_word = index_options(specs).items()
    return add_parameters(
        [
            _build_shared_parameter(owned, len(specs))
            for word, owned in owned_by_word
            if not words or word in words
        ]
    )


def add_options(
    options: tuple[Option, ...],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds these options to a typer command.

    The parameters replace the keyword arguments.
    """
    return add_parameters(
        [
            _build_parameter(option, _find_metavar(option), option.help, option.default)
            for option in options
        ]
    )


def add_parameters(
    parameters: list[inspect.Parameter],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that inserts parameters after a command's first two.

    The parameters replace the keyword arguments.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        """Return the command with the parameters in its signature."""
        signature = inspect.signature(command)
        named_parameters = [
            parameter
            for parameter in signature.parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        # after the data and the model
        all_parameters = [
            *named_parameters[:2],
            *parameters,
            *named_parameters[2:],
        ]
        command.__signature__ = signature.replace(parameters=all_parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {
            parameter.name: parameter.annotation for parameter in all_parameters
        }
        return command

    return decorate


def _build_shared_parameter(owned_options: list[OwnedOption], n_models: int) -> inspect.Parameter:
    """Build the typer parameter of an option that several models have."""
    # `n_models`: number of models of the command.
    metavars = {_find_metavar(option) for _, option in owned_options}
    metavar = ""
    if len(metavars) == 1:
        metavar = metavars.pop()
    return _build_parameter(
        owned_options[0][1],
        metavar,
        _format_shared_help(owned_options, n_models),
        _format_default(owned_options),
    )


def _find_metavar(option: Option) -> str:
    """Return the placeholder of an option's value in --help, or ""."""
    return option.metavar or "|".join(option.words)


def _build_parameter(
    option: Option, metavar: str, help: str, default: str | bool
) -> inspect.Parameter:
    """Build the typer parameter of an option, with default None."""
    parsed_type: Any = str
    if option.type in (str, int, float, bool, Path):
        parsed_type = option.type
    elif option.type == FLAG:
        parsed_type = bool
    elif option.is_repeatable:
        parsed_type = list[str]
    option_declaration = typer.Option(
        format_option_name(option),
        metavar=metavar or None,
        help=help,
        show_default=default or False,
    )
    return inspect.Parameter(
        option.word.replace("-", "_"),
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=None,
        annotation=Annotated[parsed_type | None, option_declaration],
    )


def _format_shared_help(owned_options: list[OwnedOption], n_models: int) -> str:
    """Return the help of a shared option; it names models that differ."""
    # Names are omitted if more than half of all `n_models` models have the option.
    models_by_help: dict[str, list[str]] = {}
    for spec, option in owned_options:
        if spec.name not in models_by_help.setdefault(format_option_help(spec, option), []):
            models_by_help[format_option_help(spec, option)].append(spec.name)
    text, model_names = next(iter(models_by_help.items()))
    if len(models_by_help) == 1 and len(model_names) > n_models / 2:
        return text
    return " ".join(
        f"{_format_owners(model_names)}: {text}" for text, model_names in models_by_help.items()
    )


def _format_owners(names: list[str]) -> str:
    """Return the names of models, or their data kind if all its models are named."""
    for data_kind in (spec.kind for spec in SPECS):
        if names == [spec.name for spec in TYPED if spec.data == (data_kind,)]:
            return data_kind
    return ", ".join(names)


def format_option_help(spec: ModelSpec, option: Option) -> str:
    """Return an option's help; that of --method lists the methods."""
    if option.name == "method":
        *other_methods, last_method = spec.methods
        return f"Estimation method ({', '.join(other_methods)} or {last_method}){option.help}."
    return option.help


def _format_default(owned_options: list[OwnedOption]) -> str | bool:
    """Return the default for --help, with models that differ; False without default."""
    models_by_default: dict[str, list[str]] = {}
    for spec, option in owned_options:
        default = option.default
        if option.name == "method":
            default = spec.methods[0]
        if default and spec.name not in models_by_default.setdefault(default, []):
            models_by_default[default].append(spec.name)
    if not models_by_default:
        return False
    first_default, *other_defaults = models_by_default
    return "; ".join(
        [
            first_default,
            *(f"{', '.join(models_by_default[other])}: {other}" for other in other_defaults),
        ]
    )


class MultiValueCommand(TyperCommand):
    """Typer command in which "--option A=1 B=2" means "--option A=1 --option B=2"."""

    specs = TYPED

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat multi-value options before each value, then parse."""
        return super().parse_args(ctx, repeat_options(args, self.specs))


class MultiValueTest(MultiValueCommand):
    """Typer command `thali test` with multi-value options."""

    specs = TESTS


def repeat_options(words: list[str], specs: tuple[ModelSpec, ...] = TYPED) -> list[str]:
    """Insert the option before each additional NAME=VALUE text.

    Examples
    --------
    >>> repeat_options(
    ...     ["a.csv", "--monotone", "price=decreasing", "zoom=increasing", "--seed", "1"]
    ... )
    ['a.csv', '--monotone', 'price=decreasing', '--monotone', 'zoom=increasing', '--seed', '1']
    """
    repeatable_options = {
        f"--{word}" for word, owned in index_options(specs).items() if owned[0][1].is_repeatable
    }
    repeated_words = []
    option = ""
    is_before_value = False
    for word in words:
        if word.startswith("-"):
            option_name, _, text_value = word.partition("=")
            option = ""
            is_before_value = False
            if option_name in repeatable_options:
                option = option_name
                is_before_value = not text_value
        elif option and "=" in word and not is_before_value:
            repeated_words.append(option)
        elif not is_before_value:
            option = ""
        else:
            is_before_value = False
        repeated_words.append(word)
    return repeated_words


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
    bool,
    typer.Option(
        "--overwrite",
        help="Replace the job in the folder given to --out, and files that thali did not write.",
    ),
]
ReplaceFiles = Annotated[
    bool, typer.Option("--overwrite", help="Replace files that thali did not write.")
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
