"""How probable all choices of a respondent together are."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._labels import format_plural
from thali.errors import ArgumentError, DataError

if TYPE_CHECKING:
    import pandas

NEW_PEOPLE = 1_024  # at least, of all draws together
_KEPT = 0.99  # of the effective number of people, by each step of temperature
_MOVES, _ACCEPTED = 5, 0.3  # between two steps, and the share of them that is wanted to be accepted


def choices_by_person(data: Any) -> tuple[np.ndarray, Any]:
    """Which answers were given by anybody, and how often by whom: a sparse array (answers,
    respondents)."""
    from scipy.sparse import csr_array

    if not isinstance(data, Choices):
        raise ArgumentError(
            f"Choices of respondents must be Choices; got {type(data).__name__}. Convert"
            " comparisons with Choices.from_comparisons(comparisons)."
        )
    if data.n_ties:
        raise DataError(
            f"The choices of a respondent cannot be ties in rankings, but the data contain"
            f" {format_plural(data.n_ties, 'tie')}."
        )
    if (given := data.questions().given) is None:
        raise DataError(
            "These choices do not identify respondents; read them again and name the column of"
            " respondents."
        )
    which, row = np.unique(given.answer, return_inverse=True)
    return which, csr_array(
        (given.times, (row, given.respondent)), (len(which), len(given.respondents))
    )


def by_respondent(data: Choices, values: np.ndarray) -> "pandas.Series":
    """One number each of those who made a choice."""
    import pandas as pd

    chose = np.bincount(data.respondent, data.times, len(values)) > 0
    index = pd.Index(np.asarray(data.respondents, object)[chose], name="respondent")
    return pd.Series(values[chose], index, name="log_predictive")


# (people, step) -> others, log ratio of their prior densities
Move = Callable[[Any, float], tuple[Any, np.ndarray]]


def log_mean_by_annealing(
    people: Any,
    log_likelihood: Callable[[Any], np.ndarray],
    move: Move,
    choose: Callable[[np.ndarray, Any, Any], Any],
    rng: np.random.Generator,
) -> float:
    """Return the ln of the mean probability of answers over new people, one of each draw (Neal
    2001).

    A plain mean needs more people than there can be where somebody answered often, because nearly
    all have answers of little probability. So they come to the answers in steps of temperature,
    between which they move, and their importance weights have the probability of the answers as
    their mean, whatever the moves. `choose` takes the people of the draws that accepted a move from
    the second argument, the others from the third.
    """
    from scipy.special import logsumexp

    at, step = log_likelihood(people), 0.5
    total, power = np.zeros(len(at)), 0.0
    while power < 1.0:
        rise = _largest_rise(at, 1.0 - power)
        total += rise * at
        power += rise
        for _ in range(_MOVES if power < 1.0 else 0):
            others, log_ratio = move(people, step)
            there = log_likelihood(others)
            with np.errstate(invalid="ignore"):  # of what neither can happen
                gain = power * (there - at) + log_ratio
            accepted = np.log(rng.random(len(at))) < gain
            people, at = choose(accepted, others, people), np.where(accepted, there, at)
            step *= np.exp(accepted.mean() - _ACCEPTED)
    return float(logsumexp(total) - np.log(len(total)))


def _largest_rise(at: np.ndarray, most: float) -> float:
    """Return by how much the temperature may rise so that the effective number of people hardly
    falls."""
    if not np.isfinite(at).any():
        return most
    possible = at[np.isfinite(at)] - at.max()

    def share_kept(rise: float) -> float:
        weight = np.exp(rise * possible)
        return float(weight.sum() ** 2 / (weight**2).sum() / len(weight))

    if share_kept(most) >= _KEPT:
        return most
    low, high = 0.0, most
    for _ in range(40):
        middle = (low + high) / 2.0
        low, high = (middle, high) if share_kept(middle) >= _KEPT else (low, middle)
    return high


def log_of_choices(p: np.ndarray, times: Any) -> np.ndarray:
    """The ln of the probability of everybody's choices, (draws, people), from that of the answers
    that were given."""
    with np.errstate(divide="ignore"):  # a probability of 0
        return np.log(p) @ times  # a sparse product sums what was chosen alone
