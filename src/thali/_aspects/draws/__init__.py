"""Draws of a posterior as arrays: feature columns, probabilities, similarities, and their tree."""
