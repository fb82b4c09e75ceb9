"""Priors over binary matrices: who owns which feature."""

from importlib import import_module
from typing import Any

_HOME = {
    "Given": "thali.priors.given",
    "FiniteFeatures": "thali.priors.finite",
    "IndianBuffet": "thali.priors.ibp",
    "PhylogeneticBuffet": "thali.priors.phylogenetic",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'thali.priors' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
