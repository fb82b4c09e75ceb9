"""Pictures of a posterior: a fitted model in, matplotlib axes out.

Matplotlib is loaded by the first call, not before.

features               which options own the most probable features, and with what weight
n_features             how many features there are, and the concentration alpha
trace                  how the chains moved
choice_probabilities   predicted against observed proportions
"""

from thali.plots.feature_matrix import features
from thali.plots.feature_number import n_features
from thali.plots.predictions import choice_probabilities
from thali.plots.traces import trace

__all__ = ["choice_probabilities", "features", "n_features", "trace"]
