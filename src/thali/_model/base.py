"""Base of every model: parameters, the template of a fit, summary, convergence check, files."""

import functools
import inspect
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from thali._argument_checks import check_allowed
from thali._inference.user_warnings import is_quiet, warn
from thali._labels import format_plural, suggest
from thali._object_descriptions import Description, Facts, format_html, format_text
from thali._posterior.posterior_interval import INTERVAL
from thali._posterior.posterior_tree import PosteriorTree
from thali.errors import (
    Argument,
    ArgumentError,
    ConvergenceWarning,
    DataWarning,
    InterruptedWarning,
    Message,
    NotFittedError,
    Setting,
    ThaliWarning,
    UnknownArgumentError,
)

from .aliases import normalise_method
from .fitting_methods import DRAWS, MAXIMUM, Engine, Job, PreparedFit
from .method_requirements import is_available, mark_as_setup

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.axes import Axes

    from thali._choice.reports.market_simulator import MarketDraws
    from thali._posterior.convergence_check import Advice, ConvergenceCheck

    from .finding import Findings
    from .finding_settings import AnswerSettings


class Model:
    """Base class of every model: constructor arguments, fit, results, files.

    `fit` of a subclass checks its arguments, builds a `Job` and passes it to `_run_job`. `Job.run`
    returns the fitted attributes; with the parameters they are the complete state of a fitted
    model, and `save` writes them.
    """

    _fitted_to_: str
    _interrupted_: bool = False
    method: Any
    # by value of the argument `method`; "": the model has no such argument
    _ENGINES: ClassVar[Mapping[str, Engine]] = {"": MAXIMUM}
    _IS_METHOD_FIXED: ClassVar[bool] = False  # whether the method cannot change after a fit
    # attributes of arguments whose names are methods of the model
    _ATTRIBUTE_OF_ARGUMENT: ClassVar[dict[str, str]] = {}
    # the module with `list_makers(model, settings)`
    _FINDINGS: ClassVar[str] = "thali._model.common_findings"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in ("__init__", "fit"):
            if name in vars(cls):
                setattr(cls, name, _reject_unknown_arguments(vars(cls)[name]))

    @classmethod
    def _get_parameters(cls) -> dict[str, inspect.Parameter]:
        """Return the constructor's parameters (`inspect.Parameter`) by name, without `self`."""
        parameters = inspect.signature(cls.__init__).parameters
        return {name: p for name, p in parameters.items() if name != "self"}

    @mark_as_setup
    def get_params(self, deep: bool = True) -> dict[Any, Any]:
        """Return the constructor's arguments as a dict, by name."""
        return {
            name: getattr(self, self._ATTRIBUTE_OF_ARGUMENT.get(name, name))
            for name in self._get_parameters()
        }

    @mark_as_setup
    def set_params(self, **params: Any) -> Any:
        """Change constructor arguments by name; return the model itself.

        Raises
        ------
        ArgumentError
            For a name that the model does not have, or another method of a fitted model of choices.
        """
        if (
            self._IS_METHOD_FIXED
            and self._is_fitted()
            and params.get("method", self.method) != self.method
        ):
            raise ArgumentError(Argument("method"), " cannot be changed; construct a new model.")
        parameters = self._get_parameters()
        for name, value in params.items():
            if name not in parameters:
                raise ArgumentError(
                    f"{type(self).__name__} has no parameter `{name}`; available:"
                    f" {', '.join(parameters)}."
                )
            setattr(self, self._ATTRIBUTE_OF_ARGUMENT.get(name, name), value)
        return self

    def __dir__(self) -> Iterable[str]:
        """Return attribute names; after a fit, without results that this fit lacks."""
        names = super().__dir__()
        if not self._is_fitted():
            return names
        arguments = {self._ATTRIBUTE_OF_ARGUMENT.get(name, name) for name in self._get_parameters()}
        return [name for name in names if name not in arguments and is_available(self, name)]

    @property
    def _method(self) -> str:
        """The fitting method, normalised, such as "mcmc"; "" if the model has only one."""
        if "" in self._ENGINES:
            return ""
        return check_allowed("method", normalise_method(self.method), tuple(self._ENGINES))

    @property
    def _engine(self) -> Any:
        """The `Engine` object that implements the fitting method."""
        return self._ENGINES[self._method]

    def __repr__(self) -> str:
        call = self._format_call()
        if self._is_fitted():
            return f"<{call} fitted to {self._fitted_to_}>"
        return call

    def _format_call(self) -> str:
        """Format the constructor call, such as "BradleyTerryLuce(lapse=0.1)", without defaults."""
        arguments = []
        parameters = self._get_parameters()
        for name, value in self.get_params().items():
            default = parameters[name].default
            if value is not default and repr(value) != repr(default):
                arguments.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(arguments)})"

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows for the model."""
        return format_html(self._description())

    def __str__(self) -> str:
        if self._is_fitted():
            return format_text(self._description())
        return repr(self)

    def _description(self) -> Description:
        """Return what `print` and notebooks show: constructor call, data, convergence."""
        if not self._is_fitted():
            return Description(self._format_call(), note="Not fitted yet.")
        convergence = self.convergence()
        data_fact = ("data", self._fitted_to_)
        return Description(
            self._format_call(),
            (data_fact, *self._headline_facts()),
            note=str(convergence),
            good=convergence.good,
        )

    def _headline_facts(self) -> Facts:
        """Return two or three (name, number) pairs to print below a fit."""
        return self._engine.list_facts(self)

    def _run_job(self, job: Job) -> Self:
        """Run a fit whose arguments are checked; store its results and warn about problems."""
        for remark in job.remarks:
            warn(DataWarning(remark))
        fitted_attributes = job.run()
        self._clear_fit()
        vars(self).update(fitted_attributes, _fitted_to_=job.data)
        if not is_quiet():
            for warning in self._list_warnings(job):
                warn(self._reword_warning(warning))
        return self

    @mark_as_setup
    def prepare(self, data: Any, **settings: Any) -> PreparedFit:
        """Check the arguments of a fit without running it; return the prepared fit."""
        return PreparedFit()

    def _get_comparison_run(self) -> dict[str, Any]:
        """Return `fit` arguments that `th.compare` uses instead of the defaults."""
        return {}

    def _list_warnings(self, job: Job) -> Iterator[ThaliWarning]:
        """Yield warnings about a finished fit, such as chains that disagree."""
        yield from self._engine.list_warnings(self, job)

    def _reword_warning(self, warning: ThaliWarning) -> ThaliWarning:
        """Return a warning of `_list_warnings` in the words that `fit` uses."""
        return warning

    def convergence(self) -> "ConvergenceCheck":
        """Return the convergence check of the fit, with remedies for problems.

        Returns
        -------
        ConvergenceCheck
            `.agrees`, `.facts`, `.remedies`; `str` gives a sentence.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        self._require_fitted()
        return self._check_convergence()

    def _check_convergence(self) -> "ConvergenceCheck":
        """Return the convergence check of a maximum, from the warnings about the fit."""
        from thali._posterior.convergence_check import ConvergenceCheck

        warnings = list(self._list_warnings(Job(dict)))
        warning_parts = [part for warning in warnings for part in (" ", warning)][1:]
        message = Message(*(warning_parts or ["Converged to a maximum of the likelihood."]))
        return ConvergenceCheck(not warnings, {"warnings": len(warnings)}, message)

    def _get_fitted_attributes(self) -> dict[str, Any]:
        """Return the attributes that a fit sets, by name (ending in an underscore)."""
        return {name: value for name, value in vars(self).items() if name.endswith("_")}

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes to copy or pickle, without cached results."""
        return {name: value for name, value in vars(self).items() if name != "_kept"}

    def _compute_once(self, name: Hashable, compute: Callable[[], Any]) -> Any:
        """Return the result cached under this name; compute it at the first request."""
        fitted_attributes = self._get_fitted_attributes()
        cache = vars(self).setdefault("_kept", {})
        if name not in cache or not _are_identical(cache[name][0], fitted_attributes):
            cache[name] = fitted_attributes, compute()
        return cache[name][1]

    def _select_storable_attributes(self) -> dict[str, Any]:
        """Return the fitted attributes that `save` can write, by name."""
        return self._get_fitted_attributes()

    def _clear_fit(self) -> None:
        """Delete all fitted attributes of an earlier fit."""
        for name in self._get_fitted_attributes():
            delattr(self, name)

    def _is_fitted(self) -> bool:
        """Return whether `fit` has set any fitted attribute."""
        return bool(self._get_fitted_attributes())

    def _require_fitted(self) -> None:
        """Raise NotFittedError if the model has not been fitted."""
        if not self._is_fitted():
            raise NotFittedError(
                f"This {type(self).__name__} has not been fitted yet; call fit(data) first."
            )

    def _restore(self, fitted_attributes: dict[str, Any], path: object) -> None:
        """Set the fitted attributes that `load` read from the file `path`."""
        vars(self).update(fitted_attributes)

    def _check_restored(self) -> None:
        """Describe data, run and results; raises any error if an attribute has another type."""
        from thali._inference.user_warnings import silence_warnings

        with silence_warnings():
            self._get_run_settings()
            self._describe_fitted_data()
            str(self)

    def _get_run_settings(self) -> dict[str, Any]:
        """Return the `fit` arguments that repeat this fit, such as draws and random_seed."""
        self._require_fitted()
        return {}

    def _format_python(self) -> str:
        """Return Python code that constructs and fits this model again."""
        code = f"import thali as th\n\nmodel = th.{' '.join(self._format_call().split())}\n"
        settings = [f"{name}={value}" for name, value in self._get_run_settings().items()]
        return f"{code}model.fit({', '.join(['data', *settings])})"

    def _get_fit_data(self) -> Any:
        """Return the data that the model was fitted to; None if they are not stored."""
        return None

    def _get_fitted_labels(self) -> list[str]:
        """Return the option labels that data of a comparison must share; [] if any."""
        return []

    def _describe_fitted_data(self) -> Facts:
        """Return (name, text) facts about the fitted data; () if they are not stored."""
        data = self._get_fit_data()
        if data is None:
            return ()
        return data._facts()

    def _get_market_draws(self) -> "MarketDraws | None":
        """Return posterior draws that predict market shares; None for other data."""
        return None

    def findings(self, ci: float = INTERVAL, **settings: Any) -> "Findings":
        """Return the results of the fit as `Findings`: each a sentence, table and picture.

        The output of `thali fit` and the report consist of these findings.

        Parameters
        ----------
        ci : float between 0 and 1
            Probability of intervals.
        **settings
            Other settings: random_seed (of checks and simulated respondents), cores, and settings
            of the model, such as similar (Jaccard index), estimator, market (a data
            frame), price and segments.

        Returns
        -------
        Findings
            A sequence in reading order; ``["ranks"]`` is the finding with this key. Each finding
            is computed on request, once for equal settings.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model has no such setting, or a value is out of range.

        Examples
        --------
        >>> import thali as th
        >>> model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(
        ...     th.datasets.celebrities()
        ... )
        >>> model.findings()["utility_scale"].table["utility"].idxmax()
        'LBJ'
        """
        from .finding_settings import build_settings
        from .registry import find_spec

        self._require_fitted()
        requested_settings = build_settings({"ci": ci, **settings}, find_spec(self), self._method)
        return self._compute_findings(requested_settings)

    def _compute_findings(self, settings: "AnswerSettings") -> "Findings":
        """Build the findings for settings that the data of the fit complete."""
        self._require_fitted()
        return self._build_findings(self._complete_settings(self._get_fit_data(), settings))

    def plot(self, name: str, ax: "Axes | None" = None) -> Any:
        """Draw one picture of the fit, such as "ranks"; return its axes.

        Parameters
        ----------
        name : str
            A function of `thali.plots`, such as "ranks".
        ax : matplotlib axes, or a sequence of them, optional
            Where to draw; a new figure if None.

        Returns
        -------
        matplotlib axes, or a list of them

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the fit has no such picture; the message lists its pictures.
        """
        return self.findings().plot(name, ax)

    def _build_findings(self, settings: "AnswerSettings") -> "Findings":
        """Build the findings of the fit for these settings; cache the latest."""
        from .finding import Findings

        self._require_fitted()
        latest_findings = self._compute_once("findings", dict)
        if not latest_findings or not latest_findings["settings"].equals(settings):
            finding_makers = self._load_findings_module().list_makers(self, settings)
            latest_findings |= {
                "settings": settings,
                "found": Findings(self, finding_makers, settings),
            }
        return latest_findings["found"]

    @classmethod
    def _describe_use(cls, data: Any, arguments: Mapping[str, Any]) -> Message | None:
        """Return how a model with these arguments uses the data, if that needs a clause."""
        return None

    def _load_findings_module(self) -> Any:
        """Import and return the module that makes the findings."""
        from importlib import import_module

        return import_module(self._engine.findings or self._FINDINGS)

    def _complete_settings(self, data: Any, settings: "AnswerSettings") -> "AnswerSettings":
        """Check the settings of findings against the data; return them with defaults filled in."""
        return settings

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write an HTML report of the fit, one self-contained file, to `path`.

        Parameters
        ----------
        path : str or path
            A report that exists is replaced.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the file cannot be written, or exists and was not written by thali.
        """
        from thali._lazy_imports import load_method

        load_method("Model.report")(self, path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a netCDF file, which `thali.load` reads.

        Parameters
        ----------
        path : str or path
            A saved model that exists is replaced.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the file cannot be written, or exists and was not written by thali.
        """
        from .model_files import save

        self._require_fitted()
        save(self, path)


def _are_identical(attributes: dict[str, Any], other_attributes: dict[str, Any]) -> bool:
    """Return whether both dicts have the same object under each name of the first."""
    return all(value is other_attributes.get(name) for name, value in attributes.items())


def _reject_unknown_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a constructor or `fit` so that unknown keyword arguments raise helpful errors."""
    parameters = inspect.signature(function).parameters
    accepts_any_keyword = any(p.kind is p.VAR_KEYWORD for p in parameters.values())

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        """Call the function; raise UnknownArgumentError for an unknown keyword."""
        for name in kwargs:
            if name not in parameters and not accepts_any_keyword:
                raise _unknown_argument_error(type(args[0]), function.__name__ == "fit", name)
        return function(*args, **kwargs)

    return checked


def _unknown_argument_error(cls: Any, is_fit: bool, name: str) -> UnknownArgumentError:
    """Return the error for an unknown argument; it names the call that takes it."""
    callable_name = cls.__name__
    own_names = list(cls._get_parameters())
    other_names = list(inspect.signature(cls.fit).parameters)[1:]  # without `self`
    correct_call = f"fit(data, {name}=...)"
    if is_fit:
        own_names, other_names = other_names, own_names
        correct_call = f"the constructor, {callable_name}({name}=...)"
        callable_name = f"{callable_name}.fit"
    if name in other_names and name != "data":
        return UnknownArgumentError(
            f"{callable_name} has no parameter `{name}`; pass it to {correct_call}."
        )
    available = ", ".join(own_names) or "nothing"
    return UnknownArgumentError(
        f"{callable_name} has no parameter `{name}`; available:"
        f" {available}.{suggest(name, own_names)}"
    )


class SampledModel(Model):
    """Base class of models whose fit stores posterior draws as `posterior_`.

    A subclass has `_get_quantities`, and `_get_advice` if its remedy is not a longer run.
    """

    posterior_: "xarray.DataTree"
    _ENGINES: ClassVar[Mapping[str, Engine]] = {"": DRAWS}
    _VIEW: ClassVar[type[PosteriorTree]] = PosteriorTree  # class that reads the posterior

    def _require_posterior(self) -> "xarray.DataTree":
        """Return the DataTree of posterior draws; raise if the fit has none."""
        self._require_fitted()
        self._check_draws_method()
        return self.posterior_

    @property
    def _view(self) -> Any:
        """The posterior as arrays and labels (`_VIEW`), cached; raises without draws."""
        tree = self._require_posterior()
        return self._compute_once("view", lambda: self._VIEW(tree))

    def _check_draws_method(self) -> None:
        """Raise ArgumentError if the fitting method makes no posterior draws."""
        if not self._engine.draws:
            method_names = (name for name, engine in self._ENGINES.items() if engine.draws)
            method_phrase_parts = [
                part
                for method_name in method_names
                for part in (" or ", Setting("method", method_name))
            ][1:]
            raise ArgumentError(
                "Posterior draws require ",
                *method_phrase_parts,
                "; got ",
                Setting("method", self.method),
                ".",
            )

    def _list_warnings(self, job: Job) -> Iterator[ThaliWarning]:
        """Yield a warning for an interrupted run, and one for chains that disagree."""
        if self._engine.draws:
            if self._interrupted_:
                draws_text = str(self._view.shape[1])
                if job.draws is not None:
                    draws_text = f"{draws_text} of {job.draws}"
                yield InterruptedWarning(f"Stopped early; {draws_text} draws per chain were kept.")
            convergence = self.convergence()
            if not convergence.agrees:
                yield ConvergenceWarning(convergence.message)
        yield from super()._list_warnings(job)

    def _check_convergence(self) -> "ConvergenceCheck":
        """Return the check of the chains, with a warning about dependent respondents."""
        from thali._posterior.respondent_dependence import read_dependence

        if not self._engine.draws:
            return super()._check_convergence()
        check = self._check_chains()
        dependence = read_dependence(self.posterior_.attrs)
        if dependence is None:
            return check
        return replace(check, people=dependence.warning)

    def _check_chains(self) -> "ConvergenceCheck":
        """Check R-hat and effective sample size of the summary's rows."""
        from thali._posterior.convergence_check import check_convergence

        return check_convergence(self._select_convergence_rows(), self._get_advice())

    def _headline_facts(self) -> Facts:
        """Return numbers of chains and draws, and the most important summary rows."""
        from thali._posterior.summary_table import format_main_rows

        if not self._engine.draws:
            return super()._headline_facts()
        n_chains, n_draws = self._view.shape
        draws_text = f"{format_plural(n_chains, 'chain')} of {format_plural(n_draws, 'draw')}"
        if self._interrupted_:
            draws_text += ", stopped early"
        return ("draws", draws_text), *format_main_rows(self.summary())

    def _get_quantities(self) -> dict[str, np.ndarray]:
        """Return posterior draws (chain, draw, ...) of the summarised quantities, by name."""
        raise NotImplementedError

    def to_inference_data(self, tree: "xarray.DataTree | None" = None) -> Any:
        """Return the posterior as an `arviz.InferenceData`, for ArviZ before 1.0.

        ArviZ 1.0, which requires Python 3.12, takes `posterior_` itself.

        Parameters
        ----------
        tree : xarray.DataTree, optional
            Another tree, such as the result of `posterior_predictive` or `sample_prior`; None:
            `posterior_`.

        Returns
        -------
        arviz.InferenceData
            The groups that ArviZ supports.

        Raises
        ------
        NotFittedError
            Before `fit`, unless a tree is given.
        ArgumentError
            If ArviZ is not installed, or takes trees.
        """
        from thali._posterior.datatree_files import to_inference_data

        if tree is None:
            tree = self._require_posterior()
        return to_inference_data(tree)

    def _get_advice(self) -> "Advice":
        """Return the remedy that the convergence check prints if chains disagree."""
        from thali._posterior.convergence_check import Advice

        return Advice()

    def summary(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return a table of posterior mean, sd, interval, MCSE, ESS and R-hat, one row per
        quantity.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, low and high (ends of the interval), mcse_mean,
            ess_bulk, ess_tail, r_hat; after maximum likelihood estimate, std_error, low, high.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        from thali._posterior.summary_table import build_summary

        if not self._engine.draws:
            return self._engine.summary(self, ci)
        self._require_posterior()
        return self._compute_once(
            ("summary", ci), lambda: build_summary(self._get_quantities(), ci)
        ).copy()

    def _get_further_checked_quantities(self) -> dict[str, np.ndarray]:
        """Return draws of quantities that tables besides the summary show with an R-hat."""
        return {}

    def _select_convergence_rows(self) -> "pandas.DataFrame":
        """Return means and diagnostics of the checked quantities, cached."""
        from thali._posterior.summary_table import extend_summary

        return self._compute_once(
            "checked",
            lambda: extend_summary(self.summary(), self._get_further_checked_quantities()),
        )
