"""Elimination by aspects."""

from typing import Any

from thali.data.kinds import BEST_WORST
from thali.errors import Message
from thali.model.latent_features.answers.kind import kind_of
from thali.model.latent_features.answers.kinds_aligned import is_of_kinds
from thali.model.references import Cite
from thali.model.settings import Settings
from thali.trees.tree import Tree

from ..content import Content, listed, number, probability
from ..document import Picture, Section, Table
from . import groups, kinds
from .shared import (
    best_worst_sentence,
    effects_sentence,
    members_as_text,
    missed_proportions,
    most_probable,
    number_of_features,
    picture,
    picture_of_features,
    ties_sentences,
)

_MAX_RANKED = 60  # options, above which ranks are left to the table
_NAMED = 3
_SURE = 0.95  # probability from which on an option is called the best


def content(model: Any, settings: Settings) -> Content:
    """What a fitted model says."""
    if model.groups_:
        return groups.content(model, "aspect", _methods(model), settings)
    if is_of_kinds(model.posterior_):
        return kinds.content(model, _methods(model), settings)
    ranks, features = model.ranks(), model.features(similar=settings.similar)
    return Content(
        question=(_question(model),),
        answer=_answer(model, ranks, features, settings),
        misses=missed_proportions(model, settings),
        methods=tuple(_methods(model)),
    )


def _is_plain(model: Any) -> bool:
    """Whether each option has its own aspect and no other."""
    return (
        model.posterior_["posterior"].sizes["feature"] == 0 or (model.posterior_["posterior"]["n_features"] == 0).all()
    )


def _question(model: Any) -> str:
    if _is_plain(model):
        return "How strongly is each option preferred, if every option has a worth of its own?"
    if isinstance(model.aspects, Tree):
        return "By which aspects do people choose among these options, if related options tend to share aspects?"
    if isinstance(model.aspects, str):
        return (
            "By which aspects do people choose among these options, how many are there, and how much does each weigh?"
        )
    return "How much does each aspect weigh, and which options do people prefer?"


def _answer(model: Any, ranks: Any, features: Any, settings: Settings) -> Section:
    best, last = ((str(ranks.index[at]), number(ranks["rank"].iloc[at])) for at in (0, -1))
    sentences = [_best(ranks)]
    pictures: list[Picture] = []
    tables = [
        Table(
            "Ranks of the options", ranks[["rank", "rank_low", "rank_high", "p_1"]].rename(columns={"p_1": "P(best)"})
        )
    ]
    tables.append(Table("Weight of what each option has alone, and its share of their sum", model.unique_weights()))
    if not _is_plain(model):
        draws = model.posterior_["posterior"]["n_features"].to_numpy()
        besides = " besides each option's own" if model.unique else ""
        sentences += [number_of_features(draws, f"aspects{besides}"), most_probable(features, "aspect")]
        if len(features):
            finding = f"Aspects and the options that have them. {sentences[-1]}"
            pictures.append(picture_of_features(finding, model, settings.similar))
            tables.append(Table("Aspects", members_as_text(features, model)))
        if draws.min() != draws.max():
            pictures.append(picture(sentences[1], "n_features", model))
    if len(ranks) <= _MAX_RANKED:
        finding = (
            f"Rank of each option by the weight of all its aspects, and its interval: on average {best[0]} has"
            f" {best[1]}, {last[0]} {last[1]}."
        )
        pictures.insert(0, picture(finding, "ranks", model))
        finding = (
            "Observed proportions against predicted probabilities: the closer to the diagonal, the better predicted."
        )
        pictures.append(picture(finding, "choice_probabilities", model))
    if model.covariates_:
        sentences.append(effects_sentence(model.covariate_effects()["mean"]))
        tables.append(Table("Effects of covariates on log odds", model.covariate_effects()))
    return Section("The answer", tuple(sentences), tuple(pictures), tuple(tables))


def _best(ranks: Any) -> str:
    likely = ranks["p_1"].sort_values(ascending=False, kind="stable")
    if likely.iloc[0] >= _SURE:
        return f"{likely.index[0]} is the option most preferred (probability {probability(likely.iloc[0])})."
    named = listed([f"{name} ({probability(p)})" for name, p in likely.head(_NAMED).items()])
    return f"Which option is most preferred is not settled; the likeliest are {named}."


def _methods(model: Any) -> list[str | Message]:
    if _is_plain(model):
        first = Message(
            "Choices were modelled by the choice rule of ",
            Cite("bradley1952", "luce1959", inside=True),
            ", with a Gamma(1, 1) prior on the worth of each option.",
        )
        rule = [best_worst_sentence(model.best_worst)] if kind_of(model.posterior_) == BEST_WORST else []
        return [first, *rule, *_ties(model), *_covariates(model), _lapse(model)]
    sentences: list[str | Message] = [
        Message(
            "Choices were modelled as elimination by aspects ",
            Cite("tversky1972"),
            ": an aspect that some but not all of the options at hand have is selected with probability proportional to"
            " its weight, and the options that lack it are eliminated.",
        )
    ]
    if isinstance(model.aspects, Tree):
        sentences.append(
            Message(
                "Which options have which aspects, and how many aspects there are, was inferred under the phylogenetic"
                " Indian buffet process prior ",
                Cite("miller2008"),
                " on a given tree of the options.",
            )
        )
    elif model.aspects == "ibp" if isinstance(model.aspects, str) else False:
        sentences.append(
            Message(
                "Which options have which aspects, and how many aspects there are, was inferred under the Indian buffet"
                " process prior ",
                Cite("gorur2006"),
                ".",
            )
        )
    elif isinstance(model.aspects, int):
        sentences.append(
            f"Which options have which of {model.aspects} aspects was inferred under a beta-Bernoulli prior."
        )
    else:
        sentences.append("Which options have which aspects was given beforehand.")
    if isinstance(model.aspects, str | Tree):
        alpha = "had a Gamma(1, 1) prior" if model.alpha is None else f"was fixed at {model.alpha:g}"
        sentences.append(f"Its concentration parameter {alpha}.")
    own = "Every option had one aspect of its own besides; all weights" if model.unique else "All weights"
    return [*sentences, f"{own} had Gamma(1, 1) priors.", *_ties(model), *_covariates(model), _lapse(model)]


def _ties(model: Any) -> list[str | Message]:
    """By which rule ties were modelled, if there were any."""
    return ties_sentences("tie" in model.posterior_["posterior"], ", its parameter having a Gamma(1, 1) prior")


def _covariates(model: Any) -> list[str]:
    if not model.covariates_:
        return []
    names = listed(model.covariates_)
    return [f"{names} added to the log odds of a choice, each with a coefficient that had a Normal(0, 1) prior."]


def _lapse(model: Any) -> str:
    return f"With probability {model.lapse_:g} a choice was made at random among the options."
