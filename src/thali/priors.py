"""Priors over binary matrices: who owns which feature."""

from thali._aspects.priors import *  # noqa: F403
