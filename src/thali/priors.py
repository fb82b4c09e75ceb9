"""Priors over binary matrices: who owns which feature."""

from .model.latent_features.priors import *  # noqa: F403
