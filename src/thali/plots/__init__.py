"""Pictures: a fitted model (or a comparison) in, matplotlib axes out.

Matplotlib is loaded by the first call, not before.

features               the owners and weights of the most probable features
membership             who owns the features that were matched across draws
feature_samples        the features of single draws
n_features             the number of features, and the concentration alpha
trace                  the paths of the chains
temperatures           the mean log-likelihood from the prior to the posterior, by which the evidence is found
choice_probabilities   predicted against observed proportions
check                  the observed proportions that the model misses
comparison             the scores of left-out pairs, model against model
leaderboard            ratings with intervals, and the groups that cannot be told apart
votes_by_pair          how many comparisons each two options of a leaderboard have
boards                 ratings in parts of the comparisons, such as languages, beside those of all
judges                 how sharply each judge sees the worths of options
worths_in_time         the ratings of options in each period
ranks                  the probability of each rank of each option
similarity             observed against fitted similarities
overlap                objects on a plane, outlines around those that share a feature
option_similarity      how much of what options have they share, beside a dendrogram
individuals            what each person prefers, beside the population
reach                  the sets of options that reach most people
same_kind              who is probably of the same kind as whom
group_ranks            the rank of each option in each group of people
group_weights          the weight of each aspect in each group of people
tree                   a tree over options
preference_tree        a preference tree, its branches as long as the weights
residuals              residuals of a maximum-likelihood fit
utility_scale          utilities with error bars
path                   weights of Plackett-Luce regression against the shape of their prior
coefficient_path       coefficients of the sparse logit against the rate of their prior
calibration            the frequency of each class against its predicted probability
decision               the most probable class over the plane of two covariates
classes                classes of products: the share of owners and the importance of each
level_effects          preferences between the levels of an attribute
attribute_importance   the importance of each attribute
attention              who attends to which attribute
scores                 the scores of options from 0 to 100
segments               what each segment of the respondents prefers
market_shares          shares in a simulated market, before and after a change
demand                 the share of a product at several prices
elasticities           how far the price of each product changes every share
willingness_to_pay     what people would pay for the levels of attributes
evidence               log evidence of models with its error, and their probability
evidence_path          the evidence, step by step
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
