"""Draws of a latent-feature posterior as arrays, and their tree in the ArviZ schema."""
