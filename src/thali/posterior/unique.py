"""What each option has alone."""

from typing import TYPE_CHECKING

import numpy as np

from thali.posterior.columns import columns_of
from thali.posterior.interval import TAILS

if TYPE_CHECKING:
    import pandas
    import xarray


def unique_weights_table(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """The weight that each option has alone: its unique aspect, and every feature that no other option owns.

    Choices tell only the sum of these. Without features that options share the model is that of Bradley, Terry and
    Luce, and the shares are its scale values.

    Parameters
    ----------
    tree : xarray.DataTree
        As `thali.posterior.store.to_datatree` makes it.

    Returns
    -------
    pandas.DataFrame
        One row an option, in the order of the data: `weight` (posterior mean), `weight_low` and `weight_high` (its
        equal-tailed interval with probability .89), `share` (posterior mean of the weight divided by the sum over all
        options). Weights are comparable within a fit.

    Example
    -------
    >>> import thali as th
    >>> model = th.EliminationByAspects("unique")
    >>> model = model.fit(th.datasets.celebrities(), draws=500, tune=500, random_seed=1, progressbar=False)
    >>> unique_weights_table(model.posterior_)["share"].idxmax()
    'LBJ'
    """
    import pandas as pd

    columns = columns_of(tree)
    weights = columns.unique_weights.copy()
    alone = np.flatnonzero(columns.sizes == 1)
    np.add.at(weights, (columns.draw[alone], columns.owners[columns.first_owner[alone]]), columns.weights[alone])
    total = weights.sum(1, keepdims=True)
    low, high = np.quantile(weights, TAILS, axis=0)
    shares = np.divide(weights, total, out=np.full_like(weights, 1.0 / weights.shape[1]), where=total > 0)
    labels = pd.Index(tree["posterior"].to_dataset()["option"].values.tolist(), name="option")
    table = {"weight": weights.mean(0), "weight_low": low, "weight_high": high, "share": shares.mean(0)}
    return pd.DataFrame(table, index=labels)
