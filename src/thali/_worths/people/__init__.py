"""Worths of people who differ: a population with one spread and shared directions, and each person's log worths.

answers.py     `tabulate_answers`: the answers of each person, as arrays
likelihood.py  the log-likelihood of one person, its slopes and its curvature
moves.py       the moves of a sweep
sweep.py       the state of a chain, its sweeps, and what it records
chain.py       `PeopleChain`: starting values, and the chain that runs, is stored and continues
"""
