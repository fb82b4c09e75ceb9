"""Findings about groups of respondents: how each ranks the options, and where groups differ."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np

from thali._digits import format_probability
from thali._labels import format_plural, list_names

from .choice_findings import MAX_GROUPS
from .class_findings import join_rank_tables
from .finding import ON_SCREEN, Finding, Maker, Text, finding
from .phrases import phrase
from .settings import AnswerSettings

SENTENCES = {
    "first": "{option} by {name} (probability {probability})",
    "ranks": "Most preferred: {first}.",
    "ranks.title": "Rank of each option, by group",
    "alike": "No option clearly ranks higher in one group than in another; the most probable"
    " difference: {option} ranks higher for {more} than for {less} (probability"
    " {probability}).",
    "higher": "{option} ranks higher for {more} than for {less} (probability {probability})",
    "differ": "Some options rank higher in one group than in another: {each}{more}.",
}
_SURE = 0.95  # probability from which on a difference is named
_NAMED = 3


def group_ranks(rank_draws: Callable[[Any], np.ndarray]) -> Maker:
    """Return the maker of the finding about ranks; `rank_draws` (draws, options) of a model of one
    group."""

    @finding("ranks", "Ranking of the options by group", ON_SCREEN)
    def ranks(model: Any, settings: AnswerSettings) -> Finding:
        each = {name: model.of_group(name) for name in model._groups}
        found = {name: one.ranks(every_rank=True, ci=settings.ci) for name, one in each.items()}
        first = []
        for name, table in found.items():
            likely = table["p_1"].sort_values(ascending=False, kind="stable")
            facts = {"option": likely.index[0], "probability": format_probability(likely.iloc[0])}
            first.append(str(phrase(SENTENCES, "first", name=name, **facts)))
        sentence = phrase(SENTENCES, "ranks", first=list_names(first, MAX_GROUPS))
        if 1 < len(found) <= MAX_GROUPS:
            draws = {name: rank_draws(one) for name, one in each.items()}
            sentence = f"{sentence} {_most_different(draws, model._view.labels)}"
        return join_rank_tables("group", found, sentence, SENTENCES["ranks.title"], leads=True)

    return ranks


def _most_different(ranks: dict[str, np.ndarray], labels: list[str]) -> Text:
    """Name options that rank higher in one group than in another, as far as that is sure."""
    found = [
        (float(p), option, more, less)
        for more, less in permutations(ranks, 2)
        for option, p in zip(labels, (ranks[more] < ranks[less]).mean(axis=0), strict=True)
    ]
    found.sort(key=lambda each: -each[0])
    named = [
        {"option": option, "more": more, "less": less, "probability": format_probability(p)}
        for p, option, more, less in found
    ]
    sure = sum(each[0] >= _SURE for each in found)
    if not sure:
        return phrase(SENTENCES, "alike", **named[0])
    each = "; ".join(
        str(phrase(SENTENCES, "higher", **facts)) for facts in named[: min(sure, _NAMED)]
    )
    more = f", and {format_plural(sure - _NAMED, 'other difference')}" if sure > _NAMED else ""
    return phrase(SENTENCES, "differ", each=each, more=more)
