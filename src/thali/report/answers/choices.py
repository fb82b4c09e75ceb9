"""What the reports of all models of choice experiments share: attributes, levels, money."""

from typing import TYPE_CHECKING, Any, NamedTuple

from thali.data.experiment_scheme import INSIDE, INSIDE_LEVELS
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
        picture(f"Part of choices that each attribute decides. {sentences[0]}", "attribute_importance", importance),
        picture(
            f"Probability that a level is preferred, all else being equal (.5: indifferent). {sentences[1]}",
            "level_effects",
            effects,
        ),
    ]
    tables = [Table("Importance of attributes", importance), Table("Effects of levels", effects)]
    price = settings.price or price_among(model._chooser().data.scheme)
    pay = None if price is None else model.willingness_to_pay(price, ci=settings.ci)
    if pay is not None and len(pay):
        sentences.append(_dearest(pay))
        pictures.append(picture(f"Willingness to pay for each level. {sentences[-1]}", "willingness_to_pay", pay))
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
    named = listed(
        [f"{row['attribute']} ({number(row['importance'])})" for row in importance.head(3).to_dict("records")]
    )
    return f"The attributes that decide most: {named}."


def _strongest(effects: "pandas.DataFrame") -> str:
    row = effects.loc[(effects["effect"] - 0.5).abs().idxmax()]
    more, less = (row["level"], row["over"]) if row["effect"] >= 0.5 else (row["over"], row["level"])
    chance = max(row["effect"], 1.0 - row["effect"])
    return f"The strongest preference is for {row['attribute']} {more} over {less} (probability {probability(chance)})."


def _dearest(pay: "pandas.DataFrame") -> str:
    row = pay.loc[pay["wtp"].abs().idxmax()]
    over = f" over {row['over']}" if row["over"] else ""
    whose = "The median person" if "people_lb" in pay else "Everybody"
    more = "at least " if row["at_limit"] else ""
    return (
        f"{whose} would pay {more}{number(row['wtp'])} for {row['attribute']} {row['level']}{over} "
        f"({interval_name(pay.attrs['interval'])} {number(row['wtp_lb'])} to {number(row['wtp_ub'])})."
    )
