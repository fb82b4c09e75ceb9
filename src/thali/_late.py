"""What lower layers take from higher ones, in one table: methods that are implemented there, and the models."""

from importlib import import_module
from typing import Any

HOMES = {
    "Model.report": "thali.surfaces.report:report",
    "Classifier.cross_validate": "thali.comparison.rows:cross_validate",
    "Classifier.check_folds": "thali.comparison.rows:check_folds",
    "Tree.plot": "thali.plots.tree:tree",
    "plot_calibration": "thali.plots.calibration:calibration",
    "Individuals": "thali.people.populations:Individuals",
}

# The `ModelSpec` of each model, in the order in which they are listed.
MODELS = (
    "thali.aspects.spec:ELIMINATION",
    "thali.aspects.spec:ADDITIVE",
    "thali.aspects.spec:OPEN",
    "thali.choice.product_classes.spec:PRODUCT_CLASSES",
    "thali.choice.logits.spec:MULTINOMIAL",
    "thali.choice.logits.spec:HIERARCHICAL",
    "thali.choice.latent_class.spec:LATENT_CLASS",
    "thali.classify.plackett_luce.spec:PLACKETT_LUCE",
    "thali.classify.sparse_logit.spec:SPARSE_LOGIT",
)


def carried_out_by(method: str) -> Any:
    """The function of a higher layer that carries out a method."""
    return load(HOMES[method])


def load(home: str) -> Any:
    """What stands at "module:NAME"."""
    module, _, name = home.partition(":")
    return getattr(import_module(module), name)
