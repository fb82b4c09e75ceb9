"""Several groups of people, of choices or of similarities."""

from typing import Any

from thali.errors import Message
from thali.model.latent_features.groups.task import SIMILAR
from thali.model.settings import Settings

from ..content import Content, listed, number, probability
from ..document import Section, Table
from .shared import estimate, members_as_text, missed_proportions, number_of_features, picture

_SURE = 0.95  # probability from which on a difference is named
_NAMED = 3


def content(model: Any, word: str, methods: list[str | Message], settings: Settings) -> Content:
    """What a fitted model says; `word`: aspect or feature, `methods`: how one group was modelled."""
    return Content(
        question=(
            f"Do {listed(model.groups_)} attend to the same {word}s, and how much does each weigh in each group?",
        ),
        answer=_answer(model, word, settings),
        misses=missed_proportions(model, settings),
        methods=(*methods, _of_groups(model, word)),
    )


def _answer(model: Any, word: str, settings: Settings) -> Section:
    from thali.plots.group_weights import MAX_GROUPS

    posterior = model.posterior_["posterior"]
    features = model.features(similar=settings.similar)
    shared = features[features["members"].map(len).between(2, posterior.sizes["option"] - 1)]
    draws = posterior["n_shared_features" if "n_shared_features" in posterior else "n_features"].to_numpy()
    sentences = [_differences(shared, word), number_of_features(draws, f"{word}s")]
    if "kappa" in posterior:
        sentences.append(
            f"How similar the groups are, kappa, is {estimate(posterior['kappa'].to_numpy())}; weights of one feature"
            " differ between groups by a standard deviation of about one over its root, relative to their mean."
        )
    pictures, tables = [], []
    if len(shared):
        tables.append(Table(f"{word.capitalize()}s and their weight in each group", members_as_text(shared, model)))
        if len(model.groups_) <= MAX_GROUPS:
            pictures.append(picture(f"Weight of each {word} in each group. {sentences[0]}", "group_weights", model))
    if draws.min() != draws.max():
        pictures.append(picture(sentences[1], "n_features", model))
    return Section("The answer", tuple(sentences), tuple(pictures), tuple(tables))


def _differences(shared: Any, word: str) -> str:
    """Which features certainly weigh more in one group than in another."""
    found = []
    for row in shared.to_dict("records"):
        for name, sure in row.items():
            if str(name).startswith("P(") and not 1 - _SURE < sure < _SURE:
                a, b = str(name)[2:-1].split(" > ")
                more, less = (a, b) if sure > 0.5 else (b, a)
                known = (
                    f"{probability(max(sure, 1 - sure))}, if there is such a {word}: {probability(row['probability'])}"
                )
                found.append(f"{listed(row['members'])} weighs more for {more} than for {less} (probability {known})")
    if not found:
        return f"No {word} that several options share weighs certainly more in one group than in another."
    return "; ".join(found[:_NAMED]) + "."


def _of_groups(model: Any, word: str) -> str:
    shared = f"The {len(model.groups_)} groups had {word}s in common and weights of their own"
    if model.weights != SIMILAR:
        return f"{shared}, independent of those of the other groups."
    return (
        f"{shared}, which varied about a common weight v as Gamma(kappa, kappa / v), with kappa learned under a"
        f" Gamma({number(2)}, {number(0.1)}) prior."
    )
