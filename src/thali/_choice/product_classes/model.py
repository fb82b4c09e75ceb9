"""`ProductClasses`, the model that users fit, and its two samplers."""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._argument_checks import check_allowed, check_integer, check_positive, check_share
from thali._inference.markov_chains import Run
from thali._inference.user_warnings import is_quiet
from thali._labels import format_plural
from thali._model.base import Job
from thali._model.evidence_arguments import EvidenceRun
from thali._model.fitting_methods import (
    ChainEngine,
    Engine,
    PreparedFit,
    check_method_arguments,
)
from thali._model.markov_chain_model import MarkovChainModel
from thali._model.method_requirements import mark_as_setup, requires
from thali._model.simulated_data import PriorSample
from thali._object_descriptions import Facts
from thali._posterior.convergence_check import ConvergenceCheck
from thali._posterior.log_evidence import LogEvidence
from thali._posterior.posterior_tree import PosteriorTree
from thali.errors import (
    ArgumentError,
    ConvergenceWarning,
    InterruptedWarning,
    Message,
    Setting,
    ThaliWarning,
)

from ..logit_likelihood import describe_contradicted_directions, parse_directions
from ..product_coding import refuse_many_levels, require_experiment
from .class_fits import ClassChainFit, ParticleFit, read_fitted_attributes
from .convergence_checks import describe_parameters, estimate_climb, format_chain_remarks
from .fit_preparation import (
    CHAINS,
    FIRST_DRAWS,
    GROUPS,
    PARTICLES,
    SWEEPS_PER_STEP,
    TUNE,
    describe_dominated_choices,
    refuse_uninformative,
)
from .reports.report_methods import ProductClassReports
from .samplers.tempering_path import USABLE
from .spec import PRODUCT_CLASSES

if TYPE_CHECKING:
    import xarray

    from thali._data.experiments import ChoiceExperiment
    from thali._data.experiments.fitted_design import ExperimentDesign
    from thali._inference.random_seeds import RandomSeed

    from .ragged_draws import Particles
    from .state import ClassProblem


class ClassEngine(ChainEngine):
    """Base of the two samplers of product classes, with their convergence check."""

    has_evidence = True
    sentence: str  # of the methods section
    default_draws: int | None = None
    default_chains: int

    def describe_climb(self, posterior: PosteriorTree) -> tuple[float, Message] | None:
        """Return the late rise of the log-likelihood and a sentence; None if settled."""
        return None


class MarkovChains(ClassEngine):
    """Sampler "mcmc": independent chains, annealed during tuning."""

    sentence = "classes.mcmc"
    default_chains = CHAINS

    def check_run(self, run: Run) -> Run:
        """Return the settings of chains, checked."""
        return run.check()

    def build_job(
        self,
        model: "ProductClasses",
        data: "ChoiceExperiment",
        run: Run,
        problem: "ClassProblem",
        sweeps_per_step: int,
        remarks: list[Any],
    ) -> Job:
        """Return the job of a fit by chains."""
        return ClassChainFit(model, data, run, problem).build_job(str(data), remarks)

    def describe_climb(self, posterior: PosteriorTree) -> tuple[float, Message] | None:
        """Return the late rise of the log-likelihood and a sentence; None if settled."""
        climb = estimate_climb(posterior)
        if climb is None:
            return None
        n_tuning = int(posterior.attributes["tune"])
        sentence = (
            "The chains are still climbing: the log-likelihood of their last quarter exceeds the"
            f" third quarter by {climb.gain:.1f} (standard error {climb.error:.1f}). Anneal"
            " longer: refit with "
        )
        return climb.gain, Message(
            sentence, Setting("tune", max(4 * n_tuning, TUNE)), f" (now {n_tuning})."
        )

    def estimate_evidence(
        self, model: "ProductClasses", data: "ChoiceExperiment", settings: EvidenceRun
    ) -> LogEvidence:
        """Raise ArgumentError: only method="smc" estimates the evidence."""
        raise ArgumentError(
            "the evidence of product classes is estimated with ", Setting("method", "smc"), "."
        )


class SequentialMonteCarlo(ClassEngine):
    """Sampler "smc": groups of particles, which also estimate the evidence."""

    sentence = "classes.smc"

    default_draws = PARTICLES
    default_chains = GROUPS

    def check_run(self, run: Run) -> Run:
        """Return the settings of groups of particles, checked."""
        run = run._replace(draws=check_integer("draws", run.draws, 2), tune=0, thin=None).check()
        if run.chains < 2:
            raise ArgumentError(
                Setting("method", "smc"),
                " estimates errors from differences between groups of particles, but ",
                Setting("chains", 1),
                " is a single group; use at least two.",
            )
        return run

    def build_job(
        self,
        model: "ProductClasses",
        data: "ChoiceExperiment",
        run: Run,
        problem: "ClassProblem",
        sweeps_per_step: int,
        remarks: list[Any],
    ) -> Job:
        """Return the job of a fit by particles; raise if it takes too long."""
        particle_fit = ParticleFit(model, data, run, problem, sweeps_per_step)
        return Job(particle_fit.run_to_end, remarks, data=str(data), forecast=particle_fit.forecast)

    def estimate_evidence(
        self, model: "ProductClasses", data: "ChoiceExperiment", settings: EvidenceRun
    ) -> LogEvidence:
        """Estimate the log evidence of these data by a new fit."""
        new_model = type(model)(**model.get_params())
        new_model.fit(
            data,
            cores=settings.cores,
            random_seed=settings.random_seed,
            progressbar=settings.progressbar,
        )
        return new_model.log_evidence()

    def check_continuable(self) -> None:
        """Raise ArgumentError: particles cannot be continued."""
        raise ArgumentError(
            Setting("method", "smc"),
            " cannot be continued, because the evidence requires a complete run; refit with more"
            " draws.",
        )


ENGINES: dict[str, MarkovChains | SequentialMonteCarlo] = {
    "mcmc": MarkovChains(),
    "smc": SequentialMonteCarlo(),
}


class ProductClasses(ProductClassReports, MarkovChainModel):
    r"""Infer which classes of products people care about, and predict what they choose.

    A class is a set of products, such as "price <= 150 & zoom = yes". Person n in task t gives
    product x the utility

    .. math::
        u_{nt}(x) = \sum_{k: z_{nk} = 1} (-1)^{s_{nk}} (\theta_{nk}
        + \varepsilon_{nkt})\, 1(x \in \Lambda_k), \qquad
        \theta_{nk} \sim \mathrm{Gamma}(\sigma a, 1), \quad
        \varepsilon_{nkt} \sim \mathrm{Gamma}((1 - \sigma) a, 1)

    and chooses the best, or any product that no class separates from it; with probability `lapse`
    any alternative. The number of classes need not be given: Z has an Indian buffet prior. In an
    attribute that is declared monotone, classes are thresholds, liked if they contain the better
    levels and disliked if they contain the worse, so utility never falls as the attribute improves.

    Parameters
    ----------
    monotone : dict, optional
        Attribute -> "increasing" (later levels are better) or "decreasing"; all others are free.
    lapse : float in [0, 1)
        Probability of a blind choice.
    alpha : float above 0, optional
        Expected number of classes that a person uses; None learns it under a Gamma(1, 1) prior.
    method : {"mcmc", "smc"}
        "mcmc": independent chains, for predictions and everything else. "smc": groups of particles,
        for the evidence.

    Attributes
    ----------
    posterior_ : xarray.DataTree
        The draws in the ArviZ schema, chain = chain or group of particles: share (of the levels of
        attributes among the choices), effect (of one level over another), n_classes,
        classes_per_person, value_shape (a), stability (sigma), alpha, log_likelihood. Pointwise
        log-likelihoods and prior densities are not available, because the transient values of a
        task are integrated over by sampling and are not stored.

    References
    ----------
    Daviet & McCausland (2017), a draft; Griffiths & Ghahramani (2011), The Indian buffet process;
    Durham & Geweke (2014), Adaptive sequential posterior simulators.

    Examples
    --------
    >>> import thali as th
    >>> th.ProductClasses(monotone={"price": "decreasing"}, method="smc")
    ProductClasses(monotone={'price': 'decreasing'}, method='smc')
    """

    _ENGINES: ClassVar[Mapping[str, Engine]] = ENGINES
    _FINDINGS: ClassVar[str] = "thali._choice.product_classes.findings"

    posterior_: "xarray.DataTree"
    _log_evidence_: float
    _log_evidence_se_: float
    _evidence_sd_: float
    _messages_: list[str]
    _interrupted_: bool
    _draws_: "Particles"
    _design_: "ExperimentDesign"

    def __init__(
        self,
        monotone: Mapping[str, str] | None = None,
        lapse: float = 0.02,
        alpha: float | None = None,
        method: str = "mcmc",
    ) -> None:
        self.monotone = monotone
        self.lapse = lapse
        self.alpha = alpha
        self.method = method

    def fit(
        self,
        data: "ChoiceExperiment",
        draws: int | None = None,
        tune: int = TUNE,
        chains: int | None = None,
        thin: int | None = None,
        sweeps_per_step: int = SWEEPS_PER_STEP,
        cores: int | None = None,
        random_seed: "RandomSeed" = None,
        progressbar: bool = True,
        job: str | os.PathLike[str] | None = None,
        max_time: float | None = None,
    ) -> Any:
        """Draw from the posterior.

        Parameters
        ----------
        data : ChoiceExperiment
        draws : int, optional
            States of each chain, of which evenly spaced ones are kept, at most 400. None draws
            until every row of `summary` has an R-hat of at most 1.01 and, all chains together, an
            effective sample size of at least 400; it looks after 125 draws, and then where these
            tell how many are needed, up to 8,000 draws or ten minutes of the processor. With
            method="smc" the particles of each group; None: 64.
        tune : int
            States of each chain that are discarded first. In the first half of them the lapse falls
            from 1 to its value.
        chains : int, optional
            Independent chains; None: 4. Where chains do not agree, as for many respondents with
            many attributes, predictions gain more by 16 chains than by longer ones. With
            method="smc" groups of particles, 2 or more; None: 8.
        thin : int, optional
            Sweeps of the sampler for each state; None: 16, fewer where the run would take too long.
        sweeps_per_step : int
            With method="smc" sweeps of each particle between two steps.
        cores : int, optional
            Threads; None means as many as there are processors. Has no influence on the draws.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            The same seed gives the same draws; None takes a fresh one.
        progressbar : bool
            Whether to show how far the run is.
        job : str or path, optional
            A folder that holds the draws and the state of the chains while they run. The same fit
            goes on from it after the process was killed, and gives the draws of an unbroken run;
            with more `draws` it goes on further.
        max_time : float, optional
            Seconds after which the run stops and keeps what was drawn, in place of ten minutes of
            the processor. If half of them pass in tuning, the chains start again with less of it,
            and a warning says so.

        Returns
        -------
        self

        Raises
        ------
        ArgumentError
            If an argument is outside its range, a monotone attribute is not in the data or has no
            order, or the evidence of such data takes more than ten minutes of CPU time and
            `max_time` is not given.
        DataError
            If the data are not a choice experiment, have a single task, or only tasks of identical
            alternatives; if an attribute has more than 30 levels that the data do not list; or if
            the job is damaged, is in use, or belongs to another fit.

        Warns
        -----
        DataWarning
            If the choices contradict a direction; or if lapse=0 and only indifference explains a
            choice.
        ConvergenceWarning
            If the chains do not agree yet.
        InterruptedWarning
            If Ctrl-C or `max_time` ended the run; the draws so far are kept.
        """
        monotone = self._check_fit(data)
        engine = self._engine
        refuse_uninformative(data)
        arguments = {
            "tune": tune,
            "thin": thin,
            "sweeps_per_step": check_integer("sweeps_per_step", sweeps_per_step, 1),
        }
        default_arguments = {"tune": TUNE, "thin": None, "sweeps_per_step": SWEEPS_PER_STEP}
        check_method_arguments(PRODUCT_CLASSES, self.method, arguments, default_arguments)
        if draws is None:
            draws = engine.default_draws
        default_chains: int = engine.default_chains
        if chains is None:
            chains = default_chains
        run = engine.check_run(
            Run(
                draws=draws,
                tune=tune,
                chains=chains,
                thin=thin,
                cores=cores,
                random_seed=random_seed,
                progressbar=progressbar,
                job=job,
                max_time=max_time,
            )
        )
        return self._run_job(
            engine.build_job(
                self,
                data,
                run,
                self._build_problem(data),
                sweeps_per_step,
                self._list_data_remarks(data, monotone),
            )
        )

    @mark_as_setup
    def prepare(
        self, data: Any, draws: int | None = None, chains: int | None = None, **other_arguments: Any
    ) -> PreparedFit:
        """Check the data and arguments of a fit, without drawing; return an empty PreparedFit."""
        self._check_fit(data)
        refuse_uninformative(data)
        engine = self._engine
        if draws is None:
            draws = engine.default_draws
        default_chains: int = engine.default_chains
        if chains is None:
            chains = default_chains
        engine.check_run(Run(draws, TUNE, chains))
        return PreparedFit()

    def _get_comparison_run(self) -> dict[str, Any]:
        """Return the arguments of `fit` that model comparisons use."""
        if self.method != "mcmc":
            return {}
        return {"draws": FIRST_DRAWS}

    def _list_data_remarks(self, data: "ChoiceExperiment", monotone: dict[str, str]) -> list[Any]:
        """Return warnings about data that are unusual for product classes."""
        remarks: list[Any] = []
        if not is_quiet():
            remarks.append(describe_contradicted_directions(data, monotone))
        if self.lapse == 0.0:
            remarks.append(describe_dominated_choices(data, monotone))
        return list(filter(None, remarks))

    def _build_problem(self, data: "ChoiceExperiment") -> "ClassProblem":
        """Return the data as kernels read them, after checks."""
        from .state import build_class_problem

        return build_class_problem(data, self._check_fit(data), self.alpha)

    def _build_fit(self, source: "ChoiceExperiment", run: Run) -> ClassChainFit:
        """Return the fit of checked data by chains, ready to run."""
        return ClassChainFit(self, source, run, self._build_problem(source))

    def _require_evidence(self, name: str) -> None:
        """Raise ArgumentError unless the fit estimated the log evidence."""
        self._require_fitted()
        if not math.isfinite(self._log_evidence_):
            raise ArgumentError(
                "This fit did not estimate the evidence; refit with ", Setting("method", "smc"), "."
            )

    @requires(_require_evidence)
    def log_evidence(self) -> LogEvidence:
        """The log evidence that the fit estimated, by ``method="smc"``.

        Returns
        -------
        LogEvidence
            Its `.estimates` come from the groups of particles; it has no `.path`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the fit was stopped early or estimated no evidence.
        """
        import pandas as pd

        from .posterior_datatree import read_step_trace

        self._require_fitted()
        self._check_finished()
        group_estimates = np.atleast_2d(read_step_trace(self._view)["log_evidence"])[:, -1]
        is_usable = self._evidence_sd_ <= USABLE
        deviation_text = (
            f"the standard deviation of their estimates is {self._evidence_sd_:.2f} (target: at"
            f" most {USABLE:g})"
        )
        sentence = f"The {len(group_estimates)} groups agree: {deviation_text}."
        if not is_usable:
            sentence = (
                f"The log evidence is not usable: {deviation_text}; use more sweeps per step, or"
                " more"
                " draws."
            )
        facts = {"groups": len(group_estimates), "sd": self._evidence_sd_}
        convergence = ConvergenceCheck(is_usable, facts, Message(sentence))
        df = float(len(group_estimates) - 1)
        return LogEvidence(
            self._log_evidence_,
            self._log_evidence_se_,
            df,
            convergence,
            group_estimates,
            pd.DataFrame(),
        )

    def _compute_log_evidence(self, data: "ChoiceExperiment", run: EvidenceRun) -> LogEvidence:
        """Estimate the log evidence of the model for these data."""
        return self._engine.estimate_evidence(self, data, run)

    def _sample_prior(
        self, rngs: Sequence[np.random.Generator], data: "ChoiceExperiment"
    ) -> PriorSample:
        """Draw classes from the prior and choices given them, once per generator."""
        from .simulation import sample_classes_prior

        return sample_classes_prior(self, self._check_fit(data), data, rngs)

    def _build_observed(self, data: "ChoiceExperiment") -> dict[str, Any]:
        """Return the chosen alternatives; {} if the respondents are others."""
        from thali._data.experiments.fitted_design import build_design

        self._check_fit(data)
        if tuple(data.respondents) != self._design_.respondents:
            return {}
        return {"chosen": build_design(data).chosen}

    def _simulate_replicates(
        self, rng: np.random.Generator, data: "ChoiceExperiment"
    ) -> dict[str, Any]:
        """Simulate the choices of the data at every draw."""
        from .reports.choice_probabilities import draw_choices

        n_groups = self._view.shape[0]
        draw_indices = np.arange(self._draws_.n_draws)
        choices = draw_choices(self._draws_, self._design_, rng, draw_indices)
        return {"chosen": choices.reshape(n_groups, -1, len(data.chosen))}

    def _check_fit(self, data: Any) -> dict[str, str]:
        """Check data and arguments; return {attribute: direction} of monotone ones."""
        data = require_experiment(data)
        check_share("lapse", self.lapse, "the probability of choosing at random")
        if self.alpha is not None:
            check_positive(
                "alpha", self.alpha, "the expected number of classes that a respondent uses"
            )
        monotone = parse_directions("monotone", self.monotone, data)
        check_allowed("method", self.method, tuple(ENGINES))
        refuse_many_levels(data, None)
        return monotone

    def _get_fitted_attributes(self) -> dict[str, Any]:
        """Return the fitted attributes to store; others follow from the posterior."""
        attributes = super()._get_fitted_attributes()
        # the other attributes are computed from the posterior
        stored_names = ("posterior_", "_people_", "_fitted_to_", "_state_")
        return {name: value for name, value in attributes.items() if name in stored_names}

    def _restore(self, fitted_attributes: dict[str, Any], path: object) -> None:
        """Set fitted attributes from a file, and others that its posterior determines."""
        vars(self).update(
            {"_people_": None}
            | fitted_attributes
            | read_fitted_attributes(fitted_attributes["posterior_"])
        )

    def _check_chains(self) -> ConvergenceCheck:
        """Return the convergence check, with remarks on chains whose likelihood still rises."""
        convergence = super()._check_chains()
        message = convergence.message
        facts = convergence.facts
        if not convergence.agrees and (climb := self._engine.describe_climb(self._view)):
            climb_gain, message = climb
            facts = facts | {"climb": climb_gain}
        chain_remarks = format_chain_remarks(self._view, convergence.agrees)
        return replace(convergence, facts=facts, message=Message(*message.parts, *chain_remarks))

    def _headline_facts(self) -> Facts:
        """Return (name, text) facts about the fit for reports."""
        return *super()._headline_facts()[:2], describe_parameters(self._view)

    def _list_warnings(self, job: Job) -> Iterator[ThaliWarning]:
        """Yield warnings about a finished fit."""
        if self._interrupted_:
            dim_sizes = self._view.draws.sizes
            kept_draws = (
                f"{format_plural(dim_sizes['chain'], 'chain')} of"
                f" {format_plural(dim_sizes['draw'], 'draw')}"
            )
            yield InterruptedWarning(f"Stopped early; {kept_draws} were kept.")
        convergence = self.convergence()
        if not convergence.agrees:
            yield ConvergenceWarning(convergence.message)
