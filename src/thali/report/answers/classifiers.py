"""Plackett-Luce regression and the sparse multinomial logit."""

from typing import Any

from thali.model.classifiers.importance import importance

from ..content import Content, listed, number
from ..document import Section, Table

_NAMED = 3


def content(model: Any) -> Content:
    """What a fitted model says."""
    return Content(
        question=("Which covariates tell the classes apart, and how sure is that?",),
        answer=_answer(model),
        methods=_methods(model),
    )


def _answer(model: Any) -> Section:
    found = importance(model)
    value = str(found.columns[2])
    words = {"weight": "weights", "coef": "coefficients"}[value]
    named = listed(
        [f"{row['column']} for {row['class']} ({number(row[value])})" for row in found.head(_NAMED).to_dict("records")]
    )
    return Section(
        "The answer",
        (f"The {words} that matter most: {named}.",) if len(found) else (f"All {words} are zero.",),
        tables=(Table(f"{words.capitalize()}, the largest first", found),),
    )


def _methods(model: Any) -> tuple[str, ...]:
    if hasattr(model, "weights_"):
        return ("Classes were modelled by Plackett-Luce regression (Archambeau & Caron, 2012).",)
    by = {"polya-gamma": "Polson, Scott & Windle (2013)", "holmes-held": "Holmes & Held (2006)"}[model.method]
    return (
        "Classes were modelled by a Bayesian multinomial logit whose coefficients have Laplace priors, sampled by the"
        f" scheme of {by}.",
    )
