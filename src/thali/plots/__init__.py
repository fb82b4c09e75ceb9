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
preference_tree        a preference tree, its branches as long as the weights
residuals              how far observed choices lie from a maximum-likelihood fit
utility_scale          utilities with error bars
path                   weights of Plackett-Luce regression against the shape of their prior
decision               which class is the most probable one where, for two covariates
classes                classes of products: how many people share each, and how much it weighs
level_effects          how often one level of an attribute is preferred to another
attribute_importance   how much each attribute decides
people                 which people care about the same classes
market_shares          shares of a simulated market, before a change and after it
evidence_path          the evidence so far, step by step
"""

from thali.plots.attribute_importance import attribute_importance
from thali.plots.check import check
from thali.plots.classes import classes
from thali.plots.comparison import comparison
from thali.plots.decision import decision
from thali.plots.evidence_path import evidence_path
from thali.plots.feature_matrix import features
from thali.plots.feature_number import n_features
from thali.plots.feature_samples import feature_samples
from thali.plots.level_effects import level_effects
from thali.plots.market_shares import market_shares
from thali.plots.overlap import overlap
from thali.plots.path import path
from thali.plots.people import people
from thali.plots.predictions import choice_probabilities
from thali.plots.preference_tree import preference_tree
from thali.plots.ranks import ranks
from thali.plots.residuals import residuals
from thali.plots.similarity import similarity
from thali.plots.traces import trace
from thali.plots.tree import tree
from thali.plots.utility_scale import utility_scale

__all__ = [
    "attribute_importance",
    "check",
    "choice_probabilities",
    "classes",
    "comparison",
    "decision",
    "evidence_path",
    "feature_samples",
    "features",
    "level_effects",
    "market_shares",
    "n_features",
    "overlap",
    "path",
    "ranks",
    "people",
    "preference_tree",
    "residuals",
    "similarity",
    "trace",
    "tree",
    "utility_scale",
]
