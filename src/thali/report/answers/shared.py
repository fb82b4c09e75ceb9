"""Sentences and pictures that several models share."""

from functools import partial
from typing import Any

import numpy as np

from thali.errors import DataError, Message
from thali.model.latent_features.answers.matched_features import members_in_words
from thali.model.latent_features.likelihoods.best_worst import RANKING, REVERSED
from thali.model.references import Cite
from thali.model.settings import Settings
from thali.posterior.interval import TAILS, interval_name

from ..content import listed, number, probability
from ..document import Picture, Section, Table

_WORTH_NAMING = 0.2  # probability of a feature that a sentence names


def estimate(values: np.ndarray) -> str:
    """Mean and interval of draws."""
    low, high = np.quantile(values, TAILS)
    return f"{number(float(values.mean()))} ({interval_name()} {number(low)} to {number(high)})"


def picture(finding: str, name: str, *arguments: Any) -> Picture:
    """A picture of `thali.plots` of that name."""
    return Picture(finding, partial(_drawn, name, arguments))


def picture_of_features(finding: str, model: Any, similar: float | None) -> Picture:
    """Who has which feature, of features with the same owners, or of those that are taken for one."""
    if similar is None:
        return picture(finding, "features", model)
    return picture(finding, "membership", model, None, similar)


def _drawn(name: str, arguments: tuple[Any, ...], plots: Any) -> Any:
    return getattr(plots, name)(*arguments)


def best_worst_sentence(rule: str) -> Message:
    """By which rule best and worst were modelled."""
    how = {
        RANKING: "the first and the last of a ranking, whatever the order of the others",
        REVERSED: "the two options that differ most, by maximum difference",
    }
    return Message(f"The best and the worst of a set were modelled as {how[rule]} ", Cite("marley2005"), ".")


def ties_sentences(has_ties: bool, prior: str = "") -> list[str | Message]:
    """By which rule ties were modelled, if there were any."""
    return [Message("Ties were modelled by the rule of ", Cite("davidson1970", inside=True), f"{prior}.")] * has_ties


def missed_choices(check: Any) -> Section:
    """What the check of a choice experiment says."""
    from thali.model.choice_logits.check import check_sentence

    title = "Numbers that describe the choices, and the interval of their replicates; the worst first"
    return Section("", (check_sentence(check),), tables=(Table(title, check),), good=describes(check))


def missed_proportions(model: Any, settings: Settings) -> Section:
    """What the check of choices among options says."""
    from thali.model.latent_features.answers.check import check_sentence

    try:
        check = model.check(settings.random_seed)
    except DataError as error:  # fractional counts
        return Section("", (str(error),))
    sentence = check_sentence(check)
    drawn = (picture(f"Observed proportions against what the model predicts. {sentence}", "check", check),)
    worst = Table("Each observed proportion and its predictive interval, the worst first", check)
    return Section("", (sentence,), drawn, (worst,), good=describes(check))


def describes(check: Any) -> bool | None:
    """Whether a model misses no more of what it was fitted to than its own replicates do; None: the check says nothing.

    A check of proportions or similarities has a p-value of all together; of a choice experiment the number of those
    missed is held against what is expected, and two standard deviations more.
    """
    from thali.model.latent_features.answers.check import MISFIT

    if "p_value" in check.attrs:
        p_value = max(check.attrs["p_value"], 1 / check.attrs["draws"])
        return None if np.isnan(p_value) else bool(p_value >= MISFIT)
    outside = 1.0 - check.attrs["interval"]
    expected = outside * len(check)
    return bool(check["missed"].sum() <= expected + 2.0 * np.sqrt(expected * (1.0 - outside)))


def number_of_features(draws: np.ndarray, word: str) -> str:
    """A sentence about how many there are."""
    if (draws == draws.flat[0]).all():
        return f"The number of {word} is {draws.flat[0]:g} in every draw."
    return f"The number of {word} is about {estimate(draws)}."


def most_probable(features: Any, word: str) -> str:
    """A sentence about the features that several share."""
    shared = features[features["members"].map(len) > 1].head(3)
    shared = shared[shared["probability"] >= _WORTH_NAMING] if len(shared) else shared
    if not len(shared):
        return f"No {word} that several share is present often enough to be named."
    named = "; ".join(
        f"{listed(row['members'])} (probability {probability(row['probability'])}, weight {number(row['weight'])})"
        for row in shared.to_dict("records")
    )
    return f"The most probable {word}s that several share: {named}."


def members_as_text(features: Any, model: Any) -> Any:
    """The table of features of a model with the names of the members in one cell, first."""
    labels = model.posterior_["posterior"]["option"].values.tolist()
    shown = features.assign(members=[members_in_words(members, labels) for members in features["members"]])
    return shown[["members", *(name for name in shown.columns if name != "members")]]


def effects_sentence(coefficients: Any) -> str:
    """By which factors a unit of each covariate changes odds."""
    factors = listed([f"{name} ({number(float(np.exp(value)))})" for name, value in coefficients.items()])
    return f"The factors by which a unit of each covariate multiplies the odds of the first of two options: {factors}."
