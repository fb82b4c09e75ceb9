"""The printed and written answer of each model."""

from importlib import import_module
from typing import Any, NamedTuple, Protocol

from thali.errors import Words
from thali.model.settings import Settings
from thali.model.spec import ModelSpec

from ..files import Answer


class Fitted(NamedTuple):
    """A model, its data, and what was asked for."""

    spec: ModelSpec
    method: str
    model: Any
    data: Any
    settings: Settings
    run: dict[str, Any]  # the options of the model and of the fit that were typed, by argument
    words: Words


class Report(Protocol):
    """What the file of a report defines."""

    def prepare(self, fitted: Fitted) -> Settings:
        """Before the fit: refuse what cannot be answered; the settings with which `answer` is called."""
        ...

    def answer(self, fitted: Fitted) -> Answer:
        """After the fit: what is printed and written."""
        ...


_FILES = {
    ("elimination-by-aspects", "mcmc"): "elimination",
    ("elimination-by-aspects", "laplace"): "elimination",
    ("elimination-by-aspects", "maximum-likelihood"): "maximum_likelihood",
    ("additive-clustering", ""): "additive",
    ("plackett-luce", ""): "classifiers",
    ("sparse-logit", ""): "classifiers",
    ("product-classes", ""): "product_classes",
    ("latent-class-logit", ""): "latent_class",
    ("multinomial-logit", ""): "choice_logits",
    ("hierarchical-logit", ""): "choice_logits",
}


def report_of(spec: ModelSpec, method: str) -> Report:
    """The report of a model, or the one that suits every model."""
    name = _FILES.get((spec.name, method)) or _FILES.get((spec.name, ""), "general")
    return import_module(f".{name}", __name__)  # type: ignore[return-value]
