"""Checks that a sampler is right, for thali's own and for yours.

- `calibrate`: simulation-based calibration of any model, yours or thali's: parameters from the prior, data from them, a
  fit, and the rank of the parameters among its draws.
- `check`: the three below on a likelihood of your own (`thali.likelihoods.Custom`), in one call.
- `exact`: follow both outcomes of every random draw of the real code, and see whether the posterior is left invariant.
- `joint`: alternate between sampler and simulated data; every quantity must keep its prior distribution.
- `naive`: slow and obvious evaluations that fast code must agree with.
"""

from importlib import import_module
from typing import Any

__all__ = ["calibrate", "check", "exact", "joint", "naive"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'thali.testing' has no attribute {name!r}")
    if name == "calibrate":
        return import_module("thali.testing.calibration").calibrate
    if name == "check":
        return import_module("thali.testing.own_likelihood").check
    return import_module(f"thali.testing.{name}")
