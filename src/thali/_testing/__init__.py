"""Correctness checks of samplers and likelihoods, exported as `thali.testing`."""
