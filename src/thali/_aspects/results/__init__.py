"""Results of fitted latent-feature models: tables of features, predictions and model checks."""
