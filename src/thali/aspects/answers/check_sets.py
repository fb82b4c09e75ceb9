"""The posterior predictive check of choices out of sets."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import DataError
from thali.inference.seeds import streams

from ..draws.columns import columns_of
from ..likelihoods.set_draws import set_probability_draws
from .check import blocks, finished_table, replicated_rows, spaced
from .checked import MEMBER

if TYPE_CHECKING:
    import pandas
    import xarray


def set_check_table(tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
    """Compare each observed proportion of each set with replicates of it that the fitted model draws.

    x_rep ~ Multinomial(n, p̃) for each set, one for each posterior draw of p̃; everything else is as of
    `answers.check.pair_check_table`, except that the discrepancy is sum (x - n p̃)² / (n p̃), over all members of
    all sets.
    """
    import pandas as pd

    observed, constant = tree["observed_data"].to_dataset(), tree["constant_data"].to_dataset()
    sizes, members, lapse = constant["set_size"].values, constant["member"].values, float(constant["lapse"])
    labels = constant["option"].values
    named = {
        "alternative": labels[members].tolist(),
        "offered": observed["set"].values[np.repeat(np.arange(len(sizes)), sizes)].tolist(),
    }
    counts = _whole_counts(observed["chosen"].values, named)
    start = np.concatenate([[0], np.cumsum(sizes)])
    totals = np.add.reduceat(counts, start[:-1])
    columns = spaced(columns_of(tree), len(counts))
    rng = streams(random_seed, 1)[0]

    rows, discrepancy = [], np.zeros((2, columns.n_draws))
    for sets in blocks(len(sizes), columns.n_draws * int(sizes.max())):
        places = slice(start[sets.start], start[sets.stop])
        first = start[sets.start : sets.stop + 1] - places.start
        p = set_probability_draws(columns, first, members[places], lapse)
        parts = np.split(p, first[1:-1], axis=1)
        drawn = [rng.multinomial(n, part) for n, part in zip(totals[sets], parts, strict=True)]
        replicates, p = np.concatenate(drawn, axis=1).T, p.T
        x, n = counts[places, None], np.repeat(totals[sets], sizes[sets])[:, None]
        rows.append(replicated_rows(x, n, p, replicates))
        discrepancy += [discrepancy_of(x, n, p), discrepancy_of(replicates, n, p)]
    return finished_table(pd.DataFrame(named), rows, discrepancy, MEMBER)


def _whole_counts(counts: np.ndarray, named: dict[Any, Any]) -> np.ndarray:
    fractional = np.flatnonzero(counts != np.floor(counts))
    if len(fractional):
        k = fractional[0]
        raise DataError(
            f"The check needs whole numbers of choices, of which it draws replicates; {named['alternative'][k]!r} has "
            f"the weight {counts[k]:g} out of {named['offered'][k]}. Fit unweighted counts to use it."
        )
    return counts.astype(np.int64)


def discrepancy_of(x: np.ndarray, n: np.ndarray, p: np.ndarray) -> np.ndarray:
    """sum (x - n p)² / (n p) over the members of sets, draw by draw."""
    residual, expected = x - n * p, n * p
    # Where the model says never, data that agree add nothing, and data that do not are infinitely far.
    certain = np.where(residual == 0, 0.0, np.inf)
    return np.divide(residual**2, expected, out=certain, where=expected > 0).sum(axis=0)
