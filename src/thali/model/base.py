"""What every model is: parameters, one template of a fit, a summary, a verdict, a file."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from thali._arguments import whole
from thali._described import Described, Description, Facts, as_text
from thali._labels import plural
from thali.errors import (
    ArgumentError,
    ConvergenceWarning,
    DataWarning,
    InterruptedWarning,
    Message,
    NotFittedError,
    ThaliWarning,
)
from thali.inference.chains import checked_run
from thali.inference.quiet import is_quiet
from thali.inference.seeds import seed_setting
from thali.inference.warn import warn
from thali.posterior.interval import INTERVAL

from .parameters import Parameters
from .prepared import Prepared

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali.inference.chains import Run
    from thali.posterior.verdict import Advice, Verdict

    from .finding import Findings
    from .market_draws.market import MarketDraws
    from .sampling import Continuation, Sampling
    from .settings import Settings


@dataclass(frozen=True)
class Job:
    """A fit whose arguments and data have been checked: what is left is to run it."""

    run: Callable[[], dict[str, Any]]  # gives the fitted attributes
    remarks: Sequence[str | Message] = ()  # what is unusual about the data
    draws: int | None = None  # that were asked of each chain
    data: str = ""  # the size of the data in words


class Model(Parameters, Described):
    """Base of every model.

    `fit` of a subclass checks everything, makes a `Job` and hands it to `_carry_out`. What `Job.run` gives are the
    fitted attributes, all that a fitted model has besides its parameters; they are what `save` writes.

    Attributes
    ----------
    fitted_to_ : str
        The size of the data of the fit, in words.
    """

    fitted_to_: str
    _FINDINGS: ClassVar[str] = "thali.model.common_findings"  # the module whose `makers_of(model)` makes the findings

    def __str__(self) -> str:
        return as_text(self._description()) if self._is_fitted() else repr(self)

    def _description(self) -> Description:
        if not self._is_fitted():
            return Description(repr(self), note="Not fitted yet.")
        verdict = self.verdict()
        data = ("data", self.fitted_to_)
        return Description(repr(self), (data, *self._answers()), note=str(verdict), good=verdict.agrees)

    def _answers(self) -> Facts:
        """What is shown of a fit besides the data and the verdict: two or three numbers that matter."""
        return ()

    @property
    def _posterior(self) -> "xarray.DataTree | None":
        """What the fit drew; None of a method that draws nothing, and before a fit."""
        return vars(self).get("posterior_")

    def _carry_out(self, job: Job) -> Self:
        """The template of a fit: speak of the data, run, keep what was found, speak of the outcome."""
        for remark in job.remarks:
            warn(DataWarning(remark))
        found = job.run()
        self._forget()
        vars(self).update(found, fitted_to_=job.data)
        if not is_quiet():
            for warning in self._outcome(job):
                warn(self._said(warning))
        return self

    def prepare(self, data: Any, **settings: Any) -> Prepared:
        """A fit to these data after the checks that can be made beforehand; models have more of them or none."""
        return Prepared()

    def usual_run(self) -> dict[str, Any]:
        """How long `th.compare` fits, as arguments of `fit`, where `fit` itself runs until the chains agree."""
        return {}

    def _outcome(self, job: Job) -> Iterator[ThaliWarning]:
        """What the user is to be warned of after a fit."""
        yield from ()

    def _said(self, warning: ThaliWarning) -> ThaliWarning:
        """How `fit` words a warning of `_outcome`."""
        return warning

    def verdict(self) -> "Verdict":
        """Whether what was found can be relied on, and what to do if not.

        Returns
        -------
        Verdict
            `.agrees`, `.facts`, `.remedies`; `str` gives a sentence.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from thali.posterior.verdict import Verdict

        self._require_fitted()
        warned = list(self._outcome(Job(dict)))
        parts = [part for warning in warned for part in (" ", warning)][1:]
        return Verdict(not warned, {"warnings": len(warned)}, Message(*(parts or ["The maximum was found."])))

    def _fitted_attributes(self) -> dict[str, Any]:
        """All that a fit has left: as in scikit-learn, names that end in an underscore."""
        return {name: value for name, value in vars(self).items() if name.endswith("_")}

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
            raise NotFittedError(f"This {type(self).__name__} has not been fitted yet; call fit(data) first.")

    def _restore(self, found: dict[str, Any], path: object) -> None:
        """Make a fitted model of one that was not, with the attributes that were read from a file."""
        vars(self).update(found)

    def run_settings(self) -> dict[str, Any]:
        """The arguments of `fit` that repeat this fit, where the model has any: the length of the run and its seed.

        Returns
        -------
        dict

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        self._require_fitted()
        return {}

    def _as_python(self) -> str:
        """The fit as Python."""
        made = f"import thali as th\n\nmodel = th.{' '.join(repr(self).split())}\n"
        return f"{made}model.fit({', '.join(['data', *(f'{k}={v}' for k, v in self.run_settings().items())])})"

    def _data_of_fit(self) -> Any:
        """The data that the model was fitted to, or what is kept of them; None where nothing is."""
        return None

    def _market_draws(self) -> "MarketDraws | None":
        """The choices of people in any market, draw by draw; None of a model that is of no choice experiment."""
        return None

    def findings(self, ci: float = INTERVAL, **settings: Any) -> "Findings":
        """What the fit says, as data: a sentence, a table and a picture for each question that a reader may have.

        What `thali fit` prints and writes and what a report shows are these findings.

        Parameters
        ----------
        ci : float between 0 and 1
            Probability of intervals, where a model's answers have intervals of any probability.
        **settings
            What else the answers depend on: random_seed (of checks and simulated people), cores, and those of the
            model, such as similar (Jaccard index), kind (of estimate), market (a data frame), price, segments, folds
            (of a cross-validation) with rows (the X and y of the fit).

        Returns
        -------
        Findings
            A sequence in the order of a reader's questions; ``["ranks"]`` gives the finding of that key. Each is
            computed when it is asked for, once for the same settings.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model's answers have no setting of a name, or a value is out of its range.

        Examples
        --------
        >>> import thali as th
        >>> model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(th.datasets.celebrities())
        >>> model.findings()["utility_scale"].table["utility"].idxmax()
        'LBJ'
        """
        from .registry import spec_of
        from .settings import settings_from

        self._require_fitted()
        given = settings_from({"ci": ci, **settings}, spec_of(self), getattr(self, "method", ""))
        return self._findings_with(self._settings_for(self._data_of_fit(), given))

    def _findings_with(self, settings: "Settings") -> "Findings":
        """The findings with these settings: the same ones as the last time, where neither fit nor settings changed."""
        from importlib import import_module

        from .finding import Findings

        self._require_fitted()
        fitted = self._fitted_attributes()
        kept = vars(self).get("_found")
        if kept is not None and kept[0].are(settings) and _are_the_same(kept[1], fitted):
            return kept[2]
        found = Findings(self, import_module(self._FINDINGS).makers_of(self, settings), settings)
        self._found = settings, fitted, found
        return found

    def _settings_for(self, data: Any, settings: "Settings") -> "Settings":
        """The settings of the answer of a fit to these data, after every check that can be made before it."""
        return settings

    def report(self, path: Any) -> None:
        """Write a report of the fit: one HTML file that needs nothing from anywhere, to mail, to print, to read.

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
        from .saved import save

        self._require_fitted()
        save(self, path)


def _are_the_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two fits left the very same objects; the second may have some more."""
    return all(value is other.get(name) for name, value in one.items())


class Sampled(Model):
    """Base of a model whose fit leaves draws: `posterior_`, and `interrupted_`.

    A subclass has `quantities`, and `_advice` if it knows better than to draw more.
    """

    posterior_: "xarray.DataTree"
    interrupted_: bool

    def _fitted(self) -> "xarray.DataTree":
        """The posterior."""
        self._require_fitted()
        return self.posterior_

    def quantities(self) -> dict[str, np.ndarray]:
        """The quantities whose agreement between chains means something: those of the summary, draw by draw.

        Returns
        -------
        dict of arrays (chain, draw)
            By the names of the rows of `summary`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        raise NotImplementedError

    def to_inference_data(self, tree: "xarray.DataTree | None" = None) -> Any:
        """The posterior as an `arviz.InferenceData`, which ArviZ before 1.0 computes with (all that Python 3.11 has).

        ArviZ from 1.0 on takes `posterior_` itself.

        Parameters
        ----------
        tree : xarray.DataTree, optional
            Another one, such as that of `posterior_predictive` or of `sample_prior`; None: `posterior_`.

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
        from thali.posterior.inference_data import to_inference_data

        return to_inference_data(self._fitted() if tree is None else tree)

    def _advice(self) -> "Advice":
        """What helps chains that disagree."""
        from thali.posterior.verdict import Advice

        return Advice()

    def summary(self) -> "pandas.DataFrame":
        """Posterior mean, sd, interval, Monte Carlo error, ESS and R-hat of every quantity of `quantities`.

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, eti89_lb, eti89_ub (the 89 % interval), mcse_mean, ess_bulk, ess_tail, r_hat.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from thali.posterior.summary import summary_table

        tree = self._fitted()
        if vars(self).get("_summarised", (None,))[0] is not tree:
            self._summarised = tree, summary_table(self.quantities())
        return self._summarised[1].copy()

    def _answers(self) -> Facts:
        from thali.posterior.summary import main_rows

        sizes = self._fitted()["posterior"].sizes
        stopped = ", stopped early" if self.interrupted_ else ""
        draws = f"{plural(sizes['chain'], 'chain')} of {plural(sizes['draw'], 'draw')}{stopped}"
        return ("draws", draws), *main_rows(self.summary())

    def verdict(self) -> "Verdict":
        """Whether the chains agree and are long enough, and what to do if not.

        Returns
        -------
        Verdict
            `.agrees`, `.facts`, `.remedies`; `str` gives a sentence.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from thali.posterior.verdict import verdict_of

        return verdict_of(self._judged_rows(), self._advice())

    def _judged_rows(self) -> "pandas.DataFrame":
        """The rows by which the agreement of the chains is judged: those of the summary."""
        return self.summary()

    def _outcome(self, job: Job) -> Iterator[ThaliWarning]:
        if self.interrupted_:
            kept = self.posterior_["posterior"].sizes["draw"]
            of = "" if job.draws is None else f" of {job.draws}"
            yield InterruptedWarning(f"Stopped early; {kept}{of} draws a chain were kept.")
        verdict = self.verdict()
        if not verdict.agrees:
            yield ConvergenceWarning(verdict.message)


class RunByChains(Sampled):
    """Base of a model whose draws are those of chains that can be stored and go on.

    A subclass has `_sampling(source, run)`.
    """

    _state_: "Continuation"

    def run_settings(self) -> dict[str, Any]:
        self._require_fitted()
        if "_state_" not in vars(self):
            return {}
        run = self._state_.run
        return {"draws": self._state_.draws, "tune": run.tune, "chains": run.chains} | seed_setting(run.random_seed)

    def _data_of_fit(self) -> Any:
        return self._state_.source if "_state_" in vars(self) else None

    def _sampling(self, source: Any, run: "Run") -> "Sampling[Any]":
        """What a fit to these data runs, after every check."""
        raise NotImplementedError

    def _job_of(self, sampling: "Sampling[Any]", data: str, remarks: Sequence[str | Message] = ()) -> Job:
        """The fit by chains to data of that size."""
        from .sampling import sampled

        return Job(lambda: sampled(self, sampling), remarks, sampling.run.draws, data)

    def continue_fit(
        self, draws: int, cores: int | None = None, progressbar: bool = True, max_time: float | None = None
    ) -> Self:
        """Draw further from the posterior, from where the last fit ended or was stopped.

        The result is that of one longer fit, to the bit, on the same machine with the same versions; also after
        `thali.load`.

        Parameters
        ----------
        draws : int
            Further states to keep in each chain.
        cores : int, optional
            Threads; None means one a chain, as far as there are processors. Has no influence on the draws.
        progressbar : bool
        max_time : float, optional
            Seconds after which the run stops and keeps what was drawn.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If an argument is outside its range, or parameters of the model were changed after the fit.
        DataError
            If the data were changed after the fit, or the file of the model could not hold them.

        Warns
        -----
        ConvergenceWarning
            If the chains do not agree yet.
        InterruptedWarning
            If Ctrl-C or `max_time` ended the run; the draws so far are kept.
        """
        from .sampling import continued, refuse_changed

        self._require_fitted()
        if "_state_" not in vars(self):
            raise ArgumentError("Only a fit that draws from the posterior can go on, and this one has no draws.")
        run = checked_run(whole("draws", draws, 1), 0, 1, None, cores, None, progressbar, None, max_time)
        refuse_changed(self)

        def work() -> dict[str, Any]:
            return self._fitted_attributes() | continued(self, run)

        return self._carry_out(Job(work, draws=self._state_.draws + draws, data=self.fitted_to_))

    def _attributes_for_file(self) -> dict[str, Any]:
        from .saved import can_hold

        found = self._fitted_attributes()
        if "_state_" in found and not can_hold(found["_state_"].source):
            found["_state_"] = found["_state_"]._replace(source=None)
        return found
