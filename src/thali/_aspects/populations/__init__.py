"""Populations of the data: one group, several groups, or latent classes."""
