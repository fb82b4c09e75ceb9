"""Findings about features of every latent-feature model: list, number and membership."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import format_plural, list_names
from thali._model.finding import FULL, Brief, Finding, Picture, Text, finding
from thali._model.finding_settings import AnswerSettings
from thali._model.sentence_templates import format_estimate, phrase
from thali._number_format import format_number, format_probability
from thali._posterior.posterior_tree import Posterior
from thali._trees.tree import Tree
from thali.errors import Argument, InPython, Message, Setting

from ..draws.feature_columns import read_columns
from ..results.feature_table import features_table, format_chain_column, locate_in_tree
from ..results.matched_features import format_members
from .english_sentences import ENGLISH

if TYPE_CHECKING:
    import pandas

    from ..models.base_model import LatentFeatures

_MIN_NAMED_PROBABILITY = 0.2  # minimum probability of a feature in a sentence
_MAX_NAMED = 3
_MIN_PROBABLE = 0.5  # minimum probability of features that are only counted
_SHOWN_COLUMNS = ("probability", "mcse", "weight", "weight_low", "weight_high", "place")
_BRIEF_COLUMNS = ("probability", "weight", "weight_low", "weight_high", "members")
_NAMES = ("aspect", "feature")  # columns with the names of given features


def with_draws(make: Callable[..., Finding | None]) -> Callable[..., Finding | None]:
    """Decorate a function (model, posterior, settings) -> Finding or None as one without draws."""
    return lambda model, settings: make(model, Posterior(model.posterior_), settings)


def describe_variance(
    share: float, key: str, reliability: float = math.nan, **named: Any
) -> str | Message:
    """Return a sentence about the share of variance accounted for, and its bound if known."""
    if math.isnan(share):
        return phrase(ENGLISH, "additive.no variance")
    if math.isfinite(reliability):
        named["bound"] = phrase(ENGLISH, "additive.bound", share=f"{100.0 * reliability:.1f}")
    return phrase(ENGLISH, key, share=f"{100.0 * share:.1f}", **{"bound": "", **named})


def build_features_finding(
    model: "LatentFeatures",
    posterior: "Posterior",
    features: "pandas.DataFrame",
    word: str,
    notes: tuple[Any, ...] = (),
) -> Finding:
    """Build the finding that lists features, from a table of `Model.features`."""
    labels = posterior.labels
    is_given = has_given_features(model)
    steps = ""
    step_notes = ()
    if not is_given:
        steps = suggest_next_steps(word)
        step_notes = (steps,)
    if not len(features):
        return Finding(
            phrase(ENGLISH, "features.none", word=word),
            table=expand_members(features, labels),
            is_printed=False,
            notes=step_notes,
            brief=Brief(f"{word.capitalize()}s", next=steps),
        )
    if "stability" in features:
        notes = (ENGLISH["features.matched"], *notes)
    disputed_members = [
        row["members"] for row in features.to_dict("records") if not row["converged"]
    ]
    if disputed_members:
        named_sets = [
            "{" + ", ".join(map(str, members)) + "}" for members in disputed_members[:_MAX_NAMED]
        ]
        if len(disputed_members) > _MAX_NAMED:
            named_sets.append(format_plural(len(disputed_members) - _MAX_NAMED, "other set"))
        notes += (phrase(ENGLISH, "features.not_agreed", members=list_names(named_sets)),)
    caption = phrase(ENGLISH, "features.caption", Word=word.capitalize())
    sentence = describe_probable_features(features, word, len(labels), is_given)
    leads = None
    if not sentence:
        sentence = str(phrase(ENGLISH, "features.none", word=word))
        leads = False
        notes += step_notes
    return Finding(
        sentence,
        title=str(phrase(ENGLISH, "features.title", Word=word.capitalize())),
        table=expand_members(features, labels),
        shown=format_for_reading(features, posterior, word),
        picture=Picture("features", str(caption), features),
        notes=notes,
        leads=leads,
        brief=_build_brief(features, posterior, word, is_given, steps),
    )


def suggest_next_steps(word: str) -> Message:
    """Return a message with next steps, if no feature is probable enough to list."""
    comparison: tuple[Any, ...] = ()
    if word == "aspect":
        comparison = (
            ", check whether a Bradley-Terry-Luce model, with one worth per option, predicts as"
            " well (",
            InPython("th.compare", "thali compare"),
            ")",
        )
    return Message(
        f"Specify the {word}s that you expect (",
        InPython(f"{word}s={{option: [{word}s]}}", Argument(f"{word}s")),
        ")",
        *comparison,
        f", or merge similar {word}s (",
        Setting("similar", 0.8),
        ").",
    )


def _build_brief(
    features: "pandas.DataFrame", posterior: "Posterior", word: str, is_given: bool, steps: Text
) -> Brief:
    """Build the short feature table for a screen; `steps` are for uncertain features."""
    shared_features = select_shared_features(features, posterior.n_options, is_given)
    label = f"{word.capitalize()}s"
    if not len(shared_features):
        return Brief(label, next=steps)
    shown_table = format_for_reading(shared_features, posterior, word)
    shown_table = shown_table[[name for name in (*_NAMES, *_BRIEF_COLUMNS) if name in shown_table]]
    brief_key = "brief"
    next_steps = ""
    if is_given:
        brief_key = "brief.given"
        shown_table = shown_table.drop(columns="probability")
    elif shared_features["probability"].iloc[0] < _MIN_PROBABLE:
        brief_key = "brief.unsure"
        next_steps = steps
    brief_text = phrase(ENGLISH, f"features.{brief_key}", word=word)
    return Brief(label, brief_text, table=shown_table, next=next_steps)


def has_given_features(model: "LatentFeatures") -> bool:
    """Return whether the features are given rather than inferred."""
    model_params = model.get_params()
    feature_argument = model_params.get("aspects", model_params.get("features"))
    return not isinstance(feature_argument, str | int | Tree | None)


def describe_probable_features(
    features: "pandas.DataFrame", word: str, n_options: int, is_given: bool
) -> str:
    """Return a sentence that lists probable shared features; "" if there are none."""
    shared_features = select_shared_features(features, n_options, is_given)
    if not len(shared_features):
        return ""
    n_unnamed = int((shared_features["probability"].iloc[_MAX_NAMED:] >= _MIN_PROBABLE).sum())
    remainder_note: Any = ""
    if n_unnamed and not is_given:
        remainder_note = phrase(ENGLISH, "features.more", more=format_plural(n_unnamed, "other"))
    descriptions = "; ".join(
        _describe_feature(row, is_given)
        for row in shared_features.head(_MAX_NAMED).to_dict("records")
    )
    if is_given:
        sentence_key = "features.given"
    elif shared_features["probability"].iloc[0] < _MIN_PROBABLE:
        sentence_key = "features.unsure"
    else:
        sentence_key = "features"
    return str(phrase(ENGLISH, sentence_key, word=word, named=f"{descriptions}{remainder_note}"))


def select_shared_features(features: "pandas.DataFrame", n_options: int, is_given: bool) -> Any:
    """Select probable features with several, but not all, options as owners."""
    n_owners = features["members"].map(len)
    shared_features = features[(n_owners > 1) & (n_owners < n_options)]
    if is_given:
        return shared_features
    return shared_features[shared_features["probability"] >= _MIN_NAMED_PROBABILITY]


def _name_feature(feature_row: dict[str, Any]) -> str:
    """Return the name of a given feature with its members, or the members alone."""
    members_text = list_names(feature_row["members"])
    for column in _NAMES:
        if isinstance(feature_row.get(column), str):
            return f"{feature_row[column]}, shared by {members_text}"
    return members_text


def _describe_feature(feature_row: dict[str, Any], is_given: bool) -> str:
    """Return words on a feature: members, weight, and probability if inferred."""
    feature_facts = {
        "members": _name_feature(feature_row),
        "weight": format_number(feature_row["weight"]),
    }
    if is_given:
        return str(phrase(ENGLISH, "features.given.one", **feature_facts))
    return str(
        phrase(
            ENGLISH,
            "features.one",
            probability=format_probability(feature_row["probability"]),
            **feature_facts,
        )
    )


def format_for_reading(
    features: "pandas.DataFrame", posterior: "Posterior", word: str
) -> "pandas.DataFrame":
    """Return the feature table that users read, with members as the last column."""
    chain_columns = [
        name for name in map(format_chain_column, range(posterior.shape[0])) if name in features
    ]
    shown_columns = _SHOWN_COLUMNS
    if chain_columns:
        shown_columns = ("probability", *chain_columns, "place")
    column_names = [name for name in (word, *shown_columns) if name in features]
    labels = posterior.labels
    reading_table = features[column_names].assign(
        members=[format_members(members, labels) for members in features["members"]]
    )
    reading_table.attrs = features.attrs
    return reading_table


def expand_members(features: "pandas.DataFrame", labels: "list[str]") -> "pandas.DataFrame":
    """Return the feature table for export, with a 0/1 column per option."""
    import pandas as pd

    member_columns = {}
    for label in labels:
        column_name = label
        if label in features.columns:
            column_name += " (member)"
        member_columns[column_name] = [int(label in members) for members in features["members"]]
    joined_members = features.assign(members=features["members"].map("; ".join))
    exported_table = pd.concat(
        [joined_members, pd.DataFrame(member_columns, index=features.index)], axis=1
    )
    exported_table.attrs = {
        column_name: value
        for column_name, value in features.attrs.items()
        if column_name == "interval"
    }
    return exported_table


def describe_tree_positions(
    posterior: "Posterior", tree: Tree, word: str, members_noun: str
) -> str:
    """Return a sentence: how many shared features match a clade of the tree."""
    features = features_table(posterior, 0.0)
    tree_positions = np.array(locate_in_tree(features["members"], tree), dtype=object)
    mean_copies = features["copies"].to_numpy()
    n_shared = mean_copies[(tree_positions != "leaf") & (tree_positions != "root")].sum()
    n_across = mean_copies[tree_positions == "across"].sum()
    if n_shared == 0.0:
        return str(phrase(ENGLISH, "features.no_place", word=word, of=members_noun))
    count_texts = {
        "total": f"{n_shared:.2f}",
        "clade": f"{n_shared - n_across:.2f}",
        "across": f"{n_across:.2f}",
    }
    return str(phrase(ENGLISH, "features.place", word=word, of=members_noun, **count_texts))


def has_only_unique_aspects(model: "LatentFeatures") -> bool:
    """Return whether the model has unique aspects only, none shared."""
    return model.get_params().get("aspects") == "unique"


def build_number_finding(
    number_draws: np.ndarray, word: str, counted_noun: str, ci: float
) -> Finding:
    """Build the finding with probabilities of each number of features."""
    import pandas as pd

    sentence = describe_number(number_draws, counted_noun, ci)
    brief = Brief("Number", order=2)
    if (number_draws == number_draws.flat[0]).all():
        return Finding(sentence, brief=brief)
    numbers, draw_counts = np.unique(number_draws, return_counts=True)
    number_index = pd.Index(numbers, name="n_features")
    probability_table = pd.DataFrame(
        {"probability": draw_counts / number_draws.size}, index=number_index
    )
    title = str(phrase(ENGLISH, "number.title", word=word))
    return Finding(sentence, title=title, table=probability_table, leads=False, brief=brief)


def count_shared_features(posterior: "Posterior") -> np.ndarray:
    """Count features of several but not all options in each draw, (chain, draw)."""
    columns = read_columns(posterior)
    is_shared = (columns.sizes > 1) & (columns.sizes < posterior.n_options)
    return np.bincount(columns.draw[is_shared], minlength=columns.n_draws).reshape(posterior.shape)


def has_probable_shared_features(posterior: "Posterior") -> bool:
    """Return whether a feature of several but not all options has probability >= 0.5."""
    probable_features = features_table(posterior, _MIN_PROBABLE)
    return bool(len(select_shared_features(probable_features, posterior.n_options, False)))


def describe_number(number_draws: np.ndarray, counted_noun: str, ci: float) -> str:
    """Return a sentence about the posterior of the number of features."""
    if (number_draws == number_draws.flat[0]).all():
        return str(
            phrase(ENGLISH, "number.fixed", what=counted_noun, number=f"{number_draws.flat[0]:g}")
        )
    return str(
        phrase(ENGLISH, "number", what=counted_noun, estimate=format_estimate(number_draws, ci))
    )


@finding("membership", "Membership of merged features", FULL)
def membership(model: "LatentFeatures", settings: AnswerSettings) -> Finding | None:
    """Report each option's membership in merged features; None without merging."""
    if settings.similar is None:
        return None
    return build_membership_finding(model, settings.similar)


def build_membership_finding(model: "LatentFeatures", similar: Any) -> Finding:
    """Build the finding about memberships in features merged at Jaccard `similar`."""
    title = ENGLISH["features.membership"]
    membership_table = model.membership(similar=similar)
    return Finding(title=title, table=membership_table)
