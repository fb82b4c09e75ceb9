"""Samplers, written once against the verbs that priors and likelihoods answer."""
