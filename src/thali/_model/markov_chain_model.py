"""Base class of models fitted by Markov chains: continue a fit, draw from prior and posterior."""

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from thali._argument_checks import check_integer
from thali._inference.markov_chains import Run
from thali._inference.random_seeds import RandomSeed, build_generator, format_seed_setting
from thali._inference.user_warnings import is_quiet
from thali.errors import Argument, ArgumentError, DataError, InPython, Setting

from .base import Job, Model, SampledModel
from .fitting_methods import CHAINS, Engine
from .method_requirements import require_draws, requires
from .model_files import can_store, compute_digest

if TYPE_CHECKING:
    import xarray

    from thali._posterior.log_evidence import LogEvidence

    from .chain_runs import ChainFit, Continuation
    from .evidence_arguments import EvidenceRun
    from .simulated_data import PriorSample


def require_stored_chains(model: Model, name: str) -> None:
    """Raise if the fit does not store the chain states that `continue_fit` needs."""
    model._require_fitted()
    model._engine.check_continuable()
    if "_state_" not in vars(model):
        raise ArgumentError(f"{name} requires a fit with posterior draws; this fit has none.")


def require_prior(model: Model, name: str) -> None:
    """Raise ArgumentError if the fitting method has no prior to draw from."""
    if not model._engine.has_prior:
        if not model._method:
            raise ArgumentError(
                f"{name} requires a prior that can be sampled; {type(model).__name__} has none."
            )
        raise ArgumentError(
            "There is no prior to draw from with ", Setting("method", model.method), "."
        )


class MarkovChainModel(SampledModel):
    """Base class of models fitted by Markov chains that can be stored and continued.

    Its engines have a `fit_class`, a subclass of `ChainFit`, or a subclass has `_build_fit(source,
    run)`. It has `_sample_prior(rngs, *design)`, `_simulate_replicates(rng, *design)` and
    `_build_observed(*design)`, where the design is the arguments of `fit`; and
    `_compute_log_evidence(data, run)` if its evidence can be computed.
    """

    _state_: "Continuation"
    _estimates_: Any  # after maximum likelihood
    _ENGINES: ClassVar[Mapping[str, Engine]] = {"": CHAINS}

    def _get_run_settings(self) -> dict[str, Any]:
        """Return the `fit` arguments draws, tune, chains and random_seed of this fit."""
        self._require_fitted()
        if "_state_" not in vars(self):
            return {}
        run = self._state_.run
        return {
            "draws": self._state_.draws,
            "tune": run.tune,
            "chains": run.chains,
        } | format_seed_setting(run.random_seed)

    def _build_fit(self, source: Any, run: Run) -> "ChainFit[Any]":
        """Return the fit of checked data by the fitting method, ready to run."""
        return self._engine.fit_class(self, source, run)

    def _build_job(self, data: Any, run: Run) -> Job:
        """Check data and arguments of a fit; return its job."""
        if not self._engine.draws:
            return self._engine.build_job(self, data, run)
        data = self._convert_data(data)
        chain_fit = self._build_fit(data, run.check())
        if not is_quiet():
            data.warn_if_unusual()
        return chain_fit.build_job(str(data))

    def _get_fit_data(self) -> Any:
        """Return the data of the chains or estimates; None if they are not stored."""
        if "_state_" in vars(self):
            return self._state_.source
        if "_estimates_" in vars(self):
            return self._estimates_.data
        return None

    @requires(require_stored_chains)
    def continue_fit(
        self,
        draws: int,
        cores: int | None = None,
        progressbar: bool = True,
        max_time: float | None = None,
    ) -> Self:
        """Make more draws per chain, continuing where the last fit ended.

        The result is exactly that of one longer fit, on the same machine with the same versions;
        also after `thali.load`, except for earlier draws that the file stores with fewer digits
        (hierarchical logits of many respondents).

        Parameters
        ----------
        draws : int
            Additional draws per chain.
        cores : int, optional
            Threads; None: one per chain, up to the number of processors. Has no influence on the
            draws.
        progressbar : bool
        max_time : float, optional
            Seconds after which the run stops and keeps the draws.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If an argument is outside its range, or parameters of the model were changed after the
            fit.
        DataError
            If the data were changed after the fit, or are missing from the file of the model.

        Warns
        -----
        ConvergenceWarning
            If the chains do not agree yet.
        InterruptedWarning
            If Ctrl-C or `max_time` ended the run; the draws so far are kept.
        """
        run = Run(
            draws=check_integer("draws", draws, 1),
            tune=0,
            chains=1,
            cores=cores,
            progressbar=progressbar,
            max_time=max_time,
        ).check()
        self._check_unchanged()
        state = self._state_
        total_draws = state.draws + draws

        def continue_run() -> dict[str, Any]:
            """Draw more; return all fitted attributes of the longer fit."""
            longer_run = state.run._replace(
                draws=total_draws,
                cores=run.cores,
                progressbar=run.progressbar,
                max_time=run.max_time,
            )
            chain_fit = self._build_fit(state.source, longer_run)
            return self._get_fitted_attributes() | chain_fit.continue_from(
                state, self.posterior_, total_draws
            )

        return self._run_job(Job(continue_run, draws=total_draws, data=self._fitted_to_))

    def _check_unchanged(self) -> None:
        """Raise if data or parameters were changed after the fit."""
        from .chain_runs import get_model_parameters

        state = self._state_
        if state.source is None:
            raise DataError(
                "This model was loaded from a file, which cannot contain your own data and"
                " functions; fit it again."
            )
        parameters = get_model_parameters(self)
        for name, value in state.parameters.items():
            if parameters[name] != value:
                raise ArgumentError(
                    Argument(name),
                    " was changed after the fit, so the fit cannot be continued; fit again.",
                )
        if compute_digest(state.source) != state.digest:
            raise DataError(
                "The data were changed after the fit, so the fit cannot be continued; fit again."
            )

    def _update_fit(
        self, data: Any, draws: int, tune: int, cores: int | None, progressbar: bool
    ) -> Self:
        """Refit to slightly more data, with chains started where the last fit ended."""
        new_run = Run(draws, tune, chains=1, cores=cores, progressbar=progressbar).check()
        state = self._state_
        run = state.run._replace(
            draws=draws,
            tune=new_run.tune,
            cores=new_run.cores,
            progressbar=new_run.progressbar,
            max_time=None,
        )
        return self._run_job(
            Job(
                lambda: self._build_fit(data, run).update_from(state, draws),
                draws=draws,
                data=str(data),
            )
        )

    def _select_group(self, name: str) -> Any:
        """Return the model of one group of the data; by default all groups are equal."""
        return self

    def _copy_with_posterior(self, tree: "xarray.DataTree", part_name: str) -> Self:
        """Return a copy with another posterior, such as that of one group."""
        # The copy cannot be continued; `part_name` names its respondents.
        copied_model = copy.copy(self)
        vars(copied_model).pop("_state_", None)
        copied_model.posterior_ = tree
        copied_model._fitted_to_ = f"{self._fitted_to_}; {part_name}"
        return copied_model

    def _select_storable_attributes(self) -> dict[str, Any]:
        """Return the fitted attributes to save, without data that a file cannot contain."""
        fitted_attributes = self._get_fitted_attributes()
        if "_state_" in fitted_attributes and not can_store(fitted_attributes["_state_"].source):
            fitted_attributes["_state_"] = fitted_attributes["_state_"]._replace(source=None)
        return fitted_attributes

    def _convert_data(self, data: Any) -> Any:
        """Convert the data argument of `fit` to the object that the fit stores."""
        return data

    def _compute_log_evidence(self, data: Any, run: "EvidenceRun") -> "LogEvidence":
        """Compute the log evidence (marginal likelihood) of the model for these data."""
        raise NotImplementedError

    def _check_finished(self) -> None:
        """Raise if the fit was stopped before all its draws."""
        if self._interrupted_:
            raise ArgumentError(
                "The fit was stopped early, so the evidence of the model is not available yet;"
                " finish the fit",
                InPython(" with continue_fit"),
                ", or fit again.",
            )

    def _check_fitted_data(self, data: Any) -> None:
        """Raise if `data` are not the data of the fit, or the fit was stopped early."""
        if "_state_" not in vars(self):
            return
        self._check_finished()
        if self._state_.digest != compute_digest(self._convert_data(data)):
            raise ArgumentError(
                "The model was fitted to other data, but evidence is comparable only for the same"
                " data; pass the data of the fit, or an unfitted model."
            )

    def _sample_prior(
        self, rngs: Sequence[np.random.Generator], *design: Any, **kwargs: Any
    ) -> "PriorSample":
        """Draw parameters from the prior and simulate data, once for each generator."""
        raise NotImplementedError

    def _simulate_replicates(
        self, rng: np.random.Generator, *design: Any, **kwargs: Any
    ) -> dict[str, np.ndarray]:
        """Simulate data at every posterior draw; return arrays (chain, draw, ...) by name."""
        # Names are those of the group `observed_data`.
        raise NotImplementedError

    def _build_observed(self, *design: Any, **kwargs: Any) -> dict[str, np.ndarray]:
        """Return the arrays that `observed_data` contains after a fit to these data."""
        raise NotImplementedError

    def _add_replicates(self, random_seed: RandomSeed, *design: Any) -> "xarray.DataTree":
        """Return the posterior's DataTree with simulated data, group posterior_predictive."""
        from .simulated_data import add_replicates

        return add_replicates(
            self._view,
            self._build_observed(*design),
            lambda: self._simulate_replicates(build_generator(random_seed), *design),
        )

    @requires(require_prior)
    def sample_prior(
        self, data: Any, draws: int = 500, random_seed: RandomSeed = None
    ) -> "xarray.DataTree":
        r"""Draw parameters from the prior, and simulate data like `data` at each draw.

        .. math:: \theta^{(s)} \sim p(\theta), \qquad y^{(s)} \sim p(y \mid \theta^{(s)})

        Parameters
        ----------
        data : as `fit` takes them
            They define the design: the pairs compared and their counts, or the tasks. Observations
            affect the result only if a prior depends on them, as for a learned sigma of
            similarities.
        draws : int
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        xarray.DataTree
            In the ArviZ schema: `prior` has the variables of `posterior_["posterior"]`
            (`log_likelihood` of the data simulated at the same draw), `prior_predictive` the
            simulated data, with their names in `observed_data`.

        Raises
        ------
        ArgumentError
            If an argument is outside its range.
        DataError
            If the data cannot be used.

        Examples
        --------
        >>> import thali as th
        >>> tree = th.EliminationByAspects().sample_prior(
        ...     th.datasets.celebrities(), draws=100, random_seed=1
        ... )
        >>> tree["prior_predictive"]["wins"].shape
        (1, 100, 36)
        """
        from .simulated_data import draw_prior

        return draw_prior(self, draws, random_seed, data).build_tree()

    @requires(require_draws)
    def posterior_predictive(self, data: Any, random_seed: RandomSeed = None) -> "xarray.DataTree":
        r"""Simulate data like `data` at every posterior draw.

        .. math::

            y^{(s)} \sim p(y \mid \theta^{(s)}), \qquad
            \theta^{(s)} \sim p(\theta \mid y_\text{observed})

        Parameters
        ----------
        data : as `fit` takes them
            The data of the fit.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        xarray.DataTree
            `posterior_` with an additional group `posterior_predictive`: the variables of
            `observed_data`, each with the dimensions (chain, draw, ...). ArviZ compares the two
            groups (`plot_ppc_dist`, `plot_ppc_pit`, `loo_pit`).

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the data differ from the data of the fit, cannot be simulated (weighted counts), or
            would have more than 20,000,000 numbers.
        ArgumentError
            If a custom likelihood has no function `simulate`.

        Examples
        --------
        >>> import thali as th
        >>> data = th.datasets.celebrities()
        >>> model = th.EliminationByAspects("unique")
        >>> model = model.fit(data, draws=50, tune=50, random_seed=1, progressbar=False)
        >>> model.posterior_predictive(data, random_seed=1)["posterior_predictive"]["wins"].shape
        (4, 50, 36)
        """
        return self._add_replicates(random_seed, data)
