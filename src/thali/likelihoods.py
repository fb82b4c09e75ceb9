"""Likelihoods: what features and weights say about data."""

from .model.latent_features.likelihoods import *  # noqa: F403
