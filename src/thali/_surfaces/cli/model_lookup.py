"""Choice of the model and its options from what was typed after `thali fit`."""

from collections.abc import Iterable, Mapping
from typing import Any

from thali._data.column_roles import ROLE_NAMES
from thali._data.kinds import find_data_spec
from thali._labels import suggest
from thali._model.aliases import normalise_name
from thali._model.model_spec import ModelSpec, Option
from thali._model.registry import SPECS
from thali.errors import Argument, ArgumentError, Setting, Value

from .classical_test_options import TESTS

TYPED = tuple(spec for spec in SPECS if spec.options)  # the models that the command line fits


def find_model(name: str, source: str = "--model") -> tuple[ModelSpec, str]:
    """Return the spec with this name or alias, and the alias if one was typed.

    Capitals, hyphens and underscores are ignored. `source`: what error messages call the name.

    Examples
    --------
    >>> spec, alias = find_model("btl")
    >>> spec.name, alias
    ('bradley-terry-luce', 'BTL')
    """
    for spec in SPECS:
        for known_name in (spec.name, *spec.aliases, spec.cls.partition(":")[2]):
            if normalise_name(known_name) == normalise_name(name):
                if not spec.options:
                    raise ArgumentError(
                        f"{spec.name} takes Python functions and objects; fit it in Python."
                    )
                if known_name in spec.aliases:
                    return spec, known_name
                return spec, ""
    for test_spec in TESTS:
        if normalise_name(name) in map(normalise_name, (test_spec.name, *test_spec.aliases)):
            raise ArgumentError(
                f"{source}: {name!r} is a test, not a model; use thali test {test_spec.name} DATA."
            )
    known_names = [known_name for spec in TYPED for known_name in (spec.name, *spec.aliases)]
    raise ArgumentError(
        f"{source} must be {', '.join(spec.name for spec in TYPED[:-1])} or {TYPED[-1].name}; got"
        f" {name!r}.{suggest(name, known_names)}"
    )


def find_implied_model(typed: Iterable[str]) -> ModelSpec | None:
    """Return the model that a typed option implies; None if none does."""
    return next((spec for spec in reversed(TYPED) if set(spec.implied_by) & set(typed)), None)


def resolve_alias(spec: ModelSpec, alias: str, typed: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings that an alias implies; raise if typed options contradict."""
    required_option = spec.aliases_need.get(alias)
    if required_option and required_option not in typed:
        raise ArgumentError(
            f"{alias} is {spec.name} with --{required_option}; add that option, or use --model"
            f" {spec.name}."
        )
    implied_settings = spec.aliases_mean.get(alias, {})
    for name, setting in implied_settings.items():
        if conflicting_options := sorted({word for word in (name, "tree") if word in typed}):
            raise ArgumentError(
                f"{alias} is {spec.name} with --{name} {setting}; remove"
                f" --{conflicting_options[0]}, or use --model {spec.name}."
            )
    return implied_settings


def select_options(
    spec: ModelSpec,
    method: str,
    typed: Iterable[str],
    data_name: str | None,
    specs: tuple[ModelSpec, ...] = TYPED,
) -> dict[str, Option]:
    """Return the model's options that were typed; raise for those that the method lacks.

    Examples
    --------
    >>> spec, _ = find_model("additive-clustering")
    >>> select_options(spec, "mcmc", {"draws": 5, "a": 1.0}, None)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    thali.errors.ArgumentError: --a applies to plackett-luce, not to additive-clustering; remove ...
    """
    option_by_word = {}
    for word in typed:
        same_name_options = [option for option in spec.options if option.word == word]
        if not same_name_options:
            raise ArgumentError(_format_unknown_option(spec, word, data_name, specs))
        applicable_options = [
            option for option in same_name_options if not option.methods or method in option.methods
        ]
        if not applicable_options and method in spec.methods:
            first_method, *other_methods = dict.fromkeys(
                name for option in same_name_options for name in option.methods
            )
            method_parts = [
                Setting("method", first_method),
                *(part for name in other_methods for part in (" or ", Value("method", name))),
            ]
            message_end = (
                " applies to ",
                *method_parts,
                ", not to ",
                Value("method", method),
                "; remove this argument.",
            )
            raise ArgumentError(Argument(same_name_options[0].name), *message_end)
        option_by_word[word] = (applicable_options or same_name_options)[0]
    return option_by_word


def _format_unknown_option(
    spec: ModelSpec, option_word: str, data_name: str | None, specs: tuple[ModelSpec, ...]
) -> str:
    """Return the error message for an option that the model lacks."""
    owners = [
        other for other in specs if any(option.word == option_word for option in other.options)
    ]
    option_name = next(
        format_option_name(option) for option in owners[0].options if option.word == option_word
    )
    model_names = ", ".join(owner.name for owner in owners)
    model_names = " and ".join(model_names.rsplit(", ", 1))
    is_alternative_name = spec.features and any(owner.features == option_word for owner in owners)
    remedy = "remove this argument"
    if is_alternative_name:
        remedy = f"use --{spec.features}"
    if data_name is None or set(owners[0].data) & set(spec.data):
        return f"{option_name} applies to {model_names}, not to {spec.name}; {remedy}."
    if role_name := find_data_spec(owners[0].data[0]).by_name:
        meaning = ROLE_NAMES[role_name].meaning
        remedy += f", or give the name of the column of {meaning} with --{role_name}"
    else:
        remedy += f", or add --model {owners[0].name} if they are {owners[0].data[0]}"
    return (
        f"{option_name} applies to {model_names}, but {data_name!r} was read as {spec.data[0]};"
        f" {remedy}."
    )


def format_option_name(option: Option) -> str:
    """Return the option as typed, such as "--lapse"."""
    if option.type is bool:
        return f"--{option.word}/--no-{option.word}"
    return f"--{option.word}"
