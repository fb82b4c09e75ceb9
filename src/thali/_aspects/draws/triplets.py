"""Answer probabilities of triplets at posterior draws, and their part of the posterior tree."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import TRIPLETS
from thali._inference.indexing import iterate_slices
from thali._inference.numerics.shares import divide_positive
from thali._model.stored_choices import MAX_PAIRS, all_pair_coordinates
from thali._posterior.store import is_pointwise
from thali._posterior.view import Posterior

from .feature_columns import FeatureColumns, read_columns
from .posterior_tree import DataPart
from .similarities import compute_similarities

if TYPE_CHECKING:
    from thali._data.triplets import Triplets

RATIO = "ratio"
MIN_PROBABILITY = 1e-300  # replaces a probability of 0, as in the samplers


def build_triplets_part(
    columns: FeatureColumns,
    constant: np.ndarray | None,
    data: "Triplets",
    shape: tuple[int, int],
    dense: bool,
    *,
    link: str,
    lapse: float,
) -> DataPart:
    """Build the part of a posterior tree for triplets; `constant` has one entry per draw."""
    is_shared = (columns.sizes > 1) & is_column_seen(columns, link)
    variables: dict[Any, Any] = {
        "n_shared_features": (("chain", "draw"), columns.count_by_draw(is_shared).reshape(shape))
    }
    coordinates, pointwise = {}, {}
    questions = data.questions()
    coefficients = questions.log_coefficients()
    if dense:
        i, j = np.triu_indices(data.n_options, k=1)
        variables["similarity"] = (
            ("chain", "draw", "pair"),
            compute_pair_similarities(columns, constant, i, j, link).reshape(*shape, -1),
        )
        coordinates = all_pair_coordinates(np.asarray(data.labels, dtype=str))
    if len(data.first) <= MAX_PAIRS and is_pointwise(data.n_sets, columns.n_draws):
        p = compute_triplet_probabilities(
            columns, constant, data.start, data.first, data.second, link, lapse
        )
        terms = questions.log_likelihoods(np.maximum(p, MIN_PROBABILITY))
        pointwise = {"chosen": (("chain", "draw", "set"), terms.reshape(*shape, -1))}
    return DataPart(
        kind=TRIPLETS,
        log_constant=float(coefficients.sum()),
        descriptions={
            "constant": "c, part of the value of every pair",
            "n_shared_features": "features of at least two objects that affect an answer",
            "similarity": "shared weight of a pair; with the link ratio plus the constant, over the"
            " mean of all pairs",
        },
        variables=variables,
        coordinates=coordinates,
        observed={"chosen": ("place", data.counts)},
        constants={
            "set_size": ("set", data.sizes),
            "log_multinomial_coefficient": ("set", coefficients),
            "first": ("place", data.first),
            "second": ("place", data.second),
            "link": link,
            "lapse": float(lapse),
            "unique": False,
            "has_constant": constant is not None,
        },
        pointwise=pointwise,
        rows=("set", "place"),
        scale=compute_mean_weight(columns, constant),
    )


def is_column_seen(columns: FeatureColumns, link: str) -> np.ndarray:
    """Return a mask of features that triplet answers depend on.

    With the link exp answers do not depend on columns that all options own.
    """
    if link == RATIO:
        return np.ones(len(columns.sizes), bool)
    return columns.sizes < columns.n_options


def compute_shared_weights(
    columns: FeatureColumns,
    constant: np.ndarray | None,
    first: np.ndarray,
    second: np.ndarray,
    link: str,
) -> np.ndarray:
    """Return the summed weight of features that two objects share, (n_draws, n_pairs).

    With the link exp, columns that all objects own cancel and are omitted.
    """
    common = columns.sum_by_draw(np.where(is_column_seen(columns, link), 0.0, columns.weights))
    if constant is None:
        constant = np.zeros(1)
    return compute_similarities(columns, constant - common, first, second)


def compute_pair_similarities(
    columns: FeatureColumns,
    constant: np.ndarray | None,
    first: np.ndarray,
    second: np.ndarray,
    link: str,
) -> np.ndarray:
    """Return similarities: shared weight s, or (s + c) / mean, (n_draws, n_pairs)."""
    shared_weights = compute_shared_weights(columns, constant, first, second, link)
    mean_weight = compute_mean_weight(columns, constant)
    if mean_weight is None:
        return shared_weights
    return shared_weights / mean_weight[:, None]


def compute_mean_weight(columns: FeatureColumns, constant: np.ndarray | None) -> Any:
    """Return each draw's mean of shared weight plus constant over all pairs."""
    if constant is None:
        return None
    n_options, sizes = columns.n_options, columns.sizes
    return (
        columns.sum_by_draw(columns.weights * sizes * (sizes - 1)) / (n_options * (n_options - 1))
        + constant
    )


def compute_triplet_probabilities(
    columns: FeatureColumns,
    constant: np.ndarray | None,
    start: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    link: str,
    lapse: float,
) -> np.ndarray:
    """Return the probability of every pair of every set, (n_draws, n_set_pairs)."""
    n_options = columns.n_options
    keys, pair_position = np.unique(np.asarray(first) * n_options + second, return_inverse=True)
    weights = compute_shared_weights(columns, constant, keys // n_options, keys % n_options, link)[
        :, pair_position
    ]
    sizes = np.diff(start)
    if link != RATIO:
        weights = np.exp(
            weights - np.repeat(np.maximum.reduceat(weights, start[:-1], axis=1), sizes, axis=1)
        )
    total = np.repeat(np.add.reduceat(weights, start[:-1], axis=1), sizes, axis=1)
    uniform = np.repeat(1.0 / sizes, sizes)
    share = divide_positive(weights, total, uniform)
    return (1.0 - lapse) * share + lapse * uniform


def iterate_triplet_sets(
    posterior: Posterior, start: np.ndarray, first: np.ndarray, second: np.ndarray
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield blocks of whole sets: their slice, and answer probabilities by draw."""
    columns, constant, link, lapse = (
        read_columns(posterior),
        posterior.constant,
        posterior.link,
        posterior.lapse,
    )
    sizes = np.diff(start)
    set_size = columns.n_draws * int(sizes.max(initial=1))
    for sets in iterate_slices(len(sizes), set_size):
        block = slice(int(start[sets.start]), int(start[sets.stop]))
        block_start = start[sets.start : sets.stop + 1] - start[sets.start]
        yield (
            block,
            compute_triplet_probabilities(
                columns, constant, block_start, first[block], second[block], link, lapse
            ),
        )


def read_triplets(posterior: Posterior) -> "Triplets":
    """Read the triplets that a model was fitted to from its posterior."""
    from thali._data.triplets import Triplets

    return Triplets._from_fields(
        tuple(posterior.labels), posterior.set_start, *posterior.pairs, posterior.chosen, None
    )
