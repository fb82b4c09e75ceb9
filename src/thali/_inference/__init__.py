"""Computation that all models share: chains, seeds, progress, files, numerics."""
