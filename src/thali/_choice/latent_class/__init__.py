"""The latent-class logit: a few segments of people, each with tastes of its own.

model.py       `LatentClassLogit`, and its tables
fit.py         the likelihood, its best maximum, the number of classes, and draws of the estimates
membership.py  of which class people are before their choices are known: sizes, or odds by their
               columns
bootstrap.py   whether fewer classes would do, by replicates
findings.py    what a report says of it
"""
