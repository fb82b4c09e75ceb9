"""The chest of tools for paired comparisons: tests of consistency and agreement, models, designs.

Every answer is a small object with a data frame `.table` and a printed form.

transitivity          weak, moderate and strong stochastic transitivity
trinary_inequality    what preference trees predict of triples
circular_triads       inconsistent triads of a judge, and the coefficient of consistency
agreement             Kendall's u: do judges agree?
group_test            do groups of judges differ?
order_effect          is the option shown first favoured?
wald_test             linear hypotheses about weights or utilities
thurstone             Thurstone's Case V
davidson              the Bradley-Terry-Luce model with ties
half_wins             ties counted as half a win for either
bootstrap             standard errors by drawing subjects anew
parametric_bootstrap  standard errors by drawing choices from a fitted model
simulate              choices drawn from a fitted model, or from probabilities
pair_design           all pairs, balanced for order
"""

from importlib import import_module
from typing import Any

_HOME = {
    "agreement": "thali.paired.kendall",
    "bootstrap": "thali.paired.resampling",
    "circular_triads": "thali.paired.triads",
    "davidson": "thali.paired.ties",
    "group_test": "thali.paired.groups",
    "half_wins": "thali.paired.ties",
    "order_effect": "thali.paired.order",
    "pair_design": "thali.paired.design",
    "parametric_bootstrap": "thali.paired.resampling",
    "simulate": "thali.paired.simulation",
    "thurstone": "thali.paired.thurstonian",
    "transitivity": "thali.paired.stochastic_transitivity",
    "trinary_inequality": "thali.paired.trinary",
    "wald_test": "thali.paired.wald",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'thali.paired' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
