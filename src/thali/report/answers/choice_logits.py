"""The multinomial and the hierarchical logit of choice experiments."""

from typing import TYPE_CHECKING, Any

from thali.errors import Message
from thali.model.choice_logits.hierarchical import HierarchicalLogit
from thali.model.references import Cite
from thali.model.settings import Settings

from ..content import Content, listed
from ..document import Section, Table
from .choices import study_of
from .segments import METHOD, with_segments
from .shared import missed_choices

if TYPE_CHECKING:
    import pandas


def content(model: Any, settings: Settings) -> Content:
    """What a fitted model says."""
    people = " of each person" if isinstance(model, HierarchicalLogit) else ""
    return Content(
        question=(
            f"How much do the levels of each attribute add to the utility{people} of a product, what would people pay"
            " for them, and what share would each product of a market have?",
        ),
        answer=_answer(model, settings),
        misses=_misses(model, settings),
        methods=_methods(model),
    )


def _answer(model: Any, settings: Settings) -> Section:
    study = study_of(model, settings)
    if isinstance(model, HierarchicalLogit):
        tables = (
            Table("Tastes in the population: means, standard deviations", _indexed(model.population())),
            Table("Posterior mean tastes of each respondent", model.individual_.rename_axis("respondent")),
        )
    else:
        tables = (Table("Coefficients", _indexed(model.summary())),)
    answer = Section("The answer", study.sentences, study.pictures, (*study.tables, *tables))
    return with_segments(answer, model, settings) if isinstance(model, HierarchicalLogit) else answer


def _misses(model: Any, settings: Settings) -> Section:
    """Replicates of the choices, where the fit has left draws and the data."""
    if isinstance(model, HierarchicalLogit):
        return missed_choices(model.check(settings.random_seed))
    said = "An estimate has no draws of the posterior, whose replicates the choices could be held against."
    return Section("", (said, "How well it predicts tasks that were left out is what thali compare says."))


def _indexed(table: "pandas.DataFrame") -> "pandas.DataFrame":
    return table.rename_axis(table.index.name or "coefficient")


def _methods(model: Any) -> tuple[str | Message, ...]:
    if not isinstance(model, HierarchicalLogit):
        return (
            Message(
                "Choices were modelled by a multinomial logit ",
                Cite("mcfadden1974"),
                ", fitted by maximum likelihood; standard errors are those of the observed information.",
            ),
        )
    df = "p + 3" if model.df is None else f"{model.df:g}"
    signs, covariates = model.signs or {}, model._covariates_.names
    said = ["the tastes of the respondents are normally distributed."]
    if signs:
        named = listed([f"{attribute} ({way})" for attribute, way in signs.items()])
        said.append(f"Utility was constrained to be monotone in {named}: these tastes are exponentials.")
    if covariates:
        said.append(f"Their mean depends on {listed(covariates)} of the respondent.")
    of_logarithms = " (2 of a logarithm)" if signs else ""
    return (
        Message(
            "Choices were modelled by a hierarchical multinomial logit ",
            Cite("rossi2005"),
            f": {' '.join(said)} Means had a normal prior with standard deviation {model.mean_sd:g}{of_logarithms}, the"
            f" covariance of tastes an inverse Wishart prior with {df} degrees of freedom (p coefficients) and scale"
            f" {model.scale:g}.",
        ),
        Message(
            "The posterior was sampled by Hamiltonian Monte Carlo of each respondent's tastes, and of the population"
            " with everybody's tastes, beside Gibbs steps ",
            Cite("yu2011"),
            ".",
        ),
        METHOD,
    )
