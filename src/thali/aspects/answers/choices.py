"""What draws say about paired comparisons: choice probabilities, and the likelihood of every compared pair."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.kinds import PAIRS

from ..draws.counts import log_outcome_coefficient, outcomes
from .columns import Columns
from .covariates import DIMENSION, Lift, lifted, parts_of, with_worths
from .pair_coordinates import pair_coordinates, pair_index, pair_names
from .probabilities import advantage_blocks, lapsing, slices
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
    beta: np.ndarray | None,
) -> DataPart:
    """The part of a posterior that knows of choices; `tie` and `beta`: the parameter of ties and the coefficients of
    covariates, draw by draw, if there are any."""
    labels, cells = np.asarray(data.labels, dtype=str), data.cells
    of_cells = log_outcome_coefficient(cells.wins, cells.tied, cells.losses)
    coefficients = np.bincount(cells.pair, of_cells, data.n_pairs)
    constants, names = {}, {}
    if beta is not None:
        assert data.covariates is not None
        columns = with_worths(columns, data.covariates.options, beta)
        constants, names = parts_of(data.covariates)
    variables = {"unique_weights": (("chain", "draw", "option"), columns.unique_weights.reshape(*shape, -1))}
    if beta is not None:
        variables["covariate"] = (("chain", "draw", DIMENSION), beta.reshape(*shape, -1))
    coordinates, pointwise = dict(names), {}
    if dense:
        i, j = np.triu_indices(data.n_options, k=1)
        probability, terms = _pair_draws(columns, i, j, data, lapse, tie, beta)
        variables["choice_probability"] = (("chain", "draw", "pair"), probability.reshape(*shape, -1))
        coordinates |= pair_names(labels)
        terms = (terms + coefficients).reshape(*shape, -1)
        pointwise = {"wins": (("chain", "draw", "compared_pair"), terms)}
    return DataPart(
        kind=PAIRS,
        log_constant=float(coefficients.sum()),
        descriptions={
            "choice_probability": "probability that the first of a pair is chosen, if one is; lapse included",
            "tie": "nu, the parameter of ties",
            "covariate": "coefficients of covariates, by which a unit changes the log odds",
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
            **constants,
        },
        pointwise=pointwise,
        observed_coordinates=pair_coordinates("compared_pair", labels, data.first, data.second) | names,
    )


def as_counts(values: np.ndarray) -> np.ndarray:
    """Counts as integers, by which ArviZ knows discrete data; weighted ones as they are."""
    whole = values.astype(np.int64)
    return whole if np.array_equal(whole, values) else values


def _pair_draws(
    columns: Columns,
    i: np.ndarray,
    j: np.ndarray,
    data: Any,
    lapse: float,
    tie: np.ndarray | None,
    beta: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """p̃ of all pairs i < j where covariates of comparisons are 0, and the log-likelihood of the compared ones without
    coefficient, draw by draw."""
    compared = pair_index(data.first, data.second, data.n_options)
    probability = np.empty((columns.n_draws, len(i)))
    pointwise = np.empty((columns.n_draws, len(compared)))
    for draws, ij, ji in advantage_blocks(columns, i, j):
        probability[draws] = lapsing(ij, ji, lapse)
        if beta is None:
            # The reverse probability from its own advantage: 1 - p would lose the digits of a small one.
            reverse = lapsing(ji[:, compared], ij[:, compared], lapse)
            nu = None if tie is None else tie[draws]
            pointwise[draws] = _terms(probability[draws][:, compared], reverse, nu, data)
            continue
        cells, own = data.cells, data.covariates.values
        starts = np.searchsorted(cells.pair, np.arange(data.n_pairs))
        for some in slices(ij.shape[0], len(cells.pair)):  # there may be many more cells than pairs
            these, pairs = slice(draws.start + some.start, draws.start + some.stop), compared[cells.pair]
            up, down = lifted(ij[some][:, pairs], ji[some][:, pairs], Lift(beta, own).of(these))
            nu = None if tie is None else tie[these]
            terms = _terms(lapsing(up, down, lapse), lapsing(down, up, lapse), nu, cells)
            pointwise[these] = np.add.reduceat(terms, starts, axis=1)
    return probability, pointwise


def _terms(p: np.ndarray, q: np.ndarray, tie: np.ndarray | None, counts: Any) -> np.ndarray:
    """The log-likelihood of pairs, or cells, draw by draw."""
    from scipy.special import xlogy

    if tie is None:
        return xlogy(counts.wins, p) + xlogy(counts.losses, q)
    of_outcome = np.moveaxis(outcomes(p, q, tie[:, None]), -1, 0)
    terms = [xlogy(n, p) for n, p in zip((counts.wins, counts.tied, counts.losses), of_outcome, strict=True)]
    return np.sum(terms, axis=0)
