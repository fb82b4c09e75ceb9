"""Findings that worths of latent classes report."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from thali._labels import list_names
from thali._model.choice_findings import MAX_GROUPS, check, format_ranks, format_row
from thali._model.common_findings import (
    convergence,
    data,
    make_methods_maker,
    make_question_maker,
    summary,
)
from thali._model.finding import (
    FILE,
    ON_SCREEN,
    STATISTICS,
    Brief,
    Finding,
    FindingMaker,
    Text,
    finding,
)
from thali._model.finding_settings import AnswerSettings
from thali._model.references import Cite
from thali._model.sentence_templates import phrase
from thali._number_format import format_number, format_probability
from thali._posterior.posterior_interval import describe_interval
from thali._posterior.posterior_tree import Posterior

from .. import findings as of_one
from .respondent_results import membership_probabilities

if TYPE_CHECKING:
    import pandas

    from ..model import BradleyTerryLuce

ENGLISH = {
    "asked": "Which latent classes are there, which respondents belong to the same class, and"
    " what does each class prefer?",
    "latent_classes": "Number of latent classes: {number} (probability {probability}; at most"
    " {most} allowed).",
    "each": "Class {kind}: {sample} % of the respondents; estimated population share {population}"
    " % ({interval} {low} to {high} %); {prefers}.",
    "shares": "In each draw, a class contains a whole number of respondents, so its share"
    " takes only a few values and the interval may exclude the mean. class_share[1],"
    " class_share[2], ... are the shares of the largest class, the second largest, ... in each"
    " draw, regardless of their members.",
    "liked": "options with the best mean ranks: {liked}",
    "title": "Latent classes, largest first: share of the respondents and of the population,"
    " and number of respondents assigned",
    "ranks": "Rank of each option, by class",
    "n_classes": "Number of occupied classes: {value}.",
    "agreement": "Rand index between the class memberships of each draw and those of the most"
    " typical draw: {value}. It is the share of pairs of respondents that both draws put in the"
    " same class, or both in different classes.",
    "methods.matched": "Label switching was resolved by relabelling the classes in each draw so"
    " that the respondents' class memberships agree best across draws {source}.",
    "worths": "Log worth of each option (mean 0), and its share of the total worth, by class",
    "spread": "Spread between respondents (standard deviation of their log worths for an option):"
    " {value}.",
    "methods": "Each respondent belonged to one of {number} latent classes, with a Dirichlet(1,"
    " ..., 1) prior on the class shares; class memberships were inferred. Log worths were {how}."
    " The posterior was sampled by Hamiltonian Monte Carlo conditional on the memberships,"
    " alternating with updates of the memberships, which included moves that split and merge"
    " classes.",
    "methods.free": "independent across classes",
    "methods.similar": "Normal around those common to all classes, with a half-Normal(1) prior on"
    " the standard deviation",
}


_LIKED = 3


def list_makers(model: "BradleyTerryLuce", settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """Return the functions that make the findings of a fit."""
    return MAKERS


question = make_question_maker(lambda model: ENGLISH["asked"])


@finding("latent_classes", "Latent classes", ON_SCREEN)
def latent_classes(model: Any, settings: AnswerSettings) -> Finding:
    """Report number, sizes and best options of the latent classes of respondents."""
    class_table: Any = model.respondents.classes(settings.ci)
    p_by_n_classes = class_table.attrs["n_classes"]
    n_classes = max(p_by_n_classes, key=p_by_n_classes.get)
    notes: list[Text] = []
    for class_number, class_model in list_occupied_class_models(model).items():
        percent_texts = (100.0 * class_table.loc[class_number].filter(like="share")).map(
            format_number
        )
        notes.append(
            phrase(
                ENGLISH,
                "each",
                kind=class_number,
                prefers=phrase(
                    ENGLISH, "liked", liked=list_names(class_model.ranks().index[:_LIKED])
                ),
                sample=percent_texts["sample_share"],
                population=percent_texts["population_share"],
                interval=describe_interval(settings.ci),
                low=percent_texts["population_share_low"],
                high=percent_texts["population_share_high"],
            )
        )
    if len(class_table) > 1:
        notes.append(ENGLISH["shares"])
    return Finding(
        phrase(
            ENGLISH,
            "latent_classes",
            number=n_classes,
            most=len(class_table),
            probability=format_probability(p_by_n_classes[n_classes]),
        ),
        title=ENGLISH["title"],
        table=class_table.assign(respondents=class_table["respondents"].map("; ".join)),
        shown=class_table.assign(respondents=class_table["respondents"].map(len)),
        notes=tuple(notes),
        brief=Brief(
            "Classes",
            table=class_table[
                ["population_share", "population_share_low", "population_share_high"]
            ],
            order=0,
        ),
    )


def list_occupied_class_models(model: Any) -> dict[int, Any]:
    """Return the models of classes that are some respondent's most probable, by number."""
    class_of_respondent = membership_probabilities(Posterior(model.posterior_)).argmax(axis=1)
    return {
        class_index + 1: model.respondents.of_class(class_index + 1)
        for class_index in sorted(set(class_of_respondent.tolist()))
    }


@finding("ranks", "Ranking of the options by class", ON_SCREEN)
def ranks(model: "BradleyTerryLuce", settings: AnswerSettings) -> Finding:
    """Report the ranks of the options in each latent class."""
    tables = {
        class_number: class_model.ranks(every_rank=True, ci=settings.ci)
        for class_number, class_model in list_occupied_class_models(model).items()
    }
    return join_rank_tables("latent_class", tables, "", ENGLISH["ranks"])


@finding("assignment", "Class membership", FILE)
def assignment(model: Any, settings: AnswerSettings) -> Finding:
    """Report the most probable latent class of each respondent."""
    return Finding(table=model.respondents.membership())


@finding("same_class", "Probability of sharing a class", FILE)
def same_class(model: Any, settings: AnswerSettings) -> Finding:
    """Report, per pair of respondents, the probability of sharing a latent class."""
    return Finding(table=model.respondents.same_class())


def class_notes(rows: "pandas.DataFrame") -> tuple[Text, ...]:
    """Return the sentences on estimated number and agreement of classes, from summary rows."""
    if "n_classes" not in rows.index:
        return ()
    return (
        phrase(ENGLISH, "n_classes", value=format_row(rows, "n_classes")),
        phrase(ENGLISH, "agreement", value=format_row(rows, "class_agreement")),
    )


def join_rank_tables(
    level_name: str,
    tables: "dict[Any, pandas.DataFrame]",
    sentence: Text,
    title: str,
    leads: bool | None = None,
) -> Finding:
    """Join the rank tables of several groups or classes into one finding."""
    import pandas as pd

    joined = pd.concat(tables, names=[level_name])
    main_columns = joined[["rank", "rank_low", "rank_high", "p_1"]]
    table = joined.reset_index("option")
    rank_lines = [
        ", ".join(map(" ".join, format_ranks(rank_table)[:MAX_GROUPS]))
        for rank_table in tables.values()
    ]
    brief_table = pd.DataFrame({"ranks": rank_lines}, index=pd.Index(list(tables), name=level_name))
    brief = Brief("Preferred", table=brief_table, order=0)
    return Finding(sentence, title=title, table=table, shown=main_columns, leads=leads, brief=brief)


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
    return (
        *of_one.describe_choice_rules(model),
        sentence,
        phrase(ENGLISH, "methods.matched", source=Cite("stephens2000")),
    )


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
