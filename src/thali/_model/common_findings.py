"""Findings that every model has: its data, the agreement of its chains, every quantity with its
error."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._posterior.convergence import r_hat_in_words
from thali._posterior.interval import interval_name

from .finding import (
    DATA,
    METHODS,
    ON_SCREEN,
    READ,
    SHOWN,
    STATISTICS,
    Brief,
    Finding,
    Maker,
    Picture,
    Text,
    finding,
)
from .phrases import phrase
from .references import Cite
from .registry import spec_of
from .settings import AnswerSettings
from .versions import program

if TYPE_CHECKING:
    import pandas

MISFIT = 0.05  # of the p-value of a check: below it the sentence speaks of misfit
SENTENCES = {
    "facts": "Data summary",
    "data": "The model was fitted to the following data: {data}.",
    "summary": "Each quantity has a posterior mean, standard deviation and {interval}; MC error is"
    " the Monte Carlo error of the mean, ess the effective sample size, and r_hat is close to"
    " 1 if the chains agree.",
    "estimates": "There are no posterior draws; standard errors and intervals, where available, are"
    " listed with the estimates.",
    "trace": "Draws of each chain in order: chains that agree cover the same range.",
    "summary.title": "Posterior summary and convergence of each quantity",
    "estimates.title": "Estimates",
    "chains agree": "The chains agree.",
    "chains differ": "The chains do not agree yet.",
    "estimate found": "The estimation converged.",
    "estimate doubtful": "The estimation raised a warning.",
    "chains brief": "The chains agree (R-hat at most {r_hat}, effective sample size at least"
    " {ess}).",
    "check good": "Model checks passed.",
    "check bad": "Model checks found misfit.",
    "kept": "Results are based on {chains} chains of {draws} draws each, computed with {program}.",
    "computed": "Computations were done with {program}.",
    "judged": "Convergence was assessed by R-hat (largest: {r_hat}) and effective sample size"
    " (smallest: {ess}) of all reported quantities {source}.",
    "intervals": "Intervals are central {interval}s of the posterior.",
}
_TRACE = "trace"


def has_draws(model: Any) -> bool:
    """Whether a fit made draws: not where it made none, or a single point, as some methods do."""
    return model._posterior is not None and model._view.n_draws > 1


@finding("data", "Description of the data", READ, chapter=DATA)
def data(model: Any, settings: AnswerSettings) -> Finding:
    """What the model was fitted to."""
    import pandas as pd

    facts = model._facts_of_fit()
    table = pd.DataFrame(facts, columns=["fact", "value"]).set_index("fact") if facts else None
    sentence = phrase(SENTENCES, "data", data=model._fitted_to_)
    return Finding(sentence, title=SENTENCES["facts"], table=table)


@finding("summary", "Parameter estimates and convergence", chapter=STATISTICS)
def summary(model: Any, settings: AnswerSettings) -> Finding:
    """Every quantity with its interval, its Monte Carlo error, and how well the chains agree on
    it."""
    if not has_draws(model):
        table = model.summary().rename_axis("coefficient")
        return Finding(SENTENCES["estimates"], title=SENTENCES["estimates.title"], table=table)
    spec = spec_of(model)
    is_drawn = spec is not None and _TRACE in spec.pictures
    return Finding(
        notes=(phrase(SENTENCES, "summary", interval=interval_name(settings.ci)),),
        title=SENTENCES["summary.title"],
        table=model.summary(settings.ci).rename_axis("quantity"),
        picture=Picture(_TRACE, SENTENCES["trace"], model._quantities()) if is_drawn else None,
    )


@finding("convergence", "Convergence", ON_SCREEN, chapter=STATISTICS)
def convergence(model: Any, settings: AnswerSettings) -> Finding:
    """Whether the chains agree, or the estimate was found."""
    found = model.convergence()
    by_chains = "chains" in found.facts
    of_chains, of_estimate = (
        ("chains agree", "chains differ"),
        ("estimate found", "estimate doubtful"),
    )
    headline = SENTENCES[(of_chains if by_chains else of_estimate)[not found.agrees]]
    brief = brief_of_chains(found) if by_chains else Brief("Estimate")
    return Finding(found.message, good=found.agrees, headline=headline, brief=brief)


def brief_of_chains(found: Any) -> Brief:
    """What a screen says of chains: how well they agree, or all of what is wrong."""
    if not found.agrees or "r_hat" not in found.facts:
        return Brief("Chains")
    return Brief("Chains", phrase(SENTENCES, "chains brief", **_in_words(found.facts)))


def _in_words(facts: dict[str, Any]) -> dict[str, str]:
    """R-hat and effective sample size of a convergence check."""
    return {"r_hat": r_hat_in_words(facts["r_hat"]), "ess": f"{facts['ess']:,.0f}"}


def list_makers(model: Any, settings: AnswerSettings) -> tuple[Maker, ...]:
    """The makers of the findings of a model that has none of its own."""
    return (summary, data, convergence)


def check_of(
    table: "pandas.DataFrame",
    sentence: str,
    good: bool | None,
    title: str,
    picture: Picture | None = None,
) -> Finding:
    """The finding about a check of what was observed against replicates."""
    headline = "" if good is None else SENTENCES["check good" if good else "check bad"]
    return Finding(
        sentence,
        title=title,
        table=table,
        is_printed=False,
        picture=picture,
        good=good,
        headline=headline,
        brief=Brief("Fit"),
    )


def methods_of(model: Any, modelled: tuple[Text, ...], settings: AnswerSettings) -> Finding:
    """The paragraph of a paper about a fit: how the data were modelled, and the run."""
    return Finding(notes=(*modelled, *_of_run(model, settings)))


def _of_run(model: Any, settings: AnswerSettings) -> tuple[Text, ...]:
    """Sentences about the draws."""
    if not has_draws(model):
        return (phrase(SENTENCES, "computed", program=program()),)
    sizes, facts = model._view.draws.sizes, model.convergence().facts
    kept = {"program": program(), "chains": f"{sizes['chain']:,}", "draws": f"{sizes['draw']:,}"}
    intervals = phrase(SENTENCES, "intervals", interval=interval_name(settings.ci))
    return (phrase(SENTENCES, "kept", **kept), *judged(facts), intervals)


def judged(facts: dict[str, Any]) -> tuple[Text, ...]:
    """How it was judged whether chains agree, by the facts of a convergence check; nothing of a
    single chain."""
    if "r_hat" not in facts:
        return ()
    return (phrase(SENTENCES, "judged", source=Cite("vehtari2021"), **_in_words(facts)),)


def describes(check: "pandas.DataFrame") -> bool | None:
    """Whether a model misses no more of what it was fitted to than its own replicates do; None: the
    check says nothing.

    A check of proportions or similarities has a p-value of all together; of a choice experiment the
    number of those missed is held against what is expected, and two standard deviations more.
    """
    if "p_value" in check.attrs:
        p_value = max(check.attrs["p_value"], 1 / check.attrs["draws"])
        return None if np.isnan(p_value) else bool(p_value >= MISFIT)
    outside = 1.0 - check.attrs["interval"]
    expected = outside * len(check)
    return bool(check["missed"].sum() <= expected + 2.0 * np.sqrt(expected * (1.0 - outside)))


def methods(make: Callable[[Any], tuple[Text, ...]]) -> Maker:
    """The maker of the paragraph of a paper, from a function (model) -> sentences."""

    def paragraph(model: Any, settings: AnswerSettings) -> Finding:
        return methods_of(model, make(model), settings)

    return Maker("methods", "Methods text", SHOWN, paragraph, METHODS)


def asked(question: Callable[[Any], Text]) -> Maker:
    """The maker of what was asked, from a function (model) -> sentence."""
    return Maker(
        "asked", "Research question", SHOWN, lambda model, settings: Finding(question(model))
    )
