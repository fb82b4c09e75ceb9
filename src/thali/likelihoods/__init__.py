"""Likelihoods: what features and weights say about data."""

from importlib import import_module

_HOME = {"Elimination": "thali.likelihoods.elimination"}

__all__ = list(_HOME)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'thali.likelihoods' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
