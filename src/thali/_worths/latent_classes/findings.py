"""Findings that worths of latent classes report."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from thali._model.choice_findings import check, format_row
from thali._model.common_findings import convergence, data, make_methods_maker, summary
from thali._model.finding import ON_SCREEN, STATISTICS, Brief, Finding, FindingMaker, Text, finding
from thali._model.finding_settings import AnswerSettings
from thali._model.latent_class_findings import (
    assignment,
    class_notes,
    describe_matching,
    latent_classes,
    list_occupied_class_models,
    question,
    ranks,
    same_class,
)
from thali._model.sentence_templates import phrase

from .. import findings as of_one

if TYPE_CHECKING:
    from ..model import BradleyTerryLuce

ENGLISH = {
    "worths": "Log worth of each option (mean 0), and its share of the total worth, by class",
    "spread": "Spread between respondents (standard deviation of their log worths for an option):"
    " {value}.",
    "methods": "Each respondent belonged to one of {number} latent classes, with a"
    " Dirichlet(1, ..., 1) prior on the class shares; class memberships were inferred. Log worths"
    " were {how}. The posterior was sampled by Hamiltonian Monte Carlo given memberships, which"
    " were drawn in turn, with splits and merges of classes.",
    "methods.free": "independent across classes",
    "methods.similar": "Normal around those common to all classes, with a half-Normal(1) prior on"
    " the standard deviation",
}


def list_makers(model: "BradleyTerryLuce", settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """Return the functions that make the findings of a fit."""
    return MAKERS


@finding("worths", "Worths by class", ON_SCREEN)
def report_class_worths(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding:
    """Report the log worths of all options in each class."""
    return report_stacked_worths(
        "latent_class", list_occupied_class_models(model), ENGLISH["worths"], settings
    )


def report_stacked_worths(
    column_name: str, models: "dict[Any, BradleyTerryLuce]", title: str, settings: AnswerSettings
) -> Finding:
    """Report log worths of several models in one table, named in `column_name`."""
    import pandas as pd

    worth_tables = {name: model.worths(settings.ci) for name, model in models.items()}
    table = pd.concat(worth_tables, names=[column_name])
    return Finding(title=title, table=table, brief=Brief("Worths", table=table))


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
def report_parameters(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding:
    """Report spread, lapse, ties and other parameters of no single class."""
    summary_rows = model.summary(settings.ci)
    spread = format_row(summary_rows, "spread_of_respondents")
    shared_finding = of_one.report_parameters(model, settings)
    assert shared_finding is not None
    notes = (
        *class_notes(summary_rows),
        phrase(ENGLISH, "spread", value=spread),
        *shared_finding.notes,
    )
    return replace(shared_finding, notes=notes)


def describe_model(model: "BradleyTerryLuce") -> tuple[Text, ...]:
    """Return methods sentences about choices and latent classes."""
    people = model.people
    weights_phrase = ENGLISH[f"methods.{people.weights}"]
    sentence = phrase(ENGLISH, "methods", number=people.classes, how=weights_phrase)
    return (*of_one.describe_choice_rules(model), sentence, describe_matching())


MAKERS = (
    question,
    latent_classes,
    ranks,
    report_class_worths,
    of_one.report_scores,
    of_one.report_choice_probabilities,
    report_parameters,
    check,
    summary,
    data,
    make_methods_maker(describe_model),
    assignment,
    same_class,
    convergence,
)
