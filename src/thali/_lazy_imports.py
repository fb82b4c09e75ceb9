"""Imports of functions and classes of higher layers, at the time of the call."""

from importlib import import_module
from typing import Any

HOMES = {
    "Model.report": "thali._surfaces.report:report",
    "Picture.draw": "thali.plots:__getattribute__",
    "Tree.plot": "thali._plots.option_tree:tree",
}

# The `ModelSpec` of each model, in the order of lists of models.
MODELS = (
    "thali._aspects.spec:ELIMINATION",
    "thali._worths.spec:BRADLEY_TERRY_LUCE",
    "thali._aspects.spec:ADDITIVE",
    "thali._dimensions.spec:DIMENSIONS",
    "thali._aspects.spec:OPEN",
    "thali._choice.product_classes.spec:PRODUCT_CLASSES",
    "thali._choice.logits.spec:MULTINOMIAL",
    "thali._choice.logits.spec:HIERARCHICAL",
    "thali._choice.latent_class.spec:LATENT_CLASS",
    "thali._classify.plackett_luce.spec:PLACKETT_LUCE",
    "thali._classify.sparse_logit.spec:SPARSE_LOGIT",
)


def load_method(method: str) -> Any:
    """Return the function that implements a method listed in `HOMES`."""
    return load_object(HOMES[method])


def load_object(path: str) -> Any:
    """Import and return the object at a path "module:NAME"."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
