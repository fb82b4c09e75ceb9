"""The models that a user fits."""
