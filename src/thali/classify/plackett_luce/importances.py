"""How much of the weights of Plackett–Luce regression goes with each covariate."""

from itertools import combinations

import numpy as np

from .design import Design


def importances(weights: np.ndarray, design: Design) -> np.ndarray:
    """Shares (d,) of the covariates in relative weights (K, p)."""
    if callable(design.transform):
        raise AttributeError(
            "A transform that is a function does not say which covariates a column of W is made of; see weights_."
        )
    of_column, d = weights.sum(axis=0), len(design.names)
    varies = np.ones(d, bool) if design.standard is None else design.standard.varies
    shares = np.zeros(d)
    if design.transform is None:
        shares[:] = of_column
    else:
        places = np.flatnonzero(varies)
        v = len(places)
        shares[places] = of_column[:v] + of_column[v : 2 * v]
        if design.transform == "exponential-pairs":
            of_pair = of_column[2 * v : -1].reshape(-1, 2).sum(axis=1)
            for share, pair in zip(of_pair, combinations(places, 2), strict=True):
                shares[list(pair)] += 0.5 * share
    total = shares.sum()
    return shares / total if total > 0.0 else shares
