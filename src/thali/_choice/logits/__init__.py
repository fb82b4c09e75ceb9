"""Logit models of choice experiments.

multinomial.py         `MultinomialLogit`: everybody has the same tastes
hierarchical.py        `HierarchicalLogit`: tastes are normally distributed among people
hierarchical_fit.py    its fit: chains, and what their draws become; draws from the prior
hierarchical_sweep.py  its sampler: one sweep, and the chains
hierarchical_moves.py  the steps of a sweep
hierarchical_draws.py  what is read off its draws
findings.py            what a report says of either
"""
