"""Additive clustering."""

from typing import Any

from thali._labels import plural
from thali.data.kinds import TRIPLETS
from thali.errors import Message
from thali.model.latent_features.answers.kind import kind_of
from thali.model.latent_features.answers.matched_features import similar_for
from thali.model.references import Cite
from thali.model.settings import Settings
from thali.trees.tree import Tree

from ..content import Content, number
from ..document import Section, Table
from . import groups
from .shared import (
    describes,
    estimate,
    members_as_text,
    missed_proportions,
    most_probable,
    number_of_features,
    picture,
    picture_of_features,
)

CONSTANT = "additive constant"
ESTIMATES = {
    "expectation": "Expectation over all features (of which the most probable are listed)",
    "map-features": "Most probable set of features, with the weights that suit it best",
    "conditional-map": "Best draw among those with the most probable number of features",
    "joint-map": "Best draw of features and weights together",
}
SIMILARITIES = {kind: f"The similarities of the estimate {kind}" for kind in ESTIMATES}
SIMILARITIES["expectation"] = "The expected similarities"
WORST = 200  # similarities of the check that are shown
# Columns of a table of features that say nothing of a single set of them.
POINTLESS = ["weight_low", "weight_high", "copies", "mcse", "ess", "r_hat", "converged", "probability"]


def content(model: Any, settings: Settings) -> Content:
    """What a fitted model says."""
    of_triplets = kind_of(model.posterior_) == TRIPLETS
    if model.groups_:
        return groups.content(model, "feature", _methods(model), settings)
    return Content(
        question=(
            "Which features do the objects share, how many are there, and how much does each add to the similarity of"
            " those that share it?",
        ),
        answer=_answer(model, settings),
        misses=_misses(model, settings, of_triplets),
        methods=tuple(_methods(model)),
    )


def _answer(model: Any, settings: Settings) -> Section:
    if model.method == "map":
        return _point(model)
    similar = similar_for(model.posterior_["posterior"].sizes["option"], settings.similar)
    shared = model.features(similar=similar)
    posterior = model.posterior_["posterior"]
    draws, every = (posterior[name].to_numpy() for name in ("n_shared_features", "n_features"))
    sentences = (
        number_of_features(draws, "features that two objects or more share"),
        most_probable(shared, "feature"),
        *([] if (draws == every).all() else [number_of_features(every, "all features, those of one object included,")]),
    )
    finding = f"Features and the objects that have them. {sentences[1]}"
    pictures = [picture_of_features(finding, model, similar)] if len(shared) else []
    pictures.append(picture(sentences[0], "n_features", model))
    tables = (Table("Features that several objects share", members_as_text(shared, model)),) if len(shared) else ()
    return Section("The answer", sentences, tuple(pictures), tables)


def _point(model: Any) -> Section:
    """The most probable set of features alone."""
    found = model.features().drop(columns=POINTLESS, errors="ignore")
    sentence = (
        f"The most probable set of features that was found has {plural(len(found), 'feature')} of two objects or more."
    )
    if not len(found):
        return Section("The answer", (sentence,))
    drawn = picture(f"Features and the objects that have them. {sentence}", "features", model)
    return Section("The answer", (sentence,), (drawn,), (Table("Features", members_as_text(found, model)),))


def _misses(model: Any, settings: Settings, of_triplets: bool) -> Section | None:
    from thali.model.latent_features.answers.check import check_sentence

    if model.method == "map":
        return None
    if of_triplets:
        return missed_proportions(model, settings)
    found = model.estimate(settings.kind)
    share, whose = 100 * found.variance_accounted_for(), SIMILARITIES[found.kind]
    explained = f"{whose} account for {share:.1f} % of the variance of the data."
    predicted = found.similarity.rename_axis("object")
    check = model.check(settings.random_seed)
    missed = check_sentence(check)
    return Section(
        "",
        (explained, missed),
        (
            picture(f"Similarities of the data and of the model. {explained}", "similarity", model),
            picture(f"Observed similarities against what the model predicts. {missed}", "check", check),
        ),
        (
            Table(ESTIMATES[found.kind] + _deviation_in(found), _with_constant(found, model)),
            Table(whose, predicted),
            Table("Observed similarities and their predictive intervals, the worst first", check.head(WORST)),
        ),
        good=describes(check),
    )


def _deviation_in(found: Any) -> str:
    """At which standard deviation an estimate was sought, where the draws have several."""
    if not found.learned_sigma or found.kind == "expectation":
        return ""
    return f", at a standard deviation of {found.sigma:.3g}, the root of the posterior mean of its square"


def _with_constant(found: Any, model: Any) -> Any:
    """The features of an estimate and, as the last row, the additive constant."""
    import pandas as pd

    table = members_as_text(found.features, model)
    constant = [{"members": CONSTANT, "weight": float(found.constant)}] * bool(found.has_constant)
    return pd.concat([table, pd.DataFrame(constant)], ignore_index=True) if constant else table


def _methods(model: Any) -> list[str | Message]:
    of_triplets = kind_of(model.posterior_) == TRIPLETS
    rule, fixed = (_of_answers if of_triplets else _of_similarities)(model)
    sentences: list[str | Message] = [rule]
    if isinstance(model.get_params()["features"], str):
        sentences.append(
            Message(
                "Which objects have which features, and how many features there are, was inferred under the Indian"
                " buffet process prior ",
                Cite("navarro2007"),
                ".",
            )
        )
    elif isinstance(model.get_params()["features"], Tree):
        sentences.append(
            Message(
                "Which objects have which features, and how many features there are, was inferred under the"
                " phylogenetic Indian buffet process prior ",
                Cite("miller2008"),
                " on a given tree of the objects.",
            )
        )
    shape, rate = model.weight_prior_
    return [*sentences, f"Weights had a Gamma prior with shape {shape:g} and rate {rate:.3g}.", fixed]


def _of_answers(model: Any) -> tuple[Message, str]:
    """How triplets were modelled, and what was fixed."""
    value, source = {
        "exp": ("the exponential of ", Message(" ", Cite("zheng2019"))),
        "ratio": ("a constant plus ", ""),
    }[model.link]
    return (
        Message(
            "Which pair of a set was called the most similar was modelled by additive clustering: each pair in"
            f" proportion to {value}the sum of the weights of the features that both of its objects have",
            source,
            ".",
        ),
        f"With probability {number(model.lapse)} a pair was named at random.",
    )


def _of_similarities(model: Any) -> tuple[Message, str]:
    """How similarities were modelled, and their error."""
    constant = ", plus a constant" if model.constant else ""
    sigma = model.posterior_["posterior"]["sigma"].to_numpy()
    known = f"was learned: {estimate(sigma)}"
    if (sigma == sigma.flat[0]).all():
        chosen = ", chosen by cross-validation over pairs of objects" if "sigma_scores_" in vars(model) else ""
        known = f"was {number(float(sigma.flat[0]))}{chosen}"
    return (
        Message(
            "Similarities were modelled by additive clustering ",
            Cite("shepard1979"),
            ": the similarity of two objects is the sum of the weights of the features that both"
            f" have{constant}, with normal error.",
        ),
        f"The standard deviation of the error {known}.",
    )
