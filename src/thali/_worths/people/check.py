"""What respondents answered beside what the model predicts of each, and how well it predicts
each."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.choices import Choices
from thali._data.questions import AnswerProbabilities, Questions
from thali._inference.indexing import iterate_slices, part_bounds, space_evenly
from thali._model.answer_checks import (
    EqualRespondents,
    check_answers,
    check_unweighted,
    predict_answers,
)
from thali._model.predictive_check import select_draws

from ..predictions import WorthDraws
from .draws import RespondentDraws

if TYPE_CHECKING:
    import pandas

FIT_DRAWS = 200  # draws by which the fit of each respondent is measured


class AskedRespondents(NamedTuple):
    """Every question to every respondent whom it was put to, one respondent after another."""

    asked: Questions
    respondent: np.ndarray  # (questions,)
    question: np.ndarray  # (questions,) of the data
    answer: np.ndarray  # (answers,) of the data


def part_questions(asked: Questions) -> AskedRespondents:
    """Part questions by who answered them."""
    given, n_questions = asked.given, len(asked.sizes)
    assert given is not None
    question = asked.question[given.answer]
    keys, row = np.unique(
        given.respondent.astype(np.int64) * n_questions + question, return_inverse=True
    )
    respondent, of = np.divmod(keys, n_questions)
    start = part_bounds(asked.sizes[of])
    answer = np.repeat(asked.start[of] - start[:-1], asked.sizes[of]) + np.arange(start[-1])
    counts = np.bincount(start[row] + given.answer - asked.start[question], given.times, start[-1])
    ends = np.array([0, len(of)]), np.array([0, asked.rows.group_row[-1]])
    rows = asked.rows._replace(
        counted=asked.rows.counted[:, answer], group=ends[0], group_row=ends[1]
    )
    return AskedRespondents(
        Questions(start, counts, find_rows=lambda: rows), respondent, of, answer
    )


def respondent_probabilities(
    worths: WorthDraws, drawn: RespondentDraws, data: Any, parts: AskedRespondents, has_ties: bool
) -> AnswerProbabilities:
    """Return the probabilities of the answers to questions, each by the worths of the respondent
    who was asked."""
    n, draws = len(worths.labels), drawn.n_draws

    def of_questions(some: slice) -> np.ndarray:
        question, respondent = parts.question[some], parts.respondent[some]
        first, last = respondent[0], respondent[-1] + 1
        shift = (respondent - first) * n
        each = worths._replace(
            log_worths=drawn.worths[:, first:last].reshape(draws, -1).astype(float)
        )
        if isinstance(data, Choices):
            sizes = data.sizes[question]
            start = part_bounds(sizes)
            places = np.repeat(data.start[question] - start[:-1], sizes) + np.arange(start[-1])
            members = data.members[places] + np.repeat(shift, sizes)
            return each.of_sets(start, members, data.worst is not None)
        p = each.of_pairs(data.cells.first[question] + shift, data.cells.second[question] + shift)
        return each.of_outcomes(p, has_ties).reshape(draws, -1)

    return of_questions


def check_respondents(
    worths: WorthDraws, drawn: RespondentDraws, data: Any, random_seed: Any, ci: float
) -> "pandas.DataFrame":
    """Return what was observed against replicates of the answers of every respondent."""
    has_ties = worths.nu is not None
    parts = part_questions(data.questions(has_ties))
    check_unweighted(parts.asked)
    draws = select_draws(drawn.n_draws, len(parts.asked.counts))
    probabilities = respondent_probabilities(
        worths.take(draws), drawn.take(draws), data, parts, has_ties
    )
    people = [EqualRespondents.from_times(probabilities, parts.asked.times)]
    return check_answers(parts.asked, people, len(draws), random_seed, ci)


def predict_respondents(
    worths: WorthDraws, drawn: RespondentDraws, data: Any, ci: float
) -> "pandas.DataFrame":
    """Return the proportions that were observed, and what is predicted of them."""
    parts = part_questions(data.questions(False))
    draws = select_draws(drawn.n_draws, len(parts.asked.counts))
    probabilities = respondent_probabilities(
        worths.take(draws), drawn.take(draws), data, parts, has_ties=False
    )
    people = [EqualRespondents.from_times(probabilities, parts.asked.times)]
    return predict_answers(parts.asked, people, len(draws), ci)


def measure_fit(worths: WorthDraws, drawn: RespondentDraws, data: Any) -> np.ndarray:
    r"""Measure how well the worths of each respondent predict the respondent's answers: the root
    likelihood.

    .. math::

        \Big(\prod_t p_t\Big)^{1/T}, \qquad p_t \text{ the posterior mean probability of answer } t
    """
    from scipy.special import xlogy

    has_ties = worths.nu is not None
    parts = part_questions(data.questions(has_ties))
    draws = space_evenly(drawn.n_draws, FIT_DRAWS)
    probabilities = respondent_probabilities(
        worths.take(draws), drawn.take(draws), data, parts, has_ties
    )
    total, answers = np.zeros((2, len(drawn.respondents)))
    for some in iterate_slices(len(parts.question), len(draws) * int(parts.asked.sizes.max())):
        places = slice(*parts.asked.start[[some.start, min(some.stop, len(parts.question))]])
        given = parts.asked.counts[places]
        who = np.repeat(parts.respondent[some], parts.asked.sizes[some])
        total += np.bincount(who, xlogy(given, probabilities(some).mean(axis=0)), len(total))
        answers += np.bincount(who, given, len(total))
    with np.errstate(invalid="ignore"):  # of respondents without an answer
        return np.exp(total / answers)
