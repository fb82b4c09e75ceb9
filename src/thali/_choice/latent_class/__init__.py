"""Latent-class logit: a few classes of respondents with separate tastes.

model.py                   `LatentClassLogit`, and its tables
maximum_likelihood.py      likelihood, its best maximum, number of classes, draws of the estimates
class_probabilities.py     prior probabilities of classes: sizes, or odds by respondents' columns
class_number_bootstrap.py  tests of the number of classes, by replicates
respondent_results.py      results about respondents and their classes
findings.py                findings of reports
"""
