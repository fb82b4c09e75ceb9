"""The sparse Bayesian multinomial logit."""
