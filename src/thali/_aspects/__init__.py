"""Models that join a prior over a binary matrix with a likelihood of data."""
