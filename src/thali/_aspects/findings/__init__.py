"""Findings (tables, texts and plots) that latent-feature models report to users.

english_sentences.py  the sentences
features.py           features: which, how many; what was checked; for all models
elimination.py        elimination by aspects
"""
