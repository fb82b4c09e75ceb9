"""The posterior predictive check of triplets: which pairs are named more or less often than the model says?"""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import DataError
from thali.inference.seeds import streams

from ..draws.triplets import answered, probability_blocks
from .check import finished_table, replicated_rows, spaced_draws
from .checked import MOST_SIMILAR
from .kind import of_triplets

if TYPE_CHECKING:
    import pandas
    import xarray


def triplet_check_table(tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
    """Compare how often each pair was named with replicates of all answers that the fitted model draws.

    x_rep of a set ~ Multinomial(n, P), one for each posterior draw; x of a pair is the sum over the sets that hold it,
    and everything else is as of `answers.check.pair_check_table`. The discrepancy is sum (x - E x)² / E x, over pairs.
    """
    import pandas as pd

    data = answered(of_triplets(tree, "check"))
    if not np.array_equal(data.counts, np.floor(data.counts)):
        raise DataError(
            "The check needs whole numbers of answers, of which it draws replicates; these have weights. Fit "
            "unweighted counts to use it."
        )
    keys, pair = np.unique(data.first * data.n_options + data.second, return_inverse=True)
    totals = np.add.reduceat(data.counts, data.start[:-1]).astype(np.int64)
    posterior = tree["posterior"].sizes
    kept = spaced_draws(posterior["chain"] * posterior["draw"], len(data.counts))
    rng = streams(random_seed, 1)[0]
    expected, replicates = np.zeros((2, len(keys), len(kept)))
    for places, p in probability_blocks(tree, data.start, data.first, data.second):
        p = p[kept].T
        first, last = np.searchsorted(data.start, [places.start, places.stop])
        own = data.start[first : last + 1] - places.start
        for v in range(last - first):
            rows = slice(own[v], own[v + 1])
            drawn = rng.multinomial(totals[first + v], (p[rows] / p[rows].sum(axis=0)).T).T
            at = pair[places.start + own[v] : places.start + own[v + 1]]
            replicates[at] += drawn
            expected[at] += totals[first + v] * p[rows]
    n = np.bincount(pair, totals[data.set_of])[:, None]
    x = np.bincount(pair, data.counts)[:, None]
    labels = np.asarray(data.labels, dtype=str)
    sides = {"a": labels[keys // data.n_options], "b": labels[keys % data.n_options]}
    named = pd.DataFrame(sides | {"sets": np.bincount(pair)})
    rows = replicated_rows(x, n, expected / n, replicates)
    return finished_table(
        named, [rows], np.array([_distance(x, expected), _distance(replicates, expected)]), MOST_SIMILAR
    )


def _distance(x: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """sum (x - E x)² / E x over the pairs, draw by draw."""
    residual = (x - expected) ** 2
    return np.divide(residual, expected, out=np.zeros(residual.shape), where=expected > 0).sum(axis=0)
