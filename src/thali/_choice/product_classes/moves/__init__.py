"""Moves of the sampler of product classes: one family of moves a file."""
