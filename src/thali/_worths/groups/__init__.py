"""Worths of several groups of respondents, independent or similar.

group_posterior.py    `GroupProblem`: data, settings, chains, and the tree of draws
estimation_method.py  the method of `BradleyTerryLuce`
findings.py           its findings
"""
