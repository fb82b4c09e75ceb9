"""The printed answer of any model: its data, its summary, and whether the fit can be trusted."""

from typing import TYPE_CHECKING

from thali._digits import in_a_column
from thali.model.settings import Settings
from thali.surfaces.aligned import align

from ..files import Answer, drawn
from ..judgement import judgement
from . import Fitted
from .shared import every_quantity

if TYPE_CHECKING:
    import pandas


def prepare(fitted: Fitted) -> Settings:
    """Nothing to refuse."""
    return fitted.settings


def answer(fitted: Fitted) -> Answer:
    """What is printed and written of a fitted model."""
    model = fitted.model
    summary = model.summary()
    if "r_hat" not in summary:
        text = f"{fitted.data}\n\n{estimates_text(summary)}\n\n{judgement(model, fitted.words)}"
        return Answer(text, {"summary": summary}, drawn(model, fitted.spec))
    parts = [str(fitted.data), every_quantity(summary), judgement(model, fitted.words)]
    return Answer("\n\n".join(parts), {"summary": summary.rename_axis("quantity")}, drawn(model, fitted.spec))


def estimates_text(table: "pandas.DataFrame") -> str:
    """Estimates without draws."""
    rows = [(str(table.index.name or ""), *map(str, table.columns))]
    for name, values in zip(table.index, table.to_numpy(float), strict=True):
        rows.append((str(name), *(in_a_column("", value) for value in values)))
    return "Estimates\n" + align(rows, left={0})
