"""A method of a model as a value: what a fit by it leaves, and the answers that depend on it."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from thali._described import Facts
from thali._labels import format_plural
from thali._posterior.interval import INTERVAL
from thali.errors import (
    Argument,
    ArgumentError,
    ConvergenceWarning,
    InterruptedWarning,
    Message,
    Setting,
    ThaliWarning,
)

if TYPE_CHECKING:
    from thali._posterior.convergence import ConvergenceCheck

    from .spec import ModelSpec


# A fit after its checks: what is known of it, and can be done for it, before it runs --------------


@dataclass(frozen=True)
class Prepared:
    """A fit that has passed its checks."""

    lapse: float | None = None

    def compile(self, progress: Any) -> None:
        """Compile what the fit will run, so that processes to come find it on the disk; `progress`
        says so."""


class Forecast(NamedTuple):
    """Seconds of the processor that a fit is expected to take, all its chains together:
    `benchmarks/forecast.py`."""

    least: float  # if its chains agree at once
    most: float  # if they never do
    sweep: float = math.nan  # of one chain


@dataclass(frozen=True)
class Job:
    """A fit whose arguments and data have been checked: what is left is to run it."""

    run: Callable[[], dict[str, Any]]  # gives the fitted attributes
    remarks: Sequence[str | Message] = ()  # what is unusual about the data
    draws: int | None = None  # that were asked of each chain
    data: str = ""  # the size of the data in words
    forecast: Forecast | None = None


class Engine:
    """A method of a model; this one finds a maximum, and the fit leaves no draws.

    A model has a table of its engines, `_ENGINES`, by the value of its argument `method`, and finds
    its own as `_engine`; nothing else compares the names of methods. A subclass replaces what
    differs, and adds what its model asks of all its engines, such as the job of a fit. It holds
    nothing: every answer takes the model.
    """

    draws: bool = False  # whether a fit leaves draws, `posterior_`
    is_point: bool = True  # whether it finds a single point, and not a whole posterior
    has_prior: bool = False  # whether parameters and data can be drawn from the prior
    has_evidence: bool = False
    # the module whose `list_makers(model)` makes the findings; "": that of the model
    findings: str = ""

    def outcome(self, model: Any, job: Job) -> Iterator[ThaliWarning]:
        """What the user is to be warned of after a fit."""
        yield from ()

    def convergence(self, model: Any) -> "ConvergenceCheck":
        """Whether what was found can be relied on, and what to do if not."""
        from thali._posterior.convergence import ConvergenceCheck

        warned = list(model._outcome(Job(dict)))
        parts = [part for warning in warned for part in (" ", warning)][1:]
        message = Message(*(parts or ["Converged: the maximum was found."]))
        return ConvergenceCheck(not warned, {"warnings": len(warned)}, message)

    def facts(self, model: Any) -> Facts:
        """What is shown of a fit besides the data and the convergence check: two or three numbers
        that matter."""
        return ()

    def data_of_fit(self, model: Any) -> Any:
        """The data that the model was fitted to, or what is kept of them; None where nothing is."""
        return None

    def refuse_to_go_on(self) -> None:
        """Raise if no fit by this method can draw further."""


class SamplingEngine(Engine):
    """A method whose fit leaves draws."""

    draws = True
    is_point = False

    def outcome(self, model: Any, job: Job) -> Iterator[ThaliWarning]:
        if model._interrupted_:
            kept = model._view.shape[1]
            of = "" if job.draws is None else f" of {job.draws}"
            yield InterruptedWarning(f"Stopped early; {kept}{of} draws per chain were kept.")
        convergence = model.convergence()
        if not convergence.agrees:
            yield ConvergenceWarning(convergence.message)

    def convergence(self, model: Any) -> "ConvergenceCheck":
        return self.agreement(model)

    def agreement(self, model: Any) -> "ConvergenceCheck":
        """Whether the chains agree and are long enough, by which a run of unknown length ends."""
        from thali._posterior.convergence import check_convergence

        return check_convergence(model._judged_rows(), model._advice())

    def facts(self, model: Any) -> Facts:
        from thali._posterior.summary import main_rows

        chains, of_each = model._view.shape
        stopped = ", stopped early" if model._interrupted_ else ""
        draws = f"{format_plural(chains, 'chain')} of {format_plural(of_each, 'draw')}{stopped}"
        return ("draws", draws), *main_rows(model.summary())

    def summary(self, model: Any, ci: float = INTERVAL) -> Any:
        """The rows of the quantities of a model, made once."""
        from thali._posterior.summary import summary_table

        model._fitted()
        return model._once(("summary", ci), lambda: summary_table(model._quantities(), ci)).copy()


class Chains(SamplingEngine):
    """A method whose draws are those of chains, of a posterior whose prior can be drawn from."""

    has_prior = True

    def data_of_fit(self, model: Any) -> Any:
        return model._state_.source if "_state_" in vars(model) else None


class ChainsOfRespondents(Chains):
    """A method whose posterior says what was made of respondents."""

    def convergence(self, model: Any) -> "ConvergenceCheck":
        found, dependence = self.agreement(model), model._view.dependence
        return replace(found, people=None if dependence is None else dependence.warning)


MAXIMUM, DRAWS, CHAINS = Engine(), SamplingEngine(), Chains()


def refuse_of_chains(name: str, method: str = "mcmc", because: str = "") -> None:
    """Refuse an argument that only a method with chains has."""
    raise ArgumentError(
        Argument(name),
        " requires ",
        Setting("method", method),
        "; remove ",
        Argument(name),
        f"{because}.",
    )


def refuse_other_methods(
    spec: "ModelSpec", method: str, given: Mapping[str, Any], usual: Mapping[str, Any]
) -> None:
    """Refuse arguments that the spec gives to other methods; those with their usual values are no
    arguments.

    Raises
    ------
    ArgumentError
        That names the first of them, and a method that it belongs to.
    """
    has = {option.name for option in spec.options_of(method)}
    for option in spec.options:
        name = option.name
        if name in given and name not in has and repr(given[name]) != repr(usual[name]):
            needed, got = Setting("method", option.methods[0]), Setting("method", method)
            raise ArgumentError(
                Argument(name),
                " requires ",
                needed,
                "; got ",
                got,
                ". Remove ",
                Argument(name),
                ".",
            )
