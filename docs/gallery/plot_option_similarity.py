"""
Similarity of options
=====================

How much of what two celebrities have they share, by choices between them; the dendrogram joins those that share most.
"""

import thali as th

model = th.EliminationByAspects().fit(th.datasets.celebrities(), draws=500, tune=500, random_seed=1, progressbar=False)
th.plots.option_similarity(model)
