r"""What posteriors make of the answers of one person being alike: the design effect, and draws that allow for it.

With the information J of the log-likelihood at the mode, the Hessian H there with the prior, and the variance V of
respondents' scores, as in `respondent_scores`, the mean design effect is
:math:`\delta = \operatorname{tr}(J^- V) / \operatorname{rank} J`. Either draws are spread to the covariance
:math:`H^{-1} V H^{-1}` (Müller 2013; Ribatet, Cooley & Davison 2012), or the likelihood is raised to the power
:math:`1 / \max(1, \delta)` (Pauli, Racugno & Ventura 2011; Rao & Scott 1984).
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from thali._data.choices import Choices
from thali._data.groups import GroupedData
from thali._data.pairs import PairedComparisons
from thali._model.clusters import Clusters, clusters_of
from thali._model.design_effect import choose_dependence, effect_of
from thali._model.respondent_scores import (
    RespondentScores,
    ScoreVariance,
    inverse_root,
    raise_improbable_variance,
)
from thali._people.populations import ADJUSTED, INDEPENDENT, Individuals, LatentClasses
from thali._posterior.dependence import (
    INDIVIDUALS,
    POWER,
    SCORES,
    Dependence,
)

from .bradley_terry import AnyDensity, NormalWorths, Worths
from .likelihoods.elimination import Elimination
from .maximum_likelihood.estimates import covariate_sizes
from .maximum_likelihood.feature_problems import NO_COEFFICIENTS, FeatureProblem, feature_problem, weights_at_mode
from .maximum_likelihood.maximum import mode_of
from .maximum_likelihood.problem import Pose, problem
from .priors.given import Given
from .samplers.task import weights_of

CONTRASTS = 50  # options, of whose degrees of freedom the median is taken
MAX_OPTIONS = 2_000  # above, the matrices take more time and memory than the chains
NO_INFORMATION = 1e-9  # share of the largest eigenvalue below which a direction has none


def scores_at(
    pose: Pose | FeatureProblem, clusters: Clusters, weights: np.ndarray, beta: np.ndarray = NO_COEFFICIENTS
) -> ScoreVariance:
    """Return the variance of respondents' scores at a point, in coordinates in which the information is 1."""
    root = inverse_root(-pose.slopes(weights, beta).hessian, NO_INFORMATION)
    return RespondentScores(pose, clusters.tally, weights, beta, root).variance()


def dependence_of_everybody(data: GroupedData) -> Dependence:
    """That of people of whom each has weights of their own, and is a group."""
    counts = np.array([part.n_answers for part in data.data], float)
    return Dependence(INDIVIDUALS, "", len(counts), float(counts.sum()), float(counts.max()), float("nan"))


def dependence_of_chains(
    asked: Any, data: Any, parts: dict[str, Any], features: Callable[[], np.ndarray] | None = None
) -> Dependence | None:
    """What chains make of people: nothing by default, or they take a power of the likelihood.

    The design effect of choices is that of known aspects, or else of the Bradley-Terry-Luce model; that of triplets and
    similarities is of the `features` that are found (features, objects).
    """
    if features is None and not data.are_choices:  # which the model refuses
        return None
    if isinstance(asked, LatentClasses):  # which are a model of people
        return None
    if isinstance(asked, Individuals):
        return dependence_of_everybody(data)
    likelihood = parts["likelihood"]
    told = data.data if isinstance(data, GroupedData) else [data]
    has_ties = features is None and likelihood.ties
    known = [(part, found) for part in told if (found := clusters_of(part, has_ties)) is not None]
    made = choose_dependence(asked, INDEPENDENT, data, [found for _, found in known])
    if made is None or made.number < 2 or (asked is None and data.n_options > MAX_OPTIONS):
        return made
    if features is None:
        scores = [_scores_of(part, clusters, likelihood, parts["prior"]) for part, clusters in known]
    elif made.most < 2.0:  # it is 1 then, and features take a while to find
        return made
    else:
        owners = features()
        scores = [_scores_of_features(part, clusters, parts, owners) for part, clusters in known]
    effect = effect_of(scores)  # NaN without weights that people could differ in
    return replace(made, by=POWER if made.model == ADJUSTED and not math.isnan(effect) else "", effect=effect)


def effect_of_data(data: Any) -> float:
    """The design effect of the Bradley-Terry-Luce model; NaN where nobody answered twice, or it takes too long."""
    if not data.are_choices or data.n_options > MAX_OPTIONS:
        return float("nan")
    data = data.without_dates() if isinstance(data, PairedComparisons) else data
    likelihood = Elimination(ties=data.n_ties > 0, shared=False)
    clusters = clusters_of(data, likelihood.ties)
    if clusters is None or clusters.answers.max() < 2.0:
        return float("nan")
    return effect_of([_scores_of(data, clusters, likelihood, None)])


def _scores_of(data: Any, clusters: Clusters, likelihood: Elimination, prior: Any) -> ScoreVariance:
    """Return the variance of respondents' scores at the mode of the posterior."""
    pose = _problem_of(data, likelihood, prior)
    place = mode_of(pose, covariate_sizes(data))
    return scores_at(pose, clusters, _comparable(place.logs), place.beta)


def _scores_of_features(data: Any, clusters: Clusters, parts: dict[str, Any], owners: np.ndarray) -> ScoreVariance:
    """Return the same at the mode of the weights of features."""
    likelihood = parts["likelihood"]
    pose, prior = feature_problem(data, owners, likelihood), weights_of(parts["weight_prior"], likelihood)
    return scores_at(pose, clusters, weights_at_mode(pose, prior.shape, prior.rate))


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
    return problem(data, owners, likelihood.lapse, best_worst=likelihood.best_worst)


def worths_of(asked: Any, data: PairedComparisons | Choices, density: AnyDensity) -> tuple[Worths, Dependence | None]:
    """Draws of worths from their density near its mode, which allow for people unless asked not to."""
    clusters = clusters_of(data, density.has_ties)
    made = choose_dependence(asked, ADJUSTED, data, [] if clusters is None else [clusters])
    normal = NormalWorths(density)
    if made is None or clusters is None:
        return normal, made
    n = data.n_options
    extra = None if isinstance(data, Choices) or data.covariates is None else data.cells.x
    pose = problem(data, np.eye(n, dtype=bool), density.lapse, extra, density.has_ties)
    logs, log_nu, beta = density.parts_of(normal.mode)
    order = np.concatenate([np.arange(n), n + np.roll(np.arange(density.size - n), int(density.has_ties))])
    root = normal.inverse_root[np.argsort(order)]
    point = _comparable(logs), np.concatenate([beta, log_nu])
    scores = RespondentScores(pose, clusters.tally, *point, root)
    found = scores.variance()
    made = replace(made, effect=effect_of([found]))
    if made.model != ADJUSTED:
        return normal, made
    contrasts = np.zeros((n, density.size, 1))
    contrasts[:, :n, 0] = np.eye(n) - 1.0 / n
    df = float(np.median(scores.degrees(contrasts[:: max(1, n // CONTRASTS)])))
    variance = raise_improbable_variance(found, df, (made.number - 1) / (density.size - 1))
    return normal.spread(variance, df), replace(made, by=SCORES, df=df, share=found.share)
