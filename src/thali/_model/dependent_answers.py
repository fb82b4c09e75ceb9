r"""Design effect of dependent answers by one respondent, and posteriors that allow for it.

With the information J of the log-likelihood at the mode, the Hessian H with the prior, and the
variance V of respondents' scores (see `cluster_robust_variance`), the mean design effect is
:math:`\delta = \operatorname{tr}(J^- V) / \operatorname{rank} J`. Either draws are rescaled to the
covariance :math:`H^{-1} V H^{-1}` (Müller 2013; Ribatet, Cooley & Davison 2012), or the likelihood
is raised to the power :math:`1 / \max(1, \delta)` (Pauli, Racugno & Ventura 2011; Rao & Scott
1984).
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._people.people_argument import (
    ADJUSTED,
    INDEPENDENT,
    unknown_respondents_error,
)
from thali._posterior.respondent_dependence import (
    INDIVIDUALS,
    POWER,
    Dependence,
    ItemDependence,
    single_respondent_error,
)

from .answers_by_respondent import AnswersByRespondent, group_by_respondent
from .cluster_robust_variance import ScoreVariance

if TYPE_CHECKING:
    from thali._data.base_classes import Judged


# share of respondents with two answers or more, from which on the adjustment is the default
MIN_REPEATED = 0.5
MAX_OPTIONS = 2_000  # above, the matrices take more time and memory than the chains


# Treatment of respondents, as requested or by default ---------------------------------------------


def choose_dependence(
    people: Any, default_model: str, data: Any, clusters: AnswersByRespondent | None
) -> Dependence | None:
    """Choose how the model treats dependence of a respondent's answers; None if unidentified."""
    if clusters is None:
        n_identified = len(data.respondents)
        if people == ADJUSTED:
            if n_identified == 1:
                raise single_respondent_error(ADJUSTED)
            raise unknown_respondents_error(ADJUSTED)
        n_answers = float(data.n_answers)
        if n_identified != 1:
            return None
        return Dependence(INDEPENDENT, "", 1, n_answers, n_answers, float("nan"))
    answer_counts = clusters.n_answers
    treatment = INDEPENDENT
    if isinstance(people, str):
        treatment = people
    elif np.mean(answer_counts >= 2.0) >= MIN_REPEATED:
        treatment = default_model
    if treatment == ADJUSTED and answer_counts.max() < 2.0:
        treatment = INDEPENDENT  # there is nothing to adjust
    dependence_class = Dependence
    if data.scores is not None:
        dependence_class = ItemDependence
    return dependence_class(
        treatment,
        "",
        len(answer_counts),
        float(answer_counts.sum()),
        float(answer_counts.max()),
        float("nan"),
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
    data: "Judged",
    compute_variance: Callable[[AnswersByRespondent], ScoreVariance | None],
    has_ties: bool = False,
) -> Dependence | None:
    """Choose how a fit by chains treats dependent answers of a respondent; None if not at all.

    `compute_variance` returns the variance of respondents' scores, or None if the design effect is
    not worth its computation.
    """
    clusters = group_by_respondent(data, has_ties)
    dependence = choose_dependence(people, INDEPENDENT, data, clusters)
    if (
        dependence is None
        or clusters is None
        or (people is None and data.n_options > MAX_OPTIONS)
        or (variance := compute_variance(clusters)) is None
    ):
        return dependence
    # NaN without weights that differ between respondents
    design_effect = variance.design_effect
    if dependence.model == ADJUSTED and not math.isnan(design_effect):
        return replace(dependence, by=POWER, effect=design_effect)
    return replace(dependence, effect=design_effect)
