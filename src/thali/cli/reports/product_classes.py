"""The printed answer of a fit to a choice experiment."""

import math
from typing import TYPE_CHECKING, Any

from thali.model.product_classes.reports.class_table import STABLE
from thali.model.product_classes.reports.people import MAX_PEOPLE
from thali.surfaces.aligned import align

from ..files import Answer, drawn
from ..judgement import judgement
from . import Fitted
from .choices import Study, number, study_of
from .choices import prepare as prepare
from .shared import MAX_FEATURES, every_quantity

if TYPE_CHECKING:
    import pandas

_LONGEST = 100  # letters of the name of a class in a line


def answer(fitted: Fitted) -> Answer:
    """What is printed and written of a fitted model, and the shares of a market."""
    from thali.model.product_classes.posterior import trace_of

    model, study = fitted.model, study_of(fitted)
    summary, classes = model.summary(), model.classes(**fitted.settings.given("similar"))
    tables = {"summary": summary.rename_axis("quantity"), "classes": classes, **study.tables()}
    is_stable = (classes["stability"] >= STABLE).any()
    pictures = (drawn(model, fitted.spec) if is_stable else {}) | study.pictures()
    if fitted.data.n_respondents <= MAX_PEOPLE:
        tables["people"] = model.people().rename_axis("respondent")
    if fitted.data.n_respondents > 2:
        pictures["segments"] = lambda plots: plots.segments(model)
    if "log_evidence" in trace_of(model.posterior_):
        pictures["evidence_path"] = lambda plots: plots.evidence_path(model)
    return Answer(report(fitted, summary, classes, study), tables, pictures, individuals=study.individuals)


def report(fitted: Fitted, summary: "pandas.DataFrame", classes: "pandas.DataFrame", study: Study) -> str:
    """The answer in words and numbers.

    Parameters
    ----------
    fitted : Fitted
    summary, classes : pandas.DataFrame
        As the model returns them.
    study : Study

    Returns
    -------
    str
        Lines without a final line break: the data, what attributes and levels matter, money, a market, the classes, the
        evidence, the diagnostics, and whether the chains are good enough.
    """
    model, data = fitted.model, fitted.data
    parts = [data.describe(), *study.parts(model.monotone or {}), _classes(classes)]
    parts += [_evidence(model), every_quantity(summary), judgement(model, fitted.words)]
    return "\n\n".join(part for part in parts if part)


def _classes(table: "pandas.DataFrame") -> str:
    """The classes of which most chains say the same, the most important first."""
    if not len(table):
        return "Nobody owns a class: the choices look blind."
    head = ("importance", "std. error", "share", "std. error", "liked", "new people", "stability", "class")
    rows: list[tuple[str, ...]] = [head]
    listed = table.loc[table["stability"] >= STABLE].head(MAX_FEATURES)
    for row in listed.to_dict("records"):
        numbers = (row[name] for name in ("importance", "importance_se", "share", "share_se", "liked", "share_new"))
        more = int(row["rules"]) - 1
        and_more = f" (and {more:,} similar)" if more else ""
        rows.append((*map(number, numbers), f"{row['stability']:.2f}", f"{_cut(str(row['class']))}{and_more}"))
    lines = [] if listed.empty else ["Classes of products, the most important first", align(rows, left={7})]
    if hidden := table.attrs["classes"] - len(listed):
        rest = float(table["importance"].sum() - listed["importance"].sum())
        lines.append(
            f"{'...' if lines else 'Classes of products:'} {hidden:,} {'more' if lines else 'in all'}, less important"
            f" or different from chain to chain, which have {rest:.3f} of the importance together"
        )
    return "\n".join(lines)


def _evidence(model: Any) -> str:
    lines = []
    if math.isfinite(model.log_evidence_):
        lines.append(
            f"Log evidence of all choices (natural logarithm): {model.log_evidence_:.2f}, standard error "
            f"{model.log_evidence_se_:.2f}; standard deviation between groups {model.evidence_sd_:.2f}"
        )
    return "\n".join([*lines, *model.messages_])


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
