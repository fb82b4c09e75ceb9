"""Classifiers with scikit-learn's interface and a posterior: Plackett-Luce regression and the sparse logit."""

from importlib import import_module
from typing import Any

_HOME = {
    "PlackettLuceRegression": "thali.regression.plackett_luce",
    "SparseMultinomialLogit": "thali.regression.sparse_logit",
    "State": "thali.regression.statistics",
    "Statistics": "thali.regression.statistics",
    "partial_statistics": "thali.regression.statistics",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'thali.regression' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
