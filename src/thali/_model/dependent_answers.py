r"""Design effect of dependent answers by one respondent, and posteriors that allow for it.

With the information J of the log-likelihood at the mode, the Hessian H with the prior, and the
variance V of respondents' scores (see `cluster_robust_variance`), the mean design effect is
:math:`\delta = \operatorname{tr}(J^- V) / \operatorname{rank} J`. Either draws are rescaled to the
covariance :math:`H^{-1} V H^{-1}` (Müller 2013; Ribatet, Cooley & Davison 2012), or the likelihood
is raised to the power :math:`1 / \max(1, \delta)` (Pauli, Racugno & Ventura 2011; Rao & Scott
1984).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from thali._data.grouped_data import GroupedData
from thali._people.people_argument import (
    ADJUSTED,
    INDEPENDENT,
    Groups,
    Individuals,
    LatentClasses,
    unknown_respondents_error,
)
from thali._posterior.respondent_dependence import (
    INDIVIDUALS,
    POWER,
    Dependence,
    single_respondent_error,
)

from .answers_by_respondent import AnswersByRespondent, group_by_respondent
from .cluster_robust_variance import ScoreVariance

# share of respondents with two answers or more, from which on the adjustment is the default
MIN_REPEATED = 0.5
MAX_OPTIONS = 2_000  # above, the matrices take more time and memory than the chains


def mean_design_effect(variances: list[ScoreVariance]) -> float:
    """Return the design effect averaged over groups; NaN without information on any weight."""
    rank = sum(variance.rank for variance in variances)
    if rank:
        return sum(variance.trace for variance in variances) / rank
    return float("nan")


# Treatment of respondents, as requested or by default ---------------------------------------------


def choose_dependence(
    people: Any, default_model: str, data: Any, clusters: list[AnswersByRespondent]
) -> Dependence | None:
    """Choose how the model treats dependence of a respondent's answers; None if unidentified."""
    if not clusters:
        n_identified = max(len(part.respondents) for part in _list_group_data(data))
        if people == ADJUSTED:
            if n_identified == 1:
                raise single_respondent_error(ADJUSTED)
            raise unknown_respondents_error(ADJUSTED)
        n_answers = float(data.n_answers)
        if n_identified != 1:
            return None
        return Dependence(INDEPENDENT, "", 1, n_answers, n_answers, float("nan"))
    answer_counts = np.concatenate([cluster.n_answers for cluster in clusters])
    treatment = INDEPENDENT
    if isinstance(people, str):
        treatment = people
    elif np.mean(answer_counts >= 2.0) >= MIN_REPEATED:
        treatment = default_model
    if treatment == ADJUSTED and answer_counts.max() < 2.0:
        treatment = INDEPENDENT  # there is nothing to adjust
    is_grouped = float(isinstance(people, Groups))
    return Dependence(
        treatment,
        "",
        len(answer_counts),
        float(answer_counts.sum()),
        float(answer_counts.max()),
        float("nan"),
        grouped=is_grouped,
    )


def build_individual_dependence(answer_counts: np.ndarray) -> Dependence:
    """Describe respondents with individual parameters, from their numbers of answers."""
    return Dependence(
        INDIVIDUALS,
        "",
        len(answer_counts),
        float(answer_counts.sum()),
        float(answer_counts.max()),
        float("nan"),
    )


def choose_chain_dependence(
    people: Any,
    data: Any,
    compute_variances: Callable[[list[tuple[Any, AnswersByRespondent]]], list[ScoreVariance]],
    has_ties: bool = False,
) -> Dependence | None:
    """Choose how a fit by chains treats dependent answers of a respondent; None if not at all.

    `compute_variances` returns the variance of respondents' scores for the data and respondents of
    each group; it is not called if the design effect is 1.
    """
    if isinstance(people, LatentClasses):  # classes model the respondents themselves
        return None
    if isinstance(people, Individuals):
        return build_individual_dependence(np.array([part.n_answers for part in data.data], float))
    group_answers = [
        (part, clusters)
        for part in _list_group_data(data)
        if (clusters := group_by_respondent(part, has_ties)) is not None
    ]
    dependence = choose_dependence(
        people, INDEPENDENT, data, [clusters for _, clusters in group_answers]
    )
    if (
        dependence is None
        or dependence.number < 2
        or (people is None and data.n_options > MAX_OPTIONS)
    ):
        return dependence
    # NaN without weights that differ between respondents
    design_effect = mean_design_effect(compute_variances(group_answers))
    if dependence.model == ADJUSTED and not math.isnan(design_effect):
        return replace(dependence, by=POWER, effect=design_effect)
    return replace(dependence, effect=design_effect)


def _list_group_data(data: Any) -> Sequence[Any]:
    """Return the data of each group; without groups, a list of the whole data."""
    if isinstance(data, GroupedData):
        return data.data
    return [data]
