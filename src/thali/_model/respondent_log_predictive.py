"""Log probability of all choices of a respondent together, averaged over other respondents."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._data.choices.data_subsets import require_respondents
from thali._labels import format_plural
from thali.errors import ArgumentError, DataError

if TYPE_CHECKING:
    import pandas

    from thali._data.base_classes import Judged

NEW_PEOPLE = 1_024  # minimum, over all draws together
_KEPT = 0.99  # share of the effective number of respondents kept by each temperature step
_MOVES, _ACCEPTED = 5, 0.3  # moves between two steps, and their target acceptance rate


def count_answers_by_respondent(data: "Judged") -> tuple[np.ndarray, Any]:
    """Return answers that occur, and their counts, sparse (answers, respondents)."""
    from scipy.sparse import csr_array

    if not isinstance(data, Choices):
        raise ArgumentError(
            f"The choices of respondents must be a Choices object; got {type(data).__name__}."
            " Convert"
            " comparisons with Choices.from_comparisons(comparisons)."
        )
    if data.n_ties:
        raise DataError(
            "Scores of individual respondents cannot be computed from rankings with ties; the data"
            f" contain {format_plural(data.n_ties, 'tie')}."
        )
    require_respondents(data)
    answer_record: Any = data.questions().given
    answers, answer_indices = np.unique(answer_record.answer, return_inverse=True)
    return answers, csr_array(
        (answer_record.times, (answer_indices, answer_record.respondent)),
        (len(answers), len(answer_record.respondents)),
    )


def tabulate_by_respondent(data: Choices, respondent_numbers: np.ndarray) -> "pandas.Series":
    """Return the numbers of the respondents with a choice as a series, by name."""
    import pandas as pd

    has_choice = np.bincount(data.respondent, data.times, len(respondent_numbers)) > 0
    index = pd.Index(np.asarray(data.respondents, object)[has_choice], name="respondent")
    return pd.Series(respondent_numbers[has_choice], index, name="log_predictive")


# (respondents, step) -> proposed respondents, log ratio of prior densities
Move = Callable[[Any, float], tuple[Any, np.ndarray]]


def anneal_log_mean(
    respondents: np.ndarray,
    log_likelihood: Callable[[Any], np.ndarray],
    propose: Move,
    choose: Callable[[np.ndarray, Any, Any], Any],
    rng: np.random.Generator,
) -> float:
    """Estimate ln of the mean probability of answers over simulated respondents, by annealing.

    A plain mean needs too many simulated respondents if a respondent answered often, because nearly
    all of them give the answers little probability. Therefore the respondents approach the answers
    in temperature steps, with moves in between; the mean of their importance weights is the
    probability of the answers for any moves (Neal 2001). `choose` takes the respondents of the
    draws that accepted a move from its second argument, the others from the third.
    """
    from scipy.special import logsumexp

    log_p = log_likelihood(respondents)
    step = 0.5
    log_weights = np.zeros(len(log_p))
    power = 0.0
    while True:
        power_step = _find_largest_temperature_step(log_p, 1.0 - power)
        log_weights += power_step * log_p
        power += power_step
        if power >= 1.0:
            return float(logsumexp(log_weights) - np.log(len(log_weights)))
        for _ in range(_MOVES):
            proposed_respondents, log_ratio = propose(respondents, step)
            log_p_proposed = log_likelihood(proposed_respondents)
            with np.errstate(invalid="ignore"):  # both have probability 0
                log_acceptance = power * (log_p_proposed - log_p) + log_ratio
            is_accepted = np.log(rng.random(len(log_p))) < log_acceptance
            respondents = choose(is_accepted, proposed_respondents, respondents)
            log_p = np.where(is_accepted, log_p_proposed, log_p)
            step *= np.exp(is_accepted.mean() - _ACCEPTED)


def _find_largest_temperature_step(log_p: np.ndarray, max_step: float) -> float:
    """Return the largest temperature step that keeps 99 % of the effective sample size."""
    if not np.isfinite(log_p).any():
        return max_step
    relative_log_p = log_p[np.isfinite(log_p)] - log_p.max()

    def share_effective(step: float) -> float:
        """Return effective sample size / number of respondents after this temperature step."""
        weight = np.exp(step * relative_log_p)
        return float(weight.sum() ** 2 / (weight**2).sum() / len(weight))

    if share_effective(max_step) >= _KEPT:
        return max_step
    low = 0.0
    high = max_step
    for _ in range(40):
        midpoint = (low + high) / 2.0
        if share_effective(midpoint) >= _KEPT:
            low = midpoint
        else:
            high = midpoint
    return high


def sum_log_choices(p: np.ndarray, n_times: Any) -> np.ndarray:
    """Return the log probability of each respondent's choices together, (draws, respondents).

    `p` has the probabilities of the answers that were given.
    """
    with np.errstate(divide="ignore"):  # a probability of 0
        return np.log(p) @ n_times  # the sparse product sums chosen answers only
