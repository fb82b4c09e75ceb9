"""The latent-class logit: a few segments of people, each with tastes of its own.

panel.py     the likelihood of a mixture over the tasks of a person, with its derivatives
climb.py     one maximum: expectation and maximisation, then Newton's method
starts.py    the best maximum of many starts
choice.py    fits with several numbers of classes, by BIC or by people left out
fitted.py    what a fit leaves
draws.py     draws of the estimates by their covariance, and the class of everybody in each
model.py     `LatentClassLogit`
tables.py    its tables
"""
