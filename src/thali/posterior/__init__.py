"""What a fit leaves behind: its storage, its summaries, its features, its predictions.

columns.py        the features of many draws, as ragged arrays
store.py          the ArviZ tree: made from chains, saved, loaded
probabilities.py  choice probabilities of the draws
summary.py        mean, interval and diagnostics of the label-free quantities, a verdict on them
features.py       the distinct features of a posterior, with probability and weight

Nothing here knows how the draws were made.
"""
