"""Product classes of choice experiments."""

from typing import Any

from thali.errors import Message
from thali.model.product_classes.reports.class_table import STABLE
from thali.model.references import Cite
from thali.model.settings import Settings

from ..content import Content, listed
from ..document import Section, Table
from .choices import study_of
from .segments import METHOD, with_segments
from .shared import missed_choices, picture


def content(model: Any, settings: Settings) -> Content:
    """What a fitted model says."""
    return Content(
        question=(
            "Which classes of products do people like or dislike, which attributes decide their choices, and what share"
            " would each product of a market have?",
        ),
        answer=_answer(model, settings),
        misses=missed_choices(model.check(settings.random_seed)),
        methods=tuple(_methods(model)),
    )


def _answer(model: Any, settings: Settings) -> Section:
    study, classes = study_of(model, settings), model.classes(**settings.given("similar"))
    every, whole = classes.attrs["classes"], classes["importance"].sum()
    classes = classes[classes["stability"] >= STABLE]
    sentences, pictures, tables = list(study.sentences), list(study.pictures), list(study.tables)
    if len(classes):
        named = f"The most important class is {classes.iloc[0]['class']}; {_owners(classes.iloc[0])}."
        sentences.append(named)
        pictures.append(picture(f"Classes of products that people care about. {named}", "classes", model))
        tables.append(Table("Classes of products that most chains find, similar ones counted as one", classes))
    if hidden := every - len(classes):
        rest = whole - classes["importance"].sum()
        sentences.append(
            f"Classes of products that are less important or different from chain to chain, {hidden:,} of {every:,},"
            f" have {rest:.3f} of the importance together."
        )
    return with_segments(Section("The answer", tuple(sentences), tuple(pictures), tuple(tables)), model, settings)


def _owners(row: Any) -> str:
    return f"{100 * row['share']:.0f} % of the respondents care about it"


def _methods(model: Any) -> list[str | Message]:
    monotone = model.monotone or {}
    declared = f" Utility was constrained to be monotone in {listed(list(monotone))}." if monotone else ""
    how = (
        "Posterior draws were made by independent annealed Markov chains."
        if model.method == "annealed"
        else "Posterior draws and the evidence were computed by sequential Monte Carlo."
    )
    return [
        Message(
            "Choices were modelled by latent classes of products ",
            Cite("daviet2017"),
            ": a person's utility of a product is the sum of the values of the person's classes to which it belongs,"
            " and the product of the highest utility is chosen, ties being split evenly; with probability"
            f" {model.lapse:g} a choice was made at random.{declared}",
        ),
        f"The number of classes was inferred under a two-parameter Indian buffet process prior. {how}",
        METHOD,
    ]
