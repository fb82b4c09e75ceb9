"""Findings of a fit to several groups of respondents."""

from typing import TYPE_CHECKING, Any

from thali._labels import format_plural, list_names
from thali._model.choice_findings import MAX_GROUPS, format_row
from thali._model.common_findings import data, make_question_maker, summary
from thali._model.finding import (
    ON_SCREEN,
    STATISTICS,
    Brief,
    Finding,
    FindingMaker,
    Picture,
    Text,
    finding,
)
from thali._model.finding_settings import AnswerSettings
from thali._model.group_findings import make_group_ranks_maker
from thali._model.sentence_templates import format_estimate, phrase
from thali._number_format import format_probability

from ..results.option_tables import compute_ranks
from .english_sentences import ENGLISH
from .features import (
    append_members,
    build_empty_finding,
    build_number_finding,
    expand_members,
    read_labels,
)

if TYPE_CHECKING:
    import pandas

_MIN_CERTAINTY = 0.95  # minimum probability of the direction of a reported difference
_MAX_DIFFERENCES = 3


def list_group_findings(
    word: str, check: FindingMaker, *more_findings: FindingMaker
) -> tuple[FindingMaker, ...]:
    """List the functions that make the findings of several groups.

    `word` is "aspect" or "feature", `check` the model check of the data, and `more_findings` are
    findings of all groups together.
    """

    @finding("features", f"Shared {word}s and their weights by group", ON_SCREEN)
    def features(model: Any, settings: AnswerSettings) -> Finding | None:
        """Report shared features with their weights in each group."""
        return _build_group_features(model, settings, word)

    @finding("n_features", f"Number of {word}s", ON_SCREEN)
    def n_features(model: Any, settings: AnswerSettings) -> Finding | None:
        """Report the posterior of the number of features."""
        return build_number_finding(model, model._view.n_counted, word, f"{word}s", settings.ci)

    question_maker = make_question_maker(
        lambda model: phrase(ENGLISH, "groups.asked", names=list_names(model._groups), word=word)
    )
    rank_makers: tuple[FindingMaker, ...] = ()
    if word == "aspect":
        rank_makers = (ranks,)
    return (
        question_maker,
        features,
        n_features,
        *rank_makers,
        *more_findings,
        parameters,
        check,
        summary,
        data,
    )


ranks = make_group_ranks_maker(lambda model: compute_ranks(model._view))


def _build_group_features(model: Any, settings: AnswerSettings, word: str) -> Finding:
    """Report shared features with their weights in each group."""
    features = model.features(similar=settings.similar, ci=settings.ci)
    labels = read_labels(model)
    shared_features = features[features["members"].map(len).between(2, len(labels) - 1)]
    exported_table = expand_members(features, labels)
    if not len(shared_features):
        return build_empty_finding(exported_table, word)
    sentence, weight_columns = (
        describe_differences(shared_features, word),
        list_weight_columns(shared_features),
    )
    picture = Picture("group_weights", str(phrase(ENGLISH, "groups.caption", word=word)), features)
    reading_table = append_members(
        shared_features,
        ["probability", "mcse", *weight_columns, *features.attrs["compared"]],
        labels,
    )
    n_hidden, notes = len(model._groups) - MAX_GROUPS, ()
    if n_hidden > 0:
        hidden_groups = format_plural(n_hidden, "more group")
        picture, notes = None, (phrase(ENGLISH, "groups.others", word=word, more=hidden_groups),)
    return Finding(
        sentence,
        title=str(phrase(ENGLISH, "groups.title", word=word)),
        table=exported_table,
        shown=reading_table,
        picture=picture,
        notes=notes,
        brief=Brief(
            f"{word.capitalize()}s",
            table=reading_table[["probability", *weight_columns, "members"]],
        ),
    )


def list_weight_columns(features: "pandas.DataFrame") -> list[str]:
    """Return the names of weight columns of groups or classes in a feature table."""
    return [f"weight[{name}]" for name in features.attrs.get("groups", ())[:MAX_GROUPS]]


def describe_differences(shared_features: "pandas.DataFrame", word: str) -> str:
    """Return a sentence: which features weigh more in one group than in another."""
    sentences = []
    for feature_row in shared_features.to_dict("records"):
        for comparison_column, (a, b) in shared_features.attrs["compared"].items():
            probability_a_heavier = feature_row[comparison_column]
            if not 1 - _MIN_CERTAINTY < probability_a_heavier < _MIN_CERTAINTY:
                heavier_group, lighter_group = a, b
                if probability_a_heavier < 0.5:
                    heavier_group, lighter_group = b, a
                sentence = phrase(
                    ENGLISH,
                    "groups.more",
                    word=word,
                    sure=format_probability(max(probability_a_heavier, 1 - probability_a_heavier)),
                    probability=format_probability(feature_row["probability"]),
                    members=list_names(feature_row["members"]),
                    more=heavier_group,
                    less=lighter_group,
                )
                sentences.append(str(sentence))
    if not sentences:
        return str(phrase(ENGLISH, "groups.same", word=word))
    return ". ".join(sentences[:_MAX_DIFFERENCES]) + "."


@finding("parameters", "Other parameters and assumptions", chapter=STATISTICS)
def parameters(model: Any, settings: AnswerSettings) -> Finding:
    """Report alpha, kappa and other parameters that no single feature has."""
    return Finding(notes=describe_parameters(model, model.summary(settings.ci), "groups"))


def describe_parameters(model: Any, summary_rows: "pandas.DataFrame", key: str) -> tuple[Text, ...]:
    """Return sentences about the parameters, from rows of the summary table.

    `key` is "groups", "kinds" or "individuals", the first part of the keys.
    """
    kappa = model._view.kappa
    notes: list[Text] = []
    if "alpha" in summary_rows.index:
        notes.append(phrase(ENGLISH, "parameters.alpha", value=format_row(summary_rows, "alpha")))
    if kappa is not None:
        spread_text = format_estimate(kappa**-0.5, summary_rows.attrs["interval"])
        notes.append(phrase(ENGLISH, f"{key}.kappa", estimate=spread_text))
    notes.append(
        phrase(ENGLISH, f"{key}.log_likelihood", value=format_row(summary_rows, "log_likelihood"))
    )
    return tuple(notes)


def describe_group_methods(model: Any, word: str) -> Text:
    """Return a methods sentence about weights that differ between groups."""
    dependence_text = ENGLISH["groups.methods.similar"]
    if model._view.kappa is None:
        dependence_text = ENGLISH["groups.methods.free"]
    return phrase(
        ENGLISH, "groups.methods", number=len(model._groups), word=word, how=dependence_text
    )
