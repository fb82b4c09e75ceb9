"""What draws of a posterior are as arrays: columns of features, probabilities, similarities, and
their tree."""
