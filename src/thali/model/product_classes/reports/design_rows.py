"""Which draws a report uses, and random rows of the design."""

from typing import Any

import numpy as np

from thali._jit import scalar
from thali.inference.numerics.decisions import index


def thinned(group: np.ndarray, most: int) -> np.ndarray:
    """Numbers of at most this many draws, equally many of each group, evenly spaced."""
    groups, counts = np.unique(group, return_counts=True)
    each = max(1, most // max(len(groups), 1))
    kept = []
    for g, count in zip(groups, counts, strict=True):
        own = np.flatnonzero(group == g)
        kept.append(own[np.unique(np.linspace(0, count - 1, min(count, each)).round().astype(np.int64))])
    return np.concatenate(kept) if kept else np.zeros(0, np.int64)


@scalar
def row_with(rng: np.random.Generator, codes: Any, rows: Any, i: Any, least: Any) -> Any:
    """A random row of the design in which attribute i has a level of `least` or more."""
    while True:
        product = rows[index(rng, rows.shape[0])]
        if codes[product, i] >= least:
            return product
