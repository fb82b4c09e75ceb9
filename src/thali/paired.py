"""Tools for paired comparisons: tests of consistency and agreement, models, designs.

Every result is a small object with a data frame `.table` and a printed form.

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
bootstrap             standard errors by resampling respondents
parametric_bootstrap  standard errors by drawing choices from a fitted model
simulate              choices drawn from a fitted model, or from probabilities
pair_design           all pairs, balanced for order
"""

import lazy_loader

from . import _paired

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(_paired.__name__, str(_paired.__file__))
