"""What a fit was asked, and how its draws answer: its check and its predictions of all data that are counted."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._data.kinds import BEST_WORST, CHOICES, PAIRS, TRIPLETS
from thali._data.pairs import PairedComparisons
from thali._data.pairs.covariates import PairCovariates
from thali._data.questions import AnswerProbabilities, Questions
from thali._posterior.view import Posterior

from ..draws.columns import columns_of
from ..draws.covariates import cells_of
from ..draws.triplets import answered, probabilities_of_draws
from ..likelihoods.answer_draws import choice_answers, comparison_answers, places_in
from ..likelihoods.best_worst import rule_of
from .check import spaced_draws
from .counted import AlikeRespondents, check_answers, predict_answers
from .kinds_of_people import aligned_members, answers_to_pairs, as_groups

if TYPE_CHECKING:
    import pandas


# What a fit was asked, and how its draws answer, one pair of functions a kind of data ---------------------------------


def fitted_data(posterior: Posterior) -> Any:
    """Return the counted data that a model was fitted to, of nobody in particular."""
    return _DATA[posterior.kind_of_one](posterior)


def _comparisons(posterior: Posterior) -> PairedComparisons:
    """Return comparisons, of which the worths have what covariates of options add."""
    cells, (first, second) = cells_of(posterior), posterior.pairs
    counts = [np.array(cells[name], float) for name in ("wins", "losses", "ties")]
    covariates = None
    if names := tuple(posterior.covariates):
        none = np.zeros((posterior.n_options, len(names)))
        covariates = PairCovariates._made_of(names, cells["pair"].copy(), cells["x"].copy(), none, *counts, None)
    sums = [np.bincount(cells["pair"], each, len(first)) for each in counts]
    sides = first.copy(), second.copy()
    return PairedComparisons._made_of(tuple(posterior.labels), *sides, *sums, None, None, covariates)


def _choices(posterior: Posterior) -> Choices:
    """Return choices from sets, or best and worst of them."""
    places = np.zeros(0, np.int64)
    worst = places if posterior.kind_of_one == BEST_WORST else None
    sets = posterior.set_start, posterior.fixed["member"].values.copy()
    empty = Choices._made_of(tuple(posterior.labels), (), *sets, places, places, np.zeros(0), worst, None)
    return empty.with_answers(posterior.chosen)


_DATA = {PAIRS: _comparisons, CHOICES: _choices, BEST_WORST: _choices, TRIPLETS: answered}


def _answers_of_comparisons(posterior: Posterior, data: Any, draws: np.ndarray, ties: bool) -> AnswerProbabilities:
    tie = posterior.tie[draws] if ties else None
    columns, beta = columns_of(posterior).take(draws), posterior.coefficients[draws]
    return comparison_answers(columns, data, posterior.lapse, tie, beta)


def _answers_of_choices(posterior: Posterior, data: Any, draws: np.ndarray, ties: bool) -> AnswerProbabilities:
    return choice_answers(columns_of(posterior).take(draws), data, posterior.lapse, rule_of(posterior))


def _answers_of_triplets(posterior: Posterior, data: Any, draws: np.ndarray, ties: bool) -> AnswerProbabilities:
    columns, link, lapse = columns_of(posterior).take(draws), posterior.link, posterior.lapse
    constant = None if posterior.constant is None else posterior.constant[draws]

    def of_questions(some: slice) -> np.ndarray:
        start, first, second = places_in(data.start, some, data.first, data.second)
        p = probabilities_of_draws(columns, constant, start, first, second, link, lapse)
        return p / np.repeat(np.add.reduceat(p, start[:-1], axis=1), np.diff(start), axis=1)

    return of_questions


_ANSWERS = {
    PAIRS: _answers_of_comparisons,
    CHOICES: _answers_of_choices,
    BEST_WORST: _answers_of_choices,
    TRIPLETS: _answers_of_triplets,
}


# Who answered ---------------------------------------------------------------------------------------------------------


def respondents_of(
    posterior: Posterior, data: Any, asked: Questions, draws: np.ndarray, ties: bool
) -> list[AlikeRespondents]:
    """Return all respondents together, or those of each latent class, who change from draw to draw."""
    answers = _ANSWERS[posterior.kind_of_one]
    if not posterior.has_classes:
        return [AlikeRespondents(answers(posterior, data, draws, ties), lambda some: asked.times[some, None])]
    person, question, times = _answers_of_people(posterior, asked)
    class_of, classes = aligned_members(posterior)[draws], as_groups(posterior)

    def times_of(number: int) -> Callable[[slice], np.ndarray]:
        def times_asked(some: slice) -> np.ndarray:
            here = np.flatnonzero((question >= some.start) & (question < some.stop))
            is_member = class_of[:, person[here]] == number
            found = np.zeros((some.stop - some.start, len(draws)), np.int64)
            np.add.at(found, question[here] - some.start, times[here, None] * is_member.T)
            return found

        return times_asked

    return [
        AlikeRespondents(answers(classes.of_group(name), data, draws, ties), times_of(number))
        for number, name in enumerate(classes.groups)
    ]


def _answers_of_people(posterior: Posterior, asked: Questions) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return respondents, the questions that they answered, and how often."""
    constant = posterior.fixed
    if "answer_place" not in constant:
        given = answers_to_pairs(posterior)
        return given.respondent, given.cell, given.counts.sum(axis=1).astype(np.int64)
    times = posterior.observed["answers"].values.astype(np.int64)
    return constant["answer_respondent"].values, asked.question[constant["answer_place"].values], times


# The posterior predictive check, and what was observed beside what is predicted ---------------------------------------


def check_table(posterior: Posterior, random_seed: Any, ci: float) -> "pandas.DataFrame":
    """Return the rows of a check of a fit: see `check_answers`."""
    data, ties = fitted_data(posterior), posterior.has_ties
    asked = data.questions(ties)
    draws = spaced_draws(posterior.n_draws, len(asked.counts))
    people = respondents_of(posterior, data, asked, draws, ties)
    return check_answers(asked, people, len(draws), random_seed, ci)


def predicted_table(posterior: Posterior, ci: float) -> "pandas.DataFrame":
    """Return n, observed, predicted and its interval of each row.

    Of more than 2,000 rows those of the questions with the most answers; ``attrs["of"]`` is the number of all.
    """
    data = fitted_data(posterior)
    asked, draws = data.questions(False), np.arange(posterior.n_draws)
    return predict_answers(asked, respondents_of(posterior, data, asked, draws, False), len(draws), ci)
