"""Log predictive probability of all choices of a new respondent together."""

from typing import TYPE_CHECKING

import numpy as np

from thali._inference.index_arithmetic import iterate_slices
from thali._model.labelled_option_sets import is_best_worst, set_indices
from thali._model.respondent_log_predictive import (
    count_answers_by_respondent,
    sum_log_choices,
    tabulate_by_respondent,
)
from thali._posterior.posterior_tree import Posterior

from ..draws.feature_columns import read_columns
from .choice_predictions import build_set_probabilities

if TYPE_CHECKING:
    import pandas

    from thali._data.choices import Choices


def log_predictive_by_respondent(posterior: Posterior, data: "Choices") -> "pandas.Series":
    """Return log posterior mean probability of each respondent's choices together."""
    from scipy.special import logsumexp

    choice_indices, choice_counts = count_answers_by_respondent(data)
    feature_columns = read_columns(posterior)
    probability_draws, set_starts = build_set_probabilities(
        feature_columns,
        set_indices(data, posterior.labels)[0],
        is_best_worst(data),
        posterior.lapse,
    )
    log_draws = np.empty((feature_columns.n_draws, choice_counts.shape[1]))
    for draw_slice in iterate_slices(feature_columns.n_draws, int(set_starts[-1])):
        log_draws[draw_slice] = sum_log_choices(
            probability_draws(draw_slice)[:, choice_indices], choice_counts
        )
    return tabulate_by_respondent(data, logsumexp(log_draws, axis=0) - np.log(len(log_draws)))
