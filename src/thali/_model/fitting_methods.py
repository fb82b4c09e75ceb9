"""Fitting methods as objects: what a fit by each method returns, warns about and can do later."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from thali._object_descriptions import Facts
from thali.errors import (
    Argument,
    ArgumentError,
    Message,
    Setting,
    ThaliWarning,
)

if TYPE_CHECKING:
    from thali._inference.progress_display import Progress

    from .model_spec import ModelSpec


# A checked fit before it runs ---------------------------------------------------------------------


@dataclass(frozen=True)
class PreparedFit:
    """A fit whose arguments and data are checked; base class without code to compile."""

    lapse: float | None = None

    def compile(self, progress: "Progress") -> None:
        """Compile the numba kernels of the fit, so that other processes load them from disk."""


class Forecast(NamedTuple):
    """Forecast CPU seconds of a fit, all chains together (`benchmarks/run_time_forecast.py`)."""

    least: float  # if the chains agree at the first check
    most: float  # if they never agree
    sweep: float = math.nan  # of one chain


@dataclass(frozen=True)
class Job:
    """A fit with checked arguments: function that runs it, warnings, description."""

    run: Callable[[], dict[str, Any]]  # returns the fitted attributes
    remarks: Sequence[str | Message] = ()  # warnings about the data
    draws: int | None = None  # requested per chain
    data: str = ""  # description of the size of the data
    forecast: Forecast | None = None


class Engine:
    """Base class of fitting methods; this one finds a maximum, without draws.

    A model has a table of its engines, `_ENGINES`, by the value of its argument `method`, and
    accesses its engine as `_engine`; no other code compares names of methods. A subclass replaces
    methods and adds the methods that its model requires of all its engines, such as the job of a
    fit. An engine has no state: every method takes the model.
    """

    draws: bool = False  # whether a fit leaves draws, `posterior_`
    is_point: bool = True  # whether it estimates a point rather than a posterior
    has_prior: bool = False  # whether parameters and data can be drawn from the prior
    has_evidence: bool = False
    # the module whose `list_makers(model)` makes the findings; "": that of the model
    findings: str = ""

    def list_warnings(self, model: Any, job: Job) -> Iterator[ThaliWarning]:
        """Yield warnings about a finished fit, such as chains that disagree."""
        yield from ()

    def list_facts(self, model: Any) -> Facts:
        """Return two or three (name, number) pairs to print below a fit."""
        return ()

    def check_continuable(self) -> None:
        """Raise ArgumentError if `continue_fit` is impossible with this method."""


class SamplingEngine(Engine):
    """Fitting method that returns posterior draws."""

    draws = True
    is_point = False


class ChainEngine(SamplingEngine):
    """Fitting method by Markov chains, with a prior that can be sampled."""

    has_prior = True


MAXIMUM = Engine()
DRAWS = SamplingEngine()
CHAINS = ChainEngine()


def refuse_chain_argument(name: str, method: str = "mcmc", reason: str = "") -> None:
    """Raise ArgumentError: argument `name` is only for methods with chains."""
    raise ArgumentError(
        Argument(name),
        " requires ",
        Setting("method", method),
        "; remove ",
        Argument(name),
        f"{reason}.",
    )


def check_method_arguments(
    spec: "ModelSpec", method: str, arguments: Mapping[str, Any], defaults: Mapping[str, Any]
) -> None:
    """Raise ArgumentError for an argument of another method that was changed.

    The error names the first of them and a method that has it.
    """
    method_arguments = {option.name for option in spec.select_options(method)}
    for option in spec.options:
        name = option.name
        if (
            name in arguments
            and name not in method_arguments
            and repr(arguments[name]) != repr(defaults[name])
        ):
            required_method = Setting("method", option.methods[0])
            current_method = Setting("method", method)
            raise ArgumentError(
                Argument(name),
                " requires ",
                required_method,
                "; got ",
                current_method,
                ". Remove ",
                Argument(name),
                ".",
            )
