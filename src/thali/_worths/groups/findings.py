"""Findings that worths of several groups report."""

from dataclasses import replace
from typing import TYPE_CHECKING

from thali._inference.numerics.ranks import average_ranks
from thali._labels import list_names
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
from thali._model.group_findings import make_group_ranks_maker
from thali._model.sentence_templates import phrase

from .. import findings as of_one
from ..latent_classes.findings import report_stacked_worths

if TYPE_CHECKING:
    from ..model import BradleyTerryLuce

ENGLISH = {
    "asked": "How strongly does each of {names} prefer each option?",
    "worths": "Log worth of each option (mean 0), and its share of the total worth, by group",
    "differences": "Differences between the log worths of groups",
    "spread": "Spread between groups (standard deviation of their log worths for an option around"
    " the common one): {value}.",
    "methods": "The {number} groups had separate worths: log worths were {how}. The posterior was"
    " sampled by Hamiltonian Monte Carlo.",
    "methods.free": "independent across groups",
    "methods.similar": "Normal around those common to all groups, with a half-Normal(1) prior on"
    " the standard deviation",
}


def list_makers(model: "BradleyTerryLuce", settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """Return the functions that make the findings of a fit."""
    return MAKERS


@finding("worths", "Worths by group", ON_SCREEN)
def report_group_worths(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding:
    """Report the log worths of all options in each group."""
    models = {name: model.of_group(name) for name in model._groups}
    return report_stacked_worths("group", models, ENGLISH["worths"], settings)


@finding("group_differences", "Differences between groups")
def report_differences(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding | None:
    """Report differences of log worths between groups."""
    if not 1 < len(model._groups) <= MAX_GROUPS:
        return None
    table = model.group_differences(settings.ci)
    return Finding(title=ENGLISH["differences"], table=table)


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
def report_parameters(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding:
    """Report spread, lapse, ties and other parameters of no single group."""
    summary_rows, notes = model.summary(settings.ci), []
    if "spread_of_groups" in summary_rows.index:
        spread = format_row(summary_rows, "spread_of_groups")
        notes.append(phrase(ENGLISH, "spread", value=spread))
    spread_finding = of_one.report_parameters(model, settings)
    assert spread_finding is not None
    return replace(spread_finding, notes=(*notes, *spread_finding.notes))


def describe_model(model: "BradleyTerryLuce") -> tuple[Text, ...]:
    """Return methods sentences about choices and groups."""
    weights_phrase = ENGLISH[f"methods.{model.people.weights}"]
    group_model = model.of_group(model._groups[0])
    return (
        *of_one.describe_choice_rules(group_model),
        phrase(ENGLISH, "methods", number=len(model._groups), how=weights_phrase),
    )


MAKERS = (
    make_question_maker(lambda model: phrase(ENGLISH, "asked", names=list_names(model._groups))),
    make_group_ranks_maker(lambda model: average_ranks(-model._draws.log_worths)),
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
