"""Plackett-Luce regression: classes scored by non-negative sums of functions of covariates."""
