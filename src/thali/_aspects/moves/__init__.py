"""Moves of the Markov chain samplers: births, flips, splits and weight updates, by file."""
