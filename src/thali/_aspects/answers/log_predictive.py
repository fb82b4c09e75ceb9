"""How probable all choices of a person together are, of whom nothing else is known."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._model.best_worst import rule_of
from thali._posterior.view import Posterior
from thali.errors import ArgumentError, DataError

from ..draws.columns import FeatureColumns, columns_of
from ..draws.probabilities import slices
from .kinds_of_people import aligned_shares
from .predict import has_answers, out_of_sets, places_of

if TYPE_CHECKING:
    import pandas


def log_predictive_of_one(posterior: Posterior, data: Any) -> "pandas.Series":
    """The ln of the mean over draws of the probability of everybody's choices, by respondent."""
    from scipy.special import logsumexp

    logs = _log_of_people(posterior, [columns_of(posterior)], data)[0]
    return by_respondent(data, logsumexp(logs, axis=0) - np.log(len(logs)))


def log_predictive_of_kinds(posterior: Posterior, classes: Posterior, data: Any) -> "pandas.Series":
    """The same of people each of whom is of one of several kinds."""
    from scipy.special import logsumexp

    by_kind = _log_of_people(posterior, [columns_of(classes.of_group(name)) for name in classes.groups], data)
    logs = logsumexp(np.array(by_kind) + np.log(aligned_shares(posterior).T)[:, :, None], axis=0)
    return by_respondent(data, logsumexp(logs, axis=0) - np.log(len(logs)))


def choices_by_person(data: Any) -> tuple[np.ndarray, Any]:
    """Which answers were given by anybody, and how often by whom: a sparse array (answers, respondents)."""
    from scipy.sparse import csr_array

    if not isinstance(data, Choices):
        raise ArgumentError(
            f"Choices of respondents must be Choices; got {type(data).__name__}. Convert comparisons with"
            " Choices.from_comparisons(comparisons)."
        )
    if (given := data.questions().given) is None:
        raise DataError(
            "These choices do not identify respondents; read them again and name the column of respondents."
        )
    which, row = np.unique(given.answer, return_inverse=True)
    return which, csr_array((given.times, (row, given.respondent)), (len(which), len(given.respondents)))


def by_respondent(data: Choices, values: np.ndarray) -> "pandas.Series":
    """One number each of those who made a choice."""
    import pandas as pd

    chose = np.bincount(data.respondent, data.times, len(values)) > 0
    index = pd.Index(np.asarray(data.respondents, object)[chose], name="respondent")
    return pd.Series(values[chose], index, name="log_predictive")


def log_of_choices(p: np.ndarray, times: Any) -> np.ndarray:
    """The ln of the probability of everybody's choices, (draws, people), from that of the answers that were given."""
    with np.errstate(divide="ignore"):  # a probability of 0
        return np.log(p) @ times  # a sparse product sums what was chosen alone


def _log_of_people(posterior: Posterior, several: list[FeatureColumns], data: Any) -> list[np.ndarray]:
    """The ln of the probability of everybody's choices draw by draw (draws, people), by each of several columns."""
    which, times = choices_by_person(data)
    places, found = places_of(data, posterior.labels)[0], []
    for columns in several:
        draws_of, first = out_of_sets(columns, places, has_answers(data), posterior.lapse, rule_of(posterior))
        logs = np.empty((columns.n_draws, times.shape[1]))
        for draws in slices(columns.n_draws, int(first[-1])):
            logs[draws] = log_of_choices(draws_of(draws)[:, which], times)
        found.append(logs)
    return found
