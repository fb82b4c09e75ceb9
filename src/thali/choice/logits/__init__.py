"""Logit models of choice experiments, for comparison with other models.

coding.py              products as numbers: a column for each level, or the number itself
logit.py               choice probabilities, and the log-likelihood with its derivatives
directions.py          whether choices speak against a declared direction
separation.py          whether the maximum of the likelihood is finite
multinomial.py         `MultinomialLogit`: everybody has the same tastes
hierarchical.py        `HierarchicalLogit`: tastes are normally distributed among people
hierarchical_fit.py    its fit: chains, posterior, attributes
hierarchical_tastes.py, hierarchical_covariates.py   signs of tastes; covariates of people
hierarchical_sweep.py  one sweep of its sampler, of hierarchical_people.py and hierarchical_population.py
hierarchical_chain.py  its chains: start, tuning, draws
hierarchical_draws.py  predictions and tables from the draws
"""
