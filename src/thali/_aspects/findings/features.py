"""Findings about features, for every latent-feature model: which there are, how many, and what was
checked."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._digits import number, probability
from thali._labels import listed, plural
from thali._model.finding import FULL, Brief, Finding, Picture, finding
from thali._model.phrases import format_estimate, phrase
from thali._model.settings import AnswerSettings
from thali._posterior.interval import tails_of
from thali._trees.tree import Tree
from thali.errors import Argument, InPython, Message, Setting

from ..answers.features import chain_column, features_table, place_in_tree
from ..answers.matched_features import members_in_words
from .english import ENGLISH

if TYPE_CHECKING:
    import pandas

_WORTH_NAMING = 0.2  # probability of a feature that a sentence names
_NAMED = 3
_RATHER_THERE = 0.5  # probability from which on features that are not named are counted
# columns that people read
_READ = ("probability", "mcse", "weight", "weight_low", "weight_high", "place")
_BRIEFLY = ("probability", "weight", "weight_low", "weight_high", "members")


def labels_of(model: Any) -> list[str]:
    """The options or objects of a fit."""
    return model._view.labels


def of_variance(share: float, key: str, **named: Any) -> str | Message:
    """How much of the variance is accounted for, in the words of the key; where no two numbers
    differ, that."""
    if math.isnan(share):
        return phrase(ENGLISH, "additive.no variance")
    return phrase(ENGLISH, key, share=f"{100.0 * share:.1f}", **named)


def features_finding(
    model: Any, features: "pandas.DataFrame", word: str, notes: tuple[Any, ...] = ()
) -> Finding:
    """Which features there are, of a table as `features()` of a model returns it."""
    labels, is_given = labels_of(model), has_given(model)
    steps: Any = "" if is_given else next_steps(word)
    if not len(features):
        none, brief = (
            phrase(ENGLISH, "features.none", word=word),
            Brief(f"{word.capitalize()}s", next=steps),
        )
        said = (steps,) if steps else ()
        return Finding(
            none, table=by_member(features, labels), is_printed=False, notes=said, brief=brief
        )
    if "stability" in features:
        notes = (ENGLISH["features.matched"], *notes)
    disputed = [row["members"] for row in features.to_dict("records") if not row["converged"]]
    if disputed:
        named = ["{" + ", ".join(map(str, members)) + "}" for members in disputed[:_NAMED]]
        if len(disputed) > _NAMED:
            named.append(plural(len(disputed) - _NAMED, "other set"))
        notes += (phrase(ENGLISH, "features.not_agreed", members=listed(named)),)
    caption = phrase(ENGLISH, "features.caption", Word=word.capitalize())
    found = most_probable(features, word, len(labels), is_given)
    if not found and steps:
        notes += (steps,)
    return Finding(
        found or str(phrase(ENGLISH, "features.none", word=word)),
        title=str(phrase(ENGLISH, "features.title", Word=word.capitalize())),
        table=by_member(features, labels),
        shown=to_read(features, model, word),
        picture=Picture("features", str(caption), features),
        notes=notes,
        leads=None if found else False,
        brief=_brief(features, model, word, is_given),
    )


def next_steps(word: str) -> Message:
    """What to do next where no feature is worth naming."""
    comparison: tuple[Any, ...] = ()
    if word == "aspect":
        comparison = (
            ", check whether a model with one worth per option predicts as well (",
            InPython("th.compare", "thali compare"),
            ")",
        )
    return Message(
        f"Specify the {word}s that you expect (",
        InPython(f"{word}s={{option: [{word}s]}}", Argument(f"{word}s")),
        ")",
        *comparison,
        f", or merge near-duplicate {word}s (",
        Setting("similar", 0.8),
        ").",
    )


def _brief(features: "pandas.DataFrame", model: Any, word: str, is_given: bool) -> Brief:
    """What a screen shows of features: those that a sentence may name, with their weights."""
    shared = shared_features(features, len(labels_of(model)), is_given)
    label, key = f"{word.capitalize()}s", "brief"
    if not len(shared):
        return Brief(label, next="" if is_given else next_steps(word))
    if is_given:
        key = "brief.given"
    elif shared["probability"].iloc[0] < _RATHER_THERE:
        key = "brief.unsure"
    shown = to_read(shared, model, word)
    shown = shown[[name for name in _BRIEFLY if name in shown]]
    text = phrase(ENGLISH, f"features.{key}", word=word)
    steps = next_steps(word) if key == "brief.unsure" else ""
    return Brief(
        label, text, table=shown.drop(columns="probability") if is_given else shown, next=steps
    )


def has_given(model: Any) -> bool:
    """Whether who has which feature was given, and not inferred."""
    params = model.get_params()
    given = params.get("aspects", params.get("features"))
    return not isinstance(given, str | int | Tree | None)


def most_probable(features: Any, word: str, n_options: int, is_given: bool) -> str:
    """A sentence about the features that several, and not all, share; "" if none is worth
    naming."""
    shared = shared_features(features, n_options, is_given)
    if not len(shared):
        return ""
    unnamed = int((shared["probability"].iloc[_NAMED:] >= _RATHER_THERE).sum())
    more = (
        phrase(ENGLISH, "features.more", more=plural(unnamed, "other"))
        if unnamed and not is_given
        else ""
    )
    named = "; ".join(_named(row, is_given) for row in shared.head(_NAMED).to_dict("records"))
    if is_given:
        key = "features.given"
    elif shared["probability"].iloc[0] < _RATHER_THERE:
        key = "features.unsure"
    else:
        key = "features"
    return str(phrase(ENGLISH, key, word=word, named=f"{named}{more}"))


def shared_features(features: Any, n_options: int, is_given: bool) -> Any:
    """The features that several, and not all, share, and that are worth naming."""
    sizes = features["members"].map(len)
    shared = features[(sizes > 1) & (sizes < n_options)]
    return shared if is_given else shared[shared["probability"] >= _WORTH_NAMING]


def _named(row: dict[str, Any], is_given: bool) -> str:
    """Who has a feature, its weight, and its probability if it was inferred."""
    facts = {"members": listed(row["members"]), "weight": number(row["weight"])}
    if is_given:
        return str(phrase(ENGLISH, "features.given.one", **facts))
    return str(
        phrase(ENGLISH, "features.one", probability=probability(row["probability"]), **facts)
    )


def to_read(features: "pandas.DataFrame", model: Any, word: str) -> "pandas.DataFrame":
    """The columns of a table of features that people read; the members in words, last."""
    labels = labels_of(model)
    of_chains = [
        name for name in map(chain_column, range(model._view.shape[0])) if name in features
    ]
    read = ("probability", *of_chains, "place") if of_chains else _READ
    names = [name for name in (word, *read) if name in features]
    shown = features[names].assign(
        members=[members_in_words(each, labels) for each in features["members"]]
    )
    shown.attrs = features.attrs
    return shown


def by_member(features: "pandas.DataFrame", labels: "list[str]") -> "pandas.DataFrame":
    """A table of features as it is written: members in one column, and a column of 0 and 1 for each
    of these labels."""
    import pandas as pd

    taken = set(features.columns)
    has = {
        f"{label} (member)" if label in taken else label: [
            int(label in members) for members in features["members"]
        ]
        for label in labels
    }
    joined = features.assign(members=features["members"].map("; ".join))
    written = pd.concat([joined, pd.DataFrame(has, index=features.index)], axis=1)
    written.attrs = {name: value for name, value in features.attrs.items() if name == "interval"}
    return written


def place_sentence(model: Any, tree: Tree, word: str, of: str) -> str:
    """How many of the features that some but not all share keep to the tree."""
    table = features_table(model._view, 0.0)
    place = np.array(place_in_tree(table["members"], tree), dtype=object)
    copies = table["copies"].to_numpy()
    total, across = (
        copies[(place != "leaf") & (place != "root")].sum(),
        copies[place == "across"].sum(),
    )
    if total == 0.0:
        return str(phrase(ENGLISH, "features.no_place", word=word, of=of))
    parts = {"total": f"{total:.2f}", "clade": f"{total - across:.2f}", "across": f"{across:.2f}"}
    return str(phrase(ENGLISH, "features.place", word=word, of=of, **parts))


def of_options_alone(model: Any) -> bool:
    """Whether each option has its own aspect and none can be shared."""
    return model.get_params().get("aspects") == "unique"


def number_finding(model: Any, draws: np.ndarray, word: str, what: str, ci: float) -> Finding:
    """How many features there are: a sentence, the probability of each number, a picture."""
    import pandas as pd

    sentence = number_of_features(draws, what, ci)
    brief = Brief("Number", order=2)
    if (draws == draws.flat[0]).all():
        return Finding(sentence, brief=brief)
    values, counts = np.unique(draws, return_counts=True)
    index = pd.Index(values, name="n_features")
    table = pd.DataFrame({"probability": counts / draws.size}, index=index)
    table.attrs |= {
        "mean": float(draws.mean()),
        "low_high": np.quantile(draws, tails_of(ci)).tolist(),
        "interval": ci,
    }
    table.attrs["word"] = word
    title, caption = (
        str(phrase(ENGLISH, f"number.{each}", word=word)) for each in ("title", "caption")
    )
    picture = Picture("n_features", caption, table)
    return Finding(sentence, title=title, table=table, picture=picture, leads=False, brief=brief)


def number_of_features(draws: np.ndarray, what: str, ci: float) -> str:
    """A sentence about how many there are."""
    if (draws == draws.flat[0]).all():
        return str(phrase(ENGLISH, "number.fixed", what=what, number=f"{draws.flat[0]:g}"))
    return str(phrase(ENGLISH, "number", what=what, estimate=format_estimate(draws, ci)))


@finding("membership", "Membership of merged features", FULL)
def membership(model: Any, settings: AnswerSettings) -> Finding | None:
    """The table of memberships where features were matched."""
    return None if settings.similar is None else membership_finding(model, settings.similar)


def membership_finding(model: Any, similar: float) -> Finding:
    """Who has the features that were matched from that Jaccard index on."""
    title = ENGLISH["features.membership"]
    table = model.membership(similar=similar)
    return Finding(title=title, table=table, picture=Picture("membership", title, table))
