"""Classes of products that people care about, from choice experiments."""

import json
import warnings
from typing import TYPE_CHECKING, Any

from thali._quiet import is_quiet
from thali.errors import ConvergenceWarning, DataError, DataWarning, InterruptedWarning
from thali.models.prior_sample import PriorSample, SampledFromData
from thali.product_classes.reports import Reports

if TYPE_CHECKING:
    import xarray

    from thali.data.experiment import ChoiceExperiment
    from thali.product_classes.arguments import Plan
    from thali.product_classes.particles import Particles
    from thali.product_classes.study import Study


class ProductClasses(Reports, SampledFromData):
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
        "annealed": independent annealed chains, the best predictions for the time. "smc": groups of particles, for the
        evidence.
    groups : int
        Chains, or groups of particles (2 or more).
    particles : int, optional
        In each group of method="smc"; None: 64, fewer for more than 100 respondents (6400 over their number, 16 at
        least).
    sweeps_per_step : int
        Sweeps between two steps of tempering.
    final_sweeps : int, optional
        Sweeps after the last of them, from which draws are kept; None means 600 annealed, 60 smc.
    schedule : {"all", "individual", "observation"}
        What method="smc" takes in at a time: all tasks, those of a person, or one task.
    start : {"fixed", "prior"}
        Where annealed chains start in a and sigma. From the prior, their weights estimate the evidence.
    sampler : {None, "recommended", "paper"}
        "paper": the moves of the draft of Daviet & McCausland, corrected, for comparison only.

    Attributes
    ----------
    posterior_ : xarray.DataTree
        The draws in the ArviZ schema, chain = group: n_classes, classes_per_person, value_shape (a), stability (sigma),
        alpha, log_likelihood.
    log_evidence_, log_evidence_se_, evidence_sd_ : float
        Natural logarithm of the evidence, its standard error, and its standard deviation between groups; above 1 it
        cannot be used. NaN for annealed chains from a fixed start.
    told_ : list of str
        What there is to say about the run.
    interrupted_ : bool
        Whether Ctrl-C ended the fit early.

    References
    ----------
    Daviet & McCausland (2017), a draft; Griffiths & Ghahramani (2011), The Indian buffet process; Durham & Geweke
    (2014), Adaptive sequential posterior simulators.

    Example
    -------
    >>> import thali as th
    >>> th.ProductClasses(monotone={"price": "decreasing"}, groups=4)
    ProductClasses(monotone={'price': 'decreasing'}, groups=4)
    """

    posterior_: "xarray.DataTree"
    log_evidence_: float
    log_evidence_se_: float
    evidence_sd_: float
    told_: list[str]
    interrupted_: bool
    _draws: "Particles"
    _study: "Study"

    def __init__(
        self,
        monotone=None,
        lapse=0.02,
        alpha=None,
        beta=1.0,
        method="annealed",
        groups=8,
        particles=None,
        sweeps_per_step=10,
        final_sweeps=None,
        schedule="all",
        start="fixed",
        sampler=None,
    ):
        self.monotone = monotone
        self.lapse = lapse
        self.alpha = alpha
        self.beta = beta
        self.method = method
        self.groups = groups
        self.particles = particles
        self.sweeps_per_step = sweeps_per_step
        self.final_sweeps = final_sweeps
        self.schedule = schedule
        self.start = start
        self.sampler = sampler

    # fitting ----------------------------------------------------------------------------------------------

    def fit(
        self,
        data: "ChoiceExperiment",
        cores: int | None = None,
        random_seed=None,
        progressbar: bool = True,
        checkpoint=None,
        resume=None,
    ):
        """Draw from the posterior.

        Parameters
        ----------
        data : ChoiceExperiment
        cores : int, optional
            Threads; None means as many as there are processors. Has no influence on the draws.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        progressbar : bool
        checkpoint : str or path, optional
            File to which the state is written after every step.
        resume : str or path, optional
            Such a file to go on from.

        Returns
        -------
        self

        Raises
        ------
        ArgumentError
            If an argument is outside its range, or a monotone attribute is not in the data or has no order.
        DataError
            If the data are no choice experiment.

        Warns
        -----
        DataWarning
            If the choices speak against a direction; or if lapse=0 and a choice can only be explained by indifference.
        ConvergenceWarning
            If the chains do not agree yet.
        InterruptedWarning
            If Ctrl-C ended the run; the draws so far are kept.
        """
        plan, monotone = self._checked(data)
        if not is_quiet():
            self._warn_of_the_data(data, monotone, plan)
        from thali.models.arguments import whole
        from thali.product_classes.problem import problem_of

        if plan.method == "annealed":
            from thali.product_classes.annealed import run_annealed as run  # pyright: ignore[reportMissingImports]
        else:
            from thali.product_classes.smc import run_smc as run  # pyright: ignore[reportMissingImports]
        cores = cores if cores is None else whole("cores", cores, 1)
        problem = problem_of(data, monotone, plan.alpha, plan.beta)
        found = run(
            problem,
            plan,
            cores=cores,
            random_seed=random_seed,
            progressbar=progressbar,
            checkpoint=checkpoint,
            resume=resume,
        )
        self._keep(found, data)
        if not is_quiet():
            self._warn_of_the_outcome()
        return self

    def _prior_sample(self, rngs, data) -> PriorSample:
        from thali.product_classes.prior_sample import sample_classes

        return sample_classes(*self._checked(data), data, rngs)

    def _checked(self, data: Any) -> "tuple[Plan, dict[str, str]]":
        """The plan and the directions, once every argument has been looked at."""
        from thali.data.experiment import ChoiceExperiment
        from thali.product_classes.arguments import monotone_of, plan_of

        if not isinstance(data, ChoiceExperiment):
            raise DataError(
                f"fit needs a ChoiceExperiment; got {type(data).__name__}. Make one of a table by "
                "ChoiceExperiment.from_frame(frame)."
            )
        return plan_of(self), monotone_of(self.monotone, data)

    def _warn_of_the_data(self, data, monotone: dict[str, str], plan: "Plan") -> None:
        from thali.choice_models.directions import contradicted_sentence
        from thali.product_classes.arguments import dominated_sentence

        dominated = dominated_sentence(data, monotone) if plan.lapse == 0.0 else ""
        for sentence in (contradicted_sentence(data, monotone), dominated):
            if sentence:
                warnings.warn(sentence, DataWarning, stacklevel=3)

    def _keep(self, found: Any, data: "ChoiceExperiment") -> None:
        """Set the fitted attributes from what an engine returned."""
        from thali.models.saved import describe
        from thali.product_classes.posterior import to_datatree
        from thali.product_classes.study import study_of

        attrs = {"thali_model": json.dumps(describe(self)), "interrupted": int(getattr(found, "interrupted", False))}
        self._restore(to_datatree(found, study_of(data), self.alpha is None, attrs))

    def _restore(self, tree: "xarray.DataTree") -> None:
        """Set the fitted attributes from a posterior, new or read from a file."""
        from thali.product_classes.particles import load
        from thali.product_classes.study import study_from

        stats = tree["sample_stats"].to_dataset()
        self.posterior_ = tree
        self.log_evidence_ = float(stats["log_evidence"])
        self.log_evidence_se_ = float(stats["log_evidence_se"])
        self.evidence_sd_ = float(stats["evidence_sd"])
        self.told_ = [line for line in str(tree.attrs.get("told", "")).split("\n") if line]
        self.interrupted_ = bool(tree.attrs.get("interrupted", 0))
        self._draws = load(tree["particles"].to_dataset())
        self._study = study_from(tree["constant_data"].to_dataset())

    def _warn_of_the_outcome(self) -> None:
        if self.interrupted_:
            kept = self.posterior_["posterior"].sizes
            warnings.warn(
                f"Stopped early; {kept['chain']} chains of {kept['draw']} draws were kept.",
                InterruptedWarning,
                stacklevel=3,
            )
        agree, sentence = self.verdict()
        if not agree:
            warnings.warn(sentence, ConvergenceWarning, stacklevel=3)

    def save(self, path) -> None:
        """Write the fitted model to one netCDF file, which `thali.load` reads.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the file cannot be written.
        """
        from thali.posterior import store

        self._fitted()
        store.save(self.posterior_, path)
