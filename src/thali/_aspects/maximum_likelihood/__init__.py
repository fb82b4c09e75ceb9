"""Elimination by aspects by maximum likelihood, for aspects that are known.

aspects       which option owns which aspect, what each is called, and which weights no choice could
              tell apart
problem       the log-likelihood of weights of pairs, with its first and second derivatives
set_problems  that of sets, of which design effects are
maximum       the maximum: several starts, weights on the boundary, maxima that do not exist
fit           data and known aspects in, estimates out; covariates
estimates     weights, standard errors, utility scale
clusters      errors that allow for people who answer more than once
goodness      tests of fit
tables        residuals, predictions, utilities and their errors
engine        the fit and the answers of `EliminationByAspects(method="maximum-likelihood")`
answers       what it answers besides: weights, tests of fit, residuals, predictions
ratio         likelihood-ratio tests between nested models
"""
