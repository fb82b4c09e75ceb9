"""Dependence between answers of the same respondent, in posteriors of choices."""

from typing import Any

import numpy as np

from thali._data.choices import Choices
from thali._data.kinds import CHOICES
from thali._data.pairs import PairedComparisons
from thali._inference.numerics.weight_shares import scale_to_maximum
from thali._model.answers_by_respondent import AnswersByRespondent, group_by_respondent
from thali._model.cluster_robust_variance import ScoreVariance, compute_score_variance
from thali._model.dependent_answers import MAX_OPTIONS, choose_chain_dependence
from thali._model.labelled_option_sets import is_best_worst
from thali._posterior.respondent_dependence import Dependence

from .likelihoods.elimination import MAX_RANKED_OPTIONS, Elimination, convert_to_rankings
from .maximum_likelihood.estimates import compute_covariate_sizes
from .maximum_likelihood.maximisation import find_mode
from .maximum_likelihood.pair_likelihood import WeightProblem, build_problem
from .priors.given_features import Given
from .priors.prior_from_argument import FeaturePrior


def choice_dependence(
    setting: str | None, data: Any, task_arguments: dict[str, Any]
) -> Dependence | None:
    """Return how chains correct for a respondent's repeated choices; None for other data.

    The design effect is that of known aspects, or else of Bradley-Terry-Luce.
    """
    if not data.are_choices:  # the model rejects these data
        return None
    likelihood = task_arguments["likelihood"]
    prior = task_arguments["prior"]
    return choose_chain_dependence(
        setting,
        data,
        lambda clusters: _compute_scores(data, clusters, likelihood, prior),
        likelihood.ties,
    )


def choice_design_effect(data: Any) -> float:
    """Return the design effect of repeated choices under the Bradley-Terry-Luce model.

    It is NaN if no respondent answered twice, if it takes too long, for rankings with ties, and for
    best and worst of more than three options.
    """
    if (
        not data.are_choices
        or data.n_options > MAX_OPTIONS
        or (data.kind == CHOICES and data.n_ties)
    ):
        return float("nan")
    if (
        isinstance(data, Choices)
        and data.worst is not None
        and data.sizes.max() > MAX_RANKED_OPTIONS
    ):
        return float("nan")
    if isinstance(data, PairedComparisons):
        data = data.without_dates()
    likelihood = Elimination(ties=data.n_ties > 0)
    clusters = group_by_respondent(data, likelihood.ties)
    if clusters is None or clusters.n_answers.max() < 2.0:
        return float("nan")
    return _compute_scores(data, clusters, likelihood, None).design_effect


def _compute_scores(
    data: PairedComparisons | Choices,
    clusters: AnswersByRespondent,
    likelihood: Elimination,
    prior: "FeaturePrior | None",
) -> ScoreVariance:
    """Compute the variance of respondents' likelihood scores at the posterior mode."""
    if is_best_worst(data):
        data = convert_to_rankings(data)
        clusters = group_by_respondent(data, False) or clusters
    weight_problem = _build_weight_problem(data, likelihood, prior)
    mode = find_mode(weight_problem, compute_covariate_sizes(data))
    return compute_score_variance(weight_problem, clusters, scale_to_maximum(mode.logs), mode.beta)


def _build_weight_problem(
    data: PairedComparisons | Choices, likelihood: Elimination, prior: "FeaturePrior | None"
) -> WeightProblem:
    """Build the likelihood problem of aspect weights, or of worths without aspects."""
    owners = np.eye(data.n_options, dtype=bool)
    if isinstance(data, PairedComparisons):
        if isinstance(prior, Given) and prior.matrix.any():
            if likelihood.unique:
                owners = np.hstack([owners, prior.matrix])
            else:
                owners = prior.matrix
        covariates = data.cells.x / compute_covariate_sizes(data)
        return build_problem(data, owners, likelihood.lapse, covariates, likelihood.ties)
    return build_problem(data, owners, likelihood.lapse)
