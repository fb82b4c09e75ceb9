"""Elimination by aspects by maximum likelihood, for aspects that are known; pairs of options.

aspects     which option owns which aspect, and what each is called
problem     the log-likelihood of weights with its first and second derivatives
log_weights Newton's method in log-weights
maximum     the maximum: several starts, weights on the boundary, maxima that do not exist
identify    which weights no choice could tell apart
estimates   weights, standard errors, utility scale, tests of fit
model       what `EliminationByAspects(method="maximum-likelihood")` answers
ratio       likelihood-ratio tests between nested models
leave_out   predictions for pairs that were left out
"""
