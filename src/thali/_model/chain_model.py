"""A model whose draws are those of chains: they can go on, and its prior can be drawn from."""

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from thali._arguments import check_integer
from thali._inference.chains import build_run
from thali._inference.seeds import format_seed_setting
from thali.errors import ArgumentError, Message, Setting

from .base import Job, Sampled
from .engine import CHAINS, Engine
from .requirements import require_draws, requires

if TYPE_CHECKING:
    import xarray

    from thali._inference.chains import Run
    from thali._posterior.evidence import LogEvidence

    from .evidence import EvidenceRun
    from .prior_sample import PriorSample
    from .sampling import Continuation, Sampling


def chains_that_go_on(model: Any, name: str) -> None:
    """Require chains whose state is stored."""
    model._require_fitted()
    model._engine.refuse_to_go_on()
    if "_state_" not in vars(model):
        raise ArgumentError(f"{name} requires a fit with posterior draws; this fit has none.")


def prior(model: Any, name: str) -> None:
    """Require a method with a prior."""
    if not model._engine.has_prior:
        raise ArgumentError(
            "There is no prior to draw from with ", Setting("method", model.method), "."
        )


class RunByChains(Sampled):
    """Base of a model whose draws are those of chains that can be stored and go on.

    Its engines have `sampling(model, source, run)`, or a subclass has `_sampling(source, run)`. It
    has `_prior_sample(rngs, *design)`, `_replicates(rng, *design)` and `_observed(*design)`, where
    the design is what `fit` takes; and `_evidence_of(data, how)` if its evidence is known.
    """

    _state_: "Continuation"
    _ENGINES: ClassVar[Mapping[str, Engine]] = {"": CHAINS}

    def _run_settings(self) -> dict[str, Any]:
        self._require_fitted()
        if "_state_" not in vars(self):
            return {}
        run = self._state_.run
        return {
            "draws": self._state_.draws,
            "tune": run.tune,
            "chains": run.chains,
        } | format_seed_setting(run.random_seed)

    def _sampling(self, source: Any, run: "Run") -> "Sampling[Any]":
        """What a fit to these data runs, after every check."""
        return self._engine.sampling(self, source, run)

    def _job_of(
        self, sampling: "Sampling[Any]", data: str, remarks: Sequence[str | Message] = ()
    ) -> Job:
        """The fit by chains to data of that size."""
        from .sampling import sampled

        return Job(
            lambda: sampled(self, sampling), remarks, sampling.run.draws, data, sampling.forecast
        )

    @requires(chains_that_go_on)
    def continue_fit(
        self,
        draws: int,
        cores: int | None = None,
        progressbar: bool = True,
        max_time: float | None = None,
    ) -> Self:
        """Draw further from the posterior, from where the last fit ended or was stopped.

        The result is that of one longer fit, to the bit, on the same machine with the same
        versions; also after `thali.load`, but for earlier draws of which the file holds fewer
        digits (hierarchical logits of many people).

        Parameters
        ----------
        draws : int
            Further states to keep in each chain.
        cores : int, optional
            Threads; None means one a chain, as far as there are processors. Has no influence on the
            draws.
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
            If an argument is outside its range, or parameters of the model were changed after the
            fit.
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

        run = build_run(
            check_integer("draws", draws, 1), 0, 1, None, cores, None, progressbar, None, max_time
        )
        refuse_changed(self)

        def work() -> dict[str, Any]:
            return self._fitted_attributes() | continued(self, run)

        return self._carry_out(Job(work, draws=self._state_.draws + draws, data=self._fitted_to_))

    def _update(
        self, data: Any, draws: int, tune: int, cores: int | None, progressbar: bool
    ) -> Self:
        """Fit to a little more data than the last fit, from where its chains ended."""
        from .sampling import updated

        run = build_run(draws, tune, 1, None, cores, None, progressbar)
        return self._carry_out(Job(lambda: updated(self, data, run), draws=draws, data=str(data)))

    def _of_part(self, tree: "xarray.DataTree", what: str) -> Self:
        """Return the model with the posterior of some respondents, which cannot go on drawing."""
        made = copy.copy(self)
        vars(made).pop("_state_", None)
        made.posterior_ = tree
        made._fitted_to_ = f"{self._fitted_to_}; {what}"
        return made

    def _attributes_for_file(self) -> dict[str, Any]:
        from .model_files import can_hold

        found = self._fitted_attributes()
        if "_state_" in found and not can_hold(found["_state_"].source):
            found["_state_"] = found["_state_"]._replace(source=None)
        return found

    def _as_data(self, data: Any) -> Any:
        """What `fit` was given, as it is kept."""
        return data

    def _evidence_of(self, data: Any, how: "EvidenceRun") -> "LogEvidence":
        """The log evidence of the model with its arguments, for data as `fit` takes them."""
        raise NotImplementedError

    def _prior_sample(
        self, rngs: Sequence[np.random.Generator], *design: Any, **named: Any
    ) -> "PriorSample":
        """A draw from the prior for each generator, and data of this design at it."""
        raise NotImplementedError

    def _replicates(
        self, rng: np.random.Generator, *design: Any, **named: Any
    ) -> dict[str, np.ndarray]:
        """New data at every draw of the fit, arrays (chain, draw, ...) under their names in
        `observed_data`."""
        raise NotImplementedError

    def _observed(self, *design: Any, **named: Any) -> dict[str, np.ndarray]:
        """What `observed_data` would hold after a fit to these data."""
        raise NotImplementedError

    def _arguments(self, design: Any) -> tuple[Any, ...]:
        """What `fit` takes, as one argument of other functions: the data."""
        return (design,)

    def _held_to(self, *design: Any, **named: Any) -> Any:
        """The model, not fitted, with the prior that it has for this design whatever data it is
        fitted to."""
        return type(self)(**self.get_params())

    def _refit(
        self, data: tuple[Any, ...], random_seed: Any, settings: dict[Any, Any]
    ) -> "xarray.DataTree":
        """Fit on one core, and give the posterior."""
        model: Any = self
        return model.fit(
            *data, random_seed=random_seed, cores=1, progressbar=False, **settings
        ).posterior_

    @requires(prior)
    def sample_prior(
        self, data: Any, draws: int = 500, random_seed: Any = None
    ) -> "xarray.DataTree":
        r"""Draw parameters from the prior, and from each of them data of the same design.

        .. math:: \theta^{(s)} \sim p(\theta), \qquad y^{(s)} \sim p(y \mid \theta^{(s)})

        Parameters
        ----------
        data : as `fit` takes them
            They give the design: who is compared with whom and how often, which tasks there are.
            What was observed matters only where a prior depends on it, as that of a learned sigma
            of similarities does.
        draws : int
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        xarray.DataTree
            In the ArviZ schema: `prior` has the variables of `posterior_["posterior"]`
            (`log_likelihood` is that of the data simulated at the same draw), `prior_predictive`
            the simulated data, under their names in `observed_data`.

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
        from .prior_sample import drawn_from

        return drawn_from(self, draws, random_seed, data).tree()

    @requires(require_draws)
    def posterior_predictive(self, data: Any, random_seed: Any = None) -> "xarray.DataTree":
        r"""Draw data of the same design at every draw of the posterior.

        .. math::

            y^{(s)} \sim p(y \mid \theta^{(s)}), \qquad
            \theta^{(s)} \sim p(\theta \mid y_\text{observed})

        Parameters
        ----------
        data : as `fit` takes them
            Those of the fit.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        xarray.DataTree
            `posterior_`, with a further group `posterior_predictive`: the variables of
            `observed_data`, each with the dimensions (chain, draw, ...). ArviZ compares the two
            (`plot_ppc_dist`, `plot_ppc_pit`, `loo_pit`).

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the data are not those of the fit, cannot be simulated (weighted counts), or would be
            more than 20,000,000 numbers.
        ArgumentError
            If a likelihood of your own has no function `simulate`.

        Examples
        --------
        >>> import thali as th
        >>> data = th.datasets.celebrities()
        >>> model = th.EliminationByAspects("unique")
        >>> model = model.fit(data, draws=50, tune=50, random_seed=1, progressbar=False)
        >>> model.posterior_predictive(data, random_seed=1)["posterior_predictive"]["wins"].shape
        (4, 50, 36)
        """
        from .prior_sample import with_replicates

        return with_replicates(self, random_seed, data)
