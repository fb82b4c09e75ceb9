"""The models of latent features, their engines and results."""
