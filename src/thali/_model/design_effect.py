"""The design effect of respondents' answers, and what is made of respondents, as asked for or by default."""

from typing import Any

import numpy as np

from thali._data.groups import GroupedData
from thali._people.populations import ADJUSTED, INDEPENDENT, Groups, unknown_respondents
from thali._posterior.dependence import Dependence, of_one_person

from .clusters import Clusters
from .respondent_scores import ScoreVariance

ALIKE = 0.5  # share of people who answered at least twice, from which on their answers are adjusted for by default


def effect_of(parts: list[ScoreVariance]) -> float:
    """The mean design effect of the data of all groups; NaN where nothing is known of any weight."""
    rank = sum(each.rank for each in parts)
    return sum(each.trace for each in parts) / rank if rank else float("nan")


def choose_dependence(asked: Any, usual: str, data: Any, clusters: list[Clusters]) -> Dependence | None:
    """What is made of the people who answered, before the design effect is known; None if nobody knows who did."""
    parts = data.data if isinstance(data, GroupedData) else [data]
    if not clusters:
        known = max(len(part.respondents) for part in parts)
        if asked == ADJUSTED:
            if known == 1:
                raise of_one_person(ADJUSTED)
            raise unknown_respondents(ADJUSTED)
        answers = float(data.n_answers)
        return Dependence(INDEPENDENT, "", 1, answers, answers, float("nan")) if known == 1 else None
    counts = np.concatenate([each.answers for each in clusters])
    default = usual if np.mean(counts >= 2.0) >= ALIKE else INDEPENDENT
    model = asked if isinstance(asked, str) else default
    if model == ADJUSTED and counts.max() < 2.0:
        model = INDEPENDENT  # there is nothing to adjust
    grouped = float(isinstance(asked, Groups))
    return Dependence(model, "", len(counts), float(counts.sum()), float(counts.max()), float("nan"), grouped=grouped)
