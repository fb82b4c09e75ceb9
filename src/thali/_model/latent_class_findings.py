"""Findings about latent classes of respondents: their number, preferences and members."""

from typing import TYPE_CHECKING, Any

from thali._labels import list_names
from thali._number_format import format_number, format_probability
from thali._people.latent_class_results import membership_probabilities
from thali._posterior.posterior_interval import describe_interval

from .choice_findings import MAX_GROUPS, format_ranks, format_row
from .common_findings import make_question_maker
from .finding import FILE, ON_SCREEN, Brief, Finding, Text, finding
from .finding_settings import AnswerSettings
from .references import Cite
from .sentence_templates import phrase

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

question = make_question_maker(lambda model: SENTENCES["asked"])


@finding("latent_classes", "Latent classes", ON_SCREEN)
def latent_classes(model: Any, settings: AnswerSettings) -> Finding:
    """Report number, sizes and best options of the latent classes of respondents."""
    class_table: Any = model.respondents.classes(settings.ci)
    p_by_n_classes = class_table.attrs["n_classes"]
    n_classes = max(p_by_n_classes, key=p_by_n_classes.get)
    notes: list[Text] = []
    for class_number, class_model in list_occupied_class_models(model).items():
        percent_texts = (100.0 * class_table.loc[class_number].filter(like="share")).map(
            format_number
        )
        notes.append(
            phrase(
                SENTENCES,
                "each",
                kind=class_number,
                prefers=_describe_preference(class_model),
                sample=percent_texts["sample_share"],
                population=percent_texts["population_share"],
                interval=describe_interval(settings.ci),
                low=percent_texts["population_share_low"],
                high=percent_texts["population_share_high"],
            )
        )
    if len(class_table) > 1:
        notes.append(SENTENCES["shares"])
    return Finding(
        phrase(
            SENTENCES,
            "latent_classes",
            number=n_classes,
            most=len(class_table),
            probability=format_probability(p_by_n_classes[n_classes]),
        ),
        title=SENTENCES["title"],
        table=class_table.assign(respondents=class_table["respondents"].map("; ".join)),
        shown=class_table.assign(respondents=class_table["respondents"].map(len)),
        notes=tuple(notes),
        brief=Brief(
            "Classes",
            table=class_table[
                ["population_share", "population_share_low", "population_share_high"]
            ],
            order=0,
        ),
    )


def list_occupied_class_models(model: Any) -> dict[int, Any]:
    """Return the models of classes that are some respondent's most probable, by number."""
    class_of_respondent = membership_probabilities(model._view).argmax(axis=1)
    return {
        class_index + 1: model.respondents.of_class(class_index + 1)
        for class_index in sorted(set(class_of_respondent.tolist()))
    }


def _describe_preference(model: Any) -> Text:
    """Return the phrase that names the options with the best mean ranks."""
    return phrase(SENTENCES, "liked", liked=list_names(model.ranks().index[:_LIKED]))


@finding("ranks", "Ranking of the options by class", ON_SCREEN)
def ranks(model: Any, settings: AnswerSettings) -> Finding:
    """Report the ranks of the options in each latent class."""
    tables = {
        class_number: class_model.ranks(every_rank=True, ci=settings.ci)
        for class_number, class_model in list_occupied_class_models(model).items()
    }
    return join_rank_tables("latent_class", tables, "", SENTENCES["ranks"])


@finding("assignment", "Class membership", FILE)
def assignment(model: Any, settings: AnswerSettings) -> Finding:
    """Report the most probable latent class of each respondent."""
    return Finding(table=model.respondents.membership())


@finding("same_class", "Probability of sharing a class", FILE)
def same_class(model: Any, settings: AnswerSettings) -> Finding:
    """Report, per pair of respondents, the probability of sharing a latent class."""
    return Finding(table=model.respondents.same_class())


def class_notes(rows: "pandas.DataFrame") -> tuple[Text, ...]:
    """Return the sentences on estimated number and agreement of classes, from summary rows."""
    if "n_classes" not in rows.index:
        return ()
    return (
        phrase(SENTENCES, "n_classes", value=format_row(rows, "n_classes")),
        phrase(SENTENCES, "agreement", value=format_row(rows, "class_agreement")),
    )


def describe_matching() -> Text:
    """Return the sentence for a paper on relabelling classes across draws."""
    return phrase(SENTENCES, "methods.matched", source=Cite("stephens2000"))


def join_rank_tables(
    level_name: str,
    tables: "dict[Any, pandas.DataFrame]",
    sentence: Text,
    title: str,
    leads: bool | None = None,
) -> Finding:
    """Join the rank tables of several groups or classes into one finding."""
    import pandas as pd

    joined = pd.concat(tables, names=[level_name])
    main_columns = joined[["rank", "rank_low", "rank_high", "p_1"]]
    table = joined.reset_index("option")
    rank_lines = [
        ", ".join(map(" ".join, format_ranks(rank_table)[:MAX_GROUPS]))
        for rank_table in tables.values()
    ]
    brief_table = pd.DataFrame({"ranks": rank_lines}, index=pd.Index(list(tables), name=level_name))
    brief = Brief("Preferred", table=brief_table, order=0)
    return Finding(sentence, title=title, table=table, shown=main_columns, leads=leads, brief=brief)
