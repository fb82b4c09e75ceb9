"""What the multinomial and the hierarchical logit find out."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from thali.model.common_findings import asked, data, levels, methods, summary, verdict
from thali.model.finding import FULL, MISSES, STATISTICS, Finding, Maker, Text, finding
from thali.model.references import Cite
from thali.model.settings import Settings
from thali.model.wording import listed, phrase

from ..answers.english import ENGLISH
from ..answers.findings import FIRST, OF_PEOPLE, SEGMENTED, check, segments_of
from .hierarchical import HierarchicalLogit

if TYPE_CHECKING:
    from .multinomial import MultinomialLogit


def makers_of(model: "HierarchicalLogit | MultinomialLogit", settings: Settings) -> tuple[Maker, ...]:
    """The makers of the findings of either logit."""
    if isinstance(model, HierarchicalLogit):
        people = (population, individuals, *segments_of(settings))
        return (*_HIERARCHICAL, *people, check, quantities, data, levels, *OF_PEOPLE, methods(_hierarchical), verdict)
    return (*_MULTINOMIAL, no_check, summary, data, levels, methods(_multinomial), verdict)


@finding("population", "What do people want on average?")
def population(model: "HierarchicalLogit", settings: Settings) -> Finding:
    """Means and standard deviations of the tastes in the population."""
    table = model.population()
    title = ENGLISH["logit.population"]
    return Finding(title=title, table=table.rename_axis(table.index.name or "coefficient"), rows=None)


@finding("summary", "How sure is each quantity?", chapter=STATISTICS)
def quantities(model: "HierarchicalLogit", settings: Settings) -> Finding:
    """What the verdict judges; in files also means and standard deviations of tastes, and effects of covariates."""
    import pandas as pd

    found: Any = summary(model, settings)
    every = pd.concat([model.summary(), model.population()]).rename_axis("quantity")
    return replace(found, table=every, shown=found.table)


@finding("individuals", "What does each person want?", FULL)
def individuals(model: "HierarchicalLogit", settings: Settings) -> Finding:
    """The posterior mean of the tastes of each respondent."""
    table = model.individual_.rename_axis("respondent")
    return Finding(title=ENGLISH["logit.individuals"], table=table)


@finding("check", "Does the model describe the data?", FULL, chapter=MISSES)
def no_check(model: "MultinomialLogit", settings: Settings) -> Finding:
    """Why an estimate is not checked."""
    return Finding(ENGLISH["logit.no_check"], notes=(ENGLISH["logit.compare"],))


def _multinomial(model: "MultinomialLogit") -> tuple[Text, ...]:
    """How a paper says it of the multinomial logit."""
    return (phrase(ENGLISH, "logit.methods", source=Cite("mcfadden1974")),)


def _hierarchical(model: "HierarchicalLogit") -> tuple[Text, ...]:
    """How a paper says it of the hierarchical logit."""
    df = "p + 3" if model.df is None else f"{model.df:g}"
    signs, covariates = model.signs or {}, model._covariates_.names
    sentences = [phrase(ENGLISH, "hierarchical.methods", source=Cite("rossi2005"))]
    if signs:
        named = listed([f"{attribute} ({way})" for attribute, way in signs.items()])
        sentences.append(phrase(ENGLISH, "hierarchical.signs", named=named))
    if covariates:
        sentences.append(phrase(ENGLISH, "hierarchical.covariates", named=listed(covariates)))
    logarithms = ENGLISH["hierarchical.logarithms"] if signs else ""
    numbers = {"sd": f"{model.mean_sd:g}", "df": df, "scale": f"{model.scale:g}"}
    sentences.append(phrase(ENGLISH, "hierarchical.prior", logarithms=logarithms, **numbers))
    return (*sentences, phrase(ENGLISH, "hierarchical.sampler", source=Cite("yu2011")), SEGMENTED)


_MULTINOMIAL = (asked(lambda model: ENGLISH["logit.asked"]), *FIRST)
_HIERARCHICAL = (asked(lambda model: ENGLISH["logit.asked.people"]), *FIRST)
