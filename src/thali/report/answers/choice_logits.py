"""The multinomial and the hierarchical logit of choice experiments."""

from typing import TYPE_CHECKING, Any

from thali.model.choice_logits.hierarchical import HierarchicalLogit

from ..content import Content, listed, number
from ..document import Section, Table
from .segments import METHOD, with_segments
from .shared import missed_choices

if TYPE_CHECKING:
    import pandas


def content(model: Any) -> Content:
    """What a fitted model says."""
    people = " of each person" if isinstance(model, HierarchicalLogit) else ""
    return Content(
        question=(f"How much do the levels of each attribute add to the utility{people} of a product?",),
        answer=_answer(model),
        misses=_misses(model),
        methods=_methods(model),
    )


def _answer(model: Any) -> Section:
    coefficients = model.coef_.dropna()
    largest = coefficients.loc[coefficients.abs().sort_values(ascending=False, kind="stable").index].head(3)
    named = listed([f"{name} ({number(value)})" for name, value in largest.items()])
    if not isinstance(model, HierarchicalLogit):
        table = Table("Coefficients", _indexed(model.summary()))
        return Section("The answer", (f"The coefficients furthest from 0: {named}.",), tables=(table,))
    tables = (
        Table("Tastes in the population: means, standard deviations", _indexed(model.population())),
        Table("Posterior mean tastes of each respondent", model.individual_.rename_axis("respondent")),
    )
    answer = Section("The answer", (f"The mean tastes furthest from 0: {named}.",), tables=tables)
    return answer if model._data_of_fit() is None else with_segments(answer, model)


def _misses(model: Any) -> Section:
    """Replicates of the choices, where the fit has left draws and the data."""
    if isinstance(model, HierarchicalLogit) and model._data_of_fit() is not None:
        return missed_choices(model.check(0))
    said = "The choices themselves are not kept with this fit, so that it cannot be held against them here."
    return Section("", (said, "How well it predicts tasks that were left out is what thali compare says."))


def _indexed(table: "pandas.DataFrame") -> "pandas.DataFrame":
    return table.rename_axis(table.index.name or "coefficient")


def _methods(model: Any) -> tuple[str, ...]:
    if not isinstance(model, HierarchicalLogit):
        return (
            "Choices were modelled by a multinomial logit (McFadden, 1974), fitted by maximum likelihood; standard"
            " errors are those of the observed information.",
        )
    df = "p + 3" if model.df is None else f"{model.df:g}"
    return (
        "Choices were modelled by a hierarchical multinomial logit (Rossi, Allenby & McCulloch, 2005): the tastes of"
        " the respondents are normally distributed; their mean had a normal prior with standard deviation"
        f" {model.mean_sd:g}, their covariance an inverse Wishart prior with {df} degrees of freedom (p coefficients)"
        f" and scale {model.scale:g}.",
        METHOD,
    )
