"""Pictures: a fitted model (or a comparison) in, matplotlib axes out.

Matplotlib is loaded by the first call, not before.

features               which options own the most probable features, and with what weight
feature_samples        the features of single draws
n_features             how many features there are, and the concentration alpha
trace                  how the chains moved
choice_probabilities   predicted against observed proportions
check                  which observed proportions the model misses
comparison             the scores of left-out pairs, model against model
ranks                  the probability of each rank of each option
similarity             observed against fitted similarities
overlap                objects on a plane, outlines around those that share a feature
tree                   a tree over options
path                   weights of Plackett-Luce regression against the shape of their prior
decision               which class is the most probable one where, for two covariates
"""

from thali.plots.check import check
from thali.plots.comparison import comparison
from thali.plots.decision import decision
from thali.plots.feature_matrix import features
from thali.plots.feature_number import n_features
from thali.plots.feature_samples import feature_samples
from thali.plots.overlap import overlap
from thali.plots.path import path
from thali.plots.predictions import choice_probabilities
from thali.plots.ranks import ranks
from thali.plots.similarity import similarity
from thali.plots.traces import trace
from thali.plots.tree import tree

__all__ = [
    "check",
    "choice_probabilities",
    "comparison",
    "decision",
    "feature_samples",
    "features",
    "n_features",
    "overlap",
    "path",
    "ranks",
    "similarity",
    "trace",
    "tree",
]
