"""Answer probabilities of triplets at posterior draws, and their part of the posterior tree."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.base_classes import build_from_fields
from thali._data.kinds import TRIPLETS
from thali._inference.index_arithmetic import iterate_slices
from thali._inference.numerics.weight_shares import divide_positive
from thali._model.stored_choices import MAX_PAIRS, all_pair_coordinates
from thali._posterior.datatree_files import can_store_pointwise
from thali._posterior.draws_writer import Variable
from thali._posterior.posterior_tree import Posterior

from .feature_columns import FeatureColumns, read_columns
from .fitted_similarities import compute_similarities
from .posterior_tree import DataPart

if TYPE_CHECKING:
    from thali._data.triplets import Triplets

RATIO = "ratio"
MIN_PROBABILITY = 1e-300  # replaces a probability of 0, as in the samplers


def build_triplets_part(
    feature_columns: FeatureColumns,
    constant: np.ndarray | None,
    data: "Triplets",
    shape: tuple[int, int],
    stores_pairs: bool,
    *,
    link: str,
    lapse: float,
) -> DataPart:
    """Build the part of a posterior tree for triplets; `constant` has one entry per draw."""
    is_shared = (feature_columns.sizes > 1) & is_column_seen(feature_columns, link)
    arrays: dict[str, np.ndarray] = {
        "n_shared_features": feature_columns.count_by_draw(is_shared).reshape(shape)
    }
    coordinates = {}
    pointwise = None
    questions = data.questions()
    log_coefficients = questions.log_coefficients()
    if stores_pairs:
        i, j = np.triu_indices(data.n_options, k=1)
        similarities = compute_pair_similarities(feature_columns, constant, i, j, link)
        arrays["similarity"] = similarities.reshape(*shape, -1)
        coordinates = all_pair_coordinates(np.asarray(data.labels, dtype=str))
    if len(data.first) <= MAX_PAIRS and can_store_pointwise(data.n_sets, feature_columns.n_draws):
        answer_probabilities = compute_triplet_probabilities(
            feature_columns, constant, data.start, data.first, data.second, link, lapse
        )
        log_likelihoods = questions.log_likelihoods(
            np.maximum(answer_probabilities, MIN_PROBABILITY)
        )
        pointwise = "chosen", ("set",), log_likelihoods.reshape(*shape, -1)
    return DataPart(
        kind=TRIPLETS,
        log_constant=float(log_coefficients.sum()),
        variables={
            "constant": Variable("c, part of the value of every pair"),
            "n_shared_features": Variable("features of at least two objects that affect an answer"),
            "similarity": Variable(
                "shared weight of a pair; with the link ratio plus the constant, over the mean of"
                " all pairs",
                ("pair",),
            ),
        },
        arrays=arrays,
        coordinates=coordinates,
        observed={"chosen": ("place", data.counts)},
        constants={
            "set_size": ("set", data.sizes),
            "log_multinomial_coefficient": ("set", log_coefficients),
            "first": ("place", data.first),
            "second": ("place", data.second),
            "link": link,
            "lapse": float(lapse),
            "unique": False,
            "has_constant": constant is not None,
        },
        pointwise=pointwise,
    )


def is_column_seen(feature_columns: FeatureColumns, link: str) -> np.ndarray:
    """Return a mask of features that triplet answers depend on.

    With the link exp answers do not depend on columns that all options own.
    """
    if link == RATIO:
        return np.ones(len(feature_columns.sizes), bool)
    return feature_columns.sizes < feature_columns.n_options


def compute_shared_weights(
    feature_columns: FeatureColumns,
    constant: np.ndarray | None,
    first_objects: np.ndarray,
    second_objects: np.ndarray,
    link: str,
) -> np.ndarray:
    """Return the summed weight of features that two objects share, (n_draws, n_pairs).

    With the link exp, columns that all objects own cancel and are omitted.
    """
    common_weight = feature_columns.sum_by_draw(
        np.where(is_column_seen(feature_columns, link), 0.0, feature_columns.weights)
    )
    if constant is None:
        constant = np.zeros(1)
    return compute_similarities(
        feature_columns, constant - common_weight, first_objects, second_objects
    )


def compute_pair_similarities(
    feature_columns: FeatureColumns,
    constant: np.ndarray | None,
    first_objects: np.ndarray,
    second_objects: np.ndarray,
    link: str,
) -> np.ndarray:
    """Return similarities: shared weight s, or (s + c) / mean, (n_draws, n_pairs)."""
    shared_weights = compute_shared_weights(
        feature_columns, constant, first_objects, second_objects, link
    )
    mean_weight = compute_mean_weight(feature_columns, constant)
    if mean_weight is None:
        return shared_weights
    return shared_weights / mean_weight[:, None]


def compute_mean_weight(feature_columns: FeatureColumns, constant: np.ndarray | None) -> Any:
    """Return each draw's mean of shared weight plus constant over all pairs."""
    if constant is None:
        return None
    n_options = feature_columns.n_options
    n_owners = feature_columns.sizes
    return (
        feature_columns.sum_by_draw(feature_columns.weights * n_owners * (n_owners - 1))
        / (n_options * (n_options - 1))
        + constant
    )


def compute_triplet_probabilities(
    feature_columns: FeatureColumns,
    constant: np.ndarray | None,
    set_starts: np.ndarray,
    first_objects: np.ndarray,
    second_objects: np.ndarray,
    link: str,
    lapse: float,
) -> np.ndarray:
    """Return the probability of every pair of every set, (n_draws, n_set_pairs)."""
    n_options = feature_columns.n_options
    pair_keys, pair_position = np.unique(
        np.asarray(first_objects) * n_options + second_objects, return_inverse=True
    )
    pair_weights = compute_shared_weights(
        feature_columns, constant, pair_keys // n_options, pair_keys % n_options, link
    )[:, pair_position]
    set_sizes = np.diff(set_starts)
    if link != RATIO:
        pair_weights = np.exp(
            pair_weights
            - np.repeat(
                np.maximum.reduceat(pair_weights, set_starts[:-1], axis=1), set_sizes, axis=1
            )
        )
    set_totals = np.repeat(
        np.add.reduceat(pair_weights, set_starts[:-1], axis=1), set_sizes, axis=1
    )
    uniform_probability = np.repeat(1.0 / set_sizes, set_sizes)
    pair_share = divide_positive(pair_weights, set_totals, uniform_probability)
    return (1.0 - lapse) * pair_share + lapse * uniform_probability


def iterate_triplet_sets(
    posterior: Posterior,
    set_starts: np.ndarray,
    first_objects: np.ndarray,
    second_objects: np.ndarray,
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield blocks of whole sets: their slice, and answer probabilities by draw."""
    feature_columns = read_columns(posterior)
    constant = posterior.constant
    link = posterior.link
    lapse = posterior.lapse
    set_sizes = np.diff(set_starts)
    set_size = feature_columns.n_draws * int(set_sizes.max(initial=1))
    for sets in iterate_slices(len(set_sizes), set_size):
        pair_slice = slice(int(set_starts[sets.start]), int(set_starts[sets.stop]))
        block_starts = set_starts[sets.start : sets.stop + 1] - set_starts[sets.start]
        yield (
            pair_slice,
            compute_triplet_probabilities(
                feature_columns,
                constant,
                block_starts,
                first_objects[pair_slice],
                second_objects[pair_slice],
                link,
                lapse,
            ),
        )


def read_triplets(posterior: Posterior) -> "Triplets":
    """Read the triplets that a model was fitted to from its posterior."""
    from thali._data.triplets import Triplets

    return build_from_fields(
        Triplets,
        tuple(posterior.labels),
        posterior.set_start,
        *posterior.pairs,
        posterior.chosen,
        None,
    )
