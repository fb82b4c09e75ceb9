"""Simulated answers of respondents with individual worths, from the prior or a fit."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thali._data.questions import draw_answers
from thali._inference.index_arithmetic import iterate_slices

from ..density import TIE_SD
from ..simulation import observe_each, sample_log_spread
from ..worth_draws import WorthDraws
from .answer_check import respondent_probabilities, split_questions
from .gibbs_sweep import PeopleRecord
from .moves import EFFECT_SD
from .problem import PeopleProblem
from .respondent_draws import RespondentDraws


class SimulatedAnswers(NamedTuple):
    """Simulated answer counts of all respondents at several draws."""

    counts: np.ndarray  # (draws, answers to the questions of the data)
    log_likelihood: np.ndarray  # (draws,) of the answers of each respondent, with coefficients


def simulate_answers(
    problem: PeopleProblem,
    worths: WorthDraws,
    respondent_draws: RespondentDraws,
    rng: np.random.Generator,
) -> SimulatedAnswers:
    """Simulate respondents' answers to the data's questions at every draw."""
    from scipy.sparse import csr_array

    data, has_ties = problem.single_data, problem.has_ties
    questions = data.questions(has_ties)
    parts = split_questions(questions)
    times = parts.questions.check_integer_totals()[:, None]
    columns = np.arange(len(parts.answer))
    sum_matrix = csr_array(
        (np.ones(len(columns)), (parts.answer, columns)), (len(questions.counts), len(columns))
    )
    counts = np.empty((respondent_draws.n_draws, len(questions.counts)))
    log_likelihood = np.empty(respondent_draws.n_draws)
    for draws in iterate_slices(respondent_draws.n_draws, len(columns)):
        probabilities = respondent_probabilities(
            worths.take(draws), respondent_draws.take(draws), data, parts, has_ties
        )
        p = probabilities(slice(0, len(parts.question)))
        simulated = draw_answers(rng, times, p, parts.questions.start)
        counts[draws] = (sum_matrix @ simulated).T
        for draw, (draw_counts, draw_p) in enumerate(zip(simulated.T, p, strict=True), draws.start):
            answered = parts.questions.with_counts(draw_counts)
            log_likelihood[draw] = answered.log_likelihoods(draw_p).sum()
    return SimulatedAnswers(counts, log_likelihood)


def observe_counts(problem: PeopleProblem, counts: np.ndarray) -> dict[str, np.ndarray]:
    """Return answer counts (draws, answers) as variables of `observed_data`."""
    data_sets = [problem.single_data.with_answers(draw_counts) for draw_counts in counts]
    return observe_each(problem, data_sets)


def sample_people_record(
    problem: PeopleProblem, rngs: Sequence[np.random.Generator]
) -> PeopleRecord:
    """Sample population and respondents' worths from the prior, once per generator."""
    (N, q), n, K = problem.table.x.shape, problem.data.n_options, problem.n_directions
    rows = []
    for rng in rngs:
        log_s = sample_log_spread(rng, problem.spread)
        sigma, size = np.abs(rng.standard_normal(2))
        row_sds = np.array([np.exp(log_s), *[EFFECT_SD] * (q - 1)])
        mean = rng.standard_normal((q, n)) * row_sds[:, None]
        loadings = size * rng.standard_normal((K, n))
        worths = (
            problem.table.x @ mean
            + rng.standard_normal((N, K)) @ loadings
            + sigma * rng.standard_normal((N, n))
        )
        worths -= worths.mean(axis=1, keepdims=True)
        log_tie = TIE_SD * rng.standard_normal()
        if not problem.has_ties:
            log_tie = 0.0
        rows.append(
            (mean, loadings, np.array([log_s, np.log(sigma), np.log(size)]), log_tie, 0.0, worths)
        )
    return PeopleRecord(*(np.array(values) for values in zip(*rows, strict=True)))
