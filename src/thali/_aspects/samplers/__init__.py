"""Markov chain samplers of features and weights, for any prior and likelihood."""
