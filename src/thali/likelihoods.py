"""Likelihoods: what features and weights say about data."""

from thali._aspects.likelihoods import *  # noqa: F403
