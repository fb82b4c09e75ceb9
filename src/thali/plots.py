"""Pictures of tables as matplotlib axes; a fitted model draws its pictures with `plot(NAME)`.

Matplotlib is loaded by the first call, not before.

features               the owners and weights of the most probable features
dimensions             the objects with the highest values on each dimension
dimension_map          the values of all objects on all dimensions
predictions            observed proportions or similarities against predicted ones
check                  the observed proportions that the model misses
comparison             the scores of left-out pairs, model against model
leaderboard            ratings with intervals, and tiers of options that cannot be distinguished
worths                 the log worth of each option with its interval
worths_in_time         the ratings of options in each period
ranks                  the probability of each rank of each option
reach                  the sets of options that reach most respondents
tree                   a tree over options
preference_tree        a preference tree, its branches as long as the weights
conjoint_estimates     effects or marginal means of a conjoint experiment
level_effects          preferences between the levels of an attribute
attribute_importance   the importance of each attribute
scores                 the scores of options from 0 to 100
segments               the preferences of each segment of respondents
market_shares          shares in a simulated market, before and after a change
willingness_to_pay     the price that respondents would pay for levels of attributes
"""

import lazy_loader

from . import _plots

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(_plots.__name__, str(_plots.__file__))
