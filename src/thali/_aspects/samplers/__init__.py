"""Samplers, written once against the operations that priors and likelihoods implement."""
