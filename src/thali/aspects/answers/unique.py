"""The weight that each option has alone."""

from typing import TYPE_CHECKING

import numpy as np

from thali.posterior.interval import TAILS

from ..draws.columns import columns_of

if TYPE_CHECKING:
    import pandas
    import xarray


def unique_weights_table(tree: "xarray.DataTree") -> "pandas.DataFrame":
    """The weight that each option has alone: its unique aspect, and every feature that no other option owns.

    Choices identify only the sum of these. Without shared features the model is that of Bradley, Terry and Luce, and
    the shares are its scale values.
    """
    import pandas as pd

    from thali._tables import Table

    columns = columns_of(tree)
    weights = columns.unique_weights.copy()
    alone = np.flatnonzero(columns.sizes == 1)
    np.add.at(weights, (columns.draw[alone], columns.owners[columns.first_owner[alone]]), columns.weights[alone])
    total = weights.sum(1, keepdims=True)
    low, high = np.quantile(weights, TAILS, axis=0)
    shares = np.divide(weights, total, out=np.full_like(weights, 1.0 / weights.shape[1]), where=total > 0)
    labels = pd.Index(tree["posterior"].to_dataset()["option"].values.tolist(), name="option")
    table = {"weight": weights.mean(0), "weight_low": low, "weight_high": high, "share": shares.mean(0)}
    return Table(table, index=labels)
