"""Elimination by aspects with known aspects, by maximum likelihood."""

from typing import TYPE_CHECKING, Any

from thali.errors import Message
from thali.model.elimination_ml.best_worst_problem import BestWorstProblem
from thali.model.elimination_ml.residual_table import named_row
from thali.model.references import Cite
from thali.model.settings import Settings
from thali.posterior.interval import interval_name

from ..content import Content, listed, number
from ..document import Section, Table
from .shared import best_worst_sentence, effects_sentence, picture, ties_sentences

if TYPE_CHECKING:
    import pandas

_WORST = 3


def content(model: Any, settings: Settings) -> Content:
    """What a fitted model says."""
    return Content(
        question=("How much does each known aspect weigh, and how strongly is each option preferred?",),
        answer=_answer(model, settings),
        misses=_misses(model),
        methods=tuple(_methods(model)),
    )


def _answer(model: Any, settings: Settings) -> Section:
    scale = model.utility_scale_.sort_values(ascending=False, kind="stable")
    best = listed([f"{name} ({number(value)})" for name, value in scale.head(3).items()])
    sentence = f"The largest estimates of utility: {best}."
    finding = f"Utility of each option and its {interval_name(settings.ci)}. {sentence}"
    pictures = [picture(finding, "utility_scale", model, None, True, settings.ci)]
    if model.estimates_.known.crossing is None:
        finding = "The aspects as a tree of the options; the longer a branch, the heavier its aspect."
        pictures.append(picture(finding, "preference_tree", model))
    zero = [str(name) for name, weight in model.weights_.items() if weight == 0.0]
    sentences = [sentence, *([f"No weight is left to {listed(zero)}."] if zero else [])]
    tables = [Table("Weights of the aspects", _named(model.summary(settings.ci)))]
    if model.covariates_:
        effects = model.covariate_effects(settings.ci)
        sentences.append(effects_sentence(effects["estimate"]))
        tables.append(Table("Effects of covariates on log odds", effects))
    return Section("The answer", tuple(sentences), tuple(pictures), tuple(tables))


def _named(table: "pandas.DataFrame") -> "pandas.DataFrame":
    return table.rename_axis(table.index.name or "aspect")


def _misses(model: Any) -> Section:
    import pandas as pd

    residuals = model.residuals()
    residuals = residuals.loc[residuals["residual"].abs().sort_values(ascending=False, kind="stable").index]
    worst = "; ".join(named_row(row) for row in residuals.head(_WORST).to_dict("records"))
    what = "The pairs" if model.estimates_.unit == "pair" else "The choices"
    sentences = (f"Test of fit: {model.estimates_.usual_test}", f"{what} that it predicts worst: {worst}.")
    drawn = (picture(f"Residual of each {model.estimates_.unit}. {sentences[1]}", "residuals", model),)
    measures = pd.DataFrame([model.summary().attrs]).drop(columns="interval")
    tables = (
        Table("Measures of fit", measures),
        Table("Residuals, the largest first", residuals.reset_index(drop=True)),
    )
    return Section("", sentences, drawn, tables)


def _methods(model: Any) -> list[str | Message]:
    if isinstance(model.aspects, str):
        rule = "the choice rule of ", Cite("bradley1952", "luce1959", inside=True)
        first = [Message("Choices were modelled by ", *rule, ".")]
    else:
        rule = "elimination by aspects ", Cite("tversky1972"), " with given aspects"
        first = [Message("Choices were modelled as ", *rule, ".")]
    errors = "are those of the observed information"
    if model.estimates_.is_over_people:
        errors = Message("and tests of fit are over people ", Cite("liang1986", "rao1984"))
    by = "maximum likelihood ", Cite("wickelmaier2004")
    fitted = Message("Weights were estimated by ", *by, "; standard errors ", errors, ".")
    if isinstance(model.estimates_.pose, BestWorstProblem):
        first.append(best_worst_sentence(model.best_worst))
    first += ties_sentences(model.tie_ is not None)
    if model.covariates_:
        first.append(Message(f"{listed(model.covariates_)} added to the log odds of a choice."))
    lapse = f"The probability of a choice at random was fixed at {model.lapse_:g}."
    return [*first, fitted, *([lapse] if model.lapse_ else [])]
