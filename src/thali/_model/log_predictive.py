"""How probable all choices of a respondent together are."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._labels import plural
from thali.errors import ArgumentError, DataError

if TYPE_CHECKING:
    import pandas


def choices_by_person(data: Any) -> tuple[np.ndarray, Any]:
    """Which answers were given by anybody, and how often by whom: a sparse array (answers, respondents)."""
    from scipy.sparse import csr_array

    if not isinstance(data, Choices):
        raise ArgumentError(
            f"Choices of respondents must be Choices; got {type(data).__name__}. Convert comparisons with"
            " Choices.from_comparisons(comparisons)."
        )
    if data.n_ties:
        raise DataError(
            f"The choices of a respondent cannot be ties in rankings, but the data contain"
            f" {plural(data.n_ties, 'tie')}."
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
