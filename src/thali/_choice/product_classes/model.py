"""`ProductClasses`: classes of products that people care about, from choice experiments; its two
engines."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._arguments import one_of, positive, share, whole
from thali._described import Facts
from thali._inference.chains import Run, build_run
from thali._inference.progress import format_duration
from thali._inference.warn import is_quiet
from thali._labels import plural
from thali._model.base import Job
from thali._model.chain_model import MarkovChainModel
from thali._model.engine import ChainEngine, Engine, Forecast, PreparedFit, check_method_arguments
from thali._model.evidence import EvidenceRun, check_finished
from thali._model.prior_sample import PriorSample
from thali._model.requirements import mark_as_setup, requires
from thali._model.run_budget import BUDGET, limit_run
from thali._model.sampling import Sampling, open_fit_folder
from thali._posterior.convergence import ConvergenceCheck
from thali._posterior.evidence import LogEvidence
from thali._posterior.view import PosteriorTree
from thali.errors import (
    Argument,
    ArgumentError,
    ConvergenceWarning,
    DataError,
    InterruptedWarning,
    Message,
    Setting,
    ThaliWarning,
)

from ..coding import refuse_many_levels
from ..logit import contradicted_sentence, directions_of
from .arguments import (
    CHAINS,
    FIRST_DRAWS,
    GROUPS,
    LOOK_DRAWS,
    MAX_DRAWS,
    PARTICLES,
    SWEEPS_PER_STEP,
    THIN,
    TUNE,
    describe_dominated_choices,
    estimate_draw_seconds,
    estimate_steps,
    estimate_sweep_seconds,
    refuse_uninformative,
    schedule_next_look,
)
from .convergence import describe_parameters, estimate_climb, format_chain_remarks
from .engines.path import USABLE
from .reports.methods import ProductClassReports
from .spec import PRODUCT_CLASSES

if TYPE_CHECKING:
    import xarray

    from thali._data.experiments import ChoiceExperiment
    from thali._data.experiments.design import ExperimentDesign

    from .particles import Particles


class ClassEngine(ChainEngine):
    """What both methods share: how their draws are judged."""

    has_evidence = True
    sentence: str  # of the methods section

    def run(self, draws: Any, tune: Any, chains: Any, thin: Any, *rest: Any) -> Run:
        """The arguments of `fit`, each within its range and with the default of the method."""
        raise NotImplementedError

    def job(self, model: Any, data: Any, run: Run, sweeps_per_step: int, remarks: list[Any]) -> Job:
        """The fit."""
        raise NotImplementedError

    def check_chains(self, model: Any) -> ConvergenceCheck:
        convergence = super().check_chains(model)
        message = convergence.message
        if not convergence.agrees and (found := self.climbing(model)):
            convergence, message = (
                replace(convergence, facts=convergence.facts | {"climb": found[0]}),
                found[1],
            )
        return replace(
            convergence,
            message=Message(*message.parts, *format_chain_remarks(model._view, convergence.agrees)),
        )

    def climbing(self, model: Any) -> tuple[float, Message] | None:
        """The gain in log-likelihood of chains that have not arrived yet, and a sentence about
        it."""
        return None

    def facts(self, model: Any) -> Facts:
        draws, first, *_ = super().facts(model)
        return draws, first, describe_parameters(model._view)


class MarkovChains(ClassEngine):
    """Independent chains that anneal while they tune."""

    sentence = "classes.mcmc"

    def run(self, draws: Any, tune: Any, chains: Any, thin: Any, *rest: Any) -> Run:
        return build_run(draws, tune, CHAINS if chains is None else chains, thin, *rest)

    def job(self, model: Any, data: Any, run: Run, sweeps_per_step: int, remarks: list[Any]) -> Job:
        return model._build_job(model._build_sampling(data, run), str(data), remarks)

    def climbing(self, model: Any) -> tuple[float, Message] | None:
        climb = estimate_climb(model._view)
        if climb is None:
            return None
        tune = int(model.posterior_.attrs["tune"])
        said = (
            "The chains are still climbing: the log-likelihood of their last quarter exceeds the"
            f" third quarter by {climb.gain:.1f} (standard error {climb.error:.1f}). Anneal"
            " longer: refit with "
        )
        return climb.gain, Message(said, Setting("tune", max(4 * tune, TUNE)), f" (now {tune}).")

    def evidence_of(self, model: Any, data: Any, how: EvidenceRun) -> LogEvidence:
        """Refuse: the evidence is estimated by the other method."""
        raise ArgumentError(
            "the evidence of product classes is estimated with ", Setting("method", "smc"), "."
        )


class SequentialMonteCarlo(ClassEngine):
    """Groups of particles, which estimate the evidence."""

    sentence = "classes.smc"

    def run(self, draws: Any, tune: Any, chains: Any, thin: Any, *rest: Any) -> Run:
        draws = PARTICLES if draws is None else whole("draws", draws, 2)
        chains = GROUPS if chains is None else chains
        run = build_run(draws, 0, chains, None, *rest)
        if run.chains < 2:
            raise ArgumentError(
                Setting("method", "smc"),
                " estimates errors from differences between groups of particles, but ",
                Setting("chains", 1),
                " is a single group; use at least two.",
            )
        return run

    def job(self, model: Any, data: Any, run: Run, sweeps_per_step: int, remarks: list[Any]) -> Job:
        forecast = particles_forecast(data, run, sweeps_per_step)
        if run.max_time is None and forecast.least > BUDGET:
            raise ArgumentError(
                "Computing the evidence for this number of choices would take"
                f" {format_duration(forecast.least)} of CPU time, above the limit of"
                f" {format_duration(BUDGET)}. Set ",
                Setting("method", "mcmc"),
                ", or raise the limit with ",
                Argument("max_time"),
                ".",
            )
        return Job(
            lambda: model._by_particles(data, run, sweeps_per_step),
            remarks,
            data=str(data),
            forecast=forecast,
        )

    def evidence_of(self, model: Any, data: Any, how: EvidenceRun) -> LogEvidence:
        """The log evidence of a fit to these data."""
        fresh = type(model)(**model.get_params())
        fresh.fit(data, cores=how.cores, random_seed=how.random_seed, progressbar=how.progressbar)
        return fresh.log_evidence()

    def check_continuable(self) -> None:
        raise ArgumentError(
            Setting("method", "smc"),
            " cannot be continued, because the evidence is estimated by a complete run; fit with"
            " more draws.",
        )


def particles_forecast(data: "ChoiceExperiment", run: Run, sweeps_per_step: int) -> Forecast:
    """How long particles are expected to take."""
    assert run.draws is not None
    sweeps, sweep = (
        estimate_steps(np.diff(data.first_row)) * sweeps_per_step,
        estimate_sweep_seconds(data),
    )
    seconds = run.chains * run.draws * (sweeps * sweep + estimate_draw_seconds(data))
    return Forecast(seconds, seconds, sweep)


ENGINES: dict[str, MarkovChains | SequentialMonteCarlo] = {
    "mcmc": MarkovChains(),
    "smc": SequentialMonteCarlo(),
}


def estimated_evidence(model: Any, name: str) -> None:
    """Require particles, which estimate the evidence."""
    model._require_fitted()
    if not math.isfinite(model._log_evidence_):
        raise ArgumentError(
            "This fit did not estimate the evidence; refit with ", Setting("method", "smc"), "."
        )


class ProductClasses(ProductClassReports, MarkovChainModel):
    r"""Infer which classes of products people care about, and predict what they choose.

    A class is a set of products, such as "price <= 150 & zoom = yes". Person n in task t gives
    product x the utility

    .. math::
        u_{nt}(x) = \sum_{k: z_{nk} = 1} (-1)^{s_{nk}} (\theta_{nk}
        + \varepsilon_{nkt})\, 1(x \in \Lambda_k), \qquad
        \theta_{nk} \sim \mathrm{Gamma}(\sigma a, 1), \quad
        \varepsilon_{nkt} \sim \mathrm{Gamma}((1 - \sigma) a, 1)

    and chooses the best, or any of those that no class separates from it; with probability `lapse`
    any alternative. The number of classes need not be known: Z has an Indian buffet prior. In an
    attribute that is declared monotone classes are thresholds, liked if they hold the better levels
    and disliked if they hold the worse, so that utility never falls as the attribute gets better.

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
        classes_per_person, value_shape (a), stability (sigma), alpha, log_likelihood. There are
        neither pointwise log-likelihoods nor prior densities: the part of a value that passes with
        its task is integrated over by sampling, and is not stored.

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
        monotone: Any = None,
        lapse: float = 0.02,
        alpha: Any = None,
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
        random_seed: Any = None,
        progressbar: bool = True,
        job: Any = None,
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
            order, or an evidence of such data takes more than ten minutes of the processor and
            there is no `max_time`.
        DataError
            If the data are no choice experiment, have a single task, or tasks of identical
            alternatives only; if an attribute has more than 30 levels that the data do not list; or
            if the job is damaged, is in use, or is another fit.

        Warns
        -----
        DataWarning
            If the choices speak against a direction; or if lapse=0 and a choice can only be
            explained by indifference.
        ConvergenceWarning
            If the chains do not agree yet.
        InterruptedWarning
            If Ctrl-C or `max_time` ended the run; the draws so far are kept.
        """
        monotone, engine = self._checked(data), self._engine
        refuse_uninformative(data)
        given = {
            "tune": tune,
            "thin": thin,
            "sweeps_per_step": whole("sweeps_per_step", sweeps_per_step, 1),
        }
        usual = {"tune": TUNE, "thin": None, "sweeps_per_step": SWEEPS_PER_STEP}
        check_method_arguments(PRODUCT_CLASSES, self.method, given, usual)
        run = engine.run(draws, tune, chains, thin, cores, random_seed, progressbar, job, max_time)
        return self._run_job(
            engine.job(self, data, run, sweeps_per_step, self._remarks(data, monotone))
        )

    @mark_as_setup
    def prepare(
        self, data: Any, draws: Any = None, chains: Any = None, **others: Any
    ) -> PreparedFit:
        """A fit to these data, after every check that it makes; nothing is drawn."""
        self._checked(data)
        refuse_uninformative(data)
        self._engine.run(draws, TUNE, chains, None, None, None, False)
        return PreparedFit()

    def _get_comparison_run(self) -> dict[str, Any]:
        return {"draws": FIRST_DRAWS} if self.method == "mcmc" else {}

    def _remarks(self, data: "ChoiceExperiment", monotone: dict[str, str]) -> list[Any]:
        """What is unusual about the data."""
        contradicted = "" if is_quiet() else contradicted_sentence(data, monotone)
        dominated = describe_dominated_choices(data, monotone) if self.lapse == 0.0 else ""
        return [remark for remark in (contradicted, dominated) if remark]

    def _build_sampling(self, source: "ChoiceExperiment", run: Run) -> Sampling[Any]:
        from thali._data.experiments.design import build_design

        from .engines.mcmc import (
            build_chains,
            build_engine_result,
            compute_mean_classes,
            format_chain_status,
            read_chain_draws,
        )
        from .posterior import build_classes_datatree
        from .state import build_class_problem

        # share of the budget that the looks take
        looks = LOOK_DRAWS * run.chains * estimate_draw_seconds(source) / BUDGET
        thin, sweep = THIN if run.thin is None else run.thin, estimate_sweep_seconds(source)
        bound = limit_run(run, thin, sweep, FIRST_DRAWS, MAX_DRAWS, max(1.0 - looks, 0.5))
        run = bound.run._replace(thin=bound.thin)
        problem, design = (
            build_class_problem(source, self._checked(source), self.alpha),
            build_design(source),
        )
        known: dict[bytes, Any] = {}  # reports of draws at earlier looks

        def tree(chains: Any) -> "xarray.DataTree":
            found = build_engine_result(chains)
            return build_classes_datatree(
                found,
                design,
                {"draws": found.draws, "tune": run.tune, "thin": bound.thin},
                run.cores,
                known,
            )

        return Sampling(
            source,
            run,
            lambda draws, seed: build_chains(problem, self.lapse, run, draws, seed),
            tree,
            lambda tree, chains, seed: {**_attributes(tree), "_people_": source.people},
            settings=bound.settings,
            count_draws=lambda tree: int(tree.attrs["draws"]),
            read_draws=read_chain_draws,
            status=format_chain_status,
            max_draws=MAX_DRAWS,
            first_draws=bound.first_draws,
            data_max_draws=bound.max_draws if run.max_time is None else MAX_DRAWS,
            forecast=bound.forecast,
            measure_speedup=lambda chains: min(
                1.0, sweep / estimate_sweep_seconds(source, compute_mean_classes(chains))
            ),
            choose_next_check=schedule_next_look,
        )

    def _by_particles(
        self, data: "ChoiceExperiment", run: Run, sweeps_per_step: int
    ) -> dict[str, Any]:
        """A fit by method="smc"; returns the fitted attributes."""
        from thali._data.experiments.design import build_design

        from .engines.smc import run_smc
        from .posterior import build_classes_datatree
        from .state import build_class_problem

        problem = build_class_problem(data, self._checked(data), self.alpha)
        settings = {"draws": run.draws, "chains": run.chains, "sweeps_per_step": sweeps_per_step}
        with open_fit_folder(self, settings, data, run) as (folder, seed):
            found = run_smc(problem, self.lapse, run, sweeps_per_step, seed, folder)
        attrs = {"draws": found.draws, "interrupted": int(found.interrupted)}
        tree = build_classes_datatree(found, build_design(data), attrs, run.cores, {})
        return {**_attributes(tree), "_people_": data.people}

    @requires(estimated_evidence)
    def log_evidence(self) -> LogEvidence:
        """The log evidence that the fit estimated, by ``method="smc"``.

        Returns
        -------
        LogEvidence
            Whose `.estimates` are those of the groups of particles; there is no `.path`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the fit was stopped early or estimated no evidence.
        """
        import pandas as pd

        from .posterior import read_step_trace

        self._require_fitted()
        check_finished(self)
        estimates = np.atleast_2d(read_step_trace(self._view)["log_evidence"])[:, -1]
        usable = self._evidence_sd_ <= USABLE
        sentence = (
            f"The {len(estimates)} groups agree: "
            if usable
            else "The log evidence is not usable: ",
            f"the standard deviation of their estimates is {self._evidence_sd_:.2f} (target: at"
            f" most {USABLE:g})",
            "." if usable else "; use more sweeps per step, or more draws.",
        )
        facts = {"groups": len(estimates), "sd": self._evidence_sd_}
        convergence = ConvergenceCheck(usable, facts, Message(*sentence))
        df = float(len(estimates) - 1)
        return LogEvidence(
            self._log_evidence_, self._log_evidence_se_, df, convergence, estimates, pd.DataFrame()
        )

    def _compute_log_evidence(self, data: Any, how: EvidenceRun) -> LogEvidence:
        return self._engine.evidence_of(self, data, how)

    def _sample_prior(self, rngs: Any, data: Any) -> PriorSample:
        from .simulate import sample_classes_prior

        return sample_classes_prior(self, self._checked(data), data, rngs)

    def _build_observed(self, data: Any) -> dict[str, Any]:
        from thali._data.experiments.design import build_design

        self._checked(data)
        same = tuple(data.respondents) == self._design_.respondents
        return {"chosen": build_design(data).chosen} if same else {}

    def _simulate_replicates(self, rng: Any, data: Any) -> dict[str, Any]:
        from .reports.predict import drawn_choices

        groups, every = self._view.shape[0], np.arange(self._draws_.n_draws)
        drawn = drawn_choices(self._draws_, self._design_, rng, every)
        return {"chosen": drawn.reshape(groups, -1, len(data.chosen))}

    def _checked(self, data: Any) -> dict[str, str]:
        """The directions of monotone attributes, once the data and every argument of the model have
        been checked."""
        from thali._data.experiments import ChoiceExperiment

        if not isinstance(data, ChoiceExperiment):
            raise DataError(
                f"fit requires a ChoiceExperiment; got {type(data).__name__}. Create one from a"
                " table with ChoiceExperiment.from_frame(frame)."
            )
        share("lapse", self.lapse, "the probability of choosing at random")
        if self.alpha is not None:
            positive("alpha", self.alpha, "the expected number of classes that a respondent uses")
        monotone = directions_of("monotone", self.monotone, data)
        one_of("method", self.method, tuple(ENGINES))
        refuse_many_levels(data, None)
        return monotone

    def _get_fitted_attributes(self) -> dict[str, Any]:
        found = super()._get_fitted_attributes()
        # the others follow from the posterior
        kept = ("posterior_", "_people_", "_fitted_to_", "_state_")
        return {name: value for name, value in found.items() if name in kept}

    def _restore(self, found: dict[str, Any], path: object) -> None:
        vars(self).update({"_people_": None} | found | _attributes(found["posterior_"]))

    def _list_warnings(self, job: Job) -> Iterator[ThaliWarning]:
        if self._interrupted_:
            kept = self._view.draws.sizes
            drawn = f"{plural(kept['chain'], 'chain')} of {plural(kept['draw'], 'draw')}"
            yield InterruptedWarning(f"Stopped early; {drawn} were kept.")
        convergence = self.convergence()
        if not convergence.agrees:
            yield ConvergenceWarning(convergence.message)


def _attributes(tree: "xarray.DataTree") -> dict[str, Any]:
    """The fitted attributes that a posterior, new or read from a file, stands for."""
    from thali._data.experiments.design import read_design

    from .particles import read_particles

    posterior = PosteriorTree(tree)
    stats = posterior.stats
    return {
        "posterior_": tree,
        "_log_evidence_": float(stats["log_evidence"]),
        "_log_evidence_se_": float(stats["log_evidence_se"]),
        "_evidence_sd_": float(stats["evidence_sd"]),
        "_messages_": [line for line in str(tree.attrs.get("messages", "")).split("\n") if line],
        "_interrupted_": bool(tree.attrs.get("interrupted", 0)),
        "_draws_": read_particles(tree["particles"].to_dataset()),
        "_design_": read_design(posterior.fixed),
    }
