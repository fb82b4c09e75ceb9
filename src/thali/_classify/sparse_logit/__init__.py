"""Bayesian multinomial logit with shrunken coefficients."""
