"""Requirements of result methods, such as "needs draws", checked when they are called."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from thali.errors import ArgumentError, NotFittedError, Setting, ThaliError

if TYPE_CHECKING:
    from .base import Model, SampledModel


Result = TypeVar("Result", bound=Callable[..., Any])


def requires(requirement: Callable[[Any, str], object]) -> Callable[[Result], Result]:
    """Decorate a result method with a requirement that is checked at each call.

    `requirement(model, name)` raises if the fit does not meet it.
    """

    def declare(method: Callable[..., Any]) -> Any:
        """Wrap the result method so that its requirement is checked first."""

        @functools.wraps(method)
        def checked(model: "Model", *args: Any, **kwargs: Any) -> Any:
            """Check the requirement, then call the result."""
            requirement(model, method.__name__)
            return method(model, *args, **kwargs)

        vars(checked)["requirement"] = requirement
        return checked

    return declare


def mark_as_setup(method: Result) -> Result:
    """Mark a method, such as `set_params`, that `dir` of a fitted model hides."""
    vars(method)["requirement"] = refuse_every_fit
    return method


def is_available(model: "Model", name: str) -> bool:
    """Return whether the fit meets the requirement of the result method `name`."""
    try:
        for cls in type(model).__mro__:
            member = vars(cls).get(name)
            function = getattr(member, "fget", member)  # the function of a property
            if requirement := getattr(function, "requirement", None):
                requirement(model, name)
    except ThaliError:
        return False
    return True


def refuse_every_fit(model: "Model", name: str) -> None:
    """Raise ArgumentError: this method is not a result of a fit."""
    raise ArgumentError("This is not the result of a fit.")


def require_draws(model: "SampledModel", name: str) -> None:
    """Raise if the fit has no posterior draws."""
    model._require_posterior()


def require_maximum_likelihood(model: "Model", name: str) -> None:
    """Raise if the model was not fitted by maximum likelihood."""
    model._require_fitted()
    if "_estimates_" not in vars(model):
        raise NotFittedError(
            "Estimates by maximum likelihood require ",
            Setting("method", "maximum-likelihood"),
            "; got ",
            Setting("method", model.method),
            ".",
        )


def require_covariates(model: Any, name: str) -> None:
    """Raise ArgumentError if the fit has no covariates."""
    if not model._covariates:
        raise ArgumentError(f"{name} requires covariates; the fit has none. Add them to the data.")
