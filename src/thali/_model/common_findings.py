"""Findings of every model: data, convergence, parameter estimates, text for a paper."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._posterior.convergence_check import ConvergenceCheck, format_r_hat
from thali._posterior.posterior_interval import describe_interval
from thali._posterior.posterior_tree import PosteriorTree

from .finding import (
    DATA,
    METHODS,
    ON_SCREEN,
    READ,
    SHOWN,
    STATISTICS,
    Brief,
    Finding,
    FindingMaker,
    Picture,
    Text,
    finding,
)
from .finding_settings import AnswerSettings
from .references import Cite
from .sentence_templates import phrase
from .software_versions import describe_program

if TYPE_CHECKING:
    import pandas

    from .base import Model, SampledModel

MISFIT = 0.05  # p-value of a check below which the sentence reports misfit
SENTENCES = {
    "facts": "Data summary",
    "data": "The model was fitted to the following data: {data}.",
    "summary": "Posterior mean, standard deviation and {interval} of each quantity; MC error is the"
    " Monte Carlo standard error of the mean, ess the effective sample size, and r_hat is close to"
    " 1 if the chains agree.",
    "estimates": "There are no posterior draws; standard errors and intervals, where available, are"
    " listed with the estimates.",
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
    " (smallest: {ess}) over all quantities for which R-hat is reported {source}.",
    "intervals": "Intervals are central {interval}s of the posterior.",
}


def has_draws(model: "SampledModel") -> bool:
    """Return whether the fit has at least two posterior draws."""
    return "posterior_" in vars(model) and PosteriorTree(model.posterior_).n_draws > 1


@finding("data", "Description of the data", READ, chapter=DATA)
def data(model: "Model", settings: AnswerSettings) -> Finding:
    """Report the size and kind of the fitted data."""
    import pandas as pd

    facts = model._describe_fitted_data()
    table = None
    if facts:
        table = pd.DataFrame(facts, columns=["fact", "value"]).set_index("fact")
    return Finding(
        phrase(SENTENCES, "data", data=model._fitted_to_), title=SENTENCES["facts"], table=table
    )


@finding("summary", "Parameter estimates and convergence", chapter=STATISTICS)
def summary(model: "SampledModel", settings: AnswerSettings) -> Finding:
    """Report mean, interval, Monte Carlo error and R-hat of every parameter."""
    if not has_draws(model):
        table = model.summary(settings.ci).rename_axis("coefficient")
        return Finding(SENTENCES["estimates"], title=SENTENCES["estimates.title"], table=table)
    return Finding(
        notes=(phrase(SENTENCES, "summary", interval=describe_interval(settings.ci)),),
        title=SENTENCES["summary.title"],
        table=model.summary(settings.ci).rename_axis("quantity"),
    )


@finding("convergence", "Convergence", ON_SCREEN, chapter=STATISTICS)
def convergence(model: "Model", settings: AnswerSettings) -> Finding:
    """Report whether chains agree, or whether a maximum was found."""
    check = model.convergence()
    if "chains" in check.facts:
        brief = build_chain_brief(check)
        headline = describe_agreement(check.agrees)
    else:
        brief = Brief("Estimate")
        headline = SENTENCES["estimate doubtful"]
        if check.agrees:
            headline = SENTENCES["estimate found"]
    return Finding(check.message, good=check.agrees, headline=headline, brief=brief)


def describe_agreement(agrees: bool) -> str:
    """Return "the chains agree" or its opposite, as a headline."""
    if agrees:
        return SENTENCES["chains agree"]
    return SENTENCES["chains differ"]


def build_chain_brief(check: ConvergenceCheck) -> Brief:
    """Build the one-screen summary of the convergence check of chains."""
    if not check.agrees or "r_hat" not in check.facts:
        return Brief("Chains")
    return Brief("Chains", phrase(SENTENCES, "chains brief", **_format_convergence(check.facts)))


def _format_convergence(facts: dict[str, Any]) -> dict[str, str]:
    """Format R-hat and effective sample size as texts by name."""
    return {"r_hat": format_r_hat(facts["r_hat"]), "ess": f"{math.floor(facts['ess']):,}"}


def list_makers(model: "Model", settings: AnswerSettings) -> tuple[FindingMaker, ...]:
    """Return the makers of summary, data and convergence, for models without a findings module."""
    return (summary, data, convergence)


def build_check_finding(
    table: "pandas.DataFrame",
    sentence: str,
    good: bool | None,
    title: str,
    picture: Picture | None = None,
) -> Finding:
    """Build the finding about a posterior predictive check from its table and sentence."""
    headline = ""
    if good:
        headline = SENTENCES["check good"]
    elif good is not None:
        headline = SENTENCES["check bad"]
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


def build_methods_finding(
    model: "Model", model_sentences: tuple[Text, ...], settings: AnswerSettings
) -> Finding:
    """Build the methods text for a paper: sentences on model, draws and software."""
    return Finding(notes=(*model_sentences, *_describe_run(model, settings)))


def _describe_run(model: Any, settings: AnswerSettings) -> tuple[Text, ...]:
    """Return sentences for a paper on chains, draws and software versions."""
    if not has_draws(model):
        return (phrase(SENTENCES, "computed", program=describe_program()),)
    n_chains, n_draws = PosteriorTree(model.posterior_).shape
    facts = model.convergence().facts
    return (
        phrase(
            SENTENCES,
            "kept",
            program=describe_program(),
            chains=f"{n_chains:,}",
            draws=f"{n_draws:,}",
        ),
        *describe_convergence_criteria(facts),
        phrase(SENTENCES, "intervals", interval=describe_interval(settings.ci)),
    )


def describe_convergence_criteria(facts: dict[str, Any]) -> tuple[Text, ...]:
    """Return the sentence for a paper on R-hat and effective sample size.

    () for one chain.
    """
    if "r_hat" not in facts:
        return ()
    return (phrase(SENTENCES, "judged", source=Cite("vehtari2021"), **_format_convergence(facts)),)


def passes_check(check: "pandas.DataFrame") -> bool | None:
    """Return whether the overall p-value of a predictive check shows no misfit.

    None: the check is uninformative. A check of proportions or similarities has one overall
    p-value. For a choice experiment, the number of missed observations may exceed its expectation
    by two standard deviations.
    """
    if "p_value" in check.attrs:
        p_value = max(check.attrs["p_value"], 1 / check.attrs["draws"])
        if np.isnan(p_value):
            return None
        return bool(p_value >= MISFIT)
    p_outside = 1.0 - check.attrs["interval"]
    expected_misses = p_outside * len(check)
    return bool(
        check["missed"].sum()
        <= expected_misses + 2.0 * np.sqrt(expected_misses * (1.0 - p_outside))
    )


def make_methods_maker(describe: Callable[[Any], tuple[Text, ...]]) -> FindingMaker:
    """Return the maker of the methods text for a paper; `describe(model)` gives its sentences."""

    def write_methods(model: "Model", settings: AnswerSettings) -> Finding:
        """Report the methods text of a fit, for a paper."""
        return build_methods_finding(model, describe(model), settings)

    return FindingMaker("methods", "Methods text", SHOWN, write_methods, METHODS)


def make_question_maker(question: Callable[[Any], Text]) -> FindingMaker:
    """Return the maker of the research question; `question(model)` gives its sentence."""
    return FindingMaker(
        "asked", "Research question", SHOWN, lambda model, settings: Finding(question(model))
    )
