"""Worths of latent classes of respondents, and of groups with independent worths.

gibbs_sweep.py         moves of memberships, a sweep, and its record
chain.py               `WorthClassChain`: starting values; the chain runs, is stored and continues
class_posterior.py     `WorthClassProblem`: data with the settings of a model, and the tree of draws
class_draws.py         draws of classes, of respondents, and of new respondents
class_alignment.py     numbers of classes that mean the same in all draws
respondent_results.py  results about respondents and their classes
estimation_method.py   the method of `BradleyTerryLuce`
findings.py            its findings
"""
