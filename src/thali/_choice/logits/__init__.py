"""Multinomial and hierarchical logit models of choice experiments.

multinomial_logit.py   `MultinomialLogit`: all respondents have the same tastes
hierarchical_logit.py  `HierarchicalLogit`: tastes are normally distributed among respondents
hierarchical_fit.py    its fit: chains, fitted attributes, and draws from the prior
hierarchical_sweep.py  its sampler: one sweep, and the chains
hierarchical_moves.py  the steps of a sweep
hierarchical_draws.py  results from its draws
findings.py            findings of both
"""
