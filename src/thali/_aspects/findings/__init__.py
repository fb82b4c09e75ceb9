"""Findings (tables, texts and plots) that latent-feature models report to users.

english_sentences.py     the sentences
features.py              features: which, how many; what was checked; for all models
elimination.py           elimination by aspects
maximum_likelihood.py    the same by maximum likelihood
additive_clustering.py   similarities and triplets
latent_feature_model.py  any prior with any likelihood
repeated_answers.py      respondents who answer repeatedly
"""
