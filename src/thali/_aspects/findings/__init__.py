"""What the latent-feature models find out, as data.

english.py      the sentences
features.py     features: which, how many; what was checked; for all models
elimination.py  elimination by aspects
"""
