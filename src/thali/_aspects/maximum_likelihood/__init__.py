"""Elimination by aspects by maximum likelihood, for given aspects.

aspects: owners and names of aspects, and a check that their weights are identified

problem: the log-likelihood of weights of pairs, with first and second derivatives

set_problems: the log-likelihood for sets, for design effects

feature_problems: the log-likelihood of weights of features

maximum: several starts, weights on the boundary, likelihoods without a maximum

fit: estimation from data and given aspects; covariates

estimates: weights, standard errors, utility scale

goodness: tests of fit

tables: residuals, predictions, utilities and their errors

engine: fits and results of `EliminationByAspects(method="maximum-likelihood")`

answers: weights, tests of fit, residuals, predictions

ratio: likelihood-ratio tests between nested models
"""
