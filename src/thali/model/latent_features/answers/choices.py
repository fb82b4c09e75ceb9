"""What draws say about paired comparisons: choice probabilities, and the likelihood of every compared pair."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.kinds import PAIRS

from .binomial import log_coefficient
from .columns import Columns
from .pair_coordinates import pair_coordinates, pair_index, pair_names
from .probabilities import advantage_blocks, lapsing
from .tree import DataPart

if TYPE_CHECKING:
    from thali.data.pairs import PairedComparisons


def choices_part(
    columns: Columns, data: "PairedComparisons", shape: tuple[int, int], dense: bool, *, lapse: float, unique: bool
) -> DataPart:
    """The part of a posterior that knows of choices."""
    labels = np.asarray(data.labels, dtype=str)
    coefficients = log_coefficient(data.wins, data.losses)
    variables = {"unique_weights": (("chain", "draw", "option"), columns.unique_weights.reshape(*shape, -1))}
    coordinates, pointwise = {}, {}
    if dense:
        i, j = np.triu_indices(data.n_options, k=1)
        probability, terms = _pair_draws(columns, i, j, data, lapse)
        variables["choice_probability"] = (("chain", "draw", "pair"), probability.reshape(*shape, -1))
        coordinates = pair_names(labels)
        terms = (terms + coefficients).reshape(*shape, -1)
        pointwise = {"wins": (("chain", "draw", "compared_pair"), terms)}
    return DataPart(
        kind=PAIRS,
        log_constant=float(coefficients.sum()),
        descriptions={"choice_probability": "probability that the first of a pair is chosen, lapse included"},
        variables=variables,
        coordinates=coordinates,
        observed={"wins": ("compared_pair", as_counts(data.wins))},
        constants={
            "first": ("compared_pair", data.first),
            "second": ("compared_pair", data.second),
            "losses": ("compared_pair", as_counts(data.losses)),
            "log_binomial_coefficient": ("compared_pair", coefficients),
            "lapse": float(lapse),
            "unique": bool(unique),
        },
        pointwise=pointwise,
        observed_coordinates=pair_coordinates("compared_pair", labels, data.first, data.second),
    )


def as_counts(values: np.ndarray) -> np.ndarray:
    """Counts as integers, by which ArviZ knows discrete data; weighted ones as they are."""
    whole = values.astype(np.int64)
    return whole if np.array_equal(whole, values) else values


def _pair_draws(
    columns: Columns, i: np.ndarray, j: np.ndarray, data: Any, lapse: float
) -> tuple[np.ndarray, np.ndarray]:
    """p̃ of all pairs i < j, and the log-likelihood of the compared ones without coefficient, draw by draw."""
    from scipy.special import xlogy

    compared = pair_index(data.first, data.second, data.n_options)
    probability = np.empty((columns.n_draws, len(i)))
    pointwise = np.empty((columns.n_draws, len(compared)))
    for draws, ij, ji in advantage_blocks(columns, i, j):
        probability[draws] = lapsing(ij, ji, lapse)
        # The reverse probability from its own advantage: 1 - p would lose the digits of a small one.
        reverse = lapsing(ji[:, compared], ij[:, compared], lapse)
        pointwise[draws] = xlogy(data.wins, probability[draws][:, compared]) + xlogy(data.losses, reverse)
    return probability, pointwise
