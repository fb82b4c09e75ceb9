"""Logit models of choice experiments, for comparison with other models.

coding.py              products as numbers: a column for each level, or the number itself
logit.py               choice probabilities, and the log-likelihood with its derivatives
directions.py          whether choices speak against a declared direction
separation.py          whether the maximum of the likelihood is finite
multinomial.py         `MultinomialLogit`: everybody has the same tastes
hierarchical.py        `HierarchicalLogit`: tastes are normally distributed among people
hierarchical_sweep.py  one sweep of its Gibbs sampler
hierarchical_chain.py  its chains: start, tuning, draws
hierarchical_draws.py  predictions and tables from the draws
"""
