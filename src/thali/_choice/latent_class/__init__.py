"""Latent-class logit: a few classes of respondents with separate tastes.

model.py                `LatentClassLogit`, and its tables
maximum_likelihood.py   likelihood, its best maximum, number of classes, draws of the estimates
class_probabilities.py  prior probabilities of classes: sizes, or odds by respondents' columns
respondent_results.py   results about respondents and their classes
findings.py             findings of reports
spec.py                 arguments and options of the command line
"""
