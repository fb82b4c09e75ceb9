"""How probable all choices of a person together are, of whom nothing else is known."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.answers import answers_given
from thali._data.choices import Choices
from thali._model.best_worst import rule_of
from thali._posterior.view import Posterior
from thali.errors import ArgumentError, DataError

from ..draws.columns import FeatureColumns, columns_of
from ..draws.probabilities import slices
from .kinds_of_people import aligned_shares, as_groups
from .predict import has_answers, out_of_sets, places_of

if TYPE_CHECKING:
    import pandas


def log_predictive_of_one(posterior: Posterior, data: Any) -> "pandas.Series":
    """The ln of the mean over draws of the probability of everybody's choices, by respondent."""
    from scipy.special import logsumexp

    logs = _log_of_people(posterior, [columns_of(posterior)], data)[0]
    return by_respondent(data, logsumexp(logs, axis=0) - np.log(len(logs)))


def log_predictive_of_kinds(posterior: Posterior, data: Any) -> "pandas.Series":
    """The same of people each of whom is of one of several kinds."""
    from scipy.special import logsumexp

    groups = as_groups(posterior)
    by_kind = _log_of_people(posterior, [columns_of(groups.of_group(name)) for name in groups.groups], data)
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
    if not data.respondents or (data.respondent < 0).any():
        raise DataError("The choices do not say which respondent made them; name the column of respondents.")
    which, row = answers_among(data)
    chosen = data.times > 0
    entries = data.times[chosen], (row[chosen], data.respondent[chosen])
    return which, csr_array(entries, (len(which), len(data.respondents)))


def answers_among(data: Choices) -> tuple[np.ndarray, np.ndarray]:
    """Which answers were given, and which of them each row is."""
    return np.unique(data.choice if data.worst is None else answers_given(data), return_inverse=True)


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
