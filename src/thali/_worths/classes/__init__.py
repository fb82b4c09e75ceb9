"""Worths of latent classes of respondents, and of groups with independent worths.

sweep.py        the moves of memberships, a sweep, and its record
chain.py        `WorthClassChain`: starting values, and the chain that runs, is stored and continues
problem.py      `WorthClassProblem`: data with the settings of a model, and the tree of draws
class_draws.py  draws of classes, of respondents, and of new respondents
engine.py, findings.py  the method and the findings of `BradleyTerryLuce`
"""
