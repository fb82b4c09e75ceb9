"""Elimination by aspects by maximum likelihood, for given aspects.

given_aspects: owners and names of aspects, and a check that their weights are identified

pair_likelihood: the log-likelihood of weights of pairs, with first and second derivatives

set_likelihoods: the log-likelihood for sets, for design effects

feature_likelihoods: the log-likelihood of weights of features

maximisation: several starts, weights on the boundary, likelihoods without a maximum

fit: estimation from data and given aspects; covariates

estimates: weights, standard errors, utility scale

goodness_of_fit: tests of fit

estimate_tables: residuals, predictions, utilities and their errors

elimination_engine: fits and results of `EliminationByAspects(method="maximum-likelihood")`

elimination_results: weights, tests of fit, residuals, predictions

likelihood_ratio: likelihood-ratio tests between nested models
"""
