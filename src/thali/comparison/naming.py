"""The models that a comparison is given, by name, and whether they can be compared on these data."""

import copy
from collections.abc import Mapping
from typing import Any

from thali._labels import shorten
from thali.aspects.models.base import LatentFeatures
from thali.aspects.models.elimination import EliminationByAspects
from thali.aspects.models.open import LatentFeatureModel
from thali.data.kinds import OF_GROUPS, OWN, PAIRS, spec_of_kind
from thali.errors import Argument, ArgumentError, InPython, Setting, ThaliError
from thali.model.counted_ties import CONVERSIONS, has_ties
from thali.model.registry import spec_of

from .scorer import Scorer


def named_models(models: Any, kind: str, scorer: Scorer) -> dict[str, Any]:
    """The models by name, each name once."""
    named = _by_name(models, kind, (*scorer.before, *scorer.after))
    for name, model in named.items():
        _refuse_others(name, model, kind, scorer)
    return named


def models_of_own_data(models: Any) -> dict[str, Any]:
    """The models by name, for data of a likelihood of the user."""
    named = _by_name(models, OWN, ())
    for name, model in named.items():
        if not isinstance(model, LatentFeatureModel):
            raise ArgumentError(
                f"{name!r} must be a model for {OWN}, such as {spec_of_kind(OWN).example}; got {model!r}."
            )
    return named


def _by_name(models: Any, kind: str, taken: tuple[str, ...]) -> dict[str, Any]:
    """The models by name, after checking the names."""
    try:
        items = list(models.items()) if isinstance(models, Mapping) else [(name, model) for name, model in models]
    except (TypeError, ValueError):
        raise ArgumentError(
            Argument("models"),
            f" must be a mapping from name to model, or a list of (name, model); got {type(models).__name__}.",
        ) from None
    if not items:
        raise ArgumentError(
            f"models is empty; give at least one model, such as {{'mine': {spec_of_kind(kind).example}}}."
        )
    named: dict[str, Any] = {}
    for name, model in items:
        if not isinstance(name, str) or not name.strip():
            raise ArgumentError(f"The name of a model must be a text that is not empty; got {name!r}.")
        if name in taken:
            raise ArgumentError(f"{name!r} names a reference row of the table; choose another name for the model.")
        if name in named:
            raise ArgumentError(f"Two models are named {name!r}; give each a name of its own.")
        named[name] = model
    return named


def _refuse_others(name: str, model: Any, kind: str, scorer: Scorer) -> None:
    """Refuse what is no model for this kind of data."""
    spec = spec_of(model)
    if spec is not None and OF_GROUPS.get(kind, kind) not in spec.data:
        raise ArgumentError(
            f"{name!r} is a {type(model).__name__}, which is fitted to {' or '.join(spec.data)}; these data are {kind}."
        )
    if spec is None and (isinstance(model, type) or not scorer.takes(model)):
        alternative = f", or have {' and '.join(scorer.own_models)}" if scorer.own_models else ""
        example = spec_of_kind(kind).example
        raise ArgumentError(
            f"{name!r} must be a model of thali for {kind}, such as {example}{alternative}; got {model!r}."
        )


def with_ties(named: dict[str, Any], data: Any) -> dict[str, Any]:
    """The models as they are compared on these data: with ties each predicts three outcomes, even where the pairs that
    are left have none.
    """
    if not has_ties(data):
        return named
    found = {}
    for name, model in named.items():
        if isinstance(model, EliminationByAspects):
            if model.ties in CONVERSIONS:
                raise ArgumentError(
                    f"Model {name!r} has ",
                    Setting("ties", model.ties),
                    " and predicts no ties, of which the data have some; ",
                    InPython(
                        f"leave it out, or compare on data.without_ties({model.ties!r}).",
                        f"give all models the same with --ties {model.ties}.",
                    ),
                )
            if model.ties is None:
                model = copy.copy(model).set_params(ties="davidson")
        elif not isinstance(model, LatentFeatureModel):
            raise ArgumentError(
                f"Model {name!r} predicts no ties, of which the data have some; leave it out, or compare on ",
                InPython("data.without_ties('half') or ('drop').", "--ties half or --ties drop."),
            )
        found[name] = model
    return found


def refuse_kinds(named: dict[str, Any], kind: str) -> None:
    """Refuse models of kinds of people where pairs are left out; an ArgumentError that names the model."""
    for name, model in named.items():
        if kind == PAIRS and isinstance(model, EliminationByAspects) and model.kinds is not None:
            raise ArgumentError(
                f"Model {name!r} tells kinds of people apart, and is compared by what it predicts for people; set ",
                Setting("leave_out", "subject"),
                ".",
            )


def prepared_models(named: dict[str, Any], data: Any, settings: dict[Any, Any]) -> dict[str, Any]:
    """What those models will run that can be checked beforehand, so that one that cannot be fitted is found first."""
    found = {}
    for name, model in named.items():
        if spec_of(model) is None:
            continue
        _refuse_other_options(name, model, data)
        try:
            found[name] = model.prepare(data, **settings)
        except ThaliError as error:
            raise type(error)(f"Model {name!r} cannot be fitted to these data: ", error) from None
    return found


def _refuse_other_options(name: str, model: Any, data: Any) -> None:
    """Refuse a model that was fitted to other options."""
    options = model._options_of_fit() if isinstance(model, LatentFeatures) and model._is_fitted() else []
    if options and options != list(data.labels):
        raise ArgumentError(
            f"Model {name!r} was fitted to the options {shorten(options)}, but the data are of "
            f"{shorten(data.labels)}; compare models on the same options."
        )
