"""Likelihoods: what features and weights say about data."""

from importlib import import_module
from typing import Any

_HOME = {
    "Additive": "thali.likelihoods.additive",
    "Custom": "thali.likelihoods.custom",
    "Elimination": "thali.likelihoods.elimination",
    "elimination_probabilities": "thali.likelihoods.recursion",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'thali.likelihoods' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
