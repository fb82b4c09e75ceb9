"""The printed answer of a fit to a choice experiment."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files import Answer, drawn
from ..judgement import judgement
from ..text import align
from . import Fitted
from .shared import MAX_FEATURES, every_quantity, interval_name

if TYPE_CHECKING:
    import pandas

    from thali.data.experiment import ChoiceExperiment

_LONGEST = 100  # letters of the name of a class in a line


def prepare(fitted: Fitted) -> Any:
    """The market, once it is clear that its products can be used."""
    path = fitted.wanted.get("market")
    return None if path is None else _market(path, fitted.data)


def _market(path: Path, data: "ChoiceExperiment") -> Any:
    """The table of products, which the data's levels describe."""
    from thali.model.choice_answers.market import markets_of
    from thali.reading.table import load

    table = load(path).frame.reset_index(drop=True)
    for market in markets_of(data.scheme, table):
        data.encode(market.table)
    return table


def answer(fitted: Fitted, prepared: Any) -> Answer:
    """What is printed and written of a fitted model, and the shares of a market."""
    from thali.model.product_classes.posterior import trace_of

    model, cores, seed = fitted.model, fitted.run.get("cores"), fitted.run.get("random_seed") or 0
    summary, classes, people = model.summary(), model.classes(), model.people()
    effects = model.level_effects(cores=cores, random_seed=seed)
    importance = model.attribute_importance(cores=cores, random_seed=seed)
    shares = None if prepared is None else model.market_shares(prepared, cores=cores, random_seed=seed)
    tables = {
        "summary": summary.rename_axis("quantity"),
        "classes": classes,
        "level_effects": effects,
        "attribute_importance": importance,
        "people": people.rename_axis("respondent"),
    }
    pictures = drawn(model, fitted.spec) if len(classes) else {}
    pictures |= {
        "level_effects": lambda plots: plots.level_effects(effects),
        "attribute_importance": lambda plots: plots.attribute_importance(importance),
        "people": lambda plots: plots.people(people),
    }
    if "log_evidence" in trace_of(model.posterior_):
        pictures["evidence_path"] = lambda plots: plots.evidence_path(model)
    if shares is not None:
        tables["market_shares"] = shares
        pictures["market_shares"] = lambda plots: plots.market_shares(shares)
    return Answer(report(fitted, summary, classes, effects, importance, shares), tables, pictures)


def report(
    fitted: Fitted,
    summary: "pandas.DataFrame",
    classes: "pandas.DataFrame",
    effects: "pandas.DataFrame",
    importance: "pandas.DataFrame",
    shares: "pandas.DataFrame | None",
) -> str:
    """The answer in words and numbers.

    Parameters
    ----------
    fitted : Fitted
    summary, classes, effects, importance : pandas.DataFrame
        As the model returns them.
    shares : pandas.DataFrame or None
        Of a market.

    Returns
    -------
    str
        Lines without a final line break: the data, what attributes and levels matter, the classes, the market, the
        evidence, the diagnostics, and whether the chains are good enough.
    """
    model, data = fitted.model, fitted.data
    parts = [data.describe(), _importance(importance), _effects(effects, model.monotone or {}), _classes(classes)]
    if shares is not None:
        parts.append(_shares(shares))
    parts += [_evidence(model), every_quantity(summary), judgement(model, fitted.words)]
    return "\n\n".join(part for part in parts if part)


def _importance(table: "pandas.DataFrame") -> str:
    rows = [("attribute", "importance", "std. error", "89 % of people")]
    for row in table.to_dict("records"):
        people = f"{row['people_lb']:.3f} to {row['people_ub']:.3f}"
        rows.append((str(row["attribute"]), _number(row["importance"]), _number(row["se"]), people))
    return "Part of choices that each attribute decides\n" + align(rows, left={0})


def _effects(table: "pandas.DataFrame", monotone: dict[str, str]) -> str:
    from thali.posterior.interval import INTERVAL_COLUMNS

    low, high = INTERVAL_COLUMNS
    marked = bool(table["at_bound"].any())
    rows = [("attribute", "level", "preferred", interval_name(), "89 % of people", *[""] * marked)]
    for row in table.to_dict("records"):
        level = f"{row['level']} over {row['over']}"
        interval, people = (f"{row[a]:.3f} to {row[b]:.3f}" for a, b in ((low, high), ("people_lb", "people_ub")))
        mark = ["at its bound" if row["at_bound"] else ""] * marked
        rows.append((str(row["attribute"]), level, _number(row["effect"]), interval, people, *mark))
    title = "Probability that a level is preferred to another, all else being equal (0.5: indifferent)"
    lines = [title, align(rows, left={0, 1, 5})]
    if marked:
        bound = dict.fromkeys(table.loc[table["at_bound"], "attribute"])
        named = ", ".join(f"{monotone[name]} {name}" for name in bound)
        lines.append(f"At its bound: a direction ({named}) allows nothing below 0.5, so that this is no certainty.")
    return "\n".join(lines)


def _classes(table: "pandas.DataFrame") -> str:
    if not len(table):
        return "Nobody owns a class: the choices look blind."
    head = ("importance", "std. error", "share", "std. error", "liked", "new people", "class")
    rows: list[tuple[str, ...]] = [head]
    listed = table.loc[table["probability"].notna()].head(MAX_FEATURES)  # the last row may be all others together
    for row in listed.to_dict("records"):
        numbers = (row[name] for name in ("importance", "importance_se", "share", "share_se", "liked", "share_new"))
        rows.append((*map(_number, numbers), _cut(str(row["class"]))))
    lines = ["Classes of products, the most important first", align(rows, left={6})]
    if hidden := table.attrs["classes"] - len(listed):
        rest = float(table["importance"].iloc[len(listed) :].sum())
        lines.append(f"... and {hidden:,} more, which have {rest:.3f} of the importance together")
    return "\n".join(lines)


def _shares(table: "pandas.DataFrame") -> str:
    rows = [("product", "share", "std. error", interval_name())]
    for label, row in table.to_dict("index").items():
        interval = f"{row['share_lb']:.3f} to {row['share_ub']:.3f}"
        rows.append((str(label), _number(row["share"]), _number(row["share_se"]), interval))
    return "Shares of the market\n" + align(rows, left={0})


def _evidence(model: Any) -> str:
    lines = []
    if math.isfinite(model.log_evidence_):
        lines.append(
            f"Log evidence of all choices (natural logarithm): {model.log_evidence_:.2f}, standard error "
            f"{model.log_evidence_se_:.2f}; standard deviation between groups {model.evidence_sd_:.2f}"
        )
    return "\n".join([*lines, *model.messages_])


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
