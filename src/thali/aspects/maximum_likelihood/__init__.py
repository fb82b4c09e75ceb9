"""Elimination by aspects by maximum likelihood, for aspects that are known; pairs of options.

aspects     which option owns which aspect, and what each is called
problem     the log-likelihood of weights with its first and second derivatives
log_weights Newton's method in log-weights
maximum     the maximum: several starts, weights on the boundary, maxima that do not exist
identify    which weights no choice could tell apart
estimates   weights, standard errors, utility scale, tests of fit
engine      the fit and the answers of `EliminationByAspects(method="maximum-likelihood")`
answers     what it answers besides: weights, tests of fit, residuals
ratio       likelihood-ratio tests between nested models
predict_left_out   predictions for pairs that were left out
"""
