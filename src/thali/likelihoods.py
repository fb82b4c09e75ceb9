"""Likelihoods: what features and weights say about data."""

from thali.aspects.likelihoods import *  # noqa: F403
