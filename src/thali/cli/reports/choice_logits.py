"""The printed answer of a logit: the market study, and the estimates or the diagnostics."""

from typing import TYPE_CHECKING

from ..files import Answer, drawn
from ..judgement import judgement
from . import Fitted
from .choices import prepare as prepare
from .choices import study_of
from .general import estimates_text
from .shared import every_quantity

if TYPE_CHECKING:
    import pandas


def answer(fitted: Fitted) -> Answer:
    """What is printed and written of a fitted model, and the shares of a market."""
    model, study = fitted.model, study_of(fitted)
    summary = model.summary()
    has_draws = "r_hat" in summary
    tables: dict[str, pandas.DataFrame] = {"summary": summary.rename_axis("quantity" if has_draws else "coefficient")}
    quantities = every_quantity(summary) if has_draws else estimates_text(summary)
    parts = [
        fitted.data.describe(),
        *study.parts(fitted.run.get("signs") or {}),
        quantities,
        judgement(model, fitted.words),
    ]
    return Answer(
        "\n\n".join(parts),
        tables | study.tables(),
        drawn(model, fitted.spec) | study.pictures(),
        individuals=study.individuals,
    )
