"""What other rooms ask of a model: its fitting method, and the posterior and data of its fit."""

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import Model, SampledModel


def get_engine(model: "Model") -> Any:
    """Return the fitting method of a model, an `Engine`."""
    return model._engine


def get_posterior(model: "SampledModel") -> Any:
    """Return the posterior of a fit as arrays and labels; raise if the fit has no draws."""
    return model._view


def get_fit_data(model: "Model") -> Any:
    """Return the data that a model was fitted to; None if they are not stored."""
    return model._get_fit_data()


def has_stopped_early(model: "Model") -> bool:
    """Return whether the run of a fit was stopped early."""
    return model._interrupted_


def require_fit(model: "Model") -> None:
    """Raise NotFittedError if a model has not been fitted."""
    model._require_fitted()


def compute_once(model: "Model", name: Hashable, compute: Callable[[], Any]) -> Any:
    """Return the result that a fit caches under this name; compute it at the first request."""
    return model._compute_once(name, compute)
