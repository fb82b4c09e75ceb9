"""What every model is: parameters, one template of a fit, a summary, a verdict, a file."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from thali.errors import ConvergenceWarning, DataWarning, InterruptedWarning, Message, NotFittedError, ThaliWarning
from thali.inference.quiet import is_quiet
from thali.inference.warn import warn

from .parameters import Parameters
from .prepared import Prepared

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali.posterior.verdict import Advice, Verdict


@dataclass(frozen=True)
class Job:
    """A fit whose arguments and data have been checked: what is left is to run it."""

    run: Callable[[], dict[str, Any]]  # gives the fitted attributes
    remarks: Sequence[str | Message] = ()  # what is unusual about the data
    draws: int = 0  # that were asked of each chain


class Model(Parameters):
    """Base of every model.

    `fit` of a subclass checks everything, makes a `Job` and hands it to `_carry_out`. What `Job.run` gives are the
    fitted attributes, all that a fitted model has besides its parameters; they are what `save` writes.
    """

    def _carry_out(self, job: Job) -> Self:
        """The template of a fit: speak of the data, run, keep what was found, speak of the outcome."""
        for remark in job.remarks:
            warn(DataWarning(remark))
        found = job.run()
        self._forget()
        vars(self).update(found)
        if not is_quiet():
            for warning in self._outcome(job):
                warn(warning)
        return self

    def prepare(self, data: Any, **settings: Any) -> Prepared:
        """A fit to these data after the checks that can be made beforehand; models have more of them or none."""
        return Prepared()

    def _outcome(self, job: Job) -> Iterator[ThaliWarning]:
        """What the user is to be warned of after a fit."""
        yield from ()

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

        return verdict_of(self.summary(), self._advice())

    def _outcome(self, job: Job) -> Iterator[ThaliWarning]:
        if self.interrupted_:
            kept = self.posterior_["posterior"].sizes["draw"]
            yield InterruptedWarning(f"Stopped early; {kept} of {job.draws} draws a chain were kept.")
        verdict = self.verdict()
        if not verdict.agrees:
            yield ConvergenceWarning(verdict.message)
