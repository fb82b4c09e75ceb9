"""Requirements of results, declared next to each result and raised when it is asked for."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from thali.errors import ArgumentError, NotFittedError, Setting, ThaliError

Result = TypeVar("Result", bound=Callable[..., Any])


def requires(requirement: Callable[[Any, str], object]) -> Callable[[Result], Result]:
    """Declare what a result requires; `dir` of a fit that lacks it does not show the result.

    `requirement` takes a model and the name of the result, and raises what the fit lacks.
    """

    def declare(result: Any) -> Any:
        @functools.wraps(result)
        def checked(model: Any, *given: Any, **named: Any) -> Any:
            requirement(model, result.__name__)
            return result(model, *given, **named)

        vars(checked)["requirement"] = requirement
        return checked

    return declare


def configures(method: Result) -> Result:
    """Declare that a method is no result; `dir` of a fit does not show it."""
    vars(method)["requirement"] = refuse_every_fit
    return method


def can_answer(model: Any, name: str) -> bool:
    """Return whether a fit has what its result of this name requires."""
    try:
        for cls in type(model).__mro__:
            result = vars(cls).get(name)
            function = getattr(result, "fget", result)  # of a property
            if requirement := getattr(function, "requirement", None):
                requirement(model, name)
    except ThaliError:
        return False
    return True


def refuse_every_fit(model: Any, name: str) -> None:
    """Refuse what is no result."""
    raise ArgumentError("This is no result of a fit.")


def draws(model: Any, name: str) -> None:
    """Require posterior draws."""
    model._fitted()


def maximum_likelihood(model: Any, name: str) -> None:
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


def covariates(model: Any, name: str) -> None:
    """Require covariates of comparisons or options."""
    if not model._covariates:
        raise ArgumentError(f"{name} requires covariates; the fit has none. Add them to the data.")
