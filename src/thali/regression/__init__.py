"""Classifiers with scikit-learn's interface and a posterior: Plackett-Luce regression and the sparse logit."""
