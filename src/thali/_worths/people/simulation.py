"""Simulated answers of respondents with individual worths, from the prior or a fit."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thali._data.questions import draw_answers
from thali._inference.index_arithmetic import iterate_slices

from ..posterior_density import TIE_SD
from ..simulation import observe_each, sample_log_spread
from ..worth_draws import WorthDraws
from .gibbs_sweep import PeopleRecord
from .individual_posterior import PeopleProblem
from .respondent_draws import RespondentDraws
from .respondent_fit import make_respondent_probabilities, split_questions
from .sampler_moves import EFFECT_SD


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

    data = problem.single_data
    has_ties = problem.has_ties
    questions = data.questions(has_ties)
    asked_questions = split_questions(questions)
    times_asked = asked_questions.questions.check_integer_totals()[:, None]
    answer_columns = np.arange(len(asked_questions.answer))
    sum_matrix = csr_array(
        (np.ones(len(answer_columns)), (asked_questions.answer, answer_columns)),
        (len(questions.counts), len(answer_columns)),
    )
    answer_counts = np.empty((respondent_draws.n_draws, len(questions.counts)))
    log_likelihood = np.empty(respondent_draws.n_draws)
    for draw_slice in iterate_slices(respondent_draws.n_draws, len(answer_columns)):
        probabilities = make_respondent_probabilities(
            worths.take(draw_slice),
            respondent_draws.take(draw_slice),
            data,
            asked_questions,
            has_ties,
        )
        p = probabilities(slice(0, len(asked_questions.question)))
        simulated_counts = draw_answers(rng, times_asked, p, asked_questions.questions.start)
        answer_counts[draw_slice] = (sum_matrix @ simulated_counts).T
        for draw_index, (draw_counts, draw_p) in enumerate(
            zip(simulated_counts.T, p, strict=True), draw_slice.start
        ):
            answered_questions = asked_questions.questions.with_counts(draw_counts)
            log_likelihood[draw_index] = answered_questions.log_likelihoods(draw_p).sum()
    return SimulatedAnswers(answer_counts, log_likelihood)


def observe_counts(problem: PeopleProblem, counts: np.ndarray) -> dict[str, np.ndarray]:
    """Return answer counts (draws, answers) as variables of `observed_data`."""
    data_sets = [problem.single_data.with_answers(draw_counts) for draw_counts in counts]
    return observe_each(problem, data_sets)


def sample_people_record(
    problem: PeopleProblem, rngs: Sequence[np.random.Generator]
) -> PeopleRecord:
    """Sample population and respondents' worths from the prior, once per generator."""
    N, q = problem.table.x.shape
    n = problem.data.n_options
    K = problem.n_directions
    record_rows = []
    for rng in rngs:
        log_s = sample_log_spread(rng, problem.spread)
        sigma, loading_sd = np.abs(rng.standard_normal(2))
        row_sds = np.array([np.exp(log_s), *[EFFECT_SD] * (q - 1)])
        population_means = rng.standard_normal((q, n)) * row_sds[:, None]
        loadings = loading_sd * rng.standard_normal((K, n))
        worths = (
            problem.table.x @ population_means
            + rng.standard_normal((N, K)) @ loadings
            + sigma * rng.standard_normal((N, n))
        )
        worths -= worths.mean(axis=1, keepdims=True)
        log_tie = TIE_SD * rng.standard_normal()
        if not problem.has_ties:
            log_tie = 0.0
        record_rows.append(
            (
                population_means,
                loadings,
                np.array([log_s, np.log(sigma), np.log(loading_sd)]),
                log_tie,
                0.0,
                worths,
            )
        )
    return PeopleRecord(*(np.array(values) for values in zip(*record_rows, strict=True)))
