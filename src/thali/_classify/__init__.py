"""Classifiers: their base with scikit-learn's interface, and two models."""
