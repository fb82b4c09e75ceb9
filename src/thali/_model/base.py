"""What every model is: parameters, one template of a fit, a summary, a convergence check, a
file."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from thali._arguments import check_allowed
from thali._described import Description, Facts, as_html, as_text
from thali._inference.warn import is_quiet, warn
from thali._labels import suggest
from thali._posterior.interval import INTERVAL
from thali._posterior.view import PosteriorTree
from thali.errors import (
    Argument,
    ArgumentError,
    DataWarning,
    NotFittedError,
    Setting,
    ThaliWarning,
    UnknownArgumentError,
)

from .aliases import method_meant
from .engine import DRAWS, MAXIMUM, Engine, Job, Prepared
from .requirements import is_available, mark_as_setup

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._choice.answers.simulator import MarketDraws
    from thali._posterior.convergence import Advice, ConvergenceCheck

    from .finding import Findings
    from .settings import AnswerSettings


class Model:
    """Base of every model.

    `fit` of a subclass checks everything, makes a `Job` and hands it to `_carry_out`. What
    `Job.run` gives are the fitted attributes, all that a fitted model has besides its parameters;
    they are what `save` writes.
    """

    _fitted_to_: str
    _interrupted_: bool = False
    method: Any
    # by the value of the argument `method`; "": there is none
    _ENGINES: ClassVar[Mapping[str, Engine]] = {"": MAXIMUM}
    # arguments kept under another name, as the model has a method of theirs
    _stored_as: ClassVar[dict[str, str]] = {}
    # the module whose `list_makers(model)` makes the findings
    _FINDINGS: ClassVar[str] = "thali._model.common_findings"

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name in ("__init__", "fit"):
            if name in vars(cls):
                setattr(cls, name, _names_checked(vars(cls)[name]))

    @classmethod
    def _signature(cls) -> dict[str, inspect.Parameter]:
        """The arguments of the constructor."""
        parameters = inspect.signature(cls.__init__).parameters
        return {name: p for name, p in parameters.items() if name != "self"}

    @mark_as_setup
    def get_params(self, deep: bool = True) -> dict[Any, Any]:
        """The arguments the model was made with, by name."""
        return {name: getattr(self, self._stored_as.get(name, name)) for name in self._signature()}

    @mark_as_setup
    def set_params(self, **params: Any) -> Any:
        """Change arguments by name; returns the model.

        Raises
        ------
        ArgumentError
            For a name that the model does not have.
        """
        known = self._signature()
        for name, value in params.items():
            if name not in known:
                raise ArgumentError(
                    f"{type(self).__name__} has no parameter `{name}`; available:"
                    f" {', '.join(known)}."
                )
            setattr(self, self._stored_as.get(name, name), value)
        return self

    def __dir__(self) -> Iterable[str]:
        """Return the names of what this fit can answer; before a fit all names."""
        names = super().__dir__()
        if not self._is_fitted():
            return names
        arguments = {self._stored_as.get(name, name) for name in self._signature()}
        return [name for name in names if name not in arguments and is_available(self, name)]

    @property
    def _method(self) -> str:
        """The method by the name that the spec has for it; "" where there are none."""
        return (
            ""
            if "" in self._ENGINES
            else check_allowed("method", method_meant(self.method), tuple(self._ENGINES))
        )

    @property
    def _engine(self) -> Any:
        """The engine of the method."""
        return self._ENGINES[self._method]

    def __repr__(self) -> str:
        call = self._format_call()
        return f"<{call} fitted to {self._fitted_to_}>" if self._is_fitted() else call

    def _format_call(self) -> str:
        """Return the call that makes this model, without arguments that have their usual values."""
        shown, signature = [], self._signature()
        for name, value in self.get_params().items():
            default = signature[name].default
            if value is not default and repr(value) != repr(default):
                shown.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return as_html(self._description())

    def __str__(self) -> str:
        return as_text(self._description()) if self._is_fitted() else repr(self)

    def _description(self) -> Description:
        if not self._is_fitted():
            return Description(self._format_call(), note="Not fitted yet.")
        convergence = self.convergence()
        data = ("data", self._fitted_to_)
        return Description(
            self._format_call(),
            (data, *self._answers()),
            note=str(convergence),
            good=convergence.good,
        )

    def _answers(self) -> Facts:
        """What is shown of a fit besides the data and the convergence check: two or three numbers
        that matter."""
        return self._engine.facts(self)

    @property
    def _posterior(self) -> "xarray.DataTree | None":
        """What the fit drew; None of a method that draws nothing, and before a fit."""
        return vars(self).get("posterior_")

    def _carry_out(self, job: Job) -> Self:
        """The template of a fit: speak of the data, run, keep what was found, speak of the
        outcome."""
        for remark in job.remarks:
            warn(DataWarning(remark))
        found = job.run()
        self._forget()
        vars(self).update(found, _fitted_to_=job.data)
        if not is_quiet():
            for warning in self._outcome(job):
                warn(self._worded(warning))
        return self

    @mark_as_setup
    def prepare(self, data: Any, **settings: Any) -> Prepared:
        """A fit to these data after the checks that can be made beforehand; models have more of
        them or none."""
        return Prepared()

    def _usual_run(self) -> dict[str, Any]:
        """How long `th.compare` fits, as arguments of `fit`, where `fit` itself runs until the
        chains agree."""
        return {}

    def _outcome(self, job: Job) -> Iterator[ThaliWarning]:
        """What the user is to be warned of after a fit."""
        yield from self._engine.outcome(self, job)

    def _worded(self, warning: ThaliWarning) -> ThaliWarning:
        """How `fit` words a warning of `_outcome`."""
        return warning

    def convergence(self) -> "ConvergenceCheck":
        """Whether what was found can be relied on, and what to do if not.

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
        return self._engine.convergence(self)

    def _fitted_attributes(self) -> dict[str, Any]:
        """All that a fit has left: as in scikit-learn, names that end in an underscore."""
        return {name: value for name, value in vars(self).items() if name.endswith("_")}

    def __getstate__(self) -> dict[str, Any]:
        """What a copy is made of: what can be computed again is left out, some of which no pickle
        can hold."""
        return {name: value for name, value in vars(self).items() if name != "_kept"}

    def _once(self, name: Any, make: Callable[[], Any]) -> Any:
        """What this makes of the fit, made once for it."""
        fitted, kept = self._fitted_attributes(), vars(self).setdefault("_kept", {})
        if name not in kept or not _are_the_same(kept[name][0], fitted):
            kept[name] = fitted, make()
        return kept[name][1]

    def _attributes_for_file(self) -> dict[str, Any]:
        """Those of the fitted attributes that a file can hold."""
        return self._fitted_attributes()

    def _forget(self) -> None:
        """Remove what an earlier fit has left."""
        for name in self._fitted_attributes():
            delattr(self, name)

    def _is_fitted(self) -> bool:
        return bool(self._fitted_attributes())

    def _require_fitted(self) -> None:
        if not self._is_fitted():
            raise NotFittedError(
                f"This {type(self).__name__} has not been fitted yet; call fit(data) first."
            )

    def _restore(self, found: dict[str, Any], path: object) -> None:
        """Make a fitted model of one that was not, with the attributes that were read from a
        file."""
        vars(self).update(found)

    def _run_settings(self) -> dict[str, Any]:
        """Return the arguments of `fit` that repeat this fit: the length of the run and its
        seed."""
        self._require_fitted()
        return {}

    def _as_python(self) -> str:
        """The fit as Python."""
        made = f"import thali as th\n\nmodel = th.{' '.join(self._format_call().split())}\n"
        settings = [f"{name}={value}" for name, value in self._run_settings().items()]
        return f"{made}model.fit({', '.join(['data', *settings])})"

    def _data_of_fit(self) -> Any:
        """The data that the model was fitted to, or what is kept of them; None where nothing is."""
        return self._engine.data_of_fit(self)

    def _options_of_fit(self) -> list[str]:
        """The options of the fit, where other data must have the same ones."""
        return []

    def _facts_of_fit(self) -> Facts:
        """Names and values that describe the data of the fit; () where they are not known."""
        data = self._data_of_fit()
        return () if data is None else data._facts()

    def _market_draws(self) -> "MarketDraws | None":
        """The choices of people in any market, draw by draw; None of a model that is of no choice
        experiment."""
        return None

    def findings(self, ci: float = INTERVAL, **settings: Any) -> "Findings":
        """What the fit says, as data: a sentence, a table and a picture for each question that a
        reader may have.

        What `thali fit` prints and writes and what a report shows are these findings.

        Parameters
        ----------
        ci : float between 0 and 1
            Probability of intervals.
        **settings
            What else the answers depend on: random_seed (of checks and simulated people), cores,
            and those of the model, such as similar (Jaccard index), kind (of estimate), market (a
            data frame), price, segments, folds (of a cross-validation) with rows (the X and y of
            the fit).

        Returns
        -------
        Findings
            A sequence in the order of a reader's questions; ``["ranks"]`` gives the finding of that
            key. Each is computed when it is asked for, once for the same settings.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model's answers have no setting of a name, or a value is out of its range.

        Examples
        --------
        >>> import thali as th
        >>> model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(
        ...     th.datasets.celebrities()
        ... )
        >>> model.findings()["utility_scale"].table["utility"].idxmax()
        'LBJ'
        """
        from .registry import spec_of
        from .settings import settings_from

        self._require_fitted()
        given = settings_from({"ci": ci, **settings}, spec_of(self), self._method)
        return self._findings_with(self._settings_for(self._data_of_fit(), given))

    def plot(self, name: str, ax: Any = None) -> Any:
        """Draw a picture of the fit: that of the finding which has it.

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
            If the fit has no such picture; those that it has are named.
        """
        return self.findings().plot(name, ax)

    def _findings_with(self, settings: "AnswerSettings") -> "Findings":
        """The findings with these settings: the same ones as the last time, where neither fit nor
        settings changed."""
        from importlib import import_module

        from .finding import Findings

        self._require_fitted()
        kept = self._once("findings", dict)
        if not kept or not kept["settings"].are(settings):
            makers = import_module(self._engine.findings or self._FINDINGS).list_makers(
                self, settings
            )
            kept |= {"settings": settings, "found": Findings(self, makers, settings)}
        return kept["found"]

    def _settings_for(self, data: Any, settings: "AnswerSettings") -> "AnswerSettings":
        """The settings of the answer of a fit to these data, after every check that can be made
        before it."""
        return settings

    def report(self, path: Any) -> None:
        """Write a report of the fit: one HTML file that needs nothing from anywhere, to mail, to
        print, to read.

        Parameters
        ----------
        path : str or path
            A file that exists is replaced.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the file cannot be written.
        """
        from thali._late import carried_out_by

        carried_out_by("Model.report")(self, path)

    def save(self, path: Any) -> None:
        """Write the fitted model to one netCDF file, which `thali.load` reads.

        Parameters
        ----------
        path : str or path
            A file that exists is replaced.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the file cannot be written.
        """
        from .model_files import save

        self._require_fitted()
        save(self, path)


class FixedMethod(Model):
    """Base of a model whose method stays after a fit."""

    def set_params(self, **params: Any) -> Any:
        """Change arguments by name; returns the model. The method of a fitted model stays.

        Raises
        ------
        ArgumentError
            For a name that the model does not have, or another method than that of the fit.
        """
        if self._is_fitted() and params.get("method", self.method) != self.method:
            raise ArgumentError(Argument("method"), " cannot be changed; construct a new model.")
        return super().set_params(**params)


def _are_the_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two fits left the very same objects; the second may have some more."""
    return all(value is other.get(name) for name, value in one.items())


def _names_checked(plain: Callable[..., Any]) -> Callable[..., Any]:
    """The constructor or `fit` of a class, which says of an argument that it has not where that
    belongs."""
    known = set(inspect.signature(plain).parameters)
    takes_any = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(plain).parameters.values())

    @functools.wraps(plain)
    def checked(*given: Any, **named: Any) -> Any:
        if not takes_any and not known.issuperset(named):
            of_fit = plain.__name__ == "fit"
            raise _unknown(
                type(given[0]), of_fit, next(name for name in named if name not in known)
            )
        return plain(*given, **named)

    return checked


def _unknown(cls: Any, of_fit: bool, name: str) -> UnknownArgumentError:
    """The error of an argument that the constructor, or `fit`, does not have."""
    other = cls._signature() if of_fit else inspect.signature(cls.fit).parameters
    if name in other and name not in ("self", "data"):
        place = (
            f"the constructor, {cls.__name__}({name}=...)" if of_fit else f"fit(data, {name}=...)"
        )
        return UnknownArgumentError(
            f"{cls.__name__}{'.fit' * of_fit} has no parameter `{name}`; pass it to {place}."
        )
    names = [
        each
        for each in inspect.signature(cls.fit if of_fit else cls.__init__).parameters
        if each != "self"
    ]
    has = ", ".join(names) if names else "nothing"
    return UnknownArgumentError(
        f"{cls.__name__}{'.fit' * of_fit} has no parameter `{name}`; available:"
        f" {has}.{suggest(name, names)}"
    )


class Sampled(Model):
    """Base of a model whose fit leaves draws: `posterior_`.

    A subclass has `_quantities`, and `_advice` if it knows better than to draw more.
    """

    posterior_: "xarray.DataTree"
    _ENGINES: ClassVar[Mapping[str, Engine]] = {"": DRAWS}
    _VIEW: ClassVar[type[PosteriorTree]] = PosteriorTree  # what reads the posterior

    def _fitted(self) -> "xarray.DataTree":
        """The posterior; an ArgumentError names the methods that leave one if that of the fit does
        not."""
        self._require_fitted()
        self._require_method_of_draws()
        return self.posterior_

    @property
    def _view(self) -> Any:
        """What reads the posterior, made once for a fit; errors as those of `_fitted`."""
        tree = self._fitted()
        return self._once("view", lambda: self._VIEW(tree))

    def _require_method_of_draws(self) -> None:
        """Refuse a method that draws nothing."""
        if not self._engine.draws:
            drawing = (name for name, engine in self._ENGINES.items() if engine.draws)
            settings = [part for each in drawing for part in (" or ", Setting("method", each))][1:]
            got = Setting("method", self.method)
            raise ArgumentError("Posterior draws require ", *settings, "; got ", got, ".")

    def _quantities(self) -> dict[str, np.ndarray]:
        """The quantities whose agreement between chains means something: those of the summary, draw
        by draw."""
        raise NotImplementedError

    def to_inference_data(self, tree: "xarray.DataTree | None" = None) -> Any:
        """The posterior as an `arviz.InferenceData`, which ArviZ before 1.0 computes with (all that
        Python 3.11 has).

        ArviZ from 1.0 on takes `posterior_` itself.

        Parameters
        ----------
        tree : xarray.DataTree, optional
            Another one, such as that of `posterior_predictive` or of `sample_prior`; None:
            `posterior_`.

        Returns
        -------
        arviz.InferenceData
            The groups that ArviZ knows.

        Raises
        ------
        NotFittedError
            Before `fit`, unless a tree is given.
        ArgumentError
            If ArviZ is not installed, or is one that takes trees.
        """
        from thali._posterior.store import to_inference_data

        return to_inference_data(self._fitted() if tree is None else tree)

    def _advice(self) -> "Advice":
        """What helps chains that disagree."""
        from thali._posterior.convergence import Advice

        return Advice()

    def summary(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Posterior mean, sd, interval, Monte Carlo error, ESS and R-hat of every quantity of
        `quantities`.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, eti89_lb, eti89_ub (the interval, by its probability), mcse_mean,
            ess_bulk, ess_tail, r_hat.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        return self._engine.summary(self, ci)

    def _judged_rows(self) -> "pandas.DataFrame":
        """The rows by which the agreement of the chains is judged: those of the summary."""
        return self.summary()
