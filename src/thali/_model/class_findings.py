"""Findings about latent classes: which there are, what each prefers, and who is in which."""

from typing import TYPE_CHECKING, Any

from thali._digits import number, probability
from thali._labels import listed
from thali._people.latent_classes import memberships
from thali._posterior.interval import interval_name

from .choice_findings import MAX_GROUPS, ranks_in_line, row_in_words
from .common_findings import asked
from .finding import FILE, ON_SCREEN, Brief, Finding, Text, finding
from .references import Cite
from .settings import AnswerSettings
from .wording import phrase

if TYPE_CHECKING:
    import pandas

SENTENCES = {
    "asked": "Which latent classes are there, which respondents belong to the same class, and"
    " what does each class prefer?",
    "latent_classes": "Number of latent classes: {number} (probability {probability}; at most"
    " {most} allowed).",
    "each": "Class {kind}: {sample} % of the respondents and {population} % of the population"
    " ({interval} {low} to {high}); {prefers}.",
    "shares": "In each draw, a class contains a whole number of respondents, so its share"
    " takes only a few values and the interval may exclude the mean. class_share[1],"
    " class_share[2], ... are the shares of the largest class, the second largest, ... in each"
    " draw, regardless of their members.",
    "liked": "best mean ranks: {liked}",
    "title": "Latent classes, largest first: share of the respondents and of the population,"
    " and number of respondents assigned",
    "ranks": "Rank of each option, by class",
    "n_classes": "Number of occupied classes: {value}.",
    "agreement": "Agreement between the class memberships of a draw and those of the most"
    " typical draw (Rand index: the share of pairs of respondents that both draws assign to"
    " the same class, or both to different classes): {value}.",
    "methods.matched": "Classes were matched across draws by their members {source}.",
}
_LIKED = 3

question = asked(lambda model: SENTENCES["asked"])


@finding("latent_classes", "Latent classes", ON_SCREEN)
def latent_classes(model: Any, settings: AnswerSettings) -> Finding:
    """Return the latent classes, their sizes, and what they prefer."""
    sizes: Any = model.respondents.classes(settings.ci)
    numbers = sizes.attrs["n_classes"]
    likeliest = max(numbers, key=numbers.get)
    how = {"number": likeliest, "most": len(sizes), "probability": probability(numbers[likeliest])}
    notes: list[Text] = []
    for kind, one in likely_classes(model).items():
        row = sizes.loc[kind]
        low, high = (number(100.0 * row[f"population_share_{end}"]) for end in ("low", "high"))
        shares = {name: number(100.0 * row[f"{name}_share"]) for name in ("sample", "population")}
        ends = {"interval": interval_name(settings.ci), "low": low, "high": high}
        prefer = _preferred(one)
        notes.append(phrase(SENTENCES, "each", kind=kind, prefers=prefer, **shares, **ends))
    if len(sizes) > 1:
        notes.append(SENTENCES["shares"])
    return Finding(
        phrase(SENTENCES, "latent_classes", **how),
        title=SENTENCES["title"],
        table=sizes.assign(respondents=sizes["respondents"].map("; ".join)),
        shown=sizes.assign(respondents=sizes["respondents"].map(len)),
        notes=tuple(notes),
        brief=Brief(
            "Classes",
            table=sizes[["population_share", "population_share_low", "population_share_high"]],
            order=0,
        ),
    )


def likely_classes(model: Any) -> dict[int, Any]:
    """Return the models of the classes that some respondent is most probably in."""
    likely = memberships(model._view).argmax(axis=1)
    numbers = sorted(set(likely.tolist()))
    return {number + 1: model.respondents.of_class(number + 1) for number in numbers}


def _preferred(model: Any) -> Text:
    """Name the options with the best mean ranks."""
    liked = listed([str(option) for option in model.ranks().index[:_LIKED]])
    return phrase(SENTENCES, "liked", liked=liked)


@finding("ranks", "Ranking of the options by class", ON_SCREEN)
def ranks(model: Any, settings: AnswerSettings) -> Finding:
    """Return the ranks of the options in each class."""
    each = likely_classes(model).items()
    found = {kind: one.ranks(every_rank=True, ci=settings.ci) for kind, one in each}
    return ranks_finding("latent_class", found, "", SENTENCES["ranks"])


@finding("assignment", "Class membership", FILE)
def assignment(model: Any, settings: AnswerSettings) -> Finding:
    """Return the class of each respondent."""
    return Finding(table=model.respondents.membership())


@finding("same_class", "Probability of sharing a class", FILE)
def same_class(model: Any, settings: AnswerSettings) -> Finding:
    """Return the probability that two respondents are in the same class."""
    return Finding(table=model.respondents.same_class())


def class_notes(rows: "pandas.DataFrame") -> tuple[Text, ...]:
    """Return what the rows of a summary say of classes; nothing where there may be only one."""
    if "n_classes" not in rows.index:
        return ()
    return (
        phrase(SENTENCES, "n_classes", value=row_in_words(rows, "n_classes")),
        phrase(SENTENCES, "agreement", value=row_in_words(rows, "class_agreement")),
    )


def matched() -> Text:
    """Return how classes were matched across draws, for a paper."""
    return phrase(SENTENCES, "methods.matched", source=Cite("stephens2000"))


def ranks_finding(
    column: str,
    found: "dict[Any, pandas.DataFrame]",
    sentence: Text,
    title: str,
    leads: bool | None = None,
) -> Finding:
    """Join the tables of ranks of several groups or classes."""
    import pandas as pd

    each = [table.reset_index().assign(**{column: name}) for name, table in found.items()]
    joined = pd.concat(each, ignore_index=True)
    joined.insert(0, column, joined.pop(column))
    joined = joined.set_index([column, "option"])
    shown, table = joined[["rank", "rank_low", "rank_high", "p_1"]], joined.reset_index("option")
    in_lines = {
        "ranks": [
            ", ".join(map(" ".join, ranks_in_line(each)[:MAX_GROUPS])) for each in found.values()
        ]
    }
    brief = Brief(
        "Preferred", table=pd.DataFrame(in_lines, index=pd.Index(list(found), name=column)), order=0
    )
    return Finding(sentence, title=title, table=table, shown=shown, leads=leads, brief=brief)
