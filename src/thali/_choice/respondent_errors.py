"""Covariance of a logit's estimates if a respondent's answers to several tasks depend."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._model.answers_by_respondent import AnswersByRespondent
from thali._model.choice_findings import make_dependence_maker
from thali._model.cluster_robust_variance import (
    NO_INFORMATION,
    AnswerScores,
    RespondentScores,
    RespondentVariance,
    inverse_root,
)
from thali._model.dependent_answers import choose_dependence
from thali._people.people_argument import ADJUSTED

from .logit_likelihood import EncodedTasks, compute_local_likelihood, fisher_information

if TYPE_CHECKING:
    from thali._data.experiments import ChoiceExperiment
    from thali._posterior.respondent_dependence import Dependence


@dataclass(frozen=True)
class EstimateErrors:
    """Covariance of estimates, and the treatment of repeated answers of respondents."""

    covariance: np.ndarray  # (p, p)
    people: "Dependence | None" = None
    scores: RespondentScores | None = None  # if the covariance is over respondents

    def compute_degrees(self, contrasts: np.ndarray) -> np.ndarray:
        """Return degrees of freedom of each contrast (contrasts, p); infinite if independent."""
        if self.scores is None:
            return np.full(len(contrasts), np.inf)
        return self.scores.degrees_of_freedom(contrasts[:, :, None])


def estimate_errors(
    people: str | None,
    data: "ChoiceExperiment",
    information: np.ndarray,
    build_scores: Callable[[], tuple[AnswerScores, Any]],
) -> EstimateErrors:
    """Estimate the covariance of estimates at a maximum with this information.

    `build_scores()` returns `AnswerScores` and a sparse tally of each respondent's answers.
    """
    covariance = np.linalg.pinv(information, hermitian=True)
    clusters = None
    if data.n_respondents > 1:
        clusters = AnswersByRespondent(
            _count_by_respondent(data, np.arange(data.n_tasks), data.n_tasks)
        )
    dependence = choose_dependence(people, ADJUSTED, data, clusters)
    if clusters is None or dependence is None:
        return EstimateErrors(covariance, dependence)
    scores, tally = build_scores()
    root = inverse_root(information, NO_INFORMATION)
    origin = np.zeros(len(information))
    respondent_scores = RespondentScores(scores, tally, origin, origin[:0], root)
    dependence = replace(dependence, effect=respondent_scores.variance.design_effect)
    if dependence.model != ADJUSTED:
        return EstimateErrors(covariance, dependence)
    variance = RespondentVariance(
        respondent_scores.variance,
        root,
        respondent_scores.degrees_of_freedom(np.eye(len(information))[:, :, None]),
        (data.n_respondents - 1) / max(root.shape[1], 1),
    )
    # Directions without information, along which estimates diverge, keep their huge variance.
    excess = variance.score_covariance - np.eye(root.shape[1])
    return EstimateErrors(
        covariance + root @ excess @ root.T, variance.describe(dependence), respondent_scores
    )


def score_tasks(
    data: "ChoiceExperiment", tasks: EncodedTasks, beta: np.ndarray
) -> tuple[AnswerScores, Any]:
    """Return scores of all alternatives as answers, and each respondent's choices, sparse."""
    from scipy.sparse import csr_array

    likelihood = compute_local_likelihood(tasks, beta)
    answer_scores = AnswerScores(
        csr_array(likelihood.spread),
        likelihood.probability,
        np.diff(tasks.first_row),
        likelihood.score.sum(axis=0),
        -fisher_information(likelihood),
    )
    return answer_scores, _count_by_respondent(data, tasks.chosen_row, len(tasks.matrix))


def _count_by_respondent(
    data: "ChoiceExperiment", answer_of_task: np.ndarray, n_answers: int
) -> Any:
    """Return how often each respondent gave each answer, sparse (respondents, answers)."""
    from scipy.sparse import csr_array

    return csr_array(
        (np.ones(data.n_tasks), (data.respondent_of_task, answer_of_task)),
        shape=(data.n_respondents, n_answers),
    )


def score_people(
    gradients: np.ndarray, informations: np.ndarray, information: np.ndarray
) -> tuple[AnswerScores, Any]:
    """Return gradients and informations (people, p, p) as scores of answers, and a tally.

    A person's question has the given answer, whose score is the gradient, and others, whose
    squared scores sum to the information. Its directions of negative information are omitted.
    """
    from scipy.sparse import csr_array

    n_people, p = gradients.shape
    root = inverse_root(information, NO_INFORMATION)
    shares = _keep_positive(root.T @ informations @ root)
    values, vectors = np.linalg.eigh(shares.sum(axis=0))
    scale = (vectors / np.sqrt(values)) @ vectors.T  # shares sum to 1 again
    weights, vectors = np.linalg.eigh(scale @ shares @ scale)
    directions = vectors.swapaxes(1, 2) @ np.linalg.pinv(root)
    answers = np.concatenate([gradients[:, None], directions], axis=1)
    weights = np.column_stack([np.zeros(n_people), np.maximum(weights, 0.0)])
    answer_scores = AnswerScores(
        csr_array(answers.reshape(-1, p)),
        weights.ravel(),
        np.full(n_people, weights.shape[1]),
        gradients.sum(axis=0),
        -information,
    )
    person = np.arange(n_people)
    return answer_scores, csr_array(
        (np.ones(n_people), (person, person * weights.shape[1])), shape=(n_people, weights.size)
    )


def _keep_positive(matrices: np.ndarray) -> np.ndarray:
    """Return symmetric matrices (..., r, r) with negative eigenvalues set to 0."""
    eigenvalues, vectors = np.linalg.eigh(matrices)
    return (vectors * np.maximum(eigenvalues, 0.0)[..., None, :]) @ vectors.swapaxes(-1, -2)


def get_df(dependence: "Dependence | None") -> float:
    """Return the median degrees of freedom of estimates; infinite if answers are independent."""
    if dependence is None:
        return np.inf
    return dependence.df


def draw_t_factors(rng: np.random.Generator, df: float, n_draws: int) -> np.ndarray:
    """Return factors (n_draws, 1) that turn normal deviations into Student's t."""
    if np.isinf(df):
        return np.ones((n_draws, 1))
    return np.sqrt(df / rng.chisquare(df, (n_draws, 1)))


report_dependence = make_dependence_maker(lambda model: model._people_)
