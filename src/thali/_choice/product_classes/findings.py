"""Findings that product classes report."""

import math
from typing import TYPE_CHECKING, Any

from thali._labels import list_names
from thali._model.common_findings import (
    convergence,
    data,
    make_methods_maker,
    make_question_maker,
    summary,
)
from thali._model.finding import (
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
from thali._number_format import format_percent
from thali._posterior.posterior_tree import PosteriorTree

from ..reports.finding_sentences import ENGLISH
from ..reports.findings import (
    RESPONDENT_FINDINGS,
    SEGMENT_SENTENCE,
    build_choice_makers,
    report_check,
    report_levels,
)
from .reports.class_table import STABLE

if TYPE_CHECKING:
    from .model import ProductClasses

_MAX_NAME = 100  # letters of the name of a class in a line


def list_makers(model: "ProductClasses", settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """Return the functions that make the findings of a fit."""
    choice_makers, segment_makers = build_choice_makers(settings)
    return (
        make_question_maker(lambda model: ENGLISH["classes.asked"]),
        *choice_makers,
        classes,
        evidence,
        *segment_makers,
        *_LAST,
    )


@finding("classes", "Product classes", ON_SCREEN)
def classes(model: "ProductClasses", settings: AnswerSettings) -> Finding:
    """Report the product classes that most chains agree on, most important first."""
    table = model.classes(**settings.select_given("similar"))
    if not len(table):
        return Finding(
            ENGLISH["classes.none"], table=table, is_printed=False, brief=Brief("Classes")
        )
    stable_classes = table[table["stability"] >= STABLE]
    n_classes = table.attrs["classes"]
    notes = ()
    if n_hidden := n_classes - len(stable_classes):
        listed_share: Any = stable_classes["importance"].sum() / table["importance"].sum()
        notes = (
            phrase(
                ENGLISH,
                "classes.hidden",
                rest=format_percent(1.0 - listed_share),
                hidden=f"{n_hidden:,}",
                every=f"{n_classes:,}",
            ),
        )
    if not len(stable_classes):
        return Finding(
            ENGLISH["classes.unstable"],
            table=table,
            is_printed=False,
            notes=notes,
            brief=Brief("Classes"),
        )
    top_class = stable_classes.iloc[0]
    shown_table = _format_classes(stable_classes)
    share_text = f"{100 * top_class['share']:.0f}"
    sentence = phrase(ENGLISH, "classes", name=top_class["product_class"], share=share_text)
    brief_table = shown_table[["importance", "share", "product_class"]]
    return Finding(
        str(sentence),
        title=ENGLISH["classes.title"],
        table=table,
        shown=shown_table,
        notes=notes,
        brief=Brief("Classes", table=brief_table, order=0),
    )


def _format_classes(table: Any) -> Any:
    """Return the table of classes to print, with long names cut."""
    columns = [
        "importance",
        "importance_se",
        "share",
        "share_se",
        "liked",
        "share_new",
        "stability",
    ]
    class_labels = []
    for row in table.to_dict("records"):
        label = str(row["product_class"])
        n_similar = int(row["rules"]) - 1
        if len(label) > _MAX_NAME:
            label = f"{label[: _MAX_NAME - 1]}…"
        if n_similar:
            label = str(phrase(ENGLISH, "classes.similar", name=label, more=f"{n_similar:,}"))
        class_labels.append(label)
    return table[columns].assign(product_class=class_labels).reset_index(drop=True)


@finding("evidence", "Log evidence", chapter=STATISTICS)
def evidence(model: "ProductClasses", settings: AnswerSettings) -> Finding | None:
    """Report the log evidence (None without) and the messages of the run."""
    notes = tuple(model._messages_)
    statistics = PosteriorTree(model.posterior_).stats
    if math.isfinite(statistics["log_evidence"]):
        sentence = phrase(
            ENGLISH,
            "classes.evidence",
            value=f"{float(statistics['log_evidence']):.2f}",
            error=f"{float(statistics['log_evidence_se']):.2f}",
            sd=f"{float(statistics['evidence_sd']):.2f}",
        )
        return Finding(sentence, notes=notes)
    if not notes:
        return None
    return Finding(notes=notes)


def describe_model(model: "ProductClasses") -> tuple[Text, ...]:
    """Return methods sentences about product classes."""
    sentences = [
        phrase(ENGLISH, "classes.methods", source=Cite("daviet2017"), lapse=f"{model.lapse:g}")
    ]
    if model.monotone:
        sentences.append(
            phrase(ENGLISH, "classes.monotone", named=list_names(list(model.monotone)))
        )
    sampler = ENGLISH[model._engine.sentence]
    return (*sentences, ENGLISH["classes.prior"], sampler, SEGMENT_SENTENCE)


_LAST = (
    report_check,
    summary,
    data,
    report_levels,
    *RESPONDENT_FINDINGS,
    make_methods_maker(describe_model),
    convergence,
)
