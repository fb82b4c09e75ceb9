"""Posterior of every fit: its tree in the ArviZ schema, its file and its summary."""
