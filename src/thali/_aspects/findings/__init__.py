"""Findings (tables, texts and plots) that latent-feature models report to users.

english.py      the sentences
features.py     features: which, how many; what was checked; for all models
elimination.py  elimination by aspects
"""
