"""The printed and written answer of each model."""

from importlib import import_module
from typing import Any, NamedTuple, Protocol

from thali.errors import Words
from thali.model.spec import ModelSpec

from ..files import Answer


class Fitted(NamedTuple):
    """A model, its data, and what was asked for."""

    spec: ModelSpec
    method: str
    model: Any
    data: Any
    wanted: dict[str, Any]  # the options of the answer that were typed, by argument
    run: dict[str, Any]  # those of the model and of the fit
    words: Words


class Report(Protocol):
    """What the file of a report defines."""

    def prepare(self, fitted: Fitted) -> Any:
        """Before the fit: refuse what cannot be answered; what it returns is handed to `answer`."""
        ...

    def answer(self, fitted: Fitted, prepared: Any) -> Answer:
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
