"""The models that a comparison is given, by name."""

from collections.abc import Callable, Mapping
from typing import Any

from thali.errors import ArgumentError
from thali.likelihoods.elimination import Elimination
from thali.models.latent_feature_model import LatentFeatureModel


def named_models(models: Any, taken: tuple[str, ...], refuse: Callable[[str, Any], None]) -> dict[str, Any]:
    """The models by name, each name once.

    Parameters
    ----------
    models : mapping from name to model, or list of (name, model)
    taken : tuple of str
        Names of reference rows.
    refuse : callable
        Raises for a model that cannot be compared.

    Returns
    -------
    dict

    Raises
    ------
    ArgumentError
        If there is no model, a name is no text, taken or used twice, or `refuse` says so.
    """
    try:
        items = list(models.items()) if isinstance(models, Mapping) else [(name, model) for name, model in models]
    except (TypeError, ValueError):
        raise ArgumentError(
            f"models must be a mapping from name to model, or a list of (name, model); got {type(models).__name__}."
        ) from None
    if not items:
        raise ArgumentError(
            "models is empty; give at least one model, such as {'BTL': EliminationByAspects('unique')}."
        )
    named: dict[str, Any] = {}
    for name, model in items:
        if not isinstance(name, str) or not name.strip():
            raise ArgumentError(f"The name of a model must be a text that is not empty; got {name!r}.")
        if name in taken:
            raise ArgumentError(f"{name!r} names a reference row of the table; choose another name for the model.")
        if name in named:
            raise ArgumentError(f"Two models are named {name!r}; give each a name of its own.")
        refuse(name, model)
        named[name] = model
    return named


def lapses(models: dict[str, Any], data: Any) -> dict[str, float]:
    """The lapse of each model that is elimination by aspects, by name."""
    likelihoods = {
        name: model._parts(data)["likelihood"]
        for name, model in models.items()
        if isinstance(model, LatentFeatureModel)
    }
    return {name: float(own.lapse) for name, own in likelihoods.items() if isinstance(own, Elimination)}
