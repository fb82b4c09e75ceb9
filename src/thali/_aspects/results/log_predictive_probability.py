"""Log predictive probability of all choices of a new respondent together."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.indexing import iterate_slices
from thali._model.log_predictive import (
    count_answers_by_respondent,
    sum_log_choices,
    tabulate_by_respondent,
)
from thali._model.option_sets import is_best_worst, set_indices
from thali._people.latent_classes import aligned_class_probabilities
from thali._posterior.view import Posterior

from ..draws.feature_columns import FeatureColumns, read_columns
from .choice_predictions import build_set_probabilities

if TYPE_CHECKING:
    import pandas


def log_predictive_by_respondent(posterior: Posterior, data: Any) -> "pandas.Series":
    """Return log posterior mean probability of each respondent's choices together."""
    from scipy.special import logsumexp

    logs = _compute_log_draws(posterior, [read_columns(posterior)], data)[0]
    return tabulate_by_respondent(data, logsumexp(logs, axis=0) - np.log(len(logs)))


def log_predictive_by_class(posterior: Posterior, classes: Posterior, data: Any) -> "pandas.Series":
    """Return log predictive probability of each respondent's choices, over classes."""
    from scipy.special import logsumexp

    by_kind = _compute_log_draws(
        posterior, [read_columns(classes.of_group(name)) for name in classes.groups], data
    )
    logs = logsumexp(
        np.array(by_kind) + np.log(aligned_class_probabilities(posterior).T)[:, :, None], axis=0
    )
    return tabulate_by_respondent(data, logsumexp(logs, axis=0) - np.log(len(logs)))


def _compute_log_draws(
    posterior: Posterior, column_sets: list[FeatureColumns], data: Any
) -> list[np.ndarray]:
    """Return log probability of each respondent's choices, by class and draw."""
    # The list has an array for each of `column_sets`.
    choice_indices, n_times = count_answers_by_respondent(data)
    option_indices, log_draws = set_indices(data, posterior.labels)[0], []
    for feature_columns in column_sets:
        probability_draws, set_starts = build_set_probabilities(
            feature_columns, option_indices, is_best_worst(data), posterior.lapse
        )
        logs = np.empty((feature_columns.n_draws, n_times.shape[1]))
        for draws in iterate_slices(feature_columns.n_draws, int(set_starts[-1])):
            logs[draws] = sum_log_choices(probability_draws(draws)[:, choice_indices], n_times)
        log_draws.append(logs)
    return log_draws
