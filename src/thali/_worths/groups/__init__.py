"""Worths of several groups of respondents, independent or similar.

problem.py   `GroupProblem`: data with the settings of a model, its chains, and the tree of draws
engine.py, findings.py  the method, the results and the findings of `BradleyTerryLuce`
"""
