"""What draws say about triplets: how similar each two objects are, and the likelihood of every
answer."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import TRIPLETS
from thali._inference.indexing import BLOCK
from thali._model.stored_choices import MAX_PAIRS, all_pair_coordinates
from thali._posterior.densities import is_pointwise
from thali._posterior.view import Posterior

from .columns import FeatureColumns, columns_of
from .similarities import similarity_draws
from .tree import DataPart

if TYPE_CHECKING:
    from thali._data.triplets import Triplets

RATIO = "ratio"
MIN_PROBABILITY = 1e-300  # as in the samplers, stands for a probability of 0


def triplets_part(
    columns: FeatureColumns,
    constant: np.ndarray | None,
    data: "Triplets",
    shape: tuple[int, int],
    dense: bool,
    *,
    link: str,
    lapse: float,
) -> DataPart:
    """The part of a posterior about triplets; `constant`: draw by draw, if the link has one."""
    draw = columns.draw[(columns.sizes > 1) & seen(columns, link)]
    variables: dict[Any, Any] = {
        "n_shared_features": (
            ("chain", "draw"),
            np.bincount(draw, minlength=columns.n_draws).reshape(shape),
        )
    }
    coordinates, pointwise = {}, {}
    asked = data.questions()
    coefficients = asked.log_coefficients()
    if dense:
        i, j = np.triu_indices(data.n_options, k=1)
        variables["similarity"] = (
            ("chain", "draw", "pair"),
            pair_similarities(columns, constant, i, j, link).reshape(*shape, -1),
        )
        coordinates = all_pair_coordinates(np.asarray(data.labels, dtype=str))
    if len(data.first) <= MAX_PAIRS and is_pointwise(data.n_sets, columns.n_draws):
        p = probabilities_of_draws(
            columns, constant, data.start, data.first, data.second, link, lapse
        )
        terms = asked.log_likelihoods(np.maximum(p, MIN_PROBABILITY))
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
        scale=None if constant is None else mean_value(columns, constant),
    )


def seen(columns: FeatureColumns, link: str) -> np.ndarray:
    """Which columns an answer can depend on, if they have two owners: with the link exp not those
    that all own."""
    return np.ones(len(columns.sizes), bool) if link == RATIO else columns.sizes < columns.n_options


def shared_draws(
    columns: FeatureColumns,
    constant: np.ndarray | None,
    first: np.ndarray,
    second: np.ndarray,
    link: str,
) -> np.ndarray:
    """s, or s + c, of each pair in each draw, without the columns that all objects own where these
    cancel."""
    common = columns.summed(np.where(seen(columns, link), 0.0, columns.weights))
    return similarity_draws(
        columns, (0.0 if constant is None else constant) - common, first, second
    )


def pair_similarities(
    columns: FeatureColumns,
    constant: np.ndarray | None,
    first: np.ndarray,
    second: np.ndarray,
    link: str,
) -> np.ndarray:
    """The similarity of each pair in each draw (draws, pairs): s with the link exp, otherwise (s +
    c) / mean."""
    shared = shared_draws(columns, constant, first, second, link)
    if constant is None:
        return shared
    return shared / mean_value(columns, constant)[:, None]


def mean_value(columns: FeatureColumns, constant: np.ndarray) -> np.ndarray:
    """The mean of s + c over all pairs in each draw."""
    n, sizes = columns.n_options, columns.sizes
    return columns.summed(columns.weights * sizes * (sizes - 1)) / (n * (n - 1)) + constant


def probabilities_of_draws(
    columns: FeatureColumns,
    constant: np.ndarray | None,
    start: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    link: str,
    lapse: float,
) -> np.ndarray:
    """The probability of every pair of every set in each draw (draws, places)."""
    n = columns.n_options
    keys, place = np.unique(np.asarray(first) * n + second, return_inverse=True)
    value = shared_draws(columns, constant, keys // n, keys % n, link)[:, place]
    sizes = np.diff(start)
    if link != RATIO:
        value = np.exp(
            value - np.repeat(np.maximum.reduceat(value, start[:-1], axis=1), sizes, axis=1)
        )
    total = np.repeat(np.add.reduceat(value, start[:-1], axis=1), sizes, axis=1)
    guess = np.repeat(1.0 / sizes, sizes)
    share = np.divide(
        value, total, out=np.broadcast_to(guess, value.shape).copy(), where=total > 0.0
    )
    return (1.0 - lapse) * share + lapse * guess


def triplet_blocks(
    posterior: Posterior, start: np.ndarray, first: np.ndarray, second: np.ndarray
) -> Iterator[tuple[slice, np.ndarray]]:
    """Whole sets at a time: their places, and the probability of every pair in each draw (draws,
    places)."""
    columns, constant, link, lapse = (
        columns_of(posterior),
        posterior.constant,
        posterior.link,
        posterior.lapse,
    )
    sizes = np.diff(start)
    step = max(1, BLOCK // max(1, columns.n_draws * int(sizes.max(initial=1))))
    for begin in range(0, len(sizes), step):
        end = min(begin + step, len(sizes))
        places = slice(int(start[begin]), int(start[end]))
        own = start[begin : end + 1] - start[begin]
        yield (
            places,
            probabilities_of_draws(
                columns, constant, own, first[places], second[places], link, lapse
            ),
        )


def answered(posterior: Posterior) -> "Triplets":
    """The triplets that a model was fitted to, from its posterior tree."""
    from thali._data.triplets import Triplets

    return Triplets._from_fields(
        tuple(posterior.labels), posterior.set_start, *posterior.pairs, posterior.chosen, None
    )
