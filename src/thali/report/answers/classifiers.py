"""Plackett-Luce regression and the sparse multinomial logit."""

from typing import Any

import numpy as np

from thali.errors import Message
from thali.model.classifiers.importance import importance
from thali.model.references import Cite
from thali.model.settings import Settings

from ..content import Content, listed, number, probability
from ..document import Section, Table

_NAMED, _WORST = 3, 10


def content(model: Any, settings: Settings) -> Content:
    """What a fitted model says."""
    return Content(
        question=("Which covariates tell the classes apart, and how sure is that?",),
        answer=_answer(model),
        misses=_misses(model),
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
        (f"The largest {words}: {named}.",) if len(found) else (f"All {words} are zero.",),
        tables=(Table(f"{words.capitalize()}, the largest first", found),),
    )


def _misses(model: Any) -> Section | None:
    """Rows whose class the model finds unlikely, where draws of each row's likelihood are stored."""
    import pandas as pd

    tree = getattr(model, "posterior_", None)
    if tree is None or "log_likelihood" not in tree.children:
        return Section("", ("The likelihood of each row is not stored with this fit; model.score(X, y) checks it.",))
    logs, codes = tree["log_likelihood"]["label"], tree["observed_data"]["label"].to_numpy()
    p = np.exp(logs).mean(["chain", "draw"]).to_numpy()
    order = np.argsort(p, kind="stable")
    worst = pd.DataFrame(
        {"row": logs["row"].to_numpy()[order], "class": model.classes_[codes[order]], "probability of it": p[order]}
    ).head(_WORST)
    sentence = (
        f"Of the {len(p):,} rows {int((p >= 0.5).sum()):,} belong to a class that the model gives a probability of .5"
        f" or more; the mean probability of the right class is {probability(float(p.mean()))}. The model has seen these"
        " rows; of new ones it knows less."
    )
    return Section("", (sentence,), tables=(Table("Rows whose class is the least expected; rows from 0", worst),))


def _methods(model: Any) -> tuple[str | Message, ...]:
    if hasattr(model, "weights_"):
        return (Message("Classes were modelled by Plackett-Luce regression ", Cite("archambeau2012"), "."),)
    if model.method == "map":
        return (
            f"Classes were modelled by a multinomial logit with Laplace priors of rate {np.sqrt(model.eta):g} (eta ="
            f" {model.eta:g}) for standardised coefficients, at the maximum of the posterior.",
        )
    if model.method_ in ("laplace", "variational"):
        kind = "variational normal" if model.method_ == "variational" else "normal"
        return (
            "Classes were modelled by a Bayesian multinomial logit whose coefficients have Laplace priors, by a"
            f" {kind} approximation of the posterior.",
        )
    by = {"polya-gamma": Cite("polson2013", inside=True), "holmes-held": Cite("holmes2006", inside=True)}
    horseshoe = Message("regularised horseshoe priors of ", Cite("piironen2017", inside=True))
    prior = {"laplace": "Laplace priors", "horseshoe": horseshoe}[model.prior]
    modelled = "Classes were modelled by a Bayesian multinomial logit whose coefficients have "
    return (Message(modelled, prior, ", sampled by the scheme of ", by[model.method_], "."),)
