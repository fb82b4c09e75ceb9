"""Posterior mean choice probabilities of pairs and sets."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.pairs.subsets import HeldOutPair
from thali._data.respondent_answers import find_first_answers
from thali._inference.indexing import iterate_slices, part_bounds
from thali._inference.numerics.davidson import compute_win_tie_loss
from thali._inference.numerics.shares import stack_outcomes
from thali._model.covariates import predictor_matrix
from thali._model.option_sets import (
    is_best_worst,
    pair_indices,
    set_indices,
    split_pairs,
    tabulate_outcomes,
)
from thali._posterior.view import Posterior
from thali.errors import ArgumentError

from ..draws.covariate_offsets import CovariateOffsets
from ..draws.feature_columns import FeatureColumns, read_columns
from ..draws.probabilities import (
    compute_mean_probabilities,
    compute_probability_draws,
    iterate_probabilities,
)

if TYPE_CHECKING:
    import pandas


_SETS_PER_BLOCK = 200  # sets whose draws are in memory


def predict_choices(posterior: Posterior, sets: Any, return_se: bool, covariates: Any) -> Any:
    """Return posterior mean choice probabilities, with Monte Carlo errors if `return_se`."""
    labels, lapse = posterior.labels, posterior.lapse
    columns, offsets = read_columns(posterior), build_covariate_offsets(posterior, sets, covariates)
    means = predict_means(columns, labels, sets, lapse, offsets)
    if not return_se:
        return means
    return means, compute_prediction_errors(
        columns, labels, sets, lapse, posterior.shape[0], offsets
    )


def predict_means(
    columns: FeatureColumns,
    labels: list[str],
    sets: Any,
    lapse: float,
    offsets: CovariateOffsets | None = None,
) -> "np.ndarray | list[np.ndarray]":
    """Return choice probabilities of each set, averaged over draws.

    For pairs they are the probabilities of the first option; otherwise, for each set, those of its
    members or answers.
    """
    option_indices, paired = set_indices(sets, labels)
    if paired:
        first_options, second_options = split_pairs(option_indices)
        return compute_mean_probabilities(columns, first_options, second_options, lapse, offsets)
    from ..likelihoods.set_draws import average_over_draws

    probability_draws, starts = build_set_probabilities(
        columns, option_indices, is_best_worst(sets), lapse
    )
    return np.split(
        average_over_draws(probability_draws, columns.n_draws, int(starts[-1])), starts[1:-1]
    )


class AskedSets:
    """Pairs or sets of options that a user asks choice probabilities for."""

    def __init__(self, posterior: Posterior, sets: Any) -> None:
        """Convert the user's pairs or sets of labels to option indices."""
        self.places, self.paired = set_indices(sets, posterior.labels)
        self.answers, self.lapse = is_best_worst(sets), posterior.lapse
        self.chains = posterior.shape[0]

    @property
    def pairs(self) -> np.ndarray:
        """Option indices of both members of each pair, shape (2, n_pairs)."""
        return split_pairs(self.places)

    def probabilities(self, columns: FeatureColumns) -> np.ndarray:
        """Return choice probabilities at every draw, shape (n_draws, n_probabilities)."""
        if self.paired:
            first_options, second_options = self.pairs
            return compute_probability_draws(columns, first_options, second_options, self.lapse)
        return build_set_probabilities(columns, self.places, self.answers, self.lapse)[0](
            slice(0, columns.n_draws)
        )

    def means(self, draws: np.ndarray, return_se: bool) -> Any:
        """Return mean probabilities of each set, and Monte Carlo errors if `return_se`."""
        from thali._posterior.summary import compute_mean_errors

        estimates: list[Any] = [draws.mean(axis=0)]
        if return_se:
            estimates.append(compute_mean_errors(draws.T.reshape(draws.shape[1], self.chains, -1)))
        if not self.paired:
            sizes = np.array(list(map(len, self.places)))
            if self.answers:
                sizes *= sizes - 1
            ends = np.cumsum(sizes)[:-1]
            estimates = [np.split(estimate, ends) for estimate in estimates]
        if return_se:
            return tuple(estimates)
        return estimates[0]


def build_set_probabilities(
    columns: FeatureColumns, option_indices: list[np.ndarray], has_answers: bool, lapse: float
) -> tuple[Any, np.ndarray]:
    """Return a function from draws to choice probabilities, and each set's first index.

    The function returns the probabilities of all set members.
    """
    from ..likelihoods.set_draws import compute_answer_probabilities, compute_set_probabilities

    start, members = part_bounds(list(map(len, option_indices))), np.concatenate(option_indices)
    if not has_answers:
        return partial(compute_set_probabilities, columns, start, members, lapse), start
    draw_probabilities = partial(compute_answer_probabilities, columns, start, members, lapse)
    return draw_probabilities, find_first_answers(start)


def compute_prediction_errors(
    columns: FeatureColumns,
    labels: list[str],
    sets: Any,
    lapse: float,
    n_chains: int,
    offsets: CovariateOffsets | None,
) -> "np.ndarray | list[np.ndarray]":
    """Compute Monte Carlo errors of `predict_means`, in the shape of its result."""
    from thali._posterior.summary import compute_mean_errors

    option_indices, paired = set_indices(sets, labels)
    errors, sizes = [], []
    for block_slice in iterate_slices(len(option_indices), 1, _SETS_PER_BLOCK):
        block = option_indices[block_slice]
        if paired:
            first_option, second_option = split_pairs(block)
            block_offsets = None
            if offsets is not None:
                block_offsets = CovariateOffsets(offsets.beta, offsets.x[block_slice])
            draws = compute_probability_draws(
                columns, first_option, second_option, lapse, block_offsets
            )
        else:
            probabilities_by_draw, starts = build_set_probabilities(
                columns, block, is_best_worst(sets), lapse
            )
            draws = probabilities_by_draw(slice(0, columns.n_draws))
            sizes += np.diff(starts).tolist()
        errors.append(compute_mean_errors(draws.T.reshape(draws.shape[1], n_chains, -1)))
    all_errors = np.concatenate([np.empty(0), *errors])
    if paired:
        return all_errors
    return np.split(all_errors, np.cumsum(sizes)[:-1])


def build_covariate_offsets(
    posterior: Posterior, sets: Any, covariates: Any
) -> CovariateOffsets | None:
    """Return the covariates' part of the log odds of each pair's first option, if any."""
    if covariates is None:
        return None
    option_indices, paired = set_indices(sets, posterior.labels)
    if not paired:
        raise ArgumentError(
            "Covariates require comparisons of two options; give pairs of labels, [(a, b), ...]."
        )
    x = predictor_matrix(covariates, posterior.covariates, len(option_indices))
    if not x.shape[1]:
        return None
    return CovariateOffsets(posterior.coefficients, x)


def outcomes_table(posterior: Posterior, pairs: Any, covariates: Any = None) -> "pandas.DataFrame":
    """Return a table of outcome probabilities: a, b, p_a, p_tie, p_b."""
    labels, columns, tie = posterior.labels, read_columns(posterior), posterior.tie
    first_options, second_options = pair_indices(pairs, labels, posterior.has_ties)
    summed_probability, offsets = (
        np.zeros((len(first_options), 3)),
        build_covariate_offsets(posterior, pairs, covariates),
    )
    for draws, p, q in iterate_probabilities(
        columns, first_options, second_options, posterior.lapse, offsets
    ):
        summed_probability += compute_win_tie_loss(p, q, tie[draws, None]).sum(axis=0)
    return tabulate_outcomes(
        labels, first_options, second_options, summed_probability / columns.n_draws
    )


# Predictions for held-out data --------------------------------------------------------------------


def outcome_draws(posterior: Posterior, part: HeldOutPair) -> np.ndarray:
    """Return outcome probabilities of a held-out pair at every draw, per covariate value."""
    n_cells, n_outcomes = part.counts.shape
    offsets = build_covariate_offsets(
        posterior, [part.pair] * n_cells, part.select_covariates(posterior.covariates)
    )
    draws = compute_probability_draws(
        read_columns(posterior), *part.find_positions(posterior.labels), posterior.lapse, offsets
    )
    p = draws.reshape(*posterior.shape, n_cells)
    if n_outcomes == 2:
        return stack_outcomes(p)
    return compute_win_tie_loss(p, 1.0 - p, posterior.tie.reshape(*posterior.shape, 1))
