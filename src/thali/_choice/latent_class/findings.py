"""Findings that the latent-class logit reports."""

from typing import TYPE_CHECKING

from thali._labels import list_names
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

from ..answers.english import ENGLISH
from ..answers.findings import RESPONDENT_FINDINGS, build_choice_makers, report_check, report_levels
from .fit import N_FOLDS

if TYPE_CHECKING:
    from .model import LatentClassLogit


def list_makers(model: "LatentClassLogit", settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """Return the functions that make the findings of a fit."""
    # the classes are the segments, if none is empty
    occupied = set(model.membership_.to_numpy().argmax(axis=1))
    n_segments, individual = None, ()
    if model._n_classes_ > 1:
        individual = RESPONDENT_FINDINGS
        if model._n_classes_ == len(occupied):
            n_segments = model._n_classes_
    answers, segments = build_choice_makers(settings, n_segments, instead="")
    return (*_FIRST, *answers, *segments, *_REST, *individual, *_LAST)


@finding("classes", "Latent classes", ON_SCREEN)
def report_classes(model: "LatentClassLogit", settings: AnswerSettings) -> Finding:
    """Report sizes and coefficients of the classes."""
    row = model.choice_.loc[model._n_classes_]
    notes = [
        phrase(
            ENGLISH,
            "latent.maximum",
            log_likelihood=f"{model.log_likelihood_:.2f}",
            bic=f"{model.bic_:.2f}",
            found=int(row["times_found"]),
            starts=int(row["starts"]),
        )
    ]
    sentence: Text = ENGLISH["latent.one"]
    if model._n_classes_ > 1:
        shares = list_names([format_percent(size) for size in model._sizes_])
        sentence = phrase(ENGLISH, "latent.several", number=model._n_classes_, shares=shares)
        notes.append(phrase(ENGLISH, "latent.entropy", entropy=format_number(row["entropy_r2"])))
    table = model.respondents.classes().rename_axis("coefficient")
    brief = Brief("Classes", table=table, order=0)
    return Finding(
        sentence, title=ENGLISH["latent.classes"], table=table, notes=tuple(notes), brief=brief
    )


@finding("class_odds", "Predictors of class membership", ON_SCREEN)
def report_class_odds(model: "LatentClassLogit", settings: AnswerSettings) -> Finding | None:
    """Report effects of respondents' columns on the odds of classes."""
    if model._membership_coef_ is None or model._n_classes_ < 2:
        return None
    table = model.respondents.effects(settings.ci)
    certain = [row for row in table.to_dict("records") if row["low"] > 1.0 or row["high"] < 1.0]
    interval = describe_interval(settings.ci)
    sentence = phrase(ENGLISH, "latent.odds.none", interval=interval)
    if certain:
        row = min(certain, key=lambda effect: effect["p_value"])
        sentence = phrase(
            ENGLISH,
            "latent.odds",
            column=row["column"],
            label=row["latent_class"],
            interval=interval,
            odds=format_number(row["odds"]),
            low=format_number(row["low"]),
            high=format_number(row["high"]),
        )
    return Finding(
        sentence, title=ENGLISH["latent.odds.title"], table=table, brief=Brief("Effects")
    )


@finding("numbers_of_classes", "Number of classes")
def report_numbers(model: "LatentClassLogit", settings: AnswerSettings) -> Finding | None:
    """Report information criteria for every tried number of classes."""
    table = model.choice_
    shown_table = table.dropna(axis=1, how="all")
    return Finding(
        title=ENGLISH["latent.numbers"], table=table, shown=shown_table, is_printed=len(table) > 1
    )


TEST_LEVEL = 0.05  # of a test
MIN_REPLICATES = 19  # with fewer replicates, no p-value reaches the level


@finding("bootstrap_test", "Tests of the number of classes", ON_SCREEN)
def report_tests(model: "LatentClassLogit", settings: AnswerSettings) -> Finding | None:
    """Report tests of one class fewer and of one more."""
    if not settings.bootstrap:
        return None
    table = model.bootstrap_test(
        settings.bootstrap, random_seed=settings.random_seed, job=settings.job
    )
    sentences, n_finished = [], int(table["replicates"].to_numpy().min())
    for classes, row in table.to_dict("index").items():
        outcome = "enough"
        if n_finished < MIN_REPLICATES:
            outcome = "few"
        elif row["p_value"] <= TEST_LEVEL:
            outcome = "rejected"
        sentences.append(
            str(
                phrase(
                    ENGLISH,
                    f"latent.{outcome}",
                    fewer=classes,
                    more=int(row["against"]),
                    p=format_number(row["p_value"]),
                )
            )
        )
    note = phrase(ENGLISH, "latent.replicates", replicates=n_finished)
    return Finding(
        " ".join(sentences),
        title=ENGLISH["latent.tests"],
        table=table,
        notes=(note,),
        stopped=n_finished < settings.bootstrap,
        brief=Brief("Number"),
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
    sentences = [phrase(ENGLISH, "latent.methods", source=Cite("kamakura1989"))]
    if model._membership_coef_ is not None:
        columns = list_names(list(model._membership_coef_.columns[1:]))
        sentences.append(
            phrase(ENGLISH, "latent.by_columns", source=Cite("dayton1988"), named=columns)
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
    report_tests,
)
_REST = (report_check, report_estimates, data, report_levels, report_membership)
_LAST = (make_methods_maker(describe_model), convergence)
