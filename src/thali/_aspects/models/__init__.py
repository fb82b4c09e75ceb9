"""Latent-feature models that users fit, the engines that fit them, and their results."""
