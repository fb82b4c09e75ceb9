"""What posteriors of choices make of the answers of one person being alike, as `dependence` has
it."""

from functools import partial
from typing import Any

import numpy as np

from thali._data.choices import Choices
from thali._data.kinds import CHOICES
from thali._data.pairs import PairedComparisons
from thali._model.clusters import AnswersByRespondent, group_by_respondent
from thali._model.design_effects import MAX_OPTIONS, choose_chain_dependence, mean_design_effect
from thali._model.respondent_scores import (
    ScoreVariance,
    compute_score_variance,
)
from thali._posterior.dependence import Dependence

from .likelihoods.elimination import RANKED, Elimination, as_choices
from .maximum_likelihood.estimates import covariate_sizes
from .maximum_likelihood.maximum import mode_of
from .maximum_likelihood.problem import Pose, problem
from .priors.given import Given


def dependence_of_choices(asked: Any, data: Any, parts: dict[str, Any]) -> Dependence | None:
    """What chains of choices make of people: the effect is that of known aspects, or else of
    Bradley-Terry-Luce."""
    if not data.are_choices:  # which the model refuses
        return None
    likelihood, prior = parts["likelihood"], parts["prior"]
    return choose_chain_dependence(
        asked, data, partial(_scores_of_groups, likelihood, prior), likelihood.ties
    )


def _scores_of_groups(
    likelihood: Elimination, prior: Any, known: list[tuple[Any, AnswersByRespondent]]
) -> list[ScoreVariance]:
    return [_scores_of(data, clusters, likelihood, prior) for data, clusters in known]


def effect_of_data(data: Any) -> float:
    """The design effect of the Bradley-Terry-Luce model; NaN where nobody answered twice, or it
    takes too long, of rankings with ties, and of best and worst out of more than three options."""
    if (
        not data.are_choices
        or data.n_options > MAX_OPTIONS
        or (data.kind == CHOICES and data.n_ties)
    ):
        return float("nan")
    if isinstance(data, Choices) and data.worst is not None and data.sizes.max() > RANKED:
        return float("nan")
    data = data.without_dates() if isinstance(data, PairedComparisons) else data
    likelihood = Elimination(ties=data.n_ties > 0)
    clusters = group_by_respondent(data, likelihood.ties)
    if clusters is None or clusters.n_answers.max() < 2.0:
        return float("nan")
    return mean_design_effect([_scores_of(data, clusters, likelihood, None)])


def _scores_of(
    data: Any, clusters: AnswersByRespondent, likelihood: Elimination, prior: Any
) -> ScoreVariance:
    """Return the variance of respondents' scores at the mode of the posterior."""
    if isinstance(data, Choices) and data.worst is not None:
        data = as_choices(data)
        clusters = group_by_respondent(data, False) or clusters
    pose = _problem_of(data, likelihood, prior)
    place = mode_of(pose, covariate_sizes(data))
    return compute_score_variance(pose, clusters, _comparable(place.logs), place.beta)


def _comparable(logs: np.ndarray) -> np.ndarray:
    """Weights of which only ratios count, by their logarithms."""
    return np.exp(logs - logs.max())


def _problem_of(data: Any, likelihood: Elimination, prior: Any) -> Pose:
    """The problem of known aspects, where they are; otherwise that of worths."""
    owners = np.eye(data.n_options, dtype=bool)
    if isinstance(data, PairedComparisons):
        if isinstance(prior, Given) and prior.matrix.any():
            owners = np.hstack([owners, prior.matrix]) if likelihood.unique else prior.matrix
        extra = data.cells.x / covariate_sizes(data)
        return problem(data, owners, likelihood.lapse, extra, likelihood.ties)
    return problem(data, owners, likelihood.lapse)
