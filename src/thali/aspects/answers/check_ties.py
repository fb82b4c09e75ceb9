"""The posterior predictive check of paired comparisons with ties."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import DataError
from thali.inference.seeds import streams

from ..draws.columns import columns_of
from ..draws.counts import outcomes
from ..draws.covariates import cells_of
from .cells_to_check import cells_to_check
from .check import finished_table, replicated_rows, spaced, spaced_draws, whole_counts
from .check_sets import discrepancy_of
from .checked import TIED

if TYPE_CHECKING:
    import pandas
    import xarray


def tied_check_table(tree: "xarray.DataTree", random_seed: Any = None) -> "pandas.DataFrame":
    """Compare the observed proportions of choices and of ties of each pair with replicates that the model draws.

    (x, t, y)_rep ~ Multinomial(n, outcomes of p̃ and nu), one for each posterior draw; everything else is as of
    `answers.check.pair_check_table`, except that the discrepancy is sum (x - n p)² / (n p), over all outcomes of all
    pairs.
    """
    import pandas as pd

    constant = tree["constant_data"].to_dataset()
    labels = constant["option"].values
    first, second = constant["first"].values, constant["second"].values
    wins, losses = whole_counts(tree, labels[first], labels[second])
    ties = tree["observed_data"].dataset["ties"].values
    if (ties != np.floor(ties)).any():
        raise DataError("The check needs whole numbers of ties, of which it draws replicates.")
    counts = np.stack([wins, ties.astype(np.int64), losses], axis=1)
    columns, number = columns_of(tree), 3 * len(cells_of(tree)["pair"])
    kept = spaced_draws(columns.n_draws, number)
    tie = tree["posterior"].dataset["tie"].values.ravel()[kept]
    cells = cells_to_check(tree, 3, spaced(columns, number), kept)
    n_of_cells, rng = cells.n, streams(random_seed, 1)[0]

    rows, discrepancy, named = [], np.zeros((2, len(kept))), []
    for pairs, block in cells.blocks():
        p = cells.probabilities(block)
        of_outcome = outcomes(p, 1.0 - p, tie)  # (cells, draws, outcomes)
        n = counts[pairs].sum(axis=1)
        replicates = cells.added(pairs, rng.multinomial(n_of_cells[block, None], of_outcome))
        of_outcome = cells.mean(pairs, block, of_outcome)
        for outcome in range(3):
            x, expected, drawn = counts[pairs, outcome, None], of_outcome[..., outcome], replicates[..., outcome]
            discrepancy += [discrepancy_of(x, n[:, None], expected), discrepancy_of(drawn, n[:, None], expected)]
            if outcome < 2:
                rows.append(replicated_rows(x, n[:, None], expected, drawn))
                names = {"a": labels[first[pairs]], "b": labels[second[pairs]], "tied": outcome == 1}
                named.append(pd.DataFrame(names))
    return finished_table(pd.concat(named, ignore_index=True), rows, discrepancy, TIED)
