"""`ProductClasses`: classes of products that people care about, from choice experiments; its two engines."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._arguments import positive, whole
from thali._labels import plural
from thali.errors import (
    ArgumentError,
    ConvergenceWarning,
    DataError,
    InterruptedWarning,
    Message,
    Setting,
    ThaliWarning,
)
from thali.inference.chains import Run as ChainRun
from thali.inference.warn import is_quiet
from thali.model.base import Job
from thali.model.bound import bounded
from thali.model.engine import Chains, Engine, Prepared
from thali.model.evidence import EvidenceRun, refuse_unfinished
from thali.model.prior_sample import PriorSample
from thali.model.run_by_chains import RunByChains
from thali.model.sampling import Sampling, opened_job
from thali.posterior.evidence import LogEvidence
from thali.posterior.verdict import Verdict

from ..coding import refuse_many_levels
from ..logit import contradicted_sentence, directions_of
from .arguments import (
    FIRST_SWEEPS,
    MAX_SWEEPS,
    SHARE,
    STEPS,
    Run,
    Settings,
    dominated_sentence,
    forecast_of_particles,
    seconds_of_sweep,
    seconds_with_draws,
    settings_of,
    within_budget,
)
from .engines.path import USABLE
from .reports.methods import Reports

if TYPE_CHECKING:
    import xarray

    from thali.data.experiments import ChoiceExperiment
    from thali.data.experiments.design import Design

    from .particles import Particles


class Annealed(Chains):
    """Independent annealed chains."""

    has_evidence = True
    groups = "chains"  # what several of are run is called, and the argument that says how many
    usual_run: dict[str, Any] = {"sweeps": FIRST_SWEEPS}  # of a comparison
    sentence = "classes.annealed"  # of the methods section

    def job(self, model: Any, data: Any, settings: "Settings", how: ChainRun, remarks: Sequence[str | Message]) -> Job:
        """The fit."""
        return model._job_of(model._sampling(data, how), str(data), remarks)

    def evidence_of(self, model: Any, data: Any, how: EvidenceRun) -> LogEvidence:
        """The log evidence of a fit to these data."""
        raise ArgumentError("the evidence of product classes is estimated with ", Setting("method", "smc"), ".")


class SequentialMonteCarlo(Chains):
    """Sequential Monte Carlo with groups of particles, which estimates the evidence."""

    has_evidence = True
    groups = "islands"
    usual_run: dict[str, Any] = {}
    sentence = "classes.smc"

    def job(self, model: Any, data: Any, settings: "Settings", how: ChainRun, remarks: Sequence[str | Message]) -> Job:
        """The fit."""
        forecast = forecast_of_particles(settings, data)
        return Job(lambda: model._by_particles(data, settings, how), remarks, data=str(data), forecast=forecast)

    def evidence_of(self, model: Any, data: Any, how: EvidenceRun) -> LogEvidence:
        """The log evidence of a fit to these data."""
        fresh = type(model)(**model.get_params())
        fresh.fit(data, cores=how.cores, random_seed=how.random_seed, progressbar=how.progressbar)
        return fresh.log_evidence()

    def refuse_to_go_on(self) -> None:
        raise ArgumentError(
            Setting("method", "smc"), " cannot go on, as the evidence belongs to a whole run; fit with more sweeps."
        )


ENGINES: dict[str, Annealed | SequentialMonteCarlo] = {"annealed": Annealed(), "smc": SequentialMonteCarlo()}


class ProductClasses(Reports, RunByChains):
    r"""Infer which classes of products people care about, and predict what they choose.

    A class is a set of products, such as "price <= 150 & zoom = yes". Person n in task t gives product x the utility

    .. math::
        u_{nt}(x) = \sum_{k: z_{nk} = 1} (-1)^{s_{nk}} (\theta_{nk} + \varepsilon_{nkt})\, 1(x \in \Lambda_k), \qquad
        \theta_{nk} \sim \mathrm{Gamma}(\sigma a, 1), \quad \varepsilon_{nkt} \sim \mathrm{Gamma}((1 - \sigma) a, 1)

    and chooses the best, or any of those that no class separates from it; with probability `lapse` any alternative. The
    number of classes need not be known: Z has a two-parameter Indian buffet prior. In an attribute that is declared
    monotone classes are thresholds, liked if they hold the better levels and disliked if they hold the worse, so that
    utility never falls as the attribute gets better.

    Parameters
    ----------
    monotone : dict, optional
        Attribute -> "increasing" (later levels are better) or "decreasing"; all others are free.
    lapse : float in [0, 1)
        Probability of a blind choice.
    alpha : float above 0, optional
        Expected number of classes that a person uses; None learns it under a Gamma(1, 1) prior.
    beta : float above 0
        Second parameter of the Indian buffet: the larger, the more classes for as many a person.
    method : {"annealed", "smc"}
        "annealed": independent annealed chains, the best predictions for the time. "smc": islands of particles, for
        the evidence.
    schedule : {"all", "individual", "observation"}
        What method="smc" takes in at a time: all tasks, those of a person, or one task.
    start : {"fixed", "prior"}
        Where annealed chains start in a and sigma, and stay while the lapse falls: at 2 and .6. From the prior, these
        move, and the weights of the chains estimate the evidence.
    sampler : {None, "recommended", "paper"}
        "paper": the moves of the draft of Daviet & McCausland, corrected, for comparison only.

    Attributes
    ----------
    posterior_ : xarray.DataTree
        The draws in the ArviZ schema, chain = chain or island: share (of the levels of attributes among the choices),
        effect (of one level over another), n_classes, classes_per_person, value_shape (a),
        stability (sigma),
        alpha, log_likelihood. There are neither pointwise log-likelihoods nor prior densities: the part of a value that
        passes with its task is integrated over by sampling, and is not stored.
    people_ : pandas.DataFrame or None
        What the data say of the respondents, a row each.
    log_evidence_, log_evidence_se_, evidence_sd_ : float
        Natural logarithm of the evidence, its standard error, and its standard deviation between groups; above 1 it
        cannot be used. NaN for annealed chains from a fixed start.
    messages_ : list of str
        What there is to say about the run.
    interrupted_ : bool
        Whether Ctrl-C ended the fit early.

    References
    ----------
    Daviet & McCausland (2017), a draft; Griffiths & Ghahramani (2011), The Indian buffet process; Durham & Geweke
    (2014), Adaptive sequential posterior simulators.

    Examples
    --------
    >>> import thali as th
    >>> th.ProductClasses(monotone={"price": "decreasing"}, method="smc")
    ProductClasses(monotone={'price': 'decreasing'}, method='smc')
    """

    _ENGINES: ClassVar[Mapping[str, Engine]] = ENGINES
    _FINDINGS: ClassVar[str] = "thali.choice.product_classes.findings"

    posterior_: "xarray.DataTree"
    log_evidence_: float
    log_evidence_se_: float
    evidence_sd_: float
    messages_: list[str]
    interrupted_: bool
    _draws_: "Particles"
    _design_: "Design"

    def __init__(
        self,
        monotone: Any = None,
        lapse: float = 0.02,
        alpha: Any = None,
        beta: float = 1.0,
        method: str = "annealed",
        schedule: str = "all",
        start: str = "fixed",
        sampler: Any = None,
    ) -> None:
        self.monotone = monotone
        self.lapse = lapse
        self.alpha = alpha
        self.beta = beta
        self.method = method
        self.schedule = schedule
        self.start = start
        self.sampler = sampler

    def fit(
        self,
        data: "ChoiceExperiment",
        sweeps: int | None = None,
        chains: int | None = None,
        islands: int | None = None,
        particles: int | None = None,
        sweeps_per_step: int = 10,
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
        sweeps : int, optional
            Sweeps after annealing (of 40 `sweeps_per_step`), from which draws are kept: every fourth, less often the
            more there are, at most 500 of a chain; the first eighth is dropped. None, annealed: until every row of
            `summary` has an R-hat of at most 1.01 and an effective sample size of at least 400; it looks after 500,
            1,000, 2,000 and 4,000 sweeps, and stops there, or earlier where the size of the data says that the run
            would take more than some minutes of the processor. None, smc: 60.
        chains : int, optional
            Of method="annealed"; None: 16, fewer of thousands of respondents. They stay with different sets of classes,
            so that predictions gain more by many chains than by long ones.
        islands : int, optional
            Groups of particles of method="smc", 2 or more; None: 8, or 4 at least where the run would take too long.
        particles : int, optional
            On each island; None: 64, fewer for more than 100 respondents (6400 over their number, 16 at least), or
            where the run would take too long.
        sweeps_per_step : int
            Sweeps between two steps of annealing; 10 are fewer where the run would take too long.
        cores : int, optional
            Threads; None means as many as there are processors. Has no influence on the draws.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            The same seed gives the same draws; None takes a fresh one.
        progressbar : bool
            Whether to show how far the run is.
        job : str or path, optional
            A folder that holds the draws and the state of the run. The same fit goes on from it after the process was
            killed, and gives the draws of an unbroken run.
        max_time : float, optional
            Seconds after which the run stops and keeps what was drawn.

        Returns
        -------
        self

        Raises
        ------
        ArgumentError
            If an argument is outside its range, or a monotone attribute is not in the data or has no order.
        DataError
            If the data are no choice experiment, an attribute has more than 30 levels that the data do not list, or the
            job is damaged, is in use, or is another fit.

        Warns
        -----
        DataWarning
            If the choices speak against a direction; or if lapse=0 and a choice can only be explained by indifference.
        ConvergenceWarning
            If the chains do not agree yet.
        InterruptedWarning
            If Ctrl-C or `max_time` ended the run; the draws so far are kept.
        """
        asked = Run(sweeps, chains, islands, particles, sweeps_per_step)
        settings, monotone = self._checked(data, asked)
        refuse_many_levels(data, None)
        settings = within_budget(settings, asked, data)
        how = self._run(settings, sweeps is None, cores, random_seed, progressbar, job, max_time)
        remarks = self._remarks(data, settings, monotone)
        return self._carry_out(self._engine.job(self, data, settings, how, remarks))

    def continue_fit(  # type: ignore[override]
        self, sweeps: int, cores: int | None = None, progressbar: bool = True, max_time: float | None = None
    ) -> Any:
        """Go on with annealed chains, from where the last fit ended or was stopped.

        The result is that of one longer fit, to the bit, on the same machine with the same versions; also after
        `thali.load`.

        Parameters
        ----------
        sweeps : int
            Further sweeps after annealing. A fit of twice the length drops more draws at the start and may keep every
            other draw only.
        cores : int, optional
            Threads; None means as many as there are processors. Has no influence on the draws.
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
            If an argument is outside its range, the method is "smc", or parameters were changed after the fit.
        DataError
            If the data were changed after the fit.

        Warns
        -----
        ConvergenceWarning
            If the chains do not agree yet.
        InterruptedWarning
            If Ctrl-C or `max_time` ended the run; the draws so far are kept.
        """
        self._require_fitted()
        self._engine.refuse_to_go_on()
        return super().continue_fit(whole("sweeps", sweeps, 1), cores, progressbar, max_time)

    def prepare(
        self,
        data: Any,
        sweeps: Any = None,
        chains: int | None = None,
        islands: Any = None,
        particles: Any = None,
        **others: Any,
    ) -> Prepared:
        """A fit to these data, after every check that it makes; nothing is drawn."""
        self._checked(data, Run(sweeps, chains, islands, particles))
        refuse_many_levels(data, None)
        return Prepared()

    def usual_run(self) -> dict[str, Any]:
        return dict(self._engine.usual_run)

    @staticmethod
    def _run(
        settings: "Settings", is_endless: bool, cores: Any, random_seed: Any, progressbar: bool, job: Any, max_time: Any
    ) -> ChainRun:
        """How chains run: annealing takes the place of tuning."""
        cores = cores if cores is None else whole("cores", cores, 1)
        if max_time is not None:
            max_time = positive("max_time", max_time, "the seconds after which the run stops")
        sweeps, annealing = None if is_endless else settings.final_sweeps, STEPS * settings.sweeps_per_step
        return ChainRun(sweeps, annealing, settings.groups, None, cores, random_seed, bool(progressbar), job, max_time)

    def _remarks(self, data: "ChoiceExperiment", settings: "Settings", monotone: dict[str, str]) -> list[Any]:
        """What is unusual about the data."""
        contradicted = "" if is_quiet() else contradicted_sentence(data, monotone)
        dominated = dominated_sentence(data, monotone) if settings.lapse == 0.0 else ""
        return [remark for remark in (contradicted, dominated) if remark]

    def _sampling(self, source: "ChoiceExperiment", run: ChainRun) -> Sampling[Any]:
        from thali.data.experiments.design import design_of

        from .engines.annealed import annealed_chains, draws_in, fit_of, status_of
        from .posterior import to_datatree
        from .state import problem_of

        bound = bounded(run, 1, seconds_with_draws(source), FIRST_SWEEPS, MAX_SWEEPS, SHARE)
        asked, run = run, bound.run._replace(tune=bound.run.tune // STEPS * STEPS)
        settings, monotone = self._checked(source, Run(run.draws, run.chains, sweeps_per_step=run.tune // STEPS))
        problem = problem_of(source, monotone, settings.alpha, settings.beta)

        def tree(chains: Sequence[Any]) -> "xarray.DataTree":
            found = fit_of(chains, settings)
            attrs = {"interrupted": int(found.interrupted), "sweeps": found.sweeps}
            return to_datatree(found, design_of(source), attrs, run.cores)

        return Sampling(
            source,
            run,
            lambda sweeps, seed: annealed_chains(problem, settings, sweeps, seed),
            tree,
            lambda tree, chains, seed: {**_attributes(tree), "people_": source.people},
            settings={"sweeps": asked.draws, "chains": asked.chains, "sweeps_per_step": asked.tune // STEPS},
            length=lambda tree: int(tree.attrs["sweeps"]),
            draws_in=draws_in,
            status=status_of,
            unit="sweeps",
            most=MAX_SWEEPS,
            first_draws=bound.first_draws,
            bound=bound.most,
            forecast=bound.forecast._replace(sweep=seconds_of_sweep(source)),
        )

    def run_settings(self) -> dict[str, Any]:
        settings = super().run_settings()
        return {"sweeps" if name == "draws" else name: value for name, value in settings.items() if name != "tune"}

    def _by_particles(self, data: "ChoiceExperiment", settings: "Settings", how: ChainRun) -> dict[str, Any]:
        """A fit by method="smc"; returns the fitted attributes."""
        from thali.data.experiments.design import design_of

        from .engines.smc import run_smc
        from .posterior import to_datatree
        from .state import problem_of

        _, monotone = self._checked(data, Run(islands=settings.groups))
        problem = problem_of(data, monotone, settings.alpha, settings.beta)
        with opened_job(self, settings._asdict(), data, how) as (folder, seed):
            found = run_smc(
                problem,
                settings,
                cores=how.cores,
                random_seed=seed,
                progressbar=how.progressbar,
                folder=folder,
                max_time=how.max_time,
            )
        attrs = {"interrupted": int(found.interrupted), "sweeps": settings.final_sweeps}
        return {**_attributes(to_datatree(found, design_of(data), attrs, how.cores)), "people_": data.people}

    def log_evidence(self) -> LogEvidence:
        """The log evidence that the fit estimated: by ``method="smc"``, or by annealed chains that start at the prior.

        Returns
        -------
        LogEvidence
            Whose `.estimates` are those of the groups of particles, or of the chains; there is no `.path`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the fit was stopped early or estimated no evidence.
        """
        return evidence_of_fit(self)

    def _evidence_of(self, data: Any, how: EvidenceRun) -> LogEvidence:
        return self._engine.evidence_of(self, data, how)

    def _prior_sample(self, rngs: Any, data: Any) -> PriorSample:
        from .simulate import sample_classes

        return sample_classes(*self._checked(data, Run()), data, rngs)

    def _observed(self, data: Any) -> dict[str, Any]:
        from thali.data.experiments.design import design_of

        self._checked(data, Run())
        same = tuple(data.respondents) == self._design_.respondents
        return {"chosen": design_of(data).chosen} if same else {}

    def _replicates(self, rng: Any, data: Any) -> dict[str, Any]:
        from .reports.predict import drawn_choices

        groups, every = self.posterior_["posterior"].sizes["chain"], np.arange(self._draws_.n_draws)
        drawn = drawn_choices(self._draws_, self._design_, rng, every)
        return {"chosen": drawn.reshape(groups, -1, len(data.chosen))}

    def _checked(self, data: Any, run: Run) -> "tuple[Settings, dict[str, str]]":
        """The settings and the directions, once every argument has been looked at."""
        from thali.data.experiments import ChoiceExperiment

        if not isinstance(data, ChoiceExperiment):
            raise DataError(
                f"fit needs a ChoiceExperiment; got {type(data).__name__}. Make one of a table by "
                "ChoiceExperiment.from_frame(frame)."
            )
        return settings_of(self, run), directions_of("monotone", self.monotone, data)

    def _fitted_attributes(self) -> dict[str, Any]:
        found = super()._fitted_attributes()
        kept = ("posterior_", "people_", "fitted_to_", "_state_")  # the others follow from the posterior
        return {name: value for name, value in found.items() if name in kept}

    def _restore(self, found: dict[str, Any], path: object) -> None:
        vars(self).update({"people_": None} | found | _attributes(found["posterior_"]))

    def _outcome(self, job: Job) -> Iterator[ThaliWarning]:
        if self.interrupted_:
            kept = self.posterior_["posterior"].sizes
            drawn = f"{plural(kept['chain'], 'chain')} of {plural(kept['draw'], 'draw')}"
            yield InterruptedWarning(f"Stopped early; {drawn} were kept.")
        verdict = self.verdict()
        if not verdict.agrees:
            yield ConvergenceWarning(verdict.message)


def _attributes(tree: "xarray.DataTree") -> dict[str, Any]:
    """The fitted attributes that a posterior, new or read from a file, stands for."""
    from thali.data.experiments.design import design_from

    from .particles import load

    stats = tree["sample_stats"].to_dataset()
    return {
        "posterior_": tree,
        "log_evidence_": float(stats["log_evidence"]),
        "log_evidence_se_": float(stats["log_evidence_se"]),
        "evidence_sd_": float(stats["evidence_sd"]),
        "messages_": [line for line in str(tree.attrs.get("messages", "")).split("\n") if line],
        "interrupted_": bool(tree.attrs.get("interrupted", 0)),
        "_draws_": load(tree["particles"].to_dataset()),
        "_design_": design_from(tree["constant_data"].to_dataset()),
    }


def evidence_of_fit(model: Any) -> LogEvidence:
    """The log evidence that the fit estimated."""
    import pandas as pd

    from .posterior import trace_of

    model._require_fitted()
    refuse_unfinished(model)
    if not math.isfinite(model.log_evidence_):
        raise ArgumentError(
            "This fit did not estimate the evidence; fit with ", Setting("method", "smc"), ", or with ",
            Setting("start", "prior"), ".",
        )  # fmt: skip
    estimates = np.atleast_2d(trace_of(model.posterior_)["log_evidence"])[:, -1]
    usable = model.evidence_sd_ <= USABLE
    sentence = (
        f"The {len(estimates)} groups agree: " if usable else "The log evidence is not usable: ",
        f"the standard deviation of their estimates is {model.evidence_sd_:.2f} (wanted: at most {USABLE:g})",
        "." if usable else "; take more sweeps at each step, or more particles.",
    )
    facts = {"groups": len(estimates), "sd": model.evidence_sd_}
    verdict = Verdict(usable, facts, Message(*sentence))
    df = float(len(estimates) - 1)
    return LogEvidence(model.log_evidence_, model.log_evidence_se_, df, verdict, estimates, pd.DataFrame())
