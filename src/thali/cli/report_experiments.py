"""The printed answer of a fit to a choice experiment."""

import math
import re
from typing import TYPE_CHECKING, Any

from thali.cli.report import MOST_FEATURES, every_quantity, interval_name
from thali.cli.text import align

if TYPE_CHECKING:
    import pandas

    from thali.data.experiment import ChoiceExperiment

_LONGEST = 100  # letters of the name of a class in a line
# How advice that names arguments is typed.
_TYPED = (
    (r"\bfinal_sweeps=([\d,]+)", r"--final-sweeps \1"),
    (r"more final_sweeps", "more --final-sweeps"),
    (r"\bgroups=([\d,]+)", r"--groups \1"),
    (r"\bstart='prior'", "start='prior' (in Python)"),
    (r"\bmethod='smc'", "--method smc"),
)


def report(
    model: Any,
    data: "ChoiceExperiment",
    summary: "pandas.DataFrame",
    classes: "pandas.DataFrame",
    effects: "pandas.DataFrame",
    importance: "pandas.DataFrame",
    shares: "pandas.DataFrame | None",
) -> str:
    """The answer in words and numbers.

    Parameters
    ----------
    model : ProductClasses
        Fitted to the data.
    data : ChoiceExperiment
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
    parts = [data.describe(), _importance(importance), _effects(effects, model.monotone or {}), _classes(classes)]
    if shares is not None:
        parts.append(_shares(shares))
    parts += [_evidence(model), every_quantity(summary), _judgement(model)]
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
    last = str(table["class"].iloc[-1])
    others = last if re.fullmatch(r"other \([\d,]+ class(es)?\)", last) else ""
    listed = table.iloc[: len(table) - bool(others)]
    for row in listed.head(MOST_FEATURES).to_dict("records"):
        numbers = (row[name] for name in ("importance", "importance_se", "share", "share_se", "liked", "share_new"))
        rows.append((*map(_number, numbers), _cut(str(row["class"]))))
    lines = ["Classes of products, the most important first", align(rows, left={6})]
    hidden = len(listed) - MOST_FEATURES
    count = hidden if hidden > 0 else 0
    if others:
        count += int(re.sub(r"\D", "", others))
    if count:
        rest = float(table["importance"].iloc[min(len(listed), MOST_FEATURES) :].sum())
        lines.append(f"... and {count:,} more, which have {rest:.3f} of the importance together")
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
    return "\n".join([*lines, *map(_as_typed, model.told_)])


def _judgement(model: Any) -> str:
    good_enough, sentence = model.verdict()
    return _as_typed(sentence) if good_enough else f"WARNING: {_as_typed(sentence)}"


def _as_typed(sentence: str) -> str:
    """Advice with the options of the command line in place of arguments."""
    for written, typed in _TYPED:
        sentence = re.sub(written, typed, sentence)
    return sentence


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
