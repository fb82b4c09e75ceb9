r"""What posteriors make of the answers of one person being alike: the design effect, and draws that
allow for it.

With the information J of the log-likelihood at the mode, the Hessian H there with the prior, and
the variance V of respondents' scores, as in `respondent_scores`, the mean design effect is
:math:`\delta = \operatorname{tr}(J^- V) / \operatorname{rank} J`. Either draws are spread to the
covariance :math:`H^{-1} V H^{-1}` (Müller 2013; Ribatet, Cooley & Davison 2012), or the likelihood
is raised to the power :math:`1 / \max(1, \delta)` (Pauli, Racugno & Ventura 2011; Rao & Scott
1984).
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from thali._data.groups import GroupedData
from thali._people.populations import (
    ADJUSTED,
    INDEPENDENT,
    Groups,
    Individuals,
    LatentClasses,
    unknown_respondents,
)
from thali._posterior.dependence import INDIVIDUALS, POWER, Dependence, of_one_person

from .clusters import AnswersByRespondent, group_by_respondent
from .respondent_scores import ScoreVariance

# share of people who answered at least twice, from which on their answers are adjusted for by
# default
ALIKE = 0.5
MAX_OPTIONS = 2_000  # above, the matrices take more time and memory than the chains


def effect_of(parts: list[ScoreVariance]) -> float:
    """The mean design effect of the data of all groups; NaN where nothing is known of any
    weight."""
    rank = sum(each.rank for each in parts)
    return sum(each.trace for each in parts) / rank if rank else float("nan")


# What is made of people, as asked for or by default -----------------------------------------------


def choose_dependence(
    asked: Any, usual: str, data: Any, clusters: list[AnswersByRespondent]
) -> Dependence | None:
    """What is made of the people who answered, before the design effect is known; None if nobody
    knows who did."""
    parts = data.data if isinstance(data, GroupedData) else [data]
    if not clusters:
        known = max(len(part.respondents) for part in parts)
        if asked == ADJUSTED:
            if known == 1:
                raise of_one_person(ADJUSTED)
            raise unknown_respondents(ADJUSTED)
        answers = float(data.n_answers)
        return (
            Dependence(INDEPENDENT, "", 1, answers, answers, float("nan")) if known == 1 else None
        )
    counts = np.concatenate([each.n_answers for each in clusters])
    default = usual if np.mean(counts >= 2.0) >= ALIKE else INDEPENDENT
    model = asked if isinstance(asked, str) else default
    if model == ADJUSTED and counts.max() < 2.0:
        model = INDEPENDENT  # there is nothing to adjust
    grouped = float(isinstance(asked, Groups))
    return Dependence(
        model,
        "",
        len(counts),
        float(counts.sum()),
        float(counts.max()),
        float("nan"),
        grouped=grouped,
    )


def dependence_of_individuals(counts: np.ndarray) -> Dependence:
    """Describe respondents with individual parameters, who gave so many answers each
    (respondents,)."""
    return Dependence(
        INDIVIDUALS, "", len(counts), float(counts.sum()), float(counts.max()), float("nan")
    )


def dependence_of_chains(
    asked: Any,
    data: Any,
    scores_of: Callable[[list[tuple[Any, AnswersByRespondent]]], list[ScoreVariance]],
    has_ties: bool = False,
) -> Dependence | None:
    """What chains make of people: nothing by default, or they take a power of the likelihood.

    `scores_of` gives the variance of respondents' scores for the data of each group and their
    respondents; nothing where the design effect is 1.
    """
    if isinstance(asked, LatentClasses):  # which are a model of people
        return None
    if isinstance(asked, Individuals):
        return dependence_of_individuals(np.array([part.n_answers for part in data.data], float))
    parts = data.data if isinstance(data, GroupedData) else [data]
    known = [
        (part, clusters)
        for part in parts
        if (clusters := group_by_respondent(part, has_ties)) is not None
    ]
    made = choose_dependence(asked, INDEPENDENT, data, [clusters for _, clusters in known])
    if made is None or made.number < 2 or (asked is None and data.n_options > MAX_OPTIONS):
        return made
    effect = effect_of(scores_of(known))  # NaN without weights that people could differ in
    return replace(
        made, by=POWER if made.model == ADJUSTED and not math.isnan(effect) else "", effect=effect
    )
