"""Findings about groups of respondents: ranks by group, and differences."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np

from thali._labels import format_plural, list_names
from thali._number_format import format_probability

from .choice_findings import MAX_GROUPS
from .finding import ON_SCREEN, Finding, FindingMaker, Text, finding
from .finding_settings import AnswerSettings
from .latent_class_findings import join_rank_tables
from .sentence_templates import phrase

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


def make_group_ranks_maker(get_rank_draws: Callable[[Any], np.ndarray]) -> FindingMaker:
    """Return the maker of the finding "ranks by group"; `get_rank_draws` gives draws.

    `get_rank_draws(model)` returns the ranks of one group, shape (draws, options).
    """

    @finding("ranks", "Ranking of the options by group", ON_SCREEN)
    def ranks(model: Any, settings: AnswerSettings) -> Finding:
        """Report the ranks of the options in each group of respondents."""
        group_models = {name: model.of_group(name) for name in model._groups}
        tables = {
            name: group_model.ranks(every_rank=True, ci=settings.ci)
            for name, group_model in group_models.items()
        }
        best_options = []
        for name, table in tables.items():
            p_best = table["p_1"].sort_values(ascending=False, kind="stable")
            probability = format_probability(p_best.iloc[0])
            best_options.append(
                SENTENCES["first"].format(
                    option=p_best.index[0], name=name, probability=probability
                )
            )
        sentence = phrase(SENTENCES, "ranks", first=list_names(best_options, MAX_GROUPS))
        if 1 < len(tables) <= MAX_GROUPS:
            draws = {
                name: get_rank_draws(group_model) for name, group_model in group_models.items()
            }
            sentence = f"{sentence} {_describe_differences(draws, model._view.labels)}"
        return join_rank_tables("group", tables, sentence, SENTENCES["ranks.title"], leads=True)

    return ranks


def _describe_differences(rank_draws: dict[str, np.ndarray], labels: list[str]) -> Text:
    """Describe options that clearly rank higher in one respondent group than another."""
    differences = [
        {"option": option, "more": more, "less": less, "p": float(p)}
        for more, less in permutations(rank_draws, 2)
        for option, p in zip(
            labels, (rank_draws[more] < rank_draws[less]).mean(axis=0), strict=True
        )
    ]
    differences.sort(key=lambda difference: -difference["p"])
    n_sure = sum(difference["p"] >= _SURE for difference in differences)
    if not n_sure:
        return _describe_difference("alike", differences[0])
    difference_text = "; ".join(
        _describe_difference("higher", difference)
        for difference in differences[: min(n_sure, _NAMED)]
    )
    remainder_text = ""
    if n_sure > _NAMED:
        remainder_text = f", and {format_plural(n_sure - _NAMED, 'other difference')}"
    return phrase(SENTENCES, "differ", each=difference_text, more=remainder_text)


def _describe_difference(key: str, difference: dict[str, Any]) -> str:
    """Fill the sentence with this key with one difference between groups."""
    return SENTENCES[key].format(probability=format_probability(difference["p"]), **difference)
