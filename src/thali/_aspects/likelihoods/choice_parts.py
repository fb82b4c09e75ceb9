"""The part of a posterior that pairs or sets add: probabilities, and the likelihood of each."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.indexing import iterate_slices
from thali._inference.numerics.counts import compute_outcomes
from thali._model.stored_choices import (
    MAX_PAIRS,
    StoredData,
    all_pair_coordinates,
    member_coordinates,
    pair_index,
    store_pairs,
    store_sets,
)
from thali._posterior.view import COVARIATE

from ..draws.covariate_lifts import CovariateLift, lift_advantages
from ..draws.feature_columns import FeatureColumns
from ..draws.posterior_tree import DataPart
from ..draws.probabilities import (
    compute_choice_probability,
    compute_probability_draws,
    iterate_advantages,
)
from .answer_draws import choice_answers, comparison_answers

if TYPE_CHECKING:
    from thali._data.choices import Choices
    from thali._data.pairs import PairedComparisons


def part_of_data(stored: StoredData, unique: bool) -> DataPart:
    """Return the part of a posterior that is known without draws."""
    return DataPart(
        kind=stored.kind,
        log_constant=stored.log_constant,
        descriptions={},
        observed=stored.observed,
        constants=stored.constants | {"unique": bool(unique)},
        observed_coordinates=stored.coordinates,
        rows=stored.rows,
    )


def choices_part(
    columns: FeatureColumns,
    data: "PairedComparisons",
    shape: tuple[int, int],
    dense: bool,
    *,
    lapse: float,
    unique: bool,
    tie: np.ndarray | None,
    beta: np.ndarray | None,
) -> DataPart:
    """The part of a posterior about pairs; `tie` and `beta`, of ties and covariates, draw by
    draw."""
    labels, cells = np.asarray(data.labels, dtype=str), data.cells
    stored = store_pairs(data, lapse, tie is not None)
    variables = {
        "unique_weights": (("chain", "draw", "option"), columns.unique_weights.reshape(*shape, -1))
    }
    if beta is not None:
        variables["covariate"] = (("chain", "draw", COVARIATE), beta.reshape(*shape, -1))
    coordinates, pointwise, answers = {}, {}, None
    if beta is not None:
        coordinates = {COVARIATE: stored.coordinates[COVARIATE]}
    if dense and len(cells.pair) <= MAX_PAIRS:
        answers = partial(
            comparison_answers(columns, data, lapse, tie, beta), slice(0, len(cells.pair))
        )
    if dense:
        i, j = np.triu_indices(data.n_options, k=1)
        probability, terms = _pair_draws(columns, i, j, data, lapse, tie, beta)
        variables["choice_probability"] = (
            ("chain", "draw", "pair"),
            probability.reshape(*shape, -1),
        )
        coordinates |= all_pair_coordinates(labels)
        terms = (terms + stored.coefficients).reshape(*shape, -1)
        pointwise = {"wins": (("chain", "draw", "compared_pair"), terms)}
    return replace(
        part_of_data(stored, unique),
        descriptions={
            "choice_probability": "probability that the first of a pair is chosen, given that one"
            " is, including lapses",
            "tie": "nu, the tie parameter",
            "covariate": "covariate coefficients: change in the log odds per unit",
        },
        variables=variables,
        coordinates=coordinates,
        pointwise=pointwise,
        common=("covariate",),
        answers=answers,
    )


def _pair_draws(
    columns: FeatureColumns,
    i: np.ndarray,
    j: np.ndarray,
    data: Any,
    lapse: float,
    tie: np.ndarray | None,
    beta: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """p̃ of all pairs i < j with covariates of 0, and the log-likelihood of compared ones, draw by
    draw."""
    compared = pair_index(data.first, data.second, data.n_options)
    probability = np.empty((columns.n_draws, len(i)))
    pointwise = np.empty((columns.n_draws, len(compared)))
    for draws, ij, ji in iterate_advantages(columns, i, j):
        probability[draws] = compute_choice_probability(ij, ji, lapse)
        if beta is None:
            # The reverse probability from its own advantage: 1 - p would lose the digits of a small
            # one.
            reverse = compute_choice_probability(ji[:, compared], ij[:, compared], lapse)
            nu = None if tie is None else tie[draws]
            pointwise[draws] = _terms(probability[draws][:, compared], reverse, nu, data)
            continue
        cells, own = data.cells, data.covariates.values
        starts = np.searchsorted(cells.pair, np.arange(data.n_pairs))
        for some in iterate_slices(
            ij.shape[0], len(cells.pair)
        ):  # there may be many more cells than pairs
            these, pairs = (
                slice(draws.start + some.start, draws.start + some.stop),
                compared[cells.pair],
            )
            up, down = lift_advantages(
                ij[some][:, pairs], ji[some][:, pairs], CovariateLift(beta, own).log_odds(these)
            )
            nu = None if tie is None else tie[these]
            terms = _terms(
                compute_choice_probability(up, down, lapse),
                compute_choice_probability(down, up, lapse),
                nu,
                cells,
            )
            pointwise[these] = np.add.reduceat(terms, starts, axis=1)
    return probability, pointwise


def _terms(p: np.ndarray, q: np.ndarray, tie: np.ndarray | None, counts: Any) -> np.ndarray:
    """The log-likelihood of pairs, or cells, draw by draw."""
    from scipy.special import xlogy

    if tie is None:
        return xlogy(counts.wins, p) + xlogy(counts.losses, q)
    of_outcome = np.moveaxis(compute_outcomes(p, q, tie[:, None]), -1, 0)
    terms = [
        xlogy(n, p)
        for n, p in zip((counts.wins, counts.tied, counts.losses), of_outcome, strict=True)
    ]
    return np.sum(terms, axis=0)


# What draws say about choices from sets: choice probabilities, and the likelihood of every set ----


def sets_part(
    columns: FeatureColumns,
    data: "Choices",
    shape: tuple[int, int],
    dense: bool,
    *,
    lapse: float,
    unique: bool,
) -> DataPart:
    """The part of a posterior about choices from sets."""
    labels, asked = np.asarray(data.labels, dtype=str), data.questions()
    stored = store_sets(data, lapse)
    variables: dict[Any, Any] = {
        "unique_weights": (("chain", "draw", "option"), columns.unique_weights.reshape(*shape, -1))
    }
    coordinates, pointwise, answers = {}, {}, None
    if dense:
        i, j = np.triu_indices(data.n_options, k=1)
        probability = compute_probability_draws(columns, i, j, lapse)
        variables["choice_probability"] = (
            ("chain", "draw", "pair"),
            probability.reshape(*shape, -1),
        )
        coordinates = all_pair_coordinates(labels)
    if len(asked.counts) <= MAX_PAIRS:
        answers = choice_answers(columns, data, lapse)(slice(0, data.n_sets))
        pointwise = {
            "chosen": (("chain", "draw", "set"), asked.log_likelihoods(answers).reshape(*shape, -1))
        }
    if answers is not None:
        variables["set_probability"] = (("chain", "draw", "place"), answers.reshape(*shape, -1))
        coordinates |= member_coordinates(data)
    return replace(
        part_of_data(stored, unique),
        descriptions={
            "choice_probability": "probability that the first of a pair is chosen, including"
            " lapses",
            "set_probability": "probability that the alternative is chosen out of those offered,"
            " including lapses",
        },
        variables=variables,
        coordinates=coordinates,
        pointwise=pointwise,
        answers=None if answers is None else lambda: answers,
    )
