"""What the draws of latent-feature models say: features, predictions, checks."""
