"""Parts of the posterior tree about choices: probabilities and pointwise log-likelihoods."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.index_arithmetic import iterate_slices
from thali._inference.numerics.davidson_ties import compute_win_tie_loss
from thali._model.stored_choices import (
    MAX_PAIRS,
    StoredData,
    all_pair_coordinates,
    member_coordinates,
    pair_index,
    store_pairs,
    store_sets,
)
from thali._posterior.draws_writer import Variable
from thali._posterior.posterior_tree import COVARIATE

from ..draws.covariate_offsets import CovariateOffsets, multiply_first_advantage
from ..draws.feature_columns import FeatureColumns
from ..draws.pair_probabilities import (
    compute_choice_probability,
    compute_probability_draws,
    iterate_advantages,
)
from ..draws.posterior_tree import DataPart
from .answer_probabilities import build_choice_probabilities

if TYPE_CHECKING:
    from thali._data.choices import Choices
    from thali._data.pairs import PairedComparisons
    from thali._data.pairs.covariates import CovariateCells


def build_data_part(stored_data: StoredData, has_unique: bool) -> DataPart:
    """Build the part of the posterior tree about the choices themselves, without draws."""
    return DataPart(
        kind=stored_data.kind,
        log_constant=stored_data.log_constant,
        variables={},
        observed=stored_data.observed,
        constants=stored_data.constants | {"unique": bool(has_unique)},
        observed_coordinates=stored_data.coordinates,
    )


def build_pairs_part(
    feature_columns: FeatureColumns,
    data: "PairedComparisons",
    shape: tuple[int, int],
    stores_pairs: bool,
    *,
    lapse: float,
    has_unique: bool,
    tie: np.ndarray | None,
    beta: np.ndarray | None,
) -> DataPart:
    """Build the part of the posterior tree about paired comparisons from all draws.

    `tie` and `beta` are the tie parameters and covariate coefficients per draw.
    """
    labels = np.asarray(data.labels, dtype=str)
    stored_data = store_pairs(data, lapse, tie is not None)
    arrays = {"unique_weights": feature_columns.unique_weights.reshape(*shape, -1)}
    coordinates = {}
    pointwise = None
    if beta is not None:
        arrays["covariate"] = beta.reshape(*shape, -1)
        coordinates = {COVARIATE: stored_data.coordinates[COVARIATE]}
    if stores_pairs:
        i, j = np.triu_indices(data.n_options, k=1)
        pair_probability, log_likelihoods = _compute_pair_draws(
            feature_columns, i, j, data, lapse, tie, beta
        )
        arrays["choice_probability"] = pair_probability.reshape(*shape, -1)
        coordinates |= all_pair_coordinates(labels)
        log_likelihoods = (log_likelihoods + stored_data.coefficients).reshape(*shape, -1)
        pointwise = "wins", ("compared_pair",), log_likelihoods
    return replace(
        build_data_part(stored_data, has_unique),
        variables={
            "choice_probability": Variable(
                "probability that the first of a pair is chosen, given that one is, including"
                " lapses",
                ("pair",),
            ),
            "tie": Variable("nu, the tie parameter"),
            "covariate": Variable(
                "covariate coefficients: change in the log odds per unit", (COVARIATE,)
            ),
        },
        arrays=arrays,
        coordinates=coordinates,
        pointwise=pointwise,
    )


def _compute_pair_draws(
    feature_columns: FeatureColumns,
    i: np.ndarray,
    j: np.ndarray,
    data: Any,
    lapse: float,
    tie: np.ndarray | None,
    beta: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return draws of pair probabilities (i over j) and of compared pairs' log-likelihoods."""
    # The probabilities have covariates of 0, and the likelihoods are of compared pairs.
    pair_indices = pair_index(data.first, data.second, data.n_options)
    pair_probability = np.empty((feature_columns.n_draws, len(i)))
    pointwise_log_likelihood = np.empty((feature_columns.n_draws, len(pair_indices)))
    for draw_slice, first_advantage, second_advantage in iterate_advantages(feature_columns, i, j):
        pair_probability[draw_slice] = compute_choice_probability(
            first_advantage, second_advantage, lapse
        )
        if beta is None:
            # the reverse probability is computed from its advantage: 1 - p would lose the digits of
            # a small probability
            reverse_probability = compute_choice_probability(
                second_advantage[:, pair_indices], first_advantage[:, pair_indices], lapse
            )
            pointwise_log_likelihood[draw_slice] = _log_likelihood_terms(
                pair_probability[draw_slice][:, pair_indices],
                reverse_probability,
                tie,
                draw_slice,
                data,
            )
            continue
        comparison_cells = data.cells
        covariate_values = data.covariates.values
        cell_starts = np.searchsorted(comparison_cells.pair, np.arange(data.n_pairs))
        # in blocks, because there may be many more cells than pairs
        for block_slice in iterate_slices(first_advantage.shape[0], len(comparison_cells.pair)):
            block_draws = slice(
                draw_slice.start + block_slice.start, draw_slice.start + block_slice.stop
            )
            pair_of_cell = pair_indices[comparison_cells.pair]
            advantage_i, advantage_j = multiply_first_advantage(
                first_advantage[block_slice][:, pair_of_cell],
                second_advantage[block_slice][:, pair_of_cell],
                CovariateOffsets(beta, covariate_values).log_odds(block_draws),
            )
            log_likelihoods = _log_likelihood_terms(
                compute_choice_probability(advantage_i, advantage_j, lapse),
                compute_choice_probability(advantage_j, advantage_i, lapse),
                tie,
                block_draws,
                comparison_cells,
            )
            pointwise_log_likelihood[block_draws] = np.add.reduceat(
                log_likelihoods, cell_starts, axis=1
            )
    return pair_probability, pointwise_log_likelihood


def _log_likelihood_terms(
    p: np.ndarray,
    q: np.ndarray,
    tie: np.ndarray | None,
    draws: slice,
    counts: "PairedComparisons | CovariateCells",
) -> np.ndarray:
    """Return the log-likelihood of each comparison, shape (n_draws, n_comparisons)."""
    from scipy.special import xlogy

    if tie is None:
        return xlogy(counts.wins, p) + xlogy(counts.losses, q)
    outcome_probability = np.moveaxis(compute_win_tie_loss(p, q, tie[draws, None]), -1, 0)
    outcome_terms = [
        xlogy(n, p)
        for n, p in zip((counts.wins, counts.tied, counts.losses), outcome_probability, strict=True)
    ]
    return np.sum(outcome_terms, axis=0)


# Choices from sets: choice probabilities, and the likelihood of every set -------------------------


def build_sets_part(
    feature_columns: FeatureColumns,
    data: "Choices",
    shape: tuple[int, int],
    stores_pairs: bool,
    *,
    lapse: float,
    has_unique: bool,
) -> DataPart:
    """Build the part of the posterior tree about choices from sets from all draws."""
    labels = np.asarray(data.labels, dtype=str)
    questions = data.questions()
    stored_data = store_sets(data, lapse)
    arrays = {"unique_weights": feature_columns.unique_weights.reshape(*shape, -1)}
    coordinates = {}
    pointwise = None
    if stores_pairs:
        i, j = np.triu_indices(data.n_options, k=1)
        pair_probability = compute_probability_draws(feature_columns, i, j, lapse)
        arrays["choice_probability"] = pair_probability.reshape(*shape, -1)
        coordinates = all_pair_coordinates(labels)
    if len(questions.counts) <= MAX_PAIRS:
        answer_probabilities = build_choice_probabilities(feature_columns, data, lapse)(
            slice(0, data.n_sets)
        )
        log_likelihoods = questions.log_likelihoods(answer_probabilities).reshape(*shape, -1)
        pointwise = "chosen", ("set",), log_likelihoods
        arrays["set_probability"] = answer_probabilities.reshape(*shape, -1)
        coordinates |= member_coordinates(data)
    return replace(
        build_data_part(stored_data, has_unique),
        variables={
            "choice_probability": Variable(
                "probability that the first of a pair is chosen, including lapses", ("pair",)
            ),
            "set_probability": Variable(
                "probability that the alternative is chosen out of those offered, including lapses",
                ("place",),
            ),
        },
        arrays=arrays,
        coordinates=coordinates,
        pointwise=pointwise,
    )
