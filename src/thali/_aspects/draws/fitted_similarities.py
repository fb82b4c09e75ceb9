"""Fitted similarities of posterior draws, and their part of the posterior tree."""

from typing import TYPE_CHECKING

import numpy as np

from thali._data.kinds import SIMILARITIES
from thali._data.noise_ceiling import estimate_reliability
from thali._inference.index_arithmetic import iterate_slices
from thali._inference.numerics.log_densities import log_normal_density
from thali._model.stored_choices import all_pair_coordinates, pair_coordinates, pair_index
from thali._posterior.draws_writer import Variable
from thali._posterior.posterior_tree import Posterior

from .feature_columns import FeatureColumns
from .posterior_tree import DataPart

if TYPE_CHECKING:
    from thali._data.similarities import Similarities


def build_similarities_part(
    feature_columns: FeatureColumns,
    parameter_draws: dict[str, np.ndarray],
    data: "Similarities",
    chains_by_draws: tuple[int, int],
    stores_pairs: bool,
    *,
    log_constant: float,
    has_constant: bool,
    is_sigma_learned: bool,
) -> DataPart:
    """Build the variables and data of measured similarities for the posterior tree."""
    labels = np.asarray(data.labels, dtype=str)
    n_shared_features = feature_columns.count_by_draw(feature_columns.sizes > 1).reshape(
        chains_by_draws
    )
    arrays: dict[str, np.ndarray] = {"n_shared_features": n_shared_features}
    coordinates = {}
    pointwise = None
    if stores_pairs:
        i, j = np.triu_indices(data.n_options, k=1)
        fitted = compute_similarities(feature_columns, parameter_draws["constant"], i, j)
        arrays["similarity"] = fitted.reshape(*chains_by_draws, -1)
        coordinates = all_pair_coordinates(labels)
        fitted_measured = fitted[:, pair_index(data.first, data.second, data.n_options)]
        residual_sd = parameter_draws["sigma"][:, None] / np.sqrt(data.judgements)
        log_likelihoods = log_normal_density(data.values, fitted_measured, residual_sd)
        log_likelihoods = log_likelihoods.reshape(*chains_by_draws, -1)
        pointwise = "similarity", ("measured_pair",), log_likelihoods
    return DataPart(
        kind=SIMILARITIES,
        log_constant=log_constant,
        variables={
            "constant": Variable("additive constant, part of every similarity"),
            "sigma": Variable(
                "standard deviation of a similarity around its mean, for one judgement"
                " (constant_data.judgements)"
            ),
            "n_shared_features": Variable("features of at least two objects"),
            "similarity": Variable(
                "fitted similarity of a pair: constant and shared weights", ("pair",)
            ),
        },
        arrays=arrays,
        coordinates=coordinates,
        observed={"similarity": ("measured_pair", data.values)},
        constants={
            "first": ("measured_pair", data.first),
            "second": ("measured_pair", data.second),
            "judgements": ("measured_pair", data.judgements),
            "reliability": estimate_reliability(data),
            "unique": False,
            "has_constant": bool(has_constant),
            "learned_sigma": bool(is_sigma_learned),
        },
        pointwise=pointwise,
        observed_coordinates=pair_coordinates("measured_pair", labels, data.first, data.second),
    )


def compute_similarities(
    feature_columns: FeatureColumns, w_0: np.ndarray | float, i: np.ndarray, j: np.ndarray
) -> np.ndarray:
    """Compute the fitted similarity of each pair in each draw, shape (n_draws, n_pairs).

    mu_ij = w_0 + sum_k w_k f_ik f_jk
    """
    option_indices, pair_positions = np.unique(np.concatenate([i, j]), return_inverse=True)
    i, j = np.split(pair_positions, 2)
    similarity = np.empty((feature_columns.n_draws, len(i)))
    m = len(option_indices)
    draw_size = 2 * int(feature_columns.n_features.max(initial=0)) * m + m * m + len(i)
    for draws in iterate_slices(feature_columns.n_draws, draw_size):
        features, weights = feature_columns.to_dense(draws.start, draws.stop, option_indices)
        ownership = features.astype(float)
        all_similarities = (ownership * weights[:, :, None]).transpose(0, 2, 1) @ ownership
        similarity[draws] = all_similarities[:, i, j]
    return similarity + np.reshape(w_0, (-1, 1))


def read_similarities(posterior: Posterior) -> "Similarities":
    """Read the similarities that a model was fitted to from its posterior."""
    from thali._data.similarities import Similarities

    labels = posterior.labels
    first_objects, second_objects = posterior.pairs
    similarity_matrix, judgements = np.full((2, len(labels), len(labels)), np.nan)
    similarity_matrix[first_objects, second_objects] = similarity_matrix[
        second_objects, first_objects
    ] = posterior.similarities
    judgements[first_objects, second_objects] = judgements[second_objects, first_objects] = (
        posterior.judgements
    )
    return Similarities(similarity_matrix, labels, judgements=judgements)
