"""Fitted similarities of posterior draws, and their part of the posterior tree."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import SIMILARITIES
from thali._inference.indexing import iterate_slices
from thali._inference.numerics.log_densities import log_normal_density
from thali._model.stored_choices import all_pair_coordinates, pair_coordinates, pair_index
from thali._posterior.view import Posterior

from .feature_columns import FeatureColumns
from .posterior_tree import DataPart

if TYPE_CHECKING:
    from thali._data.similarities import Similarities


def build_similarities_part(
    columns: FeatureColumns,
    extra: dict[str, np.ndarray],
    data: "Similarities",
    chains_by_draws: tuple[int, int],
    dense: bool,
    *,
    log_constant: float,
    has_constant: bool,
    learned_sigma: bool,
) -> DataPart:
    """Build the part of a posterior tree for measured similarities."""
    labels = np.asarray(data.labels, dtype=str)
    n_shared_features = columns.count_by_draw(columns.sizes > 1).reshape(chains_by_draws)
    variables: dict[Any, Any] = {"n_shared_features": (("chain", "draw"), n_shared_features)}
    coordinates, pointwise = {}, {}
    if dense:
        i, j = np.triu_indices(data.n_options, k=1)
        fitted = compute_similarities(columns, extra["constant"], i, j)
        variables["similarity"] = (("chain", "draw", "pair"), fitted.reshape(*chains_by_draws, -1))
        coordinates = all_pair_coordinates(labels)
        measured = fitted[:, pair_index(data.first, data.second, data.n_options)]
        sigma = extra["sigma"][:, None] / np.sqrt(data.judgements)
        terms = log_normal_density(data.values, measured, sigma)
        pointwise = {
            "similarity": (("chain", "draw", "measured_pair"), terms.reshape(*chains_by_draws, -1))
        }
    return DataPart(
        kind=SIMILARITIES,
        log_constant=log_constant,
        descriptions={
            "constant": "additive constant, part of every similarity",
            "sigma": "standard deviation of a similarity around its mean, for one judgement"
            " (constant_data.judgements)",
            "n_shared_features": "features of at least two objects",
            "similarity": "fitted similarity of a pair: constant and shared weights",
        },
        variables=variables,
        coordinates=coordinates,
        observed={"similarity": ("measured_pair", data.values)},
        constants={
            "first": ("measured_pair", data.first),
            "second": ("measured_pair", data.second),
            "judgements": ("measured_pair", data.judgements),
            "unique": False,
            "has_constant": bool(has_constant),
            "learned_sigma": bool(learned_sigma),
        },
        pointwise=pointwise,
        observed_coordinates=pair_coordinates("measured_pair", labels, data.first, data.second),
        rows=("measured_pair",),
    )


def compute_similarities(
    columns: FeatureColumns, w_0: Any, i: np.ndarray, j: np.ndarray
) -> np.ndarray:
    """Compute the fitted similarity of each pair in each draw, shape (n_draws, n_pairs).

    mu_ij = w_0 + sum_k w_k f_ik f_jk
    """
    options, positions = np.unique(np.concatenate([i, j]), return_inverse=True)
    i, j = np.split(positions, 2)
    similarity = np.empty((columns.n_draws, len(i)))
    m = len(options)
    draw_size = 2 * int(columns.n_features.max(initial=0)) * m + m * m + len(i)
    for draws in iterate_slices(columns.n_draws, draw_size):
        features, weights = columns.to_dense(draws.start, draws.stop, options)
        owned = features.astype(float)
        all_similarities = (owned * weights[:, :, None]).transpose(0, 2, 1) @ owned
        similarity[draws] = all_similarities[:, i, j]
    return similarity + np.reshape(w_0, (-1, 1))


def read_similarities(posterior: Posterior) -> "Similarities":
    """Read the similarities that a model was fitted to from its posterior."""
    from thali._data.similarities import Similarities

    labels, (first, second) = posterior.labels, posterior.pairs
    matrix, judgements = np.full((2, len(labels), len(labels)), np.nan)
    matrix[first, second] = matrix[second, first] = posterior.similarities
    judgements[first, second] = judgements[second, first] = posterior.judgements
    return Similarities(matrix, labels, judgements=judgements)
