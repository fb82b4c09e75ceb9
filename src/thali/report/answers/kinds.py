"""Kinds of people whose members are not known."""

from typing import Any

from thali.errors import Message
from thali.model.latent_features.groups.task import SIMILAR
from thali.model.references import Cite
from thali.model.settings import Settings

from ..content import Content, listed, number, probability
from ..document import Section, Table
from .shared import estimate, interval_name, members_as_text, missed_proportions, number_of_features, picture

_LIKED = 3


def content(model: Any, methods: list[str | Message], settings: Settings) -> Content:
    """What a fitted model says; `methods`: how people of one kind were modelled."""
    return Content(
        question=("Which kinds of people are there, who is of the same kind, and what does each kind prefer?",),
        answer=_answer(model, settings),
        misses=missed_proportions(model, settings),
        methods=(*methods, *_of_kinds(model)),
    )


def _answer(model: Any, settings: Settings) -> Section:
    from thali.plots.group_weights import MAX_GROUPS

    posterior, sizes, features = (
        model.posterior_["posterior"],
        model.kind_sizes(),
        model.features(similar=settings.similar),
    )
    shared = features[features["members"].map(len).between(2, posterior.sizes["option"] - 1)]
    likeliest = max(sizes.attrs["n_kinds"], key=sizes.attrs["n_kinds"].get)
    sentences = [
        f"The answers come from {likeliest} of the {len(sizes)} kinds that there may be "
        f"(probability {probability(sizes.attrs['n_kinds'][likeliest])})."
    ]
    for kind, row in sizes.iterrows():
        liked = listed([str(option) for option in model.of_kind(kind).ranks().index[:_LIKED]])
        low, high = (number(100.0 * row[f"population_{end}"]) for end in ("low", "high"))
        sentences.append(
            f"Kind {kind} has {number(100.0 * row['sample_share'])} % of the people who answered, and"
            f" {number(100.0 * row['population_share'])} % of the population that they are a sample of"
            f" ({interval_name()} {low} to {high}); the best mean ranks have {liked}."
        )
    sentences.append(number_of_features(posterior["n_features"].to_numpy(), "aspects"))
    if "kappa" in posterior:
        sentences.append(f"How similar the kinds are, kappa, is {estimate(posterior['kappa'].to_numpy())}.")
    finding = f"The probability that two people are of the same kind. {sentences[0]}"
    pictures = [picture(finding, "same_kind", model)]
    tables = [Table("Kinds of people", sizes.drop(columns="people"))]
    if len(shared):
        tables.append(Table("Aspects and their weight in each kind", members_as_text(shared, model)))
        if 1 < len(sizes) <= MAX_GROUPS:
            pictures.append(picture("Weight of each aspect in each kind.", "group_weights", model))
    return Section("The answer", tuple(sentences), tuple(pictures), tuple(tables))


def _of_kinds(model: Any) -> list[str | Message]:
    shares = (
        f"Everybody was of one of {model.kinds} kinds, whose shares had a Dirichlet(1, ..., 1) prior and whose members"
        " were inferred. The kinds had aspects in common and weights of their own"
    )
    shares += (
        f", which varied about a common weight v as Gamma(kappa, kappa / v), kappa having a Gamma({number(2)}, "
        f"{number(0.1)}) prior."
        if model.weights == SIMILAR
        else ", independent of those of the other kinds."
    )
    return [shares, Message("Kinds of different draws were matched by their members ", Cite("stephens2000"), ".")]
