"""Classes of products that people care about, from choice experiments."""

import json
import re
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._quiet import is_quiet
from thali.errors import ConvergenceWarning, DataError, DataWarning, InterruptedWarning, NotFittedError
from thali.models.parameters import Parameters

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali.data.experiment import ChoiceExperiment
    from thali.product_classes.arguments import Plan
    from thali.product_classes.particles import Particles
    from thali.product_classes.study import Study

_IF_APART = (
    "the chains stay with different sets of classes, which longer runs mend slowly: predictions are averages over "
    "them, and single classes must not be trusted; take more chains (groups={groups}) or more final_sweeps"
)


class ProductClasses(Parameters):
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
            If lapse=0 and a choice can only be explained by indifference.
        ConvergenceWarning
            If the chains do not agree yet.
        InterruptedWarning
            If Ctrl-C ended the run; the draws so far are kept.
        """
        plan, monotone = self._checked(data)
        if not is_quiet():
            self._warn_of_dominated_choices(data, monotone, plan)
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

    def _warn_of_dominated_choices(self, data, monotone: dict[str, str], plan: "Plan") -> None:
        from thali.product_classes.arguments import dominated_sentence

        if plan.lapse == 0.0 and (sentence := dominated_sentence(data, monotone)):
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

    def _fitted(self) -> "tuple[Particles, Study]":
        if not hasattr(self, "posterior_"):
            raise NotFittedError(f"This {type(self).__name__} has not been fitted yet; call fit(data) first.")
        return self._draws, self._study

    # what was found ---------------------------------------------------------------------------------------

    def summary(self) -> "pandas.DataFrame":
        """Posterior mean, sd, interval, Monte Carlo error, ESS and R-hat of every label-free quantity.

        Rows: n_classes (that somebody owns), classes_per_person, value_shape (a), stability (sigma), alpha (if learned)
        and log_likelihood (of all choices, natural logarithm, lapse included).

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
        from thali.product_classes.posterior import quantities_of

        draws, _ = self._fitted()
        quantities = quantities_of(draws)
        if not bool(self.posterior_["constant_data"]["learned_alpha"]):
            del quantities["alpha"]
        table = summary_table(quantities)
        table.attrs["if_apart"] = _IF_APART.format(groups=2 * len(quantities["log_likelihood"]))
        return table

    def verdict(self) -> tuple[bool, str]:
        """Whether the chains agree and are long enough, in one sentence with what to do if not.

        Returns
        -------
        ok : bool
        sentence : str

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from thali.posterior.summary import _two_digits, verdict
        from thali.product_classes.arguments import plan_of

        ok, sentence = verdict(self.summary())
        now = plan_of(self).final_sweeps

        def longer(advice: re.Match) -> str:
            times = int(advice[1]) / max(int(advice[2] or advice[1]), 1)
            return f"fit again with final_sweeps={_two_digits(max(now * times, 60.0))} (now {now})"

        advice = r"fit again with draws=(\d+)(?: \(now (\d+)\))?(?:, and raise tune likewise)?"
        return ok, re.sub(advice, longer, sentence).replace("take chains=4", "take groups=8")

    def classes(self, cover: float = 0.8) -> "pandas.DataFrame":
        """The classes of products that people care about, the most important first.

        Ways to write the same preference are merged: a class with one attribute, disliked, is its complement, liked,
        if no product lacks the attribute. Exact classes are seldom certain even where predictions are; read them beside
        `level_effects`.

        Parameters
        ----------
        cover : float in (0, 1]
            Classes are listed until they hold this share of the importance; the last row is all others.

        Returns
        -------
        pandas.DataFrame
            `class` in words; `probability` that anybody owns it; `share` of respondents who own it and `share_se`, its
            standard error over groups; `liked`, the share of owners who like it; `importance`, the mean over people of
            its part of a person's values (they sum to 1, less the probability that a person owns nothing), and
            `importance_se`; `share_new`, the probability that a new person owns it.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `cover` is outside its range.
        """
        from thali.product_classes.class_table import class_table

        return class_table(*self._fitted(), cover)

    def level_effects(self, people: bool = False, cores: int | None = None, random_seed=0) -> "pandas.DataFrame":
        """How often one level of an attribute is preferred to another, all else being equal.

        .. math:: P(u_n(x \\text{ with } b) > u_n(x \\text{ with } a)) + \\tfrac12 P(\\text{tie}), \\qquad x \\text{ of
            the design}

        Parameters
        ----------
        people : bool
            Whether to give the number of each person: one row a respondent.
        cores : int, optional
            Threads; has no influence on the numbers.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        pandas.DataFrame
            `attribute`, `level` (the better one, if there is a direction, else the later) and `over`, the other;
            `effect`, mean over people and draws (.5 = indifferent), its interval `eti89_lb` to `eti89_ub` over draws
            and standard error `se` over groups; `people_lb` to `people_ub`, which holds 89 % of people.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from thali.product_classes.effects import level_effects

        return level_effects(*self._fitted(), people, cores=cores, random_seed=random_seed)

    def attribute_importance(self, people: bool = False, cores: int | None = None, random_seed=0) -> "pandas.DataFrame":
        """How far choices change if all alternatives of a task are given one level of an attribute.

        .. math:: \\tfrac12 \\sum_j |p_j - p_j^{(-i)}|, \\text{ mean over tasks}

        Parameters
        ----------
        people : bool
            Whether to give the number of each person: one row a respondent.
        cores : int, optional
            Threads; has no influence on the numbers.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        pandas.DataFrame
            `attribute`; `importance` between 0 and 1, and `se`, its standard error over groups; `people_lb` to
            `people_ub`, which holds 89 % of people. The most important first.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from thali.product_classes.importance import attribute_importance

        return attribute_importance(*self._fitted(), people, cores=cores, random_seed=random_seed)

    def people(self, same_sign: bool = True) -> "pandas.DataFrame":
        """How many classes two people share, posterior mean.

        Parameters
        ----------
        same_sign : bool
            Whether a class that one likes and the other dislikes does not count.

        Returns
        -------
        pandas.DataFrame (N, N)
            Those who share classes are neighbours (hierarchical clustering, average linkage); on the diagonal stands
            how many classes a person owns.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from thali.product_classes.people import people_table

        return people_table(*self._fitted(), same_sign)

    # predictions ------------------------------------------------------------------------------------------

    def predict_proba(
        self, new: Any, repeats: int | None = None, cores: int | None = None, random_seed=0
    ) -> np.ndarray:
        """Probability that each alternative is chosen in its task.

        Parameters
        ----------
        new : data frame or ChoiceExperiment
            Tasks with the columns of the training data (that of the choice is not read). A respondent who is not in the
            training data is a new person.
        repeats : int, optional
            Occasions simulated of each draw; None is 3, or as many as make 5,000 of all draws.
        cores : int, optional
            Threads; has no influence on the numbers.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        array (rows,)
            In the order of the rows; sums to 1 within a task.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the tasks cannot be read or hold a level that was not declared.
        """
        from thali.models.arguments import whole
        from thali.product_classes.predict import tasks_proba

        draws, study = self._fitted()
        repeats = repeats if repeats is None else whole("repeats", repeats, 1)
        encoded = study.scheme.encode(new, study.respondents)
        return tasks_proba(draws, encoded, repeats=repeats, cores=cores, random_seed=random_seed)

    def market_shares(
        self,
        products: "pandas.DataFrame",
        change: Mapping[str, Any] | None = None,
        people: str = "known",
        each_draw: bool = False,
        cores: int | None = None,
        random_seed=0,
    ) -> "pandas.DataFrame":
        """Which share of people would choose each product of a market, and what a change would do.

        Parameters
        ----------
        products : data frame
            One row a product, with a column for each attribute; a no-choice option as in the data. Names are taken from
            a column `product` or `name` or that of the alternatives, else from the index.
        change : dict, optional
            Attribute -> a level for all products, a list with one for each, or {product: level}.
        people : {"known", "new"}
            The respondents, or people like them who are not in the data.
        each_draw : bool
            Whether to give the shares of every draw: one row a draw, columns (share, after or change; product).
        cores : int, optional
            Threads; has no influence on the numbers.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        pandas.DataFrame
            One row a product: `share` (posterior mean), `share_lb` to `share_ub` (89 % interval) and `share_se`
            (standard error over groups); with a change also `after` and `change`, likewise.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the products cannot be read or hold a level that was not declared.
        ArgumentError
            If the change names what is not there.
        """
        from thali.models.arguments import one_of
        from thali.product_classes.shares import market_shares

        new = one_of("people", people, ("known", "new")) == "new"
        settings = {"each_draw": each_draw, "new": new, "cores": cores, "random_seed": random_seed}
        return market_shares(*self._fitted(), products, change, **settings)

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
