"""What the classifiers share: scikit-learn's interface, checks of what is passed, one scale for all
covariates."""
