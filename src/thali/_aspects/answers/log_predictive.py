"""How probable all choices of a person together are, of whom nothing else is known."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.indexing import iterate_slices
from thali._model.log_predictive import (
    count_answers_by_respondent,
    sum_log_choices,
    tabulate_by_respondent,
)
from thali._model.option_sets import is_best_worst, set_indices
from thali._people.latent_classes import aligned_shares
from thali._posterior.view import Posterior

from ..draws.columns import FeatureColumns, columns_of
from .predict import out_of_sets

if TYPE_CHECKING:
    import pandas


def log_predictive_of_one(posterior: Posterior, data: Any) -> "pandas.Series":
    """The ln of the mean over draws of the probability of everybody's choices, by respondent."""
    from scipy.special import logsumexp

    logs = _log_of_people(posterior, [columns_of(posterior)], data)[0]
    return tabulate_by_respondent(data, logsumexp(logs, axis=0) - np.log(len(logs)))


def log_predictive_of_kinds(posterior: Posterior, classes: Posterior, data: Any) -> "pandas.Series":
    """The same of people each of whom is of one of several kinds."""
    from scipy.special import logsumexp

    by_kind = _log_of_people(
        posterior, [columns_of(classes.of_group(name)) for name in classes.groups], data
    )
    logs = logsumexp(np.array(by_kind) + np.log(aligned_shares(posterior).T)[:, :, None], axis=0)
    return tabulate_by_respondent(data, logsumexp(logs, axis=0) - np.log(len(logs)))


def _log_of_people(
    posterior: Posterior, several: list[FeatureColumns], data: Any
) -> list[np.ndarray]:
    """The ln of the probability of everybody's choices draw by draw (draws, people), by each of
    several columns."""
    which, times = count_answers_by_respondent(data)
    places, found = set_indices(data, posterior.labels)[0], []
    for columns in several:
        draws_of, first = out_of_sets(columns, places, is_best_worst(data), posterior.lapse)
        logs = np.empty((columns.n_draws, times.shape[1]))
        for draws in iterate_slices(columns.n_draws, int(first[-1])):
            logs[draws] = sum_log_choices(draws_of(draws)[:, which], times)
        found.append(logs)
    return found
