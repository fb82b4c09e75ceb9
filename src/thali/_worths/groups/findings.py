"""Findings that worths of several groups report."""

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.numerics.ranks import average_ranks
from thali._labels import format_plural, list_names
from thali._model.choice_findings import MAX_GROUPS, check, format_row
from thali._model.common_findings import (
    convergence,
    data,
    make_methods_maker,
    make_question_maker,
    summary,
)
from thali._model.finding import ON_SCREEN, STATISTICS, Finding, FindingMaker, Text, finding
from thali._model.finding_settings import AnswerSettings
from thali._model.sentence_templates import phrase
from thali._number_format import format_probability
from thali._posterior.posterior_tree import Posterior

from .. import findings as of_one
from ..estimation_methods import read_worth_draws
from ..latent_classes.findings import join_rank_tables, report_stacked_worths

if TYPE_CHECKING:
    from ..model import BradleyTerryLuce

ENGLISH = {
    "first": "{option} by {name} (probability {probability})",
    "ranks": "Most preferred: {first}.",
    "ranks.title": "Rank of each option, by group",
    "alike": "No option clearly ranks higher in one group than in another; the most probable"
    " difference: {option} ranks higher for {more} than for {less} (probability"
    " {probability}).",
    "higher": "{option} ranks higher for {more} than for {less} (probability {probability})",
    "differ": "Some options rank higher in one group than in another: {each}{more}.",
    "asked": "How strongly do {names} prefer each option?",
    "worths": "Log worth of each option (mean 0), and its share of the total worth, by group",
    "differences": "Differences between the log worths of groups",
    "spread": "Spread between groups (standard deviation of their log worths for an option around"
    " the common one): {value}.",
    "methods.free": "Log worths were estimated separately for each of the {number} groups, with the"
    " same prior. The posterior was sampled by Hamiltonian Monte Carlo.",
    "methods.similar": "The log worths of each of the {number} groups were Normal around those"
    " common to all groups, with a half-Normal(1) prior on the standard deviation. The posterior"
    " was sampled by Hamiltonian Monte Carlo.",
}

_SURE = 0.95  # probability from which on a difference is named
_NAMED = 3


def list_makers(model: "BradleyTerryLuce", settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """Return the functions that make the findings of a fit."""
    return MAKERS


@finding("ranks", "Ranking of the options by group", ON_SCREEN)
def report_group_ranks(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding:
    """Report the ranks of the options in each group of respondents."""
    posterior = Posterior(model.posterior_)
    group_models = {name: model.of_group(name) for name in posterior.groups}
    tables: dict[str, Any] = {
        name: group_model.ranks(every_rank=True, ci=settings.ci)
        for name, group_model in group_models.items()
    }
    best_options = []
    for name, table in tables.items():
        p_best = table["p_1"].sort_values(ascending=False, kind="stable")
        probability = format_probability(p_best.iloc[0])
        best_options.append(
            ENGLISH["first"].format(option=p_best.index[0], name=name, probability=probability)
        )
    sentence = phrase(ENGLISH, "ranks", first=list_names(best_options, MAX_GROUPS))
    if 1 < len(tables) <= MAX_GROUPS:
        draws = {
            name: average_ranks(-read_worth_draws(Posterior(group_model.posterior_)).log_worths)
            for name, group_model in group_models.items()
        }
        sentence = f"{sentence} {_describe_differences(draws, posterior.labels)}"
    return join_rank_tables("group", tables, sentence, ENGLISH["ranks.title"], leads=True)


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
    return phrase(ENGLISH, "differ", each=difference_text, more=remainder_text)


def _describe_difference(key: str, difference: dict[str, Any]) -> str:
    """Fill the sentence with this key with one difference between groups."""
    return ENGLISH[key].format(probability=format_probability(difference["p"]), **difference)


@finding("worths", "Worths by group", ON_SCREEN)
def report_group_worths(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding:
    """Report the log worths of all options in each group."""
    models = {name: model.of_group(name) for name in Posterior(model.posterior_).groups}
    return report_stacked_worths("group", models, ENGLISH["worths"], settings)


@finding("group_differences", "Differences between groups")
def report_differences(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding | None:
    """Report differences of log worths between groups."""
    if not 1 < len(Posterior(model.posterior_).groups) <= MAX_GROUPS:
        return None
    table = model.group_differences(settings.ci)
    return Finding(title=ENGLISH["differences"], table=table)


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
def report_parameters(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding:
    """Report spread, lapse, ties and other parameters of no single group."""
    summary_rows = model.summary(settings.ci)
    notes = []
    if "spread_of_groups" in summary_rows.index:
        spread = format_row(summary_rows, "spread_of_groups")
        notes.append(phrase(ENGLISH, "spread", value=spread))
    spread_finding = of_one.report_parameters(model, settings)
    assert spread_finding is not None
    return replace(spread_finding, notes=(*notes, *spread_finding.notes))


def describe_model(model: "BradleyTerryLuce") -> tuple[Text, ...]:
    """Return methods sentences about choices and groups."""
    groups = Posterior(model.posterior_).groups
    return (
        *of_one.describe_choice_rules(model.of_group(groups[0])),
        phrase(ENGLISH, f"methods.{model.people.weights}", number=len(groups)),
    )


MAKERS = (
    make_question_maker(
        lambda model: phrase(ENGLISH, "asked", names=list_names(Posterior(model.posterior_).groups))
    ),
    report_group_ranks,
    report_group_worths,
    report_differences,
    of_one.report_choice_probabilities,
    report_parameters,
    check,
    summary,
    data,
    make_methods_maker(describe_model),
    convergence,
)
