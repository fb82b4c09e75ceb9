"""Moves of the samplers: one family of moves a file."""
