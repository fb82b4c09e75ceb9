"""Elimination by an unknown number of unknown aspects of options that stand in a tree.

p[i, j] = (1 - e) A[i, j] / (A[i, j] + A[j, i]) + e / 2 with the lapse e = 0.01, A[i, j] = u[i] +
sum_k w[k] f[i, k] (1
- f[j, k]). counts[i, j] ~ Binomial(counts[i, j] + counts[j, i], p[i, j]), each unordered pair once.
u[i] ~ Gamma(1, 1),
w[k] ~ Gamma(1, 1); f ~ phylogenetic Indian buffet process on the tree: a column with the owners h
is one of
Poisson(alpha lambda(h)) of its kind, lambda(h) the integral over pi from 0 to 1 of P(h | pi) / pi,
where a mark that
arises along the edges of the tree at rate -log(1 - pi), and stays, ends up at exactly the leaves h
with probability P(h
| pi); alpha ~ Gamma(1, 1).
"""

import thali as th


def fit(data, **run):
    """The fitted model of the data of the JSON file."""
    pairs = th.PairedComparisons(data["counts"], data["labels"])
    return th.EliminationByAspects(th.Tree.from_newick(data["tree"])).fit(pairs, **run)
