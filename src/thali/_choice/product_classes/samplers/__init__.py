"""Samplers of product classes: annealed Markov chains, and sequential Monte Carlo."""
