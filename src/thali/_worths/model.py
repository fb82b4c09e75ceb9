"""`BradleyTerryLuce`, the model that users fit: worths from pairs, rankings and choices."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from thali._argument_checks import check_allowed, check_share, check_spread
from thali._data.base_classes import Judged, merge_new_data
from thali._data.choices import Choices
from thali._data.kinds import PAIRS
from thali._data.pairs.covariates import read_new_options
from thali._inference.markov_chains import Run
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._model.base import Job
from thali._model.best_worst_probabilities import RULES, choose_default_rule
from thali._model.data_argument_check import check_data
from thali._model.fitting_methods import Engine, PreparedFit
from thali._model.markov_chain_model import MarkovChainModel, require_stored_chains
from thali._model.maximum_likelihood_results import MaximumLikelihoodResults
from thali._model.method_requirements import (
    mark_as_setup,
    require_covariates,
    require_draws,
    require_maximum_likelihood,
    requires,
)
from thali._model.option_scores import ScoreScale, anchor_index
from thali._model.simulated_data import PriorSample
from thali._model.tie_and_covariate_arguments import (
    CONVERSIONS,
    has_ties,
    select_covariates,
    treat_ties,
)
from thali._people.people_argument import (
    Individuals,
    chains_required_error,
    check_people,
    refuse_groups,
    respondents_required_error,
)
from thali._people.respondent_segments import list_segment_numbers
from thali._posterior.log_evidence import LogEvidence
from thali._posterior.posterior_interval import INTERVAL
from thali._posterior.posterior_tree import Posterior
from thali.errors import Argument, ArgumentError, DataError, Setting

from .density_from_data import keep_single_choices
from .estimation_methods import (
    LaplaceEngine,
    TrajectoryEngine,
    WorthFit,
    WorthMaximumEngine,
    estimate_worths,
    refuse_run_settings,
)
from .population_posterior import WorthProblem
from .worth_draws import WorthDraws

if TYPE_CHECKING:
    import pandas

    from thali._data.pairs import PairedComparisons
    from thali._data.pairs.data_subsets import HeldOutPair
    from thali._model.evidence_arguments import EvidenceRun
    from thali._model.finding_settings import AnswerSettings
    from thali._posterior.convergence_check import Advice

    from .estimation_methods import EstimatedWorths
    from .people.respondent_results import WorthRespondents


class BradleyTerryLuce(MarkovChainModel):
    r"""Learn the worth of each option from pairs, rankings, choices or best-worst choices.

    Option i is chosen out of the set S with probability

    .. math::
        \tilde p_i = (1 - \varepsilon) \frac{e^{L_i}}{\sum_{j \in S} e^{L_j}}
        + \frac{\varepsilon}{|S|}, \qquad
        L_i \sim \mathrm{Normal}(0, s^2), \qquad \log s \sim \mathrm{Normal}(\log 1.3, 1)

    A ranking consists of such choices in turn, each of the best remaining option (Plackett 1975).

    Parameters
    ----------
    method : {None, "laplace", "mcmc", "maximum-likelihood"}
        "laplace": a mixture of Laplace's approximations over the spread s, corrected by Markov
        chains where the posterior is skew; seconds for hundreds of options. "mcmc": chains, without
        an approximation. "maximum-likelihood" ("ML"): no prior; `fit` then takes no setting of a
        run. None: "laplace", but "mcmc" with `people=Individuals()`, which has no other method.
    spread : float above 0, up to 1000, optional
        Standard deviation s of the log worths. None: learned. Pairs that were matched by an order
        known in advance (seeds, leagues) make a learned spread too small: give the league as a
        covariate, or the spread as a number.
    lapse : float in [0, 1)
        Probability epsilon of choosing at random.
    ties : {None, "davidson", "half", "drop"}
        Treatment of comparisons that end in a tie. "davidson": a third outcome with the
        probability r / (1 + r), where r is nu times the square root of p (1 - p) and log nu is
        Normal(0, 2²). "half": half a choice of either option. "drop": nothing. None: "davidson" if
        there are ties.
    best_worst : {None, "ranking", "reversed"}
        How respondents choose the best b and the worst w of a set (`Choices.from_best_worst`).
        "ranking": as the first and last of a ranking, summed over all rankings of the others, of
        sets of up to six (up to three with `people=Individuals()`). "reversed": the pair that
        differs most (maximum difference), with a probability proportional to exp(L_b - L_w), of
        sets of any size. None: "ranking" for sets of up to three, else "reversed".
    covariates : list of str, optional
        Covariates of comparisons and of options that the model uses. Each coefficient is Normal(0,
        1). None: all covariates of the data.
    people : {None, "independent", "adjusted"} or Individuals
        `Individuals()`: each respondent has individual worths, and results describe the population
        (see Notes). "independent": all answers are treated as answers of different respondents.
        "adjusted": intervals are for new samples of respondents. With "laplace" draws are spread to
        the covariance H⁻¹VH⁻¹ and have Student's t, where V is the variance of respondents' scores
        (Bell & McCaffrey 2002); with "mcmc" the likelihood is raised to the power 1 / max(1, design
        effect). None: "adjusted" with "laplace" and "maximum-likelihood" where at least half of two
        respondents or more answered twice, else "independent".

    Attributes
    ----------
    posterior_ : xarray.DataTree
        In the ArviZ schema: `log_worth` (chain, draw, option; centred), `spread`, `log_likelihood`,
        `tie`, `covariate`, `choice_probability` (only where respondents do not differ); with
        `people=Individuals()` also `spread_of_respondents`, `residual_spread`,
        `respondent_log_worth` (chain, draw, respondent, option), with `by` `respondent_effect`
        (chain, draw, known, option), and from 100 respondents on `loading`. After
        "maximum-likelihood" there is none.

    Raises
    ------
    ArgumentError
        If an argument is out of its range.
    DataError
        If the data have another kind; by maximum likelihood if some worth is not finite.

    Notes
    -----
    With `people=Individuals(by=columns)` the log worths of respondent p are

    .. math::
        u_{pi} = L_i + x_p' b_i + \sum_k f_{pk} W_{ki} + d_{pi}, \qquad
        d_{pi} \sim \mathrm{Normal}(0, \sigma^2), \quad f_{pk} \sim \mathrm{Normal}(0, 1), \quad
        b_{ri} \sim \mathrm{Normal}(0, 0.5^2), \quad W_{ki} \sim \mathrm{Normal}(0, \lambda^2)

    with half-normal(1) priors of :math:`\sigma` and :math:`\lambda`. The columns x are in standard
    deviations about their means. There are three shared directions W from 100 respondents on, none
    with fewer.

    References
    ----------
    Bradley & Terry (1952), Rank analysis of incomplete block designs; Luce (1959), Individual
    choice behavior; Plackett (1975), The analysis of permutations; Davidson (1970), On extending
    the Bradley-Terry model to accommodate ties; Marley & Louviere (2005), Some probabilistic models
    of best, worst, and best-worst choices; Rue, Martino & Chopin (2009), Approximate Bayesian
    inference for latent Gaussian models.

    Examples
    --------
    >>> import thali as th
    >>> model = th.BradleyTerryLuce().fit(
    ...     th.datasets.celebrities(), random_seed=1, progressbar=False
    ... )
    >>> model.ranks().index[0]
    'LBJ'
    >>> bool(0.6 < model.predict_proba([("LBJ", "HW")])[0] < 0.7)
    True
    """

    _estimates_: "EstimatedWorths"  # after maximum likelihood

    _IS_METHOD_FIXED: ClassVar[bool] = True
    _FINDINGS: ClassVar[str] = "thali._worths.findings"
    _VIEW = Posterior
    _ENGINES: ClassVar[Mapping[str, Engine]] = {
        "laplace": LaplaceEngine(),
        "mcmc": TrajectoryEngine(),
        "maximum-likelihood": WorthMaximumEngine(),
    }

    def __init__(
        self,
        method: str | None = None,
        spread: float | None = None,
        lapse: float = 0.0,
        ties: str | None = None,
        best_worst: str | None = None,
        covariates: Iterable[str] | None = None,
        people: Any = None,
    ) -> None:
        self.method = method
        self.spread = spread
        self.lapse = lapse
        self.ties = ties
        self.best_worst = best_worst
        self.covariates = covariates
        self.people = people

    @property
    def _method(self) -> str:
        """Method of the fit: the argument, else "laplace" or "mcmc"."""
        if self.method is not None:
            return super()._method
        if isinstance(self.people, Individuals):
            return "mcmc"
        return "laplace"

    @property
    def _engine(self) -> Any:
        """Object that implements the method, or individual worths."""
        if not isinstance(self.people, Individuals):
            return super()._engine
        from .people.estimation_method import INDIVIDUALS

        if self._method != "mcmc":
            raise chains_required_error(self.people, self.method)
        return INDIVIDUALS

    # The fit --------------------------------------------------------------------------------------

    def fit(
        self,
        data: Any,
        draws: int | None = None,
        tune: int | None = None,
        chains: int = 4,
        thin: int | None = None,
        cores: int | None = None,
        random_seed: RandomSeed = None,
        progressbar: bool = True,
        job: str | os.PathLike[str] | None = None,
        max_time: float | None = None,
    ) -> Self:
        """Fit to comparisons, rankings or choices.

        Parameters
        ----------
        data : PairedComparisons or Choices
        draws : int, optional
            States kept in each chain. None draws until every number with an R-hat has one of at
            most 1.01 and an effective sample size of at least 400; it looks at them after 1,000,
            2,000, 4,000, ... draws, and stops at 64,000 or 2 GB. With ``people=Individuals()`` it
            looks after 500 first.
        tune : int, optional
            States of each chain that are discarded first, while step sizes adapt. None means 1,000,
            or 300 with ``people=Individuals()``. With ``method="laplace"`` there are none.
        chains : int
            Independent chains.
        thin : int, optional
            Sweeps of the sampler for each state. None means 1; only of ``method="mcmc"``.
        cores : int, optional
            Threads; None means one a chain, as far as there are processors. Has no influence on the
            draws.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            The same seed gives the same draws; None takes a fresh one.
        progressbar : bool
            Whether to show how far the run is.
        job : str or path, optional
            A folder that holds the draws and the state of the chains while they run. The same fit
            goes on from it after the process was killed, and gives the draws of an unbroken run;
            with more `draws` it goes on further.
        max_time : float, optional
            Seconds after which the run stops and keeps what was drawn. If half of them pass in
            tuning, the chains start again with less of it, and a warning says so.

        Returns
        -------
        self

        Raises
        ------
        ArgumentError
            If an argument is outside its range.
        DataError
            If the data cannot be used.

        Warns
        -----
        DataWarning
            If the data are unusual, such as comparisons that do not connect all options.
        ConvergenceWarning
            If the chains do not agree yet.
        InterruptedWarning
            If Ctrl-C or `max_time` ended the run; the draws so far are kept.
        """
        default_tune: int = self._engine.default_tune
        if tune is None:
            tune = default_tune
        run = Run(
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
        return self._run_job(self._build_job(data, run))

    @mark_as_setup
    def prepare(
        self,
        data: Any,
        draws: int = 1000,
        tune: int | None = None,
        thin: int | None = None,
        **others: Any,
    ) -> PreparedFit:
        """Run all checks of `fit` without sampling."""
        return PreparedFit(self._build_fit_problem(self._convert_data(data)).lapse)

    def _build_job(self, data: Any, run: Run) -> Job:
        """Check data and arguments of a fit; return its job."""
        if self._engine.draws:
            return super()._build_job(data, run)
        data = self._convert_data(data)
        refuse_run_settings(run)
        problem = self._build_fit_problem(data)
        return Job(lambda: {"_estimates_": estimate_worths(problem)}, data=str(data))

    def _build_fit(self, source: Any, run: Run) -> WorthFit:
        """Return the fit of checked data by the fitting method, ready to run."""
        return self._engine.fit_class(self, source, run, self._build_fit_problem(source))

    def _build_fit_problem(self, data: Any) -> WorthProblem:
        """Return data and settings as the fitting method requires them, checked."""
        problem = self._build_problem(data, **self._engine.fit_settings)
        self._engine.check_problem(problem)
        return problem

    @requires(require_stored_chains)
    def update(
        self,
        new_data: Any,
        draws: int | None = None,
        cores: int | None = None,
        progressbar: bool = False,
    ) -> Self:
        """Fit to the data so far and additional data, such as the next vote.

        Parameters
        ----------
        new_data : PairedComparisons or Choices
            Additional data with the same options and the same kind, without covariates.
        draws : int, optional
            Draws kept in each chain; None: the number of the last fit.
        cores : int, optional
            Threads; None means one per chain, up to the number of processors. Has no influence on
            the draws.
        progressbar : bool

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If parameters of the model were changed after the fit, or it has no draws.
        DataError
            If the new data have an unknown option or another kind.

        Warns
        -----
        ConvergenceWarning
            If the chains do not agree yet.
        """
        self._check_unchanged()
        data = self._convert_data(merge_new_data(self._state_.source, new_data))
        fit_state = self._state_
        return self._update_fit(
            data, draws or fit_state.draws, fit_state.run.tune, cores, progressbar
        )

    def _convert_data(self, data: Any) -> Any:
        """Return checked data with ties converted or kept by `ties`, and selected covariates."""
        check_people(self.people)
        refuse_groups(data)
        data = check_data(data, PAIRS)
        if not isinstance(data, Judged) or not data.are_choices:
            raise DataError(
                "BradleyTerryLuce requires PairedComparisons or Choices; got"
                f" {type(data).__name__}."
            )
        tie_conversions = "davidson", *CONVERSIONS
        check_allowed("ties", self.ties, (None, *tie_conversions))
        if isinstance(data, Choices) and data.n_ties and data.is_paired:
            data = data.to_comparisons()
        if data.kind == PAIRS:
            data = treat_ties(data, self.ties, tie_conversions)
        return select_covariates(data, self.covariates)

    def _build_problem(self, data: Any, **settings: Any) -> WorthProblem:
        """Return data and settings of a fit as a `WorthProblem`."""
        check_allowed("best_worst", self.best_worst, (None, *RULES))
        rule = self.best_worst or choose_default_rule(data)
        lapse = check_share("lapse", self.lapse, "the probability of a random choice")
        spread = self.spread
        if spread is not None:
            spread = check_spread(spread)
        with_ties = data.kind == PAIRS and (has_ties(data) or self.ties == "davidson")
        problem_class = self._engine.problem_class
        return problem_class(data, lapse, with_ties, rule, spread, self.people, **settings)

    def _complete_settings(
        self, data: "PairedComparisons | Choices", settings: "AnswerSettings"
    ) -> "AnswerSettings":
        """Return report settings; raise for an option `none` or segments not fitted."""
        if settings.none is not None:
            anchor_index(settings.none, data.labels)
        if settings.segments is not None:
            if not isinstance(self.people, Individuals):
                required_setting = Setting("people", Individuals())
                raise ArgumentError(
                    Argument("segments"), " requires individual worths; set ", required_setting, "."
                )
            list_segment_numbers(settings.segments, len(data.respondents), "segments")
        return settings

    def _get_fitted_labels(self) -> list[str]:
        """Return the labels of the fitted options."""
        return list(self._get_fit_data().labels)

    @property
    @requires(require_maximum_likelihood)
    def maximum_likelihood(self) -> MaximumLikelihoodResults:
        """The results specific to ``method="maximum-likelihood"``.

        These are `log_likelihood()`, `aic()`, `bic()` (with the number of answers for n) and
        `standard_errors()`.

        Raises
        ------
        NotFittedError
            Before `fit`, and after a fit by another method.
        """
        return MaximumLikelihoodResults(self)

    # Results --------------------------------------------------------------------------------------

    @property
    def _results(self) -> Any:
        """Results that depend on the method, such as the draws of worths, cached."""
        self._require_fitted()
        engine = self._engine
        return self._compute_once(engine, lambda: engine.read_results(self))

    @property
    def _draws(self) -> WorthDraws:
        """The draws of worths, or from the large-sample distribution of estimates."""
        return self._results.draws

    @property
    def _prediction_draws(self) -> WorthDraws:
        """The draws over which predictions are averaged, or the estimate alone."""
        return self._results.prediction_draws

    def _get_quantities(self) -> dict[str, np.ndarray]:
        """Return draws of the summary rows, each (chains, draws)."""
        quantities = {}
        if self.spread is None:
            quantities["spread"] = self._view.draws["spread"].values
        quantities["log_likelihood"] = self._view.log_likelihood
        return quantities | self._results.get_quantities()

    def _get_advice(self) -> "Advice":
        """Return the advice for chains that disagree, by method."""
        return self._engine.advice

    def worths(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return the log worth of each option, with a mean of 0 over options.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per option, the highest first: log_worth (posterior mean), sd, low, high, and
            share, the worth divided by the sum over options. By maximum likelihood log_worth and
            share are at the maximum, and sd is the standard error.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        return self._results.tabulate_worths(ci)

    def ranks(self, every_rank: bool = False, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return the posterior of each option's rank by worth.

        Parameters
        ----------
        every_rank : bool
            Whether to give the probability of every rank, one column per rank, instead of the first
            rank only.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per option, the best first: rank (posterior mean; 1 is the best), rank_low and
            rank_high, p_1, the probability of being the best, and with `every_rank` p_2, p_3, ...
            of the other ranks.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        from thali._model.rank_table import tabulate_ranks

        draws = self._draws
        return tabulate_ranks(draws.log_worths, draws.labels, every_rank, ci)

    def scores(
        self,
        by: Any = None,
        none: str | None = None,
        random_seed: RandomSeed = 0,
        ci: float = INTERVAL,
    ) -> "pandas.DataFrame":
        r"""Return MaxDiff scores of the options, which sum to 100.

        .. math:: s_i = 100 \, p_i \Big/ \sum_j p_j, \qquad p_i = \frac{e^{z_i}}{e^{z_i} + a - 1}

        with the log worths z less their mean, and a, the mean number of options in a set of the
        data. With `none` z is relative to the log worth of that option, and :math:`s_i = 100 \, a
        \, p_i`. With `people=Individuals()` scores are means over respondents.

        Parameters
        ----------
        by : Segments, mapping or pandas.Series, optional
            Segments of the model, or the group of each respondent; only with
            `people=Individuals()`.
        none : str, optional
            The option that represents choosing none of the others.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the weights of respondents in intervals, a Bayesian bootstrap; only with
            `people=Individuals()`.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per option, or per group and option: score (posterior mean), low and high, and
            with `none` above_none, the probability that the option is better than that one, or the
            share of respondents who prefer it.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If no option is named `none`, or `ci` is not between 0 and 1.

        References
        ----------
        Sawtooth Software (2013), The MaxDiff system technical paper, version 8: the probability
        scale.
        """
        return self._results.build_scores_table(self._build_score_scale(none), by, random_seed, ci)

    def _require_distinguished_respondents(self, name: str) -> None:
        """Raise ArgumentError unless respondents have individual worths."""
        self._require_fitted()
        if not isinstance(self.people, Individuals):
            raise respondents_required_error(name, "worths")

    @property
    @requires(_require_distinguished_respondents)
    def respondents(self) -> "WorthRespondents":
        """Results about the respondents of a fit with `people=Individuals()`.

        Returns
        -------
        WorthRespondents
            `.individuals()`, the scores of each; `.segments(k)`; `.reach(size, top)`, the sets of
            options that reach most respondents; `.effects()` of the columns `by`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the fit does not distinguish respondents.
        """
        return self._results.describe_respondents(self)

    def _build_score_scale(self, none: str | None = None) -> ScoreScale:
        """Return reference-set size and anchor of MaxDiff scores; `none` is the anchor option."""
        data = self._get_fit_data()
        mean_set_size = 2.0
        anchor_option = None
        if isinstance(data, Choices):
            mean_set_size = float(data.sizes.mean())
        if none is not None:
            anchor_option = anchor_index(none, data.labels)
        return ScoreScale(mean_set_size, anchor_option)

    @property
    def _covariates(self) -> tuple[str, ...]:
        """Names of the covariates of comparisons and options that the fit used."""
        return self._prediction_draws.covariates

    @requires(require_covariates)
    def covariate_effects(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return effects of a unit of each covariate on the log odds of the first of two options.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per covariate: mean, sd, low and high of its coefficient, above_0 (the
            probability that it is positive) and odds (the factor exp(mean) of the odds).

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        return self._results.tabulate_effects(ci)

    def predict_proba(
        self,
        sets: Any,
        return_se: bool = False,
        covariates: Any = None,
        respondent: Any = None,
        options: Any = None,
    ) -> Any:
        """Return posterior mean choice probabilities, lapse included.

        By maximum likelihood, probabilities are those of the estimate. With `people=Individuals()`
        they are means over new respondents of the population.

        Parameters
        ----------
        sets : list of (a, b), list of lists, or Choices
            Labels of the options that are offered together.
        return_se : bool
            Whether to give the Monte Carlo standard error of each probability, too.
        covariates : mapping or DataFrame, optional
            Of comparisons, by name a number for all pairs or one for each, with the sign of "a over
            b". Those not named are 0.
        respondent : dict, optional
            A new respondent's value for each column of `Individuals(by=...)`.
        options : DataFrame, optional
            Options that are not in the data, as of `with_option_covariates`: one row per option
            with its label in the index, the covariates of the fit in the columns. Their log worths
            are Normal(x'b, spread²) in each draw; by maximum likelihood x'b.

        Returns
        -------
        ndarray, shape (number of pairs,), or list of ndarray
            For pairs: the probability that a is chosen over b (with ties: given that one of the two
            is chosen). For larger sets, or `Choices`: for each set the probabilities of its
            members; for best-worst `Choices` the probabilities of the ordered pairs (best, worst).
            With `return_se` a tuple of probabilities and errors.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If a label or a covariate is unknown, or an entry is not two different options or more.
        """
        if return_se:
            self._require_posterior()
        draws = self._prediction_draws
        if respondent is not None:
            draws = self._results.draw_new_respondents(respondent)
        if options is not None:
            labels, values = read_new_options(
                options, self._get_fit_data().covariates, draws.labels
            )
            draws = draws.add_options(labels, values, self._results.spread)
        return draws.predict_sets(sets, return_se, covariates)

    def predict_outcomes(self, pairs: Any, covariates: Any = None) -> "pandas.DataFrame":
        """Return posterior mean probabilities of win, tie and loss for pairs.

        Parameters
        ----------
        pairs : list of (a, b)
            Labels of two different options each.
        covariates : mapping or DataFrame, optional
            As of `predict_proba`.

        Returns
        -------
        pandas.DataFrame
            One row per pair: a, b, p_a (a is chosen), p_tie (neither is) and p_b, which sum to 1.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If a label is unknown, an entry is not two different options, or the model knows no
            ties.
        """
        return self._prediction_draws.tabulate_outcomes(pairs, covariates)

    def _predict_left_out(self, held_out_pair: "HeldOutPair") -> np.ndarray:
        """Predict outcomes of a held-out pair, shape (chains, draws, rows, 3 or 2)."""
        return self._prediction_draws.predict_held_out(held_out_pair)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        r"""Return log probabilities of all choices of each new respondent, jointly.

        .. math:: \ln \frac1S \sum_s \prod_t p_t^{(s)}(x_t)

        With ``people=Individuals()`` it is the integral over the worths of a new respondent, by
        annealed importance sampling (Neal 2001) with at least 1,024 new respondents, equal for all
        respondents. `thali.compare` uses it to score held-out respondents.

        Parameters
        ----------
        choices : Choices
            With respondents. Comparisons become choices by ``Choices.from_comparisons``.

        Returns
        -------
        pandas.Series
            The log probability of each respondent with choices, in nats; lapse included.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If an option is unknown.
        DataError
            If the choices have no respondents.
        """
        return self._results.log_predictive(choices)

    def check(self, random_seed: RandomSeed = None, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Compare observed proportions with posterior predictive replicates.

        Parameters
        ----------
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the replicates.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per compared pair (a, b), or per member of a set (alternative, offered), the
            worst first: n, observed, predicted (posterior mean), low and high (the interval of the
            replicated proportion), p_value (two-sided) and missed. ``attrs["p_value"]`` is that of
            all rows jointly. See `EliminationByAspects.check`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        DataError
            If the counts are fractional.

        References
        ----------
        Gelman, Meng & Stern (1996), Posterior predictive assessment of model fitness via realized
        discrepancies.
        """
        return self._results.check_replicates(
            keep_single_choices(self._get_fit_data()), random_seed, ci
        )

    def predictions(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return observed proportions with predicted probabilities.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per compared pair (a, b) or per member of a set (alternative, offered): n,
            observed, predicted (posterior mean), low and high. The table is limited to the 2,000
            rows with the most answers.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        return self._results.tabulate_predictions(keep_single_choices(self._get_fit_data()), ci)

    def next_pairs(
        self,
        n: int = 10,
        among: Iterable[str] | None = None,
        goal: str = "everything",
        random_seed: RandomSeed = 1,
    ) -> "pandas.DataFrame":
        """Return the pairs of options with the most informative answers expected.

        Parameters
        ----------
        n : int
            Number of pairs; they are chosen in turn, each for the information that it adds to the
            answers to the pairs before.
        among : list of labels, optional
            The options that can be asked about; None: all.
        goal : {"everything", "ranks", "best"}
            Target of the information: the worths, the order of each two options, or the best
            option.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            For random subsets of candidates and draws where there are too many.

        Returns
        -------
        pandas.DataFrame
            One row per pair, in the order of asking: a, b, p_a (p_tie where there are ties),
            information (added to the answers above, in nats) and alone (of this answer only).

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If a label or the goal is unknown.

        References
        ----------
        Lindley (1956), On a measure of the information provided by an experiment.
        """
        return self._draws.next_pairs(n, among, goal, random_seed)

    @requires(require_draws)
    def log_evidence(self, random_seed: RandomSeed = 1) -> LogEvidence:
        r"""Return the log evidence (marginal likelihood) of the model for its data.

        .. math:: \log p(\text{data}) = \log \int p(\text{data} \mid L, \theta)\, dP(L, \theta)

        It is the sum over the lattice of the spread, of Laplace's approximations corrected by
        importance sampling.

        Parameters
        ----------
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        LogEvidence
            `.value`, `.standard_error`, `.df`, `.interval()`, `.usable`, `.convergence`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the fit was stopped early, or parameters were changed after it.

        References
        ----------
        Rue, Martino & Chopin (2009), Approximate Bayesian inference for latent Gaussian models.
        """
        self._require_posterior()
        self._check_finished()
        self._check_unchanged()
        return self._estimate_log_evidence(self._get_fit_data(), random_seed)

    def _compute_log_evidence(
        self, data: "PairedComparisons | Choices", run: "EvidenceRun"
    ) -> LogEvidence:
        """Estimate the log evidence of the model for these data."""
        return self._estimate_log_evidence(self._convert_data(data), run.random_seed)

    def _estimate_log_evidence(
        self, data: "PairedComparisons | Choices", random_seed: RandomSeed
    ) -> LogEvidence:
        """Estimate the log evidence of the model for converted data."""
        from .log_evidence import estimate_log_evidence

        if isinstance(self.people, Individuals):
            supported_setting = Setting("people", "independent")
            raise ArgumentError(
                "The evidence (marginal likelihood) is not available with ",
                Setting("people", self.people),
                "; set ",
                supported_setting,
                ".",
            )

        return estimate_log_evidence(self._build_problem(data), spawn_generators(random_seed, 1)[0])

    # Simulated data -------------------------------------------------------------------------------

    def _sample_prior(
        self, rngs: Sequence[np.random.Generator], data: "PairedComparisons | Choices"
    ) -> PriorSample:
        """Draw worths from the prior and answers given them, once per generator."""
        return self._engine.sample_prior(self._build_problem(self._convert_data(data)), rngs)

    def _simulate_replicates(
        self, rng: np.random.Generator, data: "PairedComparisons | Choices"
    ) -> dict[str, np.ndarray]:
        """Simulate the answers of the data at every draw."""
        return self._results.simulate_data(self._build_problem(self._convert_data(data)), rng)

    def _build_observed(self, data: "PairedComparisons | Choices") -> dict[str, np.ndarray]:
        """Return these data as variables of `observed_data`."""
        from .simulation import observe_design

        return observe_design(self._build_problem(self._convert_data(data)), self._view)
