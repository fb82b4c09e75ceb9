"""Observed answers against predictions for each respondent, and each respondent's fit."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.choices import Choices
from thali._data.questions import AnswerProbabilities, Questions
from thali._inference.index_arithmetic import iterate_slices, part_bounds, space_evenly
from thali._model.predicted_answers import (
    EqualRespondents,
    check_answers,
    check_unweighted,
    predict_answers,
)
from thali._model.predictive_check import select_draws

from ..worth_draws import WorthDraws
from .respondent_draws import RespondentDraws

if TYPE_CHECKING:
    import pandas

N_FIT_DRAWS = 200  # draws that measure the fit of each respondent


class AskedRespondents(NamedTuple):
    """Questions asked of each respondent, respondent by respondent."""

    questions: Questions
    respondent: np.ndarray  # (questions,)
    question: np.ndarray  # (questions,) of the data
    answer: np.ndarray  # (answers,) of the data


def split_questions(questions: Questions) -> AskedRespondents:
    """Return the distinct questions asked of each respondent, sorted by respondent."""
    given_answers, n_questions = questions.given, len(questions.sizes)
    assert given_answers is not None
    question = questions.question[given_answers.answer]
    keys, row = np.unique(
        given_answers.respondent.astype(np.int64) * n_questions + question, return_inverse=True
    )
    respondent, question_index = np.divmod(keys, n_questions)
    start = part_bounds(questions.sizes[question_index])
    answer = np.repeat(
        questions.start[question_index] - start[:-1], questions.sizes[question_index]
    ) + np.arange(start[-1])
    counts = np.bincount(
        start[row] + given_answers.answer - questions.start[question],
        given_answers.times,
        start[-1],
    )
    ends = np.array([0, len(question_index)]), np.array([0, questions.rows.group_row[-1]])
    rows = questions.rows._replace(
        counted=questions.rows.counted[:, answer], group=ends[0], group_row=ends[1]
    )
    return AskedRespondents(
        Questions(start, counts, find_rows=lambda: rows), respondent, question_index, answer
    )


def respondent_probabilities(
    worths: WorthDraws,
    respondent_draws: RespondentDraws,
    data: Any,
    parts: AskedRespondents,
    has_ties: bool,
) -> AnswerProbabilities:
    """Return a function from a slice of questions to answer probabilities.

    The probabilities are those by the worths of the respondent who was asked.
    """
    n, draws = len(worths.labels), respondent_draws.n_draws

    def compute_probabilities(questions: slice) -> np.ndarray:
        """Return answer probabilities of these questions, (draws, answers)."""
        question, respondent = parts.question[questions], parts.respondent[questions]
        first, stop = respondent[0], respondent[-1] + 1
        shift = (respondent - first) * n
        shifted_worths = worths._replace(
            log_worths=respondent_draws.worths[:, first:stop].reshape(draws, -1).astype(float)
        )
        if isinstance(data, Choices):
            sizes = data.sizes[question]
            start = part_bounds(sizes)
            positions = np.repeat(data.start[question] - start[:-1], sizes) + np.arange(start[-1])
            members = data.members[positions] + np.repeat(shift, sizes)
            return shifted_worths.set_probabilities(start, members, data.worst is not None)
        p = shifted_worths.pair_probabilities(
            data.cells.first[question] + shift, data.cells.second[question] + shift
        )
        return shifted_worths.outcome_probabilities(p, has_ties).reshape(draws, -1)

    return compute_probabilities


class _CheckedAnswers(NamedTuple):
    """Questions with the respondents who answered them, at selected draws."""

    questions: Questions
    groups: list[EqualRespondents]
    n_draws: int


def _select_answers(
    worths: WorthDraws, respondent_draws: RespondentDraws, data: Any, has_ties: bool
) -> _CheckedAnswers:
    """Return the questions with answer probabilities at evenly spaced draws."""
    parts = split_questions(data.questions(has_ties))
    draws = select_draws(respondent_draws.n_draws, len(parts.questions.counts))
    probabilities = respondent_probabilities(
        worths.take(draws), respondent_draws.take(draws), data, parts, has_ties
    )
    groups = [EqualRespondents.from_times(probabilities, parts.questions.times)]
    return _CheckedAnswers(parts.questions, groups, len(draws))


def check_respondents(
    worths: WorthDraws, respondent_draws: RespondentDraws, data: Any, random_seed: Any, ci: float
) -> "pandas.DataFrame":
    """Return a table of observed answers against replicates of each respondent."""
    answers = _select_answers(worths, respondent_draws, data, worths.nu is not None)
    check_unweighted(answers.questions)
    return check_answers(*answers, random_seed, ci)


def predict_respondents(
    worths: WorthDraws, respondent_draws: RespondentDraws, data: Any, ci: float
) -> "pandas.DataFrame":
    """Return a table of observed and predicted proportions."""
    return predict_answers(*_select_answers(worths, respondent_draws, data, False), ci)


def measure_fit(worths: WorthDraws, respondent_draws: RespondentDraws, data: Any) -> np.ndarray:
    r"""Return the root likelihood of each respondent's answers, (n_respondents,).

    .. math::

        \Big(\prod_t p_t\Big)^{1/T}, \qquad p_t \text{ the posterior mean probability of answer } t
    """
    from scipy.special import xlogy

    has_ties = worths.nu is not None
    parts = split_questions(data.questions(has_ties))
    draws = space_evenly(respondent_draws.n_draws, N_FIT_DRAWS)
    probabilities = respondent_probabilities(
        worths.take(draws), respondent_draws.take(draws), data, parts, has_ties
    )
    total, n_answers = np.zeros((2, len(respondent_draws.respondents)))
    for questions in iterate_slices(
        len(parts.question), len(draws) * int(parts.questions.sizes.max())
    ):
        answer_slice = slice(
            *parts.questions.start[[questions.start, min(questions.stop, len(parts.question))]]
        )
        counts = parts.questions.counts[answer_slice]
        respondents = np.repeat(parts.respondent[questions], parts.questions.sizes[questions])
        total += np.bincount(
            respondents, xlogy(counts, probabilities(questions).mean(axis=0)), len(total)
        )
        n_answers += np.bincount(respondents, counts, len(total))
    with np.errstate(invalid="ignore"):  # respondents without an answer have NaN
        return np.exp(total / n_answers)
