"""Product classes of choice experiments."""

from typing import TYPE_CHECKING, Any

from thali.data.experiment_scheme import INSIDE, INSIDE_LEVELS

from ..content import Content, listed, number, probability
from ..document import Section, Table
from .segments import METHOD, with_segments
from .shared import missed_choices, picture

if TYPE_CHECKING:
    import pandas


def content(model: Any) -> Content:
    """What a fitted model says."""
    return Content(
        question=(
            "Which classes of products do people like or dislike, which attributes decide their choices, and what share"
            " would each product of a market have?",
        ),
        answer=_answer(model),
        misses=missed_choices(model.check(0)),
        methods=tuple(_methods(model)),
    )


def _answer(model: Any) -> Section:
    importance, effects, classes = model.attribute_importance(), model.level_effects(), model.classes()
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
    if any(effects["attribute"].eq(INSIDE) & effects["over"].eq(INSIDE_LEVELS[0])):
        sentences.append(f"“{INSIDE}” is what every product has and the no-choice option lacks.")
    if len(classes):
        named = f"The most important class is {classes.iloc[0]['class']}; {_owners(classes.iloc[0])}."
        sentences.append(named)
        pictures.append(picture(f"Classes of products that people care about. {named}", "classes", model))
        tables.append(Table("Classes of products", classes))
    return with_segments(Section("The answer", tuple(sentences), tuple(pictures), tuple(tables)), model)


def _owners(row: Any) -> str:
    return f"{100 * row['share']:.0f} % of the respondents care about it"


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


def _methods(model: Any) -> list[str]:
    monotone = model.monotone or {}
    declared = f" Utility was constrained to be monotone in {listed(list(monotone))}." if monotone else ""
    how = (
        "Posterior draws were made by independent annealed Markov chains."
        if model.method == "annealed"
        else "Posterior draws and the evidence were computed by sequential Monte Carlo."
    )
    return [
        "Choices were modelled by latent classes of products (Daviet & McCausland, 2017): a person's utility of a"
        " product is the sum of the values of the person's classes to which it belongs, and the product of the highest"
        f" utility is chosen, ties being split evenly; with probability {model.lapse:g} a choice was made at"
        f" random.{declared}",
        f"The number of classes was inferred under a two-parameter Indian buffet process prior. {how}",
        METHOD,
    ]
