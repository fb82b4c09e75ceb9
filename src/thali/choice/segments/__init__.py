"""Segments of people, on the posterior of any model of choice experiments.

preferences.py  how often everybody prefers each level to the others of its attribute, draw by draw
clusters.py     k-means
agreement.py    how far two partitions agree
segments.py     segments by the draws, and what they answer
naming.py       names for segments, by what distinguishes them
method.py       `segments`, which the models share
"""
