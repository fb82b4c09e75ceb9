"""Which model `thali fit` fits, and which options it has."""

from collections.abc import Iterable, Mapping
from typing import Any

from thali._data.kinds import find_data_spec
from thali._data.roles import ROLE_NAMES
from thali._labels import suggest
from thali._model.aliases import normalise_name
from thali._model.default_models import list_offers
from thali._model.registry import SPECS
from thali._model.spec import ModelSpec, Option
from thali.errors import Argument, ArgumentError, Setting, Value

from .classical import TESTS

TYPED = tuple(spec for spec in SPECS if spec.options)  # the models that the command line fits


def model_named(name: str, place: str = "--model") -> tuple[ModelSpec, str]:
    """The model of that name, and its alias if it was called by one; capitals, hyphens, underscores
    do not matter.

    `place` is how the command calls what was typed.

    Examples
    --------
    >>> spec, alias = model_named("btl")
    >>> spec.name, alias
    ('bradley-terry-luce', 'BTL')
    """
    for spec in SPECS:
        for known in (spec.name, *spec.aliases, spec.cls.partition(":")[2]):
            if normalise_name(known) == normalise_name(name):
                if not spec.options:
                    raise ArgumentError(
                        f"{spec.name} takes Python functions and objects; fit it in Python."
                    )
                return spec, known if known in spec.aliases else ""
    for test in TESTS:
        if normalise_name(name) in map(normalise_name, (test.name, *test.aliases)):
            raise ArgumentError(
                f"{place}: {name!r} is a test, not a model; use thali test {test.name} DATA."
            )
    every = [known for spec in TYPED for known in (spec.name, *spec.aliases)]
    raise ArgumentError(
        f"{place} must be {', '.join(spec.name for spec in TYPED[:-1])} or {TYPED[-1].name}; got"
        f" {name!r}.{suggest(name, every)}"
    )


def model_for(data: str, words: Iterable[str] = ()) -> ModelSpec:
    """Return the first model of that kind of data that has all of these options, or else the
    first."""
    offers = list_offers(data)
    return next((offer for offer in offers if offer.has_options(words)), offers[0]).spec


def model_implied(typed: Iterable[str]) -> ModelSpec | None:
    """The model whose data alone have one of the arguments that were typed."""
    return next((spec for spec in reversed(TYPED) if set(spec.implied_by) & set(typed)), None)


def settings_of_alias(spec: ModelSpec, alias: str, typed: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an alias says besides the model."""
    needed = spec.aliases_need.get(alias)
    if needed and needed not in typed:
        raise ArgumentError(
            f"{alias} is {spec.name} with --{needed}; add that option, or use --model {spec.name}."
        )
    means = spec.aliases_mean.get(alias, {})
    for name, value in means.items():
        if other := sorted({word for word in (name, "tree") if word in typed}):
            raise ArgumentError(
                f"{alias} is {spec.name} with --{name} {value}; remove --{other[0]}, or use"
                f" --model {spec.name}."
            )
    return means


def options_of(
    spec: ModelSpec,
    typed: Mapping[str, Any],
    data_name: str | None,
    specs: tuple[ModelSpec, ...] = TYPED,
) -> dict[str, Option]:
    """The options of a model that were typed, by their words.

    Examples
    --------
    >>> options_of(  # doctest: +ELLIPSIS
    ...     model_for("similarities"), {"draws": 5, "a": 1.0}, None
    ... )
    Traceback (most recent call last):
    thali.errors.ArgumentError: --a applies to plackett-luce, not to additive-clustering; remove ...
    """
    method = spec.choose_method(typed)
    found = {}
    for word in typed:
        own = [option for option in spec.options if option.word == word]
        if not own:
            raise ArgumentError(_not_of(spec, word, data_name, specs))
        fitting = [option for option in own if not option.methods or method in option.methods]
        if not fitting and method in spec.methods:
            first, *others = dict.fromkeys(name for option in own for name in option.methods)
            owners = [
                Setting("method", first),
                *(part for name in others for part in (" or ", Value("method", name))),
            ]
            now = (
                " applies to ",
                *owners,
                ", not to ",
                Value("method", method),
                "; remove this argument.",
            )
            raise ArgumentError(Argument(own[0].name), *now)
        found[word] = (fitting or own)[0]
    return found


def _not_of(spec: ModelSpec, word: str, data_name: str | None, specs: tuple[ModelSpec, ...]) -> str:
    owners = [other for other in specs if any(option.word == word for option in other.options)]
    spelled = next(_spelled(option) for option in owners[0].options if option.word == word)
    names = ", ".join(owner.name for owner in owners)
    names = " and ".join(names.rsplit(", ", 1))
    takes_place = spec.features and any(owner.features == word for owner in owners)
    cure = f"use --{spec.features}" if takes_place else "remove this argument"
    if data_name is None or set(owners[0].data) & set(spec.data):
        return f"{spelled} applies to {names}, not to {spec.name}; {cure}."
    if by_name := find_data_spec(owners[0].data[0]).by_name:
        cure += f", or name the column of {ROLE_NAMES[by_name].meaning} with --{by_name}"
    else:
        cure += f", or add --model {owners[0].name} if they are {owners[0].data[0]}"
    return f"{spelled} applies to {names}, but {data_name!r} was read as {spec.data[0]}; {cure}."


def _spelled(option: Option) -> str:
    return f"--{option.word}/--no-{option.word}" if option.type is bool else f"--{option.word}"
