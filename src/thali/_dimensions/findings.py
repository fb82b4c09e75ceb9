"""Findings that non-negative dimensions report."""

from typing import TYPE_CHECKING

import numpy as np

from thali._data.kinds import TRIPLETS
from thali._labels import format_plural
from thali._model.common_findings import (
    build_check_finding,
    convergence,
    data,
    make_methods_maker,
    make_question_maker,
    passes_check,
    summary,
)
from thali._model.finding import (
    FILES,
    MISSES,
    ON_SCREEN,
    SHEET,
    Brief,
    Finding,
    FindingMaker,
    Picture,
    Text,
    finding,
)
from thali._model.finding_settings import AnswerSettings
from thali._model.predictive_check import describe_check
from thali._model.references import Cite
from thali._model.sentence_templates import phrase

from .posterior import RECURRING, DimensionPosterior

if TYPE_CHECKING:
    from .model import NonnegativeDimensions

N_TOP = 6  # objects per dimension that are named
MAX_SIMILARITIES = 200  # objects up to which files contain all similarities
ENGLISH = {
    "asked": "On which dimensions do the objects differ, and how similar are they?",
    "found": "{number}; {recurring} reproducible across restarts (reproducibility at least"
    " {least}).",
    "one": "{number}; a single restart does not show how reproducible they are.",
    "dimensions": "Dimensions, largest first, with the objects that have the highest values",
    "unshared": "The other dimensions differ between restarts: do not interpret them.",
    "picture": "Objects with the highest values on each dimension; pale: not reproducible.",
    "values": "Values of the objects on the dimensions",
    "map": "Values of the objects on the dimensions; darker is higher.",
    "similarity": "Posterior mean of the similarity of all pairs",
    "check": "Observed and predicted answers",
    "check.similarities": "Observed and predicted similarities",
    "rule.triplets": "The similarity of two objects was modelled as the sum of the products of"
    " their values on sparse non-negative dimensions, and the choice of the most similar pair by a"
    " softmax of the similarities {source}, with a lapse rate of {lapse}.",
    "rule.similarities": "The similarity of two objects was modelled as a constant plus the sum of"
    " the products of their values on sparse non-negative dimensions, with normal errors.",
    "prior.learned": "The values of each dimension had an exponential prior with an estimated"
    " rate.",
    "prior.given": "The values had an exponential prior with rate {rate}.",
    "drawn": "The posterior was sampled around the mode found by each restart, by"
    " stochastic-gradient Langevin dynamics with momentum.",
    "reproducibility": "The reproducibility of a dimension is its correlation with the most similar"
    " dimension of each other restart, averaged after Fisher's z-transformation {source}.",
}


@finding("dimensions", "Dimensions", ON_SCREEN)
def report_dimensions(model: "NonnegativeDimensions", settings: AnswerSettings) -> Finding:
    """Report the dimensions with their highest objects and reproducibility."""
    top_table = model.top(N_TOP)
    number = format_plural(len(top_table), "dimension")
    reproducibility = top_table["reproducibility"].to_numpy()
    n_recurring = int((reproducibility >= RECURRING).sum())
    notes: tuple[Text, ...] = ()
    if np.isnan(reproducibility).all():
        sentence = phrase(ENGLISH, "one", number=number)
    else:
        sentence = phrase(
            ENGLISH, "found", number=number, recurring=n_recurring, least=f"{RECURRING:g}"
        )
        if n_recurring < len(top_table):
            notes = (ENGLISH["unshared"],)
    shown_table = top_table.assign(objects=top_table["objects"].map(", ".join))
    brief_table = shown_table[["reproducibility", "objects"]]
    return Finding(
        sentence,
        title=ENGLISH["dimensions"],
        table=shown_table,
        picture=Picture("dimensions", ENGLISH["picture"], model.dimensions()),
        notes=notes,
        brief=Brief("Dimensions", table=brief_table, order=0),
    )


@finding("values", "Values of the objects", SHEET)
def report_values(model: "NonnegativeDimensions", settings: AnswerSettings) -> Finding:
    """Report the objects by dimensions."""
    values = model.dimensions()
    return Finding(
        title=ENGLISH["values"],
        table=values.rename(columns=lambda number: f"dimension {number}"),
        picture=Picture("dimension_map", ENGLISH["map"], values),
    )


@finding("similarity", "Fitted similarities", (FILES,))
def report_similarity(model: "NonnegativeDimensions", settings: AnswerSettings) -> Finding | None:
    """Report the similarity of all pairs; None if there are too many."""
    if len(DimensionPosterior(model.posterior_).labels) > MAX_SIMILARITIES:
        return None
    return Finding(title=ENGLISH["similarity"], table=model.similarity())


@finding("check", "Model check", ON_SCREEN, chapter=MISSES)
def report_check(model: "NonnegativeDimensions", settings: AnswerSettings) -> Finding | None:
    """Report observed answers or similarities against their predictive intervals."""
    if model._get_fit_data() is None:
        return None
    check_table = model.check(settings.random_seed, settings.ci)
    title = ENGLISH["check.similarities"]
    if DimensionPosterior(model.posterior_).data_kind == TRIPLETS:
        title = ENGLISH["check"]
    picture = Picture("check", title, check_table)
    sentence = describe_check(check_table)
    return build_check_finding(check_table, sentence, passes_check(check_table), title, picture)


def describe_model(model: "NonnegativeDimensions") -> tuple[Text, ...]:
    """Return sentences about the model for a paper's methods section."""
    rule = phrase(ENGLISH, "rule.similarities")
    if DimensionPosterior(model.posterior_).data_kind == TRIPLETS:
        lapse = f"{model.lapse:g}"
        rule = phrase(ENGLISH, "rule.triplets", source=Cite("zheng2019"), lapse=lapse)
    prior: Text = ENGLISH["prior.learned"]
    if model.penalty is not None:
        prior = phrase(ENGLISH, "prior.given", rate=f"{model.penalty:g}")
    reproducibility = phrase(ENGLISH, "reproducibility", source=Cite("hebart2020"))
    return rule, prior, ENGLISH["drawn"], reproducibility


def list_makers(
    model: "NonnegativeDimensions", settings: AnswerSettings
) -> tuple[FindingMaker, ...]:
    """Return the functions that make the findings of a fit."""
    makers = report_dimensions, report_values, report_similarity
    if DimensionPosterior(model.posterior_).n_draws == 1:  # a ready-made embedding
        return makers
    return (
        make_question_maker(lambda model: ENGLISH["asked"]),
        *makers,
        report_check,
        summary,
        data,
        make_methods_maker(describe_model),
        convergence,
    )
