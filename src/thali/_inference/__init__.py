"""Computation shared by all models: chains, jobs, seeds, progress, files, numerics."""
