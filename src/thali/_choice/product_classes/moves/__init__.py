"""Moves of the sampler of product classes, one kind per file."""
