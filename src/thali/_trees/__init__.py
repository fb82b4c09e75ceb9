"""Rooted trees over options: reading, checks and normalisation."""
