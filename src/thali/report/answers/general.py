"""Any other model: its summary."""

from typing import Any

from thali.model.registry import spec_of

from ..content import Content
from ..document import Section, Table
from .shared import members_as_text, most_probable, number_of_features, picture


def content(model: Any) -> Content:
    """What a fitted model says."""
    spec = spec_of(model)
    answers = "what the data say" if spec is None else spec.answers
    return Content(question=(f"What was asked: {answers}.",), answer=_answer(model))


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
    return Section("The answer", sentences, pictures, (Table("Features", members_as_text(features)),))
