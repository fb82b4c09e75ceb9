"""Any other model: its summary."""

from typing import Any

from thali.data.kinds import CHOICES, OWN, PAIRS, TRIPLETS
from thali.model.latent_features.answers.kind import kind_of
from thali.model.latent_features.answers.similarities import fitted_draws, measured_similarities
from thali.model.registry import spec_of
from thali.model.settings import Settings

from ..content import Content
from ..document import Section, Table
from .shared import members_as_text, missed_proportions, most_probable, number_of_features, picture


def content(model: Any, settings: Settings) -> Content:
    """What a fitted model says."""
    spec = spec_of(model)
    answers = "what the data say" if spec is None else spec.answers
    return Content(question=(f"What was asked: {answers}.",), answer=_answer(model), misses=_misses(model, settings))


def _misses(model: Any, settings: Settings) -> Section:
    """The check that there is for the kind of data."""
    kind = kind_of(model.posterior_)
    if kind in (PAIRS, CHOICES, TRIPLETS):
        return missed_proportions(model, settings)
    if kind == OWN:
        return Section("", ("thali does not know what a likelihood of your own predicts, and checks nothing here.",))
    explained = _share_explained(model.posterior_)
    return Section("", (f"The expected similarities account for {100 * explained:.1f} % of the variance of the data.",))


def _share_explained(tree: Any) -> float:
    """1 - Σ (s - fitted)² / Σ (s - mean of s)² over the measured pairs."""
    data = measured_similarities(tree)
    residuals = data.values - fitted_draws(tree, data)[0].mean(axis=(0, 1))
    return 1.0 - float((residuals**2).sum() / ((data.values - data.values.mean()) ** 2).sum())


def _answer(model: Any) -> Section:
    features = model.features()
    draws = model.posterior_["posterior"]["n_features"].to_numpy()
    sentences = (number_of_features(draws, "features"), most_probable(features, "feature"))
    if not len(features):
        return Section("The answer", sentences[:1])
    pictures = (
        picture(f"Features and who has them. {sentences[1]}", "features", model),
        picture(sentences[0], "n_features", model),
    )
    return Section("The answer", sentences, pictures, (Table("Features", members_as_text(features, model)),))
