"""Priors over binary matrices: who owns which feature."""

from thali.aspects.priors import *  # noqa: F403
