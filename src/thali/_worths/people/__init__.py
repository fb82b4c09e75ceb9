"""Worths of respondents with individual worths: population, chains and results.

answer_table.py          `tabulate_answers`: the answers of each person, as arrays
person_likelihood.py     the log-likelihood of one person, its slopes and its curvature
sampler_moves.py         the moves of a sweep
gibbs_sweep.py           the state of a chain, its sweeps, and its record
chain.py                 `PeopleChain`: starting values; a chain runs, is stored and continues
individual_posterior.py  `PeopleProblem`: data, settings of a model, and the tree of draws
respondent_draws.py      draws of respondents, and of new respondents
respondent_tables.py     tables of respondents
respondent_fit.py        answers of respondents against predictions
log_predictive.py        log predictive probability of a new respondent
simulation.py            simulated answers, from the prior or a fit
estimation_method.py     the method of `BradleyTerryLuce`
findings.py              its findings
respondent_results.py    the results of `BradleyTerryLuce` about respondents
"""
