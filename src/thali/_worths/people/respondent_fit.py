"""Observed answers against predictions for each respondent, and each respondent's fit."""

from typing import TYPE_CHECKING, NamedTuple

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

    from thali._data.pairs import PairedComparisons
    from thali._inference.random_seeds import RandomSeed

N_FIT_DRAWS = 200  # draws that measure the fit of each respondent


class AskedRespondents(NamedTuple):
    """Questions asked of each respondent, respondent by respondent."""

    questions: Questions
    respondent: np.ndarray  # (questions,)
    question: np.ndarray  # (questions,) of the data
    answer: np.ndarray  # (answers,) of the data


def split_questions(questions: Questions) -> AskedRespondents:
    """Return the distinct questions asked of each respondent, sorted by respondent."""
    given_answers = questions.given
    n_questions = len(questions.sizes)
    assert given_answers is not None
    question_of_answer = questions.question[given_answers.answer]
    question_keys, row_of_answer = np.unique(
        given_answers.respondent.astype(np.int64) * n_questions + question_of_answer,
        return_inverse=True,
    )
    respondent, question_index = np.divmod(question_keys, n_questions)
    answer_starts = part_bounds(questions.sizes[question_index])
    answer_indices = np.repeat(
        questions.start[question_index] - answer_starts[:-1], questions.sizes[question_index]
    ) + np.arange(answer_starts[-1])
    answer_counts = np.bincount(
        answer_starts[row_of_answer] + given_answers.answer - questions.start[question_of_answer],
        given_answers.times,
        answer_starts[-1],
    )
    group_ends = np.array([0, len(question_index)]), np.array([0, questions.rows.group_row[-1]])
    question_rows = questions.rows._replace(
        counted=questions.rows.counted[:, answer_indices],
        group=group_ends[0],
        group_row=group_ends[1],
    )
    return AskedRespondents(
        Questions(answer_starts, answer_counts, find_rows=lambda: question_rows),
        respondent,
        question_index,
        answer_indices,
    )


def make_respondent_probabilities(
    worths: WorthDraws,
    respondent_draws: RespondentDraws,
    data: "PairedComparisons | Choices",
    parts: AskedRespondents,
    has_ties: bool,
) -> AnswerProbabilities:
    """Return a function from a slice of questions to answer probabilities.

    The probabilities are those by the worths of the respondent who was asked.
    """
    n = len(worths.labels)
    n_draws = respondent_draws.n_draws

    def compute_probabilities(questions: slice) -> np.ndarray:
        """Return answer probabilities of these questions, (draws, answers)."""
        question = parts.question[questions]
        respondent = parts.respondent[questions]
        first_respondent = respondent[0]
        stop_respondent = respondent[-1] + 1
        option_shift = (respondent - first_respondent) * n
        shifted_worths = worths._replace(
            log_worths=respondent_draws.worths[:, first_respondent:stop_respondent]
            .reshape(n_draws, -1)
            .astype(float)
        )
        if isinstance(data, Choices):
            set_sizes = data.sizes[question]
            set_starts = part_bounds(set_sizes)
            positions = np.repeat(data.start[question] - set_starts[:-1], set_sizes) + np.arange(
                set_starts[-1]
            )
            members = data.members[positions] + np.repeat(option_shift, set_sizes)
            return shifted_worths.set_probabilities(set_starts, members, data.worst is not None)
        p = shifted_worths.pair_probabilities(
            data.cells.first[question] + option_shift, data.cells.second[question] + option_shift
        )
        return shifted_worths.outcome_probabilities(p, has_ties).reshape(n_draws, -1)

    return compute_probabilities


class _CheckedAnswers(NamedTuple):
    """Questions with the respondents who answered them, at selected draws."""

    questions: Questions
    groups: list[EqualRespondents]
    n_draws: int


def _select_answers(
    worths: WorthDraws,
    respondent_draws: RespondentDraws,
    data: "PairedComparisons | Choices",
    has_ties: bool,
) -> _CheckedAnswers:
    """Return the questions with answer probabilities at evenly spaced draws."""
    asked_questions = split_questions(data.questions(has_ties))
    draw_indices = select_draws(respondent_draws.n_draws, len(asked_questions.questions.counts))
    probabilities = make_respondent_probabilities(
        worths.take(draw_indices),
        respondent_draws.take(draw_indices),
        data,
        asked_questions,
        has_ties,
    )
    respondent_groups = [
        EqualRespondents.from_times(probabilities, asked_questions.questions.times)
    ]
    return _CheckedAnswers(asked_questions.questions, respondent_groups, len(draw_indices))


def check_respondents(
    worths: WorthDraws,
    respondent_draws: RespondentDraws,
    data: "PairedComparisons | Choices",
    random_seed: "RandomSeed",
    ci: float,
) -> "pandas.DataFrame":
    """Return a table of observed answers against replicates of each respondent."""
    answers = _select_answers(worths, respondent_draws, data, worths.nu is not None)
    check_unweighted(answers.questions)
    return check_answers(answers.questions, answers.groups, answers.n_draws, random_seed, ci)


def predict_respondents(
    worths: WorthDraws,
    respondent_draws: RespondentDraws,
    data: "PairedComparisons | Choices",
    ci: float,
) -> "pandas.DataFrame":
    """Return a table of observed and predicted proportions."""
    return predict_answers(*_select_answers(worths, respondent_draws, data, False), ci)


def measure_fit(
    worths: WorthDraws, respondent_draws: RespondentDraws, data: "PairedComparisons | Choices"
) -> np.ndarray:
    r"""Return the root likelihood of each respondent's answers, (n_respondents,).

    .. math::

        \Big(\prod_t p_t\Big)^{1/T}, \qquad p_t \text{ the posterior mean probability of answer } t
    """
    from scipy.special import xlogy

    has_ties = worths.nu is not None
    asked_questions = split_questions(data.questions(has_ties))
    draw_indices = space_evenly(respondent_draws.n_draws, N_FIT_DRAWS)
    probabilities = make_respondent_probabilities(
        worths.take(draw_indices),
        respondent_draws.take(draw_indices),
        data,
        asked_questions,
        has_ties,
    )
    log_likelihood, n_answers = np.zeros((2, len(respondent_draws.respondents)))
    for questions in iterate_slices(
        len(asked_questions.question),
        len(draw_indices) * int(asked_questions.questions.sizes.max()),
    ):
        answer_slice = slice(
            *asked_questions.questions.start[
                [questions.start, min(questions.stop, len(asked_questions.question))]
            ]
        )
        answer_counts = asked_questions.questions.counts[answer_slice]
        respondents = np.repeat(
            asked_questions.respondent[questions], asked_questions.questions.sizes[questions]
        )
        log_likelihood += np.bincount(
            respondents,
            xlogy(answer_counts, probabilities(questions).mean(axis=0)),
            len(log_likelihood),
        )
        n_answers += np.bincount(respondents, answer_counts, len(log_likelihood))
    with np.errstate(invalid="ignore"):  # respondents without an answer have NaN
        return np.exp(log_likelihood / n_answers)
