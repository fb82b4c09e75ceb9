"""Findings that the latent-class logit reports."""

from typing import TYPE_CHECKING

from thali._labels import list_names
from thali._model.choice_findings import describe_errors
from thali._model.common_findings import (
    convergence,
    data,
    make_methods_maker,
    make_question_maker,
    summary,
)
from thali._model.finding import (
    FULL,
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
from thali._number_format import format_number, format_percent
from thali._posterior.posterior_interval import describe_interval

from ..reports.finding_sentences import ENGLISH
from ..reports.findings import RESPONDENT_FINDINGS, build_choice_makers, report_check, report_levels
from ..respondent_errors import report_dependence
from .maximum_likelihood import N_FOLDS

if TYPE_CHECKING:
    from .model import LatentClassLogit


def list_makers(model: "LatentClassLogit", settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """Return the functions that make the findings of a fit."""
    # the classes are the segments, if none is empty
    n_classes = model.membership_.shape[1]
    occupied_classes = set(model.membership_.to_numpy().argmax(axis=1))
    n_segments = None
    individual_makers = ()
    if n_classes > 1:
        individual_makers = RESPONDENT_FINDINGS
        if n_classes == len(occupied_classes):
            n_segments = n_classes
    market_makers, segment_makers = build_choice_makers(settings, n_segments, instead="")
    return (*_FIRST, *market_makers, *segment_makers, *_REST, *individual_makers, *_LAST)


@finding("classes", "Latent classes", ON_SCREEN)
def report_classes(model: "LatentClassLogit", settings: AnswerSettings) -> Finding:
    """Report sizes and coefficients of the classes."""
    n_classes = model.membership_.shape[1]
    choice_row = model.choice_.loc[n_classes]
    notes = [
        phrase(
            ENGLISH,
            "latent.maximum",
            log_likelihood=f"{model.log_likelihood_:.2f}",
            bic=f"{model.bic_:.2f}",
            found=int(choice_row["times_found"]),
            starts=int(choice_row["starts"]),
        )
    ]
    sentence: Text = ENGLISH["latent.one"]
    if n_classes > 1:
        size_texts = list_names([format_percent(size) for size in model._sizes_])
        sentence = phrase(ENGLISH, "latent.several", number=n_classes, shares=size_texts)
        notes.append(
            phrase(ENGLISH, "latent.entropy", entropy=format_number(choice_row["entropy_r2"]))
        )
    table = model.respondents.classes().rename_axis("coefficient")
    brief = Brief("Classes", table=table, order=0)
    return Finding(
        sentence, title=ENGLISH["latent.classes"], table=table, notes=tuple(notes), brief=brief
    )


@finding("class_odds", "Predictors of class membership", ON_SCREEN)
def report_class_odds(model: "LatentClassLogit", settings: AnswerSettings) -> Finding | None:
    """Report effects of respondents' columns on the odds of classes."""
    if model._membership_coef_ is None or model.membership_.shape[1] < 2:
        return None
    table = model.respondents.effects(settings.ci)
    certain_rows = [
        row for row in table.to_dict("records") if row["low"] > 1.0 or row["high"] < 1.0
    ]
    interval_words = describe_interval(settings.ci)
    sentence = phrase(ENGLISH, "latent.odds.none", interval=interval_words)
    if certain_rows:
        smallest_p_row = min(certain_rows, key=lambda effect: effect["p_value"])
        sentence = phrase(
            ENGLISH,
            "latent.odds",
            column=smallest_p_row["column"],
            label=smallest_p_row["latent_class"],
            interval=interval_words,
            odds=format_number(smallest_p_row["odds"]),
            low=format_number(smallest_p_row["low"]),
            high=format_number(smallest_p_row["high"]),
        )
    return Finding(
        sentence, title=ENGLISH["latent.odds.title"], table=table, brief=Brief("Effects")
    )


@finding("numbers_of_classes", "Number of classes")
def report_numbers(model: "LatentClassLogit", settings: AnswerSettings) -> Finding | None:
    """Report information criteria for every tried number of classes."""
    criteria_table = model.choice_
    shown_table = criteria_table.dropna(axis=1, how="all")
    return Finding(
        title=ENGLISH["latent.numbers"],
        table=criteria_table,
        shown=shown_table,
        is_printed=len(criteria_table) > 1,
    )


@finding("membership", "Class membership", FULL)
def report_membership(model: "LatentClassLogit", settings: AnswerSettings) -> Finding:
    """Report membership probabilities of each respondent."""
    shown_table = model.membership_.rename(columns=lambda k: f"class {k}")
    return Finding(title=ENGLISH["latent.membership"], table=model.membership_, shown=shown_table)


@finding("summary", "Parameter estimates", FULL, chapter=STATISTICS)
def report_estimates(model: "LatentClassLogit", settings: AnswerSettings) -> Finding | None:
    """Report coefficients of all classes with standard errors."""
    return summary(model, settings)


def describe_model(model: "LatentClassLogit") -> tuple[Text, ...]:
    """Return methods sentences about the latent-class logit."""
    errors = describe_errors(model._people_)
    sentences = [phrase(ENGLISH, "latent.methods", source=Cite("kamakura1989"), errors=errors)]
    if model._membership_coef_ is not None:
        column_names = list_names(list(model._membership_coef_.columns[1:]))
        sentences.append(
            phrase(ENGLISH, "latent.by_columns", source=Cite("dayton1988"), named=column_names)
        )
    if len(model.choice_) > 1:
        criterion: Text = "BIC"
        if model.choose != "bic":
            criterion = phrase(ENGLISH, "latent.left_out", folds=N_FOLDS)
        sentences.append(phrase(ENGLISH, "latent.chosen", criterion=criterion))
    return tuple(sentences)


_FIRST = (
    make_question_maker(lambda model: ENGLISH["latent.asked"]),
    report_classes,
    report_class_odds,
    report_numbers,
)
_REST = (report_check, report_estimates, data, report_levels, report_membership)
_LAST = (make_methods_maker(describe_model), report_dependence, convergence)
