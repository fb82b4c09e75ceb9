"""Requirements of results, declared with each result and checked when it is requested."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from thali.errors import ArgumentError, NotFittedError, Setting, ThaliError

Result = TypeVar("Result", bound=Callable[..., Any])


def requires(requirement: Callable[[Any, str], object]) -> Callable[[Result], Result]:
    """Declare the requirement of a result; `dir` hides it if unmet.

    `requirement(model, name)` raises if the fit does not meet it.
    """

    def declare(method: Any) -> Any:
        """Wrap a result so that its requirement is checked first."""

        @functools.wraps(method)
        def checked(model: Any, *args: Any, **kwargs: Any) -> Any:
            """Check the requirement, then call the result."""
            requirement(model, method.__name__)
            return method(model, *args, **kwargs)

        vars(checked)["requirement"] = requirement
        return checked

    return declare


def mark_as_setup(method: Result) -> Result:
    """Mark a method that is not a result, so that `dir` of a fit hides it."""
    vars(method)["requirement"] = refuse_every_fit
    return method


def is_available(model: Any, name: str) -> bool:
    """Return whether a fit meets the requirement of a result."""
    try:
        for cls in type(model).__mro__:
            member = vars(cls).get(name)
            function = getattr(member, "fget", member)  # the function of a property
            if requirement := getattr(function, "requirement", None):
                requirement(model, name)
    except ThaliError:
        return False
    return True


def refuse_every_fit(model: Any, name: str) -> None:
    """Raise; the method is not a result."""
    raise ArgumentError("This is no result of a fit.")


def require_draws(model: Any, name: str) -> None:
    """Require posterior draws."""
    model._require_posterior()


def require_maximum_likelihood(model: Any, name: str) -> None:
    """Require a fit by maximum likelihood."""
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
    """Require covariates of comparisons or options."""
    if not model._covariates:
        raise ArgumentError(f"{name} requires covariates; the fit has none. Add them to the data.")
