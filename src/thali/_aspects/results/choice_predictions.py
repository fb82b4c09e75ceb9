"""Posterior mean choice probabilities of pairs and sets."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.pairs.data_subsets import HeldOutPair
from thali._data.respondent_answers import find_first_answers
from thali._inference.index_arithmetic import iterate_slices, part_bounds
from thali._inference.numerics.davidson_ties import compute_win_tie_loss
from thali._inference.numerics.weight_shares import stack_outcomes
from thali._model.covariate_effects import predictor_matrix
from thali._model.labelled_option_sets import (
    is_best_worst,
    pair_indices,
    set_indices,
    split_pairs,
    tabulate_outcomes,
)
from thali._posterior.posterior_tree import Posterior
from thali.errors import ArgumentError

from ..draws.covariate_offsets import CovariateOffsets
from ..draws.feature_columns import FeatureColumns, read_columns
from ..draws.pair_probabilities import (
    compute_mean_probabilities,
    compute_probability_draws,
    iterate_probabilities,
)

if TYPE_CHECKING:
    import pandas


_SETS_PER_BLOCK = 200  # sets whose draws are in memory


def predict_choices(posterior: Posterior, sets: Any, return_se: bool, covariates: Any) -> Any:
    """Return posterior mean choice probabilities, with Monte Carlo errors if `return_se`."""
    labels = posterior.labels
    lapse = posterior.lapse
    feature_columns = read_columns(posterior)
    covariate_offsets = build_covariate_offsets(posterior, sets, covariates)
    mean_probabilities = predict_means(feature_columns, labels, sets, lapse, covariate_offsets)
    if not return_se:
        return mean_probabilities
    return mean_probabilities, compute_prediction_errors(
        feature_columns, labels, sets, lapse, posterior.shape[0], covariate_offsets
    )


def predict_means(
    feature_columns: FeatureColumns,
    labels: list[str],
    sets: Any,
    lapse: float,
    covariate_offsets: CovariateOffsets | None = None,
) -> "np.ndarray | list[np.ndarray]":
    """Return choice probabilities of each set, averaged over draws.

    For pairs they are the probabilities of the first option; otherwise, for each set, those of its
    members or answers.
    """
    options_by_set, are_pairs = set_indices(sets, labels)
    if are_pairs:
        first_options, second_options = split_pairs(options_by_set)
        return compute_mean_probabilities(
            feature_columns, first_options, second_options, lapse, covariate_offsets
        )
    from ..likelihoods.set_probabilities import average_over_draws

    probability_draws, set_starts = build_set_probabilities(
        feature_columns, options_by_set, is_best_worst(sets), lapse
    )
    return np.split(
        average_over_draws(probability_draws, feature_columns.n_draws, int(set_starts[-1])),
        set_starts[1:-1],
    )


def build_set_probabilities(
    feature_columns: FeatureColumns,
    options_by_set: list[np.ndarray],
    has_answers: bool,
    lapse: float,
) -> tuple[Any, np.ndarray]:
    """Return a function from a slice of draws to choice probabilities, and set starts.

    The function returns the probabilities of all set members.
    """
    from ..likelihoods.set_probabilities import (
        compute_answer_probabilities,
        compute_set_probabilities,
    )

    set_starts = part_bounds(list(map(len, options_by_set)))
    set_members = np.concatenate(options_by_set)
    if not has_answers:
        return partial(
            compute_set_probabilities, feature_columns, set_starts, set_members, lapse
        ), set_starts
    draw_probabilities = partial(
        compute_answer_probabilities, feature_columns, set_starts, set_members, lapse
    )
    return draw_probabilities, find_first_answers(set_starts)


def compute_prediction_errors(
    feature_columns: FeatureColumns,
    labels: list[str],
    sets: Any,
    lapse: float,
    n_chains: int,
    covariate_offsets: CovariateOffsets | None,
) -> "np.ndarray | list[np.ndarray]":
    """Compute Monte Carlo errors of `predict_means`, in the shape of its result."""
    from thali._posterior.summary_table import compute_mean_errors

    options_by_set, are_pairs = set_indices(sets, labels)
    block_errors = []
    set_sizes = []
    for block in iterate_slices(len(options_by_set), 1, _SETS_PER_BLOCK):
        block_sets = options_by_set[block]
        if are_pairs:
            first_options, second_options = split_pairs(block_sets)
            block_offsets = None
            if covariate_offsets is not None:
                block_offsets = CovariateOffsets(covariate_offsets.beta, covariate_offsets.x[block])
            probability_draws = compute_probability_draws(
                feature_columns, first_options, second_options, lapse, block_offsets
            )
        else:
            probabilities_by_draw, set_starts = build_set_probabilities(
                feature_columns, block_sets, is_best_worst(sets), lapse
            )
            probability_draws = probabilities_by_draw(slice(0, feature_columns.n_draws))
            set_sizes += np.diff(set_starts).tolist()
        block_errors.append(
            compute_mean_errors(
                probability_draws.T.reshape(probability_draws.shape[1], n_chains, -1)
            )
        )
    all_errors = np.concatenate([np.empty(0), *block_errors])
    if are_pairs:
        return all_errors
    return np.split(all_errors, np.cumsum(set_sizes)[:-1])


def build_covariate_offsets(
    posterior: Posterior, sets: Any, covariates: Any
) -> CovariateOffsets | None:
    """Return covariates' part of the log odds of each pair's first option; or None."""
    if covariates is None:
        return None
    options_by_set, are_pairs = set_indices(sets, posterior.labels)
    if not are_pairs:
        raise ArgumentError(
            "Covariates require comparisons of two options; give pairs of labels, [(a, b), ...]."
        )
    x = predictor_matrix(covariates, posterior.covariates, len(options_by_set))
    if not x.shape[1]:
        return None
    return CovariateOffsets(posterior.coefficients, x)


def outcomes_table(posterior: Posterior, pairs: Any, covariates: Any = None) -> "pandas.DataFrame":
    """Return a table of outcome probabilities: a, b, p_a, p_tie, p_b."""
    labels = posterior.labels
    feature_columns = read_columns(posterior)
    tie_parameter = posterior.tie
    first_options, second_options = pair_indices(pairs, labels, posterior.has_ties)
    summed_probability = np.zeros((len(first_options), 3))
    covariate_offsets = build_covariate_offsets(posterior, pairs, covariates)
    for draw_slice, p_first, p_second in iterate_probabilities(
        feature_columns, first_options, second_options, posterior.lapse, covariate_offsets
    ):
        summed_probability += compute_win_tie_loss(
            p_first, p_second, tie_parameter[draw_slice, None]
        ).sum(axis=0)
    return tabulate_outcomes(
        labels, first_options, second_options, summed_probability / feature_columns.n_draws
    )


# Predictions for held-out data --------------------------------------------------------------------


def outcome_draws(posterior: Posterior, part: HeldOutPair) -> np.ndarray:
    """Return outcome probabilities of a held-out pair at every draw, per covariate value."""
    n_cells, n_outcomes = part.counts.shape
    covariate_offsets = build_covariate_offsets(
        posterior, [part.pair] * n_cells, part.select_covariates(posterior.covariates)
    )
    probability_draws = compute_probability_draws(
        read_columns(posterior),
        *part.find_positions(posterior.labels),
        posterior.lapse,
        covariate_offsets,
    )
    p_first = probability_draws.reshape(*posterior.shape, n_cells)
    if n_outcomes == 2:
        return stack_outcomes(p_first)
    return compute_win_tie_loss(p_first, 1.0 - p_first, posterior.tie.reshape(*posterior.shape, 1))
