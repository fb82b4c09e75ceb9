"""What product classes find out."""

import math
from typing import TYPE_CHECKING, Any

from thali._labels import listed
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
    Picture,
    Text,
    finding,
)
from thali._model.phrases import phrase
from thali._model.references import Cite
from thali._model.settings import AnswerSettings

from ..answers.english import ENGLISH
from ..answers.findings import OF_PEOPLE, SEGMENTED, answers_of, check, levels
from .reports.class_table import STABLE

if TYPE_CHECKING:
    from .model import ProductClasses

_LONGEST = 100  # letters of the name of a class in a line


def finding_makers(model: "ProductClasses", settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """The makers of the findings."""
    answers, segments = answers_of(settings)
    return (
        make_question_maker(lambda model: ENGLISH["classes.asked"]),
        *answers,
        classes,
        evidence,
        *segments,
        *_LAST,
    )


@finding("classes", "Product classes", ON_SCREEN)
def classes(model: "ProductClasses", settings: AnswerSettings) -> Finding:
    """The classes of products of which most chains say the same, the most important first."""
    table = model.classes(**settings.select_given("similar"))
    if not len(table):
        return Finding(
            ENGLISH["classes.none"], table=table, is_printed=False, brief=Brief("Classes")
        )
    stable = table[table["stability"] >= STABLE]
    every, notes = table.attrs["classes"], ()
    if hidden := every - len(stable):
        rest = f"{table['importance'].sum() - stable['importance'].sum():.3f}"
        notes = (
            phrase(ENGLISH, "classes.hidden", hidden=f"{hidden:,}", every=f"{every:,}", rest=rest),
        )
    if not len(stable):
        return Finding(
            ENGLISH["classes.unstable"],
            table=table,
            is_printed=False,
            notes=notes,
            brief=Brief("Classes"),
        )
    first = stable.iloc[0]
    sentence = str(
        phrase(ENGLISH, "classes", name=first["product_class"], share=f"{100 * first['share']:.0f}")
    )
    return Finding(
        sentence,
        title=ENGLISH["classes.title"],
        table=table,
        shown=_to_read(stable),
        picture=Picture("classes", ENGLISH["classes.caption"], stable),
        notes=notes,
        brief=Brief(
            "Classes", table=_to_read(stable)[["importance", "share", "product_class"]], order=0
        ),
    )


def _to_read(table: Any) -> Any:
    """The numbers of the classes, then their names, cut if they are long."""
    columns = [
        "importance",
        "importance_se",
        "share",
        "share_se",
        "liked",
        "share_new",
        "stability",
    ]
    names = []
    for row in table.to_dict("records"):
        name, more = str(row["product_class"]), int(row["rules"]) - 1
        name = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
        names.append(
            str(phrase(ENGLISH, "classes.similar", name=name, more=f"{more:,}")) if more else name
        )
    return table[columns].assign(product_class=names).reset_index(drop=True)


@finding("evidence", "Log evidence", chapter=STATISTICS)
def evidence(model: "ProductClasses", settings: AnswerSettings) -> Finding | None:
    """The log evidence, where it was computed, and what the run has to say."""
    if not math.isfinite(model._log_evidence_):
        return Finding(notes=tuple(model._messages_)) if model._messages_ else None
    numbers = {
        "value": model._log_evidence_,
        "error": model._log_evidence_se_,
        "sd": model._evidence_sd_,
    }
    shown = {name: f"{value:.2f}" for name, value in numbers.items()}
    return Finding(phrase(ENGLISH, "classes.evidence", **shown), notes=tuple(model._messages_))


def modelled(model: "ProductClasses") -> tuple[Text, ...]:
    """How a paper says it."""
    sentences = [
        phrase(ENGLISH, "classes.methods", source=Cite("daviet2017"), lapse=f"{model.lapse:g}")
    ]
    if model.monotone:
        sentences.append(phrase(ENGLISH, "classes.monotone", named=listed(list(model.monotone))))
    sampler = ENGLISH[model._engine.sentence]
    return (*sentences, ENGLISH["classes.prior"], sampler, SEGMENTED)


_LAST = (check, summary, data, levels, *OF_PEOPLE, make_methods_maker(modelled), convergence)
