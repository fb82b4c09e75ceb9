"""Latent-class logit: a few classes of respondents with separate tastes.

model.py        `LatentClassLogit`, and its tables
fit.py          the likelihood, its best maximum, the number of classes, and draws of the estimates
membership.py   prior probabilities of classes: sizes, or odds by columns of people
bootstrap.py    tests of the number of classes, by replicates
respondents.py  results about respondents and their classes
findings.py     findings of reports
"""
