"""Answers of respondents who differ, simulated from their prior, and at draws of a fit."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from thali._data.questions import draw_answers
from thali._inference.indexing import iterate_slices
from thali._model.prior_sample import PriorSample
from thali._posterior.view import Posterior

from ..density import LOG_SPREAD_MEAN, LOG_SPREAD_SD, TIE_SD
from ..predictions import WorthDraws
from ..simulation import observe_each, prior_sample_of
from .check import part_questions, respondent_probabilities
from .draws import RespondentDraws
from .moves import EFFECT_SD
from .problem import PeopleProblem
from .sweep import PeopleRecord


class SimulatedAnswers(NamedTuple):
    """Answers of all respondents at several draws."""

    counts: np.ndarray  # (draws, answers to the questions of the data)
    log_likelihood: np.ndarray  # (draws,) of the answers of each respondent, with coefficients


def simulate_answers(
    problem: PeopleProblem, worths: WorthDraws, drawn: RespondentDraws, rng: np.random.Generator
) -> SimulatedAnswers:
    """Simulate the answers of the respondents of the data to the questions that they were asked, at
    every draw."""
    from scipy.sparse import csr_array

    data, has_ties = problem.single, problem.has_ties
    asked = data.questions(has_ties)
    parts = part_questions(asked)
    times = parts.asked.check_integer_totals()[:, None]
    each = np.arange(len(parts.answer))
    summed = csr_array((np.ones(len(each)), (parts.answer, each)), (len(asked.counts), len(each)))
    counts, log_likelihood = np.empty((drawn.n_draws, len(asked.counts))), np.empty(drawn.n_draws)
    for some in iterate_slices(drawn.n_draws, len(each)):
        probabilities = respondent_probabilities(
            worths.take(some), drawn.take(some), data, parts, has_ties
        )
        p = probabilities(slice(0, len(parts.question)))
        given = draw_answers(rng, times, p, parts.asked.start)
        counts[some] = (summed @ given).T
        for draw, (of_draw, own) in enumerate(zip(given.T, p, strict=True), some.start):
            log_likelihood[draw] = parts.asked.with_counts(of_draw).log_likelihoods(own).sum()
    return SimulatedAnswers(counts, log_likelihood)


def observe_counts(problem: PeopleProblem, counts: np.ndarray) -> dict[str, np.ndarray]:
    """Return counts of answers (draws, answers) as the variables of `observed_data`, arrays (draws,
    ...)."""
    return observe_each(problem, [problem.single.with_answers(of_draw) for of_draw in counts])


def draw_record(problem: PeopleProblem, rngs: Sequence[np.random.Generator]) -> PeopleRecord:
    """Draw parameters and the worths of all respondents from the prior, once with each
    generator."""
    (N, q), n, K = problem.table.x.shape, problem.data.n_options, problem.n_directions
    rows = []
    for rng in rngs:
        log_s = (
            LOG_SPREAD_MEAN + LOG_SPREAD_SD * rng.standard_normal()
            if problem.spread is None
            else np.log(problem.spread)
        )
        sigma, size = np.abs(rng.standard_normal(2))
        mean = (
            rng.standard_normal((q, n)) * np.array([np.exp(log_s), *[EFFECT_SD] * (q - 1)])[:, None]
        )
        loadings = size * rng.standard_normal((K, n))
        worths = (
            problem.table.x @ mean
            + rng.standard_normal((N, K)) @ loadings
            + sigma * rng.standard_normal((N, n))
        )
        worths -= worths.mean(axis=1, keepdims=True)
        log_tie = TIE_SD * rng.standard_normal() * problem.has_ties
        rows.append(
            (mean, loadings, np.array([log_s, np.log(sigma), np.log(size)]), log_tie, 0.0, worths)
        )
    return PeopleRecord(*(np.array(values) for values in zip(*rows, strict=True)))


def sample_prior(
    problem: Any,
    record: Any,
    rngs: Sequence[np.random.Generator],
    draws_of: Any,
    respondents_of: Any,
) -> PriorSample:
    """Return draws from the prior, one for each generator, and data of the same design at each;
    `draws_of` and `respondents_of` read a posterior."""
    posterior = Posterior(problem.tree_of_records([record], {}))
    new = simulate_answers(problem, draws_of(posterior), respondents_of(posterior), rngs[0])
    return prior_sample_of(
        posterior, new.log_likelihood, observe_counts(problem, new.counts), [None] * len(rngs)
    )
