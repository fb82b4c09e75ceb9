"""A prior over a binary matrix, joined with a likelihood of data given that matrix and its
weights."""
