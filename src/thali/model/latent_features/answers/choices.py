"""What draws say about paired comparisons: choice probabilities, and the likelihood of every compared pair."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.kinds import PAIRS

from .columns import Columns
from .pair_coordinates import pair_coordinates, pair_index, pair_names
from .probabilities import advantage_blocks, lapsing
from .ties import log_outcome_coefficient, outcomes
from .tree import DataPart

if TYPE_CHECKING:
    from thali.data.pairs import PairedComparisons


def choices_part(
    columns: Columns,
    data: "PairedComparisons",
    shape: tuple[int, int],
    dense: bool,
    *,
    lapse: float,
    unique: bool,
    tie: np.ndarray | None,
) -> DataPart:
    """The part of a posterior that knows of choices; `tie`: the parameter of ties, draw by draw, if there are any."""
    labels = np.asarray(data.labels, dtype=str)
    coefficients = log_outcome_coefficient(data.wins, data.tied, data.losses)
    variables = {"unique_weights": (("chain", "draw", "option"), columns.unique_weights.reshape(*shape, -1))}
    coordinates, pointwise = {}, {}
    if dense:
        i, j = np.triu_indices(data.n_options, k=1)
        probability, terms = _pair_draws(columns, i, j, data, lapse, tie)
        variables["choice_probability"] = (("chain", "draw", "pair"), probability.reshape(*shape, -1))
        coordinates = pair_names(labels)
        terms = (terms + coefficients).reshape(*shape, -1)
        pointwise = {"wins": (("chain", "draw", "compared_pair"), terms)}
    return DataPart(
        kind=PAIRS,
        log_constant=float(coefficients.sum()),
        descriptions={
            "choice_probability": "probability that the first of a pair is chosen, if one is; lapse included",
            "tie": "nu, the parameter of ties",
        },
        variables=variables,
        coordinates=coordinates,
        observed={"wins": ("compared_pair", as_counts(data.wins))}
        | ({} if tie is None else {"ties": ("compared_pair", as_counts(data.tied))}),
        constants={
            "first": ("compared_pair", data.first),
            "second": ("compared_pair", data.second),
            "losses": ("compared_pair", as_counts(data.losses)),
            "log_binomial_coefficient": ("compared_pair", coefficients),
            "lapse": float(lapse),
            "unique": bool(unique),
            "has_ties": tie is not None,
        },
        pointwise=pointwise,
        observed_coordinates=pair_coordinates("compared_pair", labels, data.first, data.second),
    )


def as_counts(values: np.ndarray) -> np.ndarray:
    """Counts as integers, by which ArviZ knows discrete data; weighted ones as they are."""
    whole = values.astype(np.int64)
    return whole if np.array_equal(whole, values) else values


def _pair_draws(
    columns: Columns, i: np.ndarray, j: np.ndarray, data: Any, lapse: float, tie: np.ndarray | None
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
        forward = probability[draws][:, compared]
        if tie is None:
            pointwise[draws] = xlogy(data.wins, forward) + xlogy(data.losses, reverse)
        else:
            of_outcome = np.moveaxis(outcomes(forward, reverse, tie[draws, None]), -1, 0)
            counts = data.wins, data.tied, data.losses
            pointwise[draws] = sum(xlogy(n, p) for n, p in zip(counts, of_outcome, strict=True))
    return probability, pointwise
