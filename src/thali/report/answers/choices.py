"""What the reports of all models of choice experiments share: attributes, levels, money."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali.data.experiment_scheme import INSIDE, INSIDE_LEVELS
from thali.inference.quiet import without_warnings
from thali.model.settings import Settings
from thali.posterior.interval import interval_name

from ..content import listed, number, probability
from ..document import Picture, Table
from .shared import picture

if TYPE_CHECKING:
    import pandas


class Study(NamedTuple):
    """Sentences, pictures and tables of a market study."""

    sentences: tuple[str, ...]
    pictures: tuple[Picture, ...]
    tables: tuple[Table, ...]


def study_of(model: Any, settings: Settings) -> Study:
    """Importance, level effects, willingness to pay where an attribute is a price, and the shares of a market."""
    from thali.model.choice_answers.pay import price_among

    asked = {"ci": settings.ci, **settings.how}
    importance, effects = model.attribute_importance(**asked), model.level_effects(**asked)
    sentences = [_most_important(importance), _strongest(effects)]
    pictures = [
        picture(f"Part of each attribute in the ranges of utility. {sentences[0]}", "attribute_importance", importance),
        picture(
            f"Probability that a level is preferred, all else being equal (.5: indifferent). {sentences[1]}",
            "level_effects",
            effects,
        ),
    ]
    tables = [Table("Importance of attributes", importance), Table("Effects of levels", effects)]
    price = settings.price or price_among(model._chooser().data.scheme)
    with without_warnings():  # they are sentences here
        pay = None if price is None else model.willingness_to_pay(price, ci=settings.ci)
    if pay is not None and len(pay):
        sentences += [dearest := _dearest(pay), *pay.attrs["notes"]]
        pictures.append(picture(f"Willingness to pay for each level. {dearest}", "willingness_to_pay", pay))
        tables.append(Table(f"Willingness to pay, in units of {price}", pay))
    if settings.market is not None:
        shares = model.market_shares(settings.market, **asked)
        pictures.append(
            picture(
                f"Share of each product of the market and its {interval_name(settings.ci)}.", "market_shares", shares
            )
        )
        tables.append(Table("Shares of the market", shares))
    if any(effects["attribute"].eq(INSIDE) & effects["over"].eq(INSIDE_LEVELS[0])):
        sentences.append(f"“{INSIDE}” is what every product has and the no-choice option lacks.")
    return Study(tuple(sentences), tuple(pictures), tuple(tables))


def _most_important(importance: "pandas.DataFrame") -> str:
    rows = [row for row in importance.to_dict("records") if row["attribute"] != INSIDE]
    named = listed([f"{row['attribute']} ({number(row['range_share'])})" for row in rows[:3]])
    return f"The attributes with the largest parts in the ranges of utility: {named}."


def _strongest(effects: "pandas.DataFrame") -> str:
    """The preference furthest from indifference, of those whose interval does not hold it."""
    interval = interval_name(effects.attrs["interval"])
    sure = []
    for row in effects.to_dict("records"):
        low, high = row["low"], row["high"]
        if low > 0.5 and not row["at_bound"]:
            sure.append((row["effect"], low, high, row["attribute"], row["level"], row["over"]))
        elif high < 0.5:
            sure.append((1.0 - row["effect"], 1.0 - high, 1.0 - low, row["attribute"], row["over"], row["level"]))
    if not sure:
        return f"No preference is told from indifference: every {interval} of one holds .5."
    chance, low, high, attribute, more, less = max(sure, key=lambda each: each[0])
    said = f"probability {probability(chance)}, {interval} {probability(low)} to {probability(high)}"
    return f"The strongest preference is for {attribute} {more} over {less} ({said})."


def _dearest(pay: "pandas.DataFrame") -> str:
    """The largest amount, if one is finite and its interval does not hold 0."""
    from thali.model.choice_answers.pay import paid_for

    rows = pay.to_dict("records")
    told = [row for row in rows if (row["wtp_low"] > 0 or row["wtp_high"] < 0) and np.isfinite(row["wtp"])]
    interval = interval_name(pay.attrs["interval"])
    if not told:
        return f"No amount is told from 0: every {interval} of what people would pay holds it, or has no end."
    row = max(told, key=lambda row: abs(row["wtp"]))
    low, high = (number(row[end]) if np.isfinite(row[end]) else "no end" for end in ("wtp_low", "wtp_high"))
    whose = "The median person" if "people_low" in pay else "Everybody"
    more = "at least " if row["at_limit"] else ""
    paid = f"{more}{number(row['wtp'])} for {row['attribute']} {paid_for(row)}"
    return f"{whose} would pay {paid} ({interval} {low} to {high})."
