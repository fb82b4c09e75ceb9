"""What is said of each model: a file each, found by the name of the model and its method."""

from importlib import import_module
from typing import Any

from thali.model.registry import spec_of
from thali.model.settings import Settings

from ..content import Content

_FILES = {
    "EliminationByAspects": "elimination",
    "MaximumLikelihoodElimination": "maximum_likelihood",
    "AdditiveClustering": "additive",
    "ProductClasses": "product_classes",
    "MultinomialLogit": "choice_logits",
    "HierarchicalLogit": "choice_logits",
    "LatentClassLogit": "latent_class",
    "PlackettLuceRegression": "classifiers",
    "SparseMultinomialLogit": "classifiers",
}


def content_of(model: Any, settings: Settings) -> Content:
    """What the report says of a fitted model."""
    names = [_FILES[kept.__name__] for kept in type(model).__mro__ if kept.__name__ in _FILES]
    spec = spec_of(model)
    file = names[0] if names and spec is not None else "general"
    return import_module(f".{file}", __name__).content(model, settings)
