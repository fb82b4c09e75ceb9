"""Worths of people who differ: a population with one spread and shared directions, and each
person's log worths.

answers.py     `tabulate_answers`: the answers of each person, as arrays
likelihood.py  the log-likelihood of one person, its slopes and its curvature
moves.py       the moves of a sweep
sweep.py       the state of a chain, its sweeps, and its record
chain.py       `PeopleChain`: starting values, and the chain that runs, is stored and continues
problem.py     `PeopleProblem`: data with the settings of a model, and the tree of draws
draws.py       draws of respondents, and of new ones from the same population
tables.py, check.py, log_predictive.py  results from draws
engine.py, model.py, findings.py        the method, the results and the findings of
                                        `BradleyTerryLuce`
"""
