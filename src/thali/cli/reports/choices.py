"""What the printed answers of all models of choice experiments share: attributes, levels, money, a market."""

import functools
import math
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali.inference.quiet import without_warnings
from thali.model.settings import Settings

from ..text import align
from . import Fitted

if TYPE_CHECKING:
    import pandas

    from thali.data.experiment import ChoiceExperiment


class Study(NamedTuple):
    """The tables of a market study."""

    effects: "pandas.DataFrame"
    importance: "pandas.DataFrame"
    pay: "pandas.DataFrame | None"  # where there is a price
    shares: "pandas.DataFrame | None"  # of a market
    individuals: (
        "dict[str, Callable[[], pandas.DataFrame]]"  # by file name: a row for each respondent, where they differ
    )

    def tables(self) -> "dict[str, pandas.DataFrame]":
        """By file name."""
        found = {"level_effects": self.effects, "attribute_importance": self.importance}
        found |= {} if self.pay is None else {"willingness_to_pay": self.pay}
        return found | ({} if self.shares is None else {"market_shares": self.shares})

    def pictures(self) -> dict[str, Callable[[ModuleType], Any]]:
        """By file name, as `Answer` takes them."""
        found = {name: table for name, table in self.tables().items() if len(table)}
        return {name: lambda plots, name=name: getattr(plots, name)(found[name]) for name in found}

    def parts(self, monotone: dict[str, str]) -> list[str]:
        """The tables as text."""
        found = [importance_text(self.importance), effects_text(self.effects, monotone)]
        found += [] if self.pay is None or not len(self.pay) else [pay_text(self.pay)]
        return found + ([] if self.shares is None else [shares_text(self.shares)])


def prepare(fitted: Fitted) -> Settings:
    """The settings with the market, once it is clear that its products can be read, and the price."""
    from thali.data.experiment_constants import with_constants
    from thali.model.choice_answers.pay import price_among, refuse_wordy_price

    market, price = fitted.settings.market, fitted.settings.price
    if price is not None:
        refuse_wordy_price(fitted.data.scheme, price)
    data = with_constants(fitted.data) if fitted.run.get("constants") else fitted.data
    if market is not None:
        _check_market(market, data, _numbers(fitted))
    return replace(fitted.settings, price=price if price is not None else price_among(fitted.data.scheme))


def _numbers(fitted: Fitted) -> tuple[str, ...]:
    """The attributes that the model takes as numbers, so that a market may hold any."""
    from thali.model.choice_logits.coding_arguments import knots_by_name, linear_names

    return (*linear_names(fitted.run.get("linear") or ()), *knots_by_name(fitted.run.get("knots")))


def _check_market(table: "pandas.DataFrame", data: "ChoiceExperiment", numbers: tuple[str, ...]) -> None:
    """Refuse a table of products that the data's levels do not describe."""
    from thali.model.choice_answers.market import markets_of

    scheme = data.scheme.with_numbers(numbers, table)
    for market in markets_of(data.scheme, table):
        scheme.encode(market.table, data.respondents)


def study_of(fitted: Fitted) -> Study:
    """The tables that a fitted model gives."""
    model, settings = fitted.model, fitted.settings
    interval, how = {"ci": settings.ci}, settings.how
    effects = model.level_effects(**interval, **how)

    def pay_of(each_person: bool = False) -> "pandas.DataFrame":
        """Amounts, whose warnings are printed below the table."""
        with without_warnings():
            return model.willingness_to_pay(settings.price, each_person=each_person, **interval)

    individuals: dict[str, Callable[[], pandas.DataFrame]] = {}
    if "people_low" in effects:
        individuals = {
            "individual_level_effects": lambda: model.level_effects(each_person=True, **how),
            "individual_importance": lambda: model.attribute_importance(each_person=True, **how),
        }
        if settings.price is not None:
            individuals["individual_willingness_to_pay"] = functools.partial(pay_of, each_person=True)
    return Study(
        effects,
        model.attribute_importance(**interval, **how),
        None if settings.price is None else pay_of(),
        None if settings.market is None else model.market_shares(settings.market, **interval, **how),
        individuals,
    )


def importance_text(table: "pandas.DataFrame") -> str:
    """The importance of attributes."""
    people = "people_low" in table
    head = ("part of ranges", _interval(table), "part of choices", "std. error", *[_of_people(table)] * people)
    rows: list[tuple[str, ...]] = [("attribute", *head)]
    for row in table.to_dict("records"):
        spread = [f"{row['people_low']:.3f} to {row['people_high']:.3f}"] if people else []
        low, high = row["range_share_low"], row["range_share_high"]
        ranges = "-" if math.isnan(row["range_share"]) else f"{low:.3f} to {high:.3f}"
        decided = map(number, (row["importance"], row["se"]))
        rows.append((str(row["attribute"]), number(row["range_share"]), ranges, *decided, *spread))
    title = "Part of each attribute in the ranges of utility, and the part of choices that it decides"
    return f"{title}\n{align(rows, left={0})}"


def effects_text(table: "pandas.DataFrame", monotone: dict[str, str]) -> str:
    """Preferences between levels."""
    marked, people = bool(table["at_bound"].any()), "people_low" in table
    spreads = [("low", "high"), *[("people_low", "people_high")] * people]
    head = (_interval(table), *[_of_people(table)] * people, *[""] * marked)
    rows: list[tuple[str, ...]] = [("attribute", "level", "preferred", *head)]
    for row in table.to_dict("records"):
        level = f"{row['level']} over {row['over']}"
        intervals = [f"{row[a]:.3f} to {row[b]:.3f}" for a, b in spreads]
        mark = ["at its bound" if row["at_bound"] else ""] * marked
        rows.append((str(row["attribute"]), level, number(row["effect"]), *intervals, *mark))
    title = "Probability that a level is preferred to another, all else being equal (0.5: indifferent)"
    lines = [title, align(rows, left={0, 1, len(rows[0]) - 1} if marked else {0, 1})]
    if marked:
        bound = dict.fromkeys(table.loc[table["at_bound"], "attribute"])
        named = ", ".join(f"{monotone[name]} {name}" for name in bound)
        lines.append(f"At its bound: a direction ({named}) allows nothing below 0.5, so that this is no certainty.")
    return "\n".join(lines)


def pay_text(table: "pandas.DataFrame") -> str:
    """Willingness to pay, and what it cannot tell."""
    from thali.model.choice_answers.pay import paid_for

    people = "people_low" in table
    head = (_interval(table), *[_of_people(table)] * people)
    rows: list[tuple[str, ...]] = [("attribute", "level", "amount", "std. error", *head)]
    for row in table.to_dict("records"):
        level = paid_for(row)
        spreads = [("wtp_low", "wtp_high"), *[("people_low", "people_high")] * people]
        intervals = [f"{amount(row[a])} to {amount(row[b])}" for a, b in spreads]
        rows.append((str(row["attribute"]), level, amount(row["wtp"]), amount(row["wtp_se"]), *intervals))
    whose = " of the median person" if people else ""
    lines = [f"Willingness to pay{whose}, in units of {table.attrs['price']}", align(rows, left={0, 1})]
    figures = table[[name for name in table.columns if name == "wtp" or name.startswith("people")]].to_numpy(float)
    if np.isinf(figures).any():
        lines.append("inf: whoever does not mind the price would pay any amount for what is better.")
    return "\n".join([*lines, *table.attrs["notes"]])


def shares_text(table: "pandas.DataFrame") -> str:
    """Shares of a market, or of several."""
    rows: list[tuple[str, ...]] = [(*map(str, table.index.names), "share", "std. error", _interval(table))]
    for label, row in table.to_dict("index").items():
        interval = f"{row['share_low']:.3f} to {row['share_high']:.3f}"
        labels = label if isinstance(label, tuple) else (label,)
        rows.append((*map(str, labels), number(row["share"]), number(row["share_se"]), interval))
    return "Shares of the market\n" + align(rows, left=set(range(table.index.nlevels)))


def number(value: float) -> str:
    """Three decimals."""
    return "-" if math.isnan(value) else f"{value:.3f}"


def amount(value: float) -> str:
    """Four digits."""
    return "-" if math.isnan(value) else f"{value:.4g}"


def _interval(table: "pandas.DataFrame") -> str:
    return f"{100 * table.attrs['interval']:g} % interval"


def _of_people(table: "pandas.DataFrame") -> str:
    return f"{100 * table.attrs['interval']:g} % of people"
