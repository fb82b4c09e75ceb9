"""Classifiers with scikit-learn's interface: Plackett-Luce regression and sparse logit."""
