"""Worths of respondents with individual worths: population, chains and results.

answer_table.py       `tabulate_answers`: the answers of each person, as arrays
person_likelihood.py  the log-likelihood of one person, its slopes and its curvature
moves.py              the moves of a sweep
sweep.py              the state of a chain, its sweeps, and its record
chain.py              `PeopleChain`: starting values, and a chain that runs, is stored and continues
problem.py            `PeopleProblem`: data with the settings of a model, and the tree of draws
respondent_draws.py                            draws of respondents, and of new respondents
tables.py, answer_check.py, log_predictive.py  results from draws
engine.py, respondents.py, findings.py         the method, results and findings of
                                               `BradleyTerryLuce`
"""
