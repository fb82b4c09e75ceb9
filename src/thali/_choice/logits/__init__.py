"""Multinomial and hierarchical logit models of choice experiments.

multinomial_logit.py         `MultinomialLogit`: all respondents have the same tastes
hierarchical_logit.py        `HierarchicalLogit`: tastes are normally distributed among respondents
hierarchical_fit.py          its fit: chains, fitted attributes, and draws from the prior
hierarchical_sweep.py        its sampler: one sweep, and the chains
hierarchical_moves.py        the steps of a sweep
choice_kernels.py            choice probabilities of all people, in kernels
hierarchical_draws.py        results from its draws
willingness_to_pay_space.py  coefficients as amounts of money
findings.py                  findings of both
spec.py                      arguments and options of the command line
"""
