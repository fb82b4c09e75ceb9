"""Log predictive probability of all choices of a new respondent together."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.index_arithmetic import iterate_slices
from thali._model.labelled_option_sets import is_best_worst, set_indices
from thali._model.respondent_log_predictive import (
    count_answers_by_respondent,
    sum_log_choices,
    tabulate_by_respondent,
)
from thali._people.latent_class_results import aligned_class_probabilities
from thali._posterior.posterior_tree import Posterior

from ..draws.feature_columns import FeatureColumns, read_columns
from .choice_predictions import build_set_probabilities

if TYPE_CHECKING:
    import pandas


def log_predictive_by_respondent(posterior: Posterior, data: Any) -> "pandas.Series":
    """Return log posterior mean probability of each respondent's choices together."""
    from scipy.special import logsumexp

    log_draws = _compute_log_draws(posterior, [read_columns(posterior)], data)[0]
    return tabulate_by_respondent(data, logsumexp(log_draws, axis=0) - np.log(len(log_draws)))


def log_predictive_by_class(posterior: Posterior, classes: Posterior, data: Any) -> "pandas.Series":
    """Return log predictive probability of each respondent's choices, over classes."""
    from scipy.special import logsumexp

    logs_by_class = _compute_log_draws(
        posterior, [read_columns(classes.of_group(name)) for name in classes.groups], data
    )
    log_draws = logsumexp(
        np.array(logs_by_class) + np.log(aligned_class_probabilities(posterior).T)[:, :, None],
        axis=0,
    )
    return tabulate_by_respondent(data, logsumexp(log_draws, axis=0) - np.log(len(log_draws)))


def _compute_log_draws(
    posterior: Posterior, columns_by_class: list[FeatureColumns], data: Any
) -> list[np.ndarray]:
    """Return log probability of each respondent's choices, by class and draw."""
    # The list has an array for each of `column_sets`.
    choice_indices, choice_counts = count_answers_by_respondent(data)
    options_by_set, log_draws = set_indices(data, posterior.labels)[0], []
    for feature_columns in columns_by_class:
        probability_draws, set_starts = build_set_probabilities(
            feature_columns, options_by_set, is_best_worst(data), posterior.lapse
        )
        class_log_draws = np.empty((feature_columns.n_draws, choice_counts.shape[1]))
        for draw_slice in iterate_slices(feature_columns.n_draws, int(set_starts[-1])):
            class_log_draws[draw_slice] = sum_log_choices(
                probability_draws(draw_slice)[:, choice_indices], choice_counts
            )
        log_draws.append(class_log_draws)
    return log_draws
