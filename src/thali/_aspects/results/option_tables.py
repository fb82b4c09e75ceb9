"""Ranks, unique weights and similarities of options."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from thali._inference.index_arithmetic import iterate_slices, repeat_indices
from thali._inference.numerics.weight_shares import divide_positive
from thali._posterior.posterior_interval import compute_interval
from thali._posterior.posterior_tree import Posterior
from thali.errors import ArgumentError

from ..draws.feature_columns import FeatureColumns, read_columns

if TYPE_CHECKING:
    import pandas


def compute_utilities(feature_columns: FeatureColumns) -> np.ndarray:
    r"""Return each option's sum of feature weights, shape (n_draws, n_options).

    .. math:: U_i = u_i + \sum_k w_k f_{ik}
    """
    utility = feature_columns.unique_weights.astype(float)
    column_index = repeat_indices(feature_columns.sizes)
    np.add.at(
        utility,
        (feature_columns.draw[column_index], feature_columns.owners),
        feature_columns.weights[column_index],
    )
    return utility


# Weight unique to each option ---------------------------------------------------------------------


def unique_weights_table(posterior: Posterior, ci: float) -> "pandas.DataFrame":
    """Return a table of each option's unique weight and its share.

    It is the sum of its unique aspect and of the features that no other option owns.
    """
    import pandas as pd

    from thali._exportable_table import Table

    feature_columns = read_columns(posterior)
    weights = feature_columns.unique_weights.copy()
    single_columns = np.flatnonzero(feature_columns.sizes == 1)
    np.add.at(
        weights,
        (
            feature_columns.draw[single_columns],
            feature_columns.owners[feature_columns.owner_offsets[single_columns]],
        ),
        feature_columns.weights[single_columns],
    )
    total_weights = weights.sum(1, keepdims=True)
    low, high = compute_interval(weights, ci)
    shares = divide_positive(weights, total_weights, 1.0 / weights.shape[1])
    labels = pd.Index(posterior.labels, name="option")
    table_columns = {
        "weight": weights.mean(0),
        "weight_low": low,
        "weight_high": high,
        "share": shares.mean(0),
    }
    weights_table = Table(table_columns, index=labels)
    weights_table.attrs["interval"] = ci
    return weights_table


# Similarity of options by shared weight -----------------------------------------------------------


MAX_TABLE_OPTIONS = 1_000  # options of the largest table


def similarity_table(posterior: Posterior) -> "pandas.DataFrame":
    """Return posterior mean shares of weight that two options have in common, (n, n).

    0 / 0 is 0, and the diagonal is 1.
    """
    from thali._exportable_table import Table

    labels = posterior.labels
    n = len(labels)
    if n > MAX_TABLE_OPTIONS:
        raise ArgumentError(
            f"The table of similarities would have {n:,} rows, but the limit is"
            f" {MAX_TABLE_OPTIONS:,} options; use fewer options."
        )
    feature_columns = read_columns(posterior)
    is_counted = ~find_ignored_columns(feature_columns, posterior.sees_single)
    summed_similarity = np.zeros((n, n))
    counted_columns = replace(
        feature_columns, weights=np.where(is_counted, feature_columns.weights, 0.0)
    )
    for draws in iterate_slices(feature_columns.n_draws, n * n):
        features, weights = counted_columns.to_dense(draws.start, draws.stop)
        ownership = features.astype(float)
        shared_weight = (ownership * weights[:, :, None]).transpose(0, 2, 1) @ ownership
        worth = np.diagonal(shared_weight, axis1=1, axis2=2) + feature_columns.unique_weights[draws]
        mean_worth = 0.5 * (worth[:, :, None] + worth[:, None, :])
        summed_similarity += divide_positive(shared_weight, mean_worth).sum(axis=0)
    similarity = summed_similarity / feature_columns.n_draws
    np.fill_diagonal(similarity, 1.0)
    return Table(similarity, index=labels, columns=labels)


def find_ignored_columns(feature_columns: FeatureColumns, sees_single: bool) -> np.ndarray:
    """Return a mask of features that cannot affect choices (for example, owned by all).

    They are columns of all options, and of one owner if `sees_single` is False.
    """
    return (feature_columns.sizes == feature_columns.n_options) | (
        (feature_columns.sizes == 1) & (not sees_single)
    )
