"""Worths of latent classes of respondents, and of groups with independent worths.

gibbs_sweep.py        moves of memberships, a sweep, and its record
chain.py              `WorthClassChain`: starting values; the chain runs, is stored and continues
class_posterior.py    `WorthClassProblem`: data with the settings of a model, and the tree of draws
class_draws.py        draws of classes, of respondents, and of new respondents
estimation_method.py  the method of `BradleyTerryLuce`
findings.py           its findings
"""
