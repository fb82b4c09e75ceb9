"""Fitting methods as objects: what a fit by each method returns, warns about and can do later."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from thali._inference.user_warnings import is_quiet
from thali._labels import format_plural
from thali._object_descriptions import Facts
from thali._posterior.posterior_interval import INTERVAL
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
    from thali._inference.markov_chains import Run
    from thali._inference.progress_display import Progress
    from thali._posterior.convergence_check import ConvergenceCheck

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

    def convergence(self, model: Any) -> "ConvergenceCheck":
        """Return the convergence check of the fit, with remedies for problems."""
        from thali._posterior.convergence_check import ConvergenceCheck

        warnings = list(model._list_warnings(Job(dict)))
        warning_parts = [part for warning in warnings for part in (" ", warning)][1:]
        message = Message(*(warning_parts or ["Converged to a maximum of the likelihood."]))
        return ConvergenceCheck(not warnings, {"warnings": len(warnings)}, message)

    def list_facts(self, model: Any) -> Facts:
        """Return two or three (name, number) pairs to print below a fit."""
        return ()

    def data_of_fit(self, model: Any) -> Any:
        """Return the data that the model was fitted to; None if they are not stored."""
        return None

    def check_continuable(self) -> None:
        """Raise ArgumentError if `continue_fit` is impossible with this method."""


class SamplingEngine(Engine):
    """Fitting method that returns posterior draws."""

    draws = True
    is_point = False

    def list_warnings(self, model: Any, job: Job) -> Iterator[ThaliWarning]:
        """Yield a warning for an interrupted run, and one for chains that disagree."""
        if model._interrupted_:
            draws_text = str(model._view.shape[1])
            if job.draws is not None:
                draws_text = f"{draws_text} of {job.draws}"
            yield InterruptedWarning(f"Stopped early; {draws_text} draws per chain were kept.")
        convergence = model.convergence()
        if not convergence.agrees:
            yield ConvergenceWarning(convergence.message)

    def convergence(self, model: Any) -> "ConvergenceCheck":
        """Return the convergence check of the chains."""
        return self.check_chains(model)

    def check_chains(self, model: Any) -> "ConvergenceCheck":
        """Check R-hat and effective sample size of the summary's rows."""
        from thali._posterior.convergence_check import check_convergence

        return check_convergence(model._select_convergence_rows(), model._get_advice())

    def list_facts(self, model: Any) -> Facts:
        """Return numbers of chains and draws, and the most important summary rows."""
        from thali._posterior.summary_table import format_main_rows

        n_chains, n_draws = model._view.shape
        draws_text = f"{format_plural(n_chains, 'chain')} of {format_plural(n_draws, 'draw')}"
        if model._interrupted_:
            draws_text += ", stopped early"
        return ("draws", draws_text), *format_main_rows(model.summary())

    def summary(self, model: Any, ci: float = INTERVAL) -> Any:
        """Return the table of posterior means, intervals and diagnostics, cached."""
        from thali._posterior.summary_table import build_summary

        model._require_posterior()
        return model._compute_once(
            ("summary", ci), lambda: build_summary(model._get_quantities(), ci)
        ).copy()


class ChainEngine(SamplingEngine):
    """Fitting method by Markov chains, with a prior that can be sampled."""

    has_prior = True

    def data_of_fit(self, model: Any) -> Any:
        """Return the data stored with the chains' state; None without it."""
        if "_state_" not in vars(model):
            return None
        return model._state_.source


class RespondentChainEngine(ChainEngine):
    """Fitting method by chains whose posterior stores how respondents were treated."""

    def build_job(self, model: Any, data: Any, run: "Run") -> Job:
        """Check data and arguments of a fit; return its job."""
        data = model._convert_data(data)
        chain_fit = model._build_fit(data, run.check())
        if not is_quiet():
            data.warn_if_unusual()
        return chain_fit.build_job(str(data))

    def convergence(self, model: Any) -> "ConvergenceCheck":
        """Return the convergence check with a warning about dependent respondents."""
        check = self.check_chains(model)
        dependence = model._view.dependence
        if dependence is None:
            return check
        return replace(check, people=dependence.warning)


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
