"""thali: latent-feature models of choice and similarity.

People choose between things, and judge things alike, because of features that nobody wrote down. thali infers those
features, how many there are and how much each weighs. Names load on first use, so that importing thali is quick.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "PairedComparisons": "thali.data.pairs",
    "Choices": "thali.data.choices",
    "Similarities": "thali.data.similarity",
    "ChoiceExperiment": "thali.data.experiment",
    "Tree": "thali.tree",
    "read_table": "thali.data.tables",
    "EliminationByAspects": "thali.models.elimination_by_aspects",
    "AdditiveClustering": "thali.models.additive_clustering",
    "LatentFeatureModel": "thali.models.latent_feature_model",
    "ProductClasses": "thali.models.product_classes",
    "MultinomialLogit": "thali.choice_models.multinomial",
    "HierarchicalLogit": "thali.choice_models.hierarchical",
    "PlackettLuceRegression": "thali.regression.plackett_luce",
    "SparseMultinomialLogit": "thali.regression.sparse_logit",
    "compare": "thali.leave_out.compare",
    "likelihood_ratio": "thali.maximum_likelihood.ratio",
    "load": "thali.models.saved",
    "datasets": None,
    "errors": None,
    "likelihoods": None,
    "paired": None,
    "plots": None,
    "priors": None,
    "regression": None,
    "testing": None,
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'thali' has no attribute {name!r}")
    home = _HOME[name]
    value = import_module(f"thali.{name}") if home is None else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
