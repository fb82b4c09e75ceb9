"""Columns and similarities written out, for tests of what comes after sampling."""

from types import SimpleNamespace

import numpy as np

from thali._aspects.draws.feature_columns import FeatureColumns


def columns_of_sets(draws, n):
    """Columns of draws given as lists of (owners, weight)."""
    flat = [feature for draw in draws for feature in draw]
    return FeatureColumns(
        np.array([len(draw) for draw in draws], np.int64),
        np.array([weight for _, weight in flat], float),
        np.array([len(owners) for owners, _ in flat], np.int64),
        np.array([i for owners, _ in flat for i in sorted(owners)], np.int32),
        np.zeros((len(draws), n)),
    )


def similarities_of(columns, constant, first, second):
    """The similarity of each pair in each draw, (draws, pairs)."""
    dense, weights = columns.to_dense(0, columns.n_draws)
    shared = dense[:, :, first] & dense[:, :, second]
    return np.asarray(constant)[:, None] + np.einsum("dk,dkp->dp", weights, shared)


def similarities(matrix, labels=None):
    first, second = np.triu_indices(len(matrix), 1)
    measured = np.isfinite(matrix[first, second])
    first, second = first[measured], second[measured]
    names = tuple(labels or map(str, range(len(matrix))))
    values = matrix[first, second]
    return SimpleNamespace(
        labels=names, first=first, second=second, values=values, judgements=np.ones(len(values))
    )
