"""`HierarchicalLogit`, the model that users fit: normally distributed tastes of respondents."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._argument_checks import check_allowed
from thali._inference.index_arithmetic import space_evenly
from thali._inference.markov_chains import Run
from thali._inference.user_warnings import is_quiet
from thali._model.markov_chain_model import MarkovChainModel
from thali._model.simulated_data import PriorSample
from thali._object_descriptions import Facts
from thali._people.respondent_columns import RespondentCovariates, build_covariates
from thali._posterior.datatree_files import build_tree
from thali._posterior.posterior_interval import INTERVAL, check_interval
from thali._posterior.posterior_tree import flatten_chains
from thali.errors import Argument, ArgumentError, DataError

from ..logit_likelihood import (
    describe_contradicted_directions,
    draw_logit_choices,
    encode_choices,
    encode_directions,
    parse_directions,
)
from ..product_coding import (
    Coding,
    build_coding,
    build_measured_facts,
    build_unseen_remarks,
    encode_new_tasks,
    refuse_many_levels,
    require_experiment,
)
from ..reports.level_preferences import estimate_taste_preferences
from ..reports.logit_choice_draws import LogitChooser, LogitReports
from ..reports.predictive_check import ChoiceModelCheck, read_summary_rows
from .hierarchical_draws import (
    BITS_IN_FILES,
    MAX_EXACT_TASTES,
    FitArguments,
    TasteDistribution,
    TasteScale,
    build_chooser,
    build_taste_scale,
    population_quantities,
    predict_probabilities,
)
from .hierarchical_fit import DEFAULT_SCALE, MEAN_SD, TasteFit, sample_taste_prior
from .spec import check_priors
from .willingness_to_pay_space import (
    MONEY,
    PREFERENCE,
    SPACES,
    refuse_rising_demand,
    refuse_rising_price,
    require_price,
)

if TYPE_CHECKING:
    import pandas as pd
    import xarray

    from thali._data.experiments import ChoiceExperiment
    from thali._data.experiments.product_encoding import Scheme
    from thali._inference.random_seeds import RandomSeed
    from thali._people.respondent_segments import Preferences


class HierarchicalLogit(LogitReports, MarkovChainModel, ChoiceModelCheck):
    r"""The hierarchical logit: respondents have individual, normally distributed tastes.

    .. math::
        P(x_j \mid X_{nt}) = e^{x_j^T \beta_n} \Big/ \sum_{j' \in X_{nt}} e^{x_{j'}^T \beta_n},
        \qquad
        \beta_n \sim N(\mu + \Gamma^T z_n, \Sigma), \quad \mu_k, \Gamma_{rk} \sim N(0, s^2), \quad
        \Sigma \sim IW(\nu, \nu V I), \qquad z_{nr} = (c_{nr} - \bar c_r) / d_r

    Columns are coded as by `MultinomialLogit`; for the prior, numbers are divided by their standard
    deviation over products. The covariates c of people, labels as columns of 0 and 1, are centred
    at their means over the respondents and divided by their standard deviations d, so that mu is
    the mean taste of people with average covariates, and its prior is about that. Where a taste has
    a sign, it is :math:`\pm e^{\beta_{nk}}`.

    In willingness-to-pay space the amounts that a person would pay are normally distributed, and
    the scale of utility, minus the coefficient of the price p, is log-normal,

    .. math:: u_{nj} = s_n (x_j^T w_n - p_j), \qquad (w_n, \ln s_n) = \beta_n.

    Parameters
    ----------
    linear : attribute or list of attributes
        Attributes whose number itself has a coefficient; predictions then take any number. Measured
        attributes always have one.
    knots, interactions, constants : optional
        As for `MultinomialLogit`.
    signs : dict, optional
        Attribute -> "increasing" or "decreasing", for all people: later levels, or larger numbers,
        are better or worse. The logarithm of a slope, or of each step between levels, is then
        normally distributed.
    by : list of str, optional
        Columns of `data.people` that predict mean tastes: numbers, or labels, each with a covariate
        except the first. None: none.
    priors : dict, optional
        "mean_sd": s, the prior standard deviation of a mean taste (10; at most 2 of one that has a
        sign, which is a logarithm). "df": nu, the degrees of freedom of the inverse Wishart prior
        of p coefficients (p + 3; at least p + 2). "scale": V, about the prior size of a variance
        among people (1).
    space : {"preference", "willingness-to-pay"}
        Normally distributed coefficients: utilities, or amounts in units of the attribute that is
        called a price, a cost, a fee or a fare. It must be treated as a number (`linear`), and has
        no interaction.

    Attributes
    ----------
    posterior_ : xarray.DataTree
        The draws in the ArviZ schema: mean and covariance (of tastes, or of their logarithms where
        a taste has a sign, as the rows of `population` say; of people with average covariates),
        covariate_effect (of a unit), effect, share, beta (the tastes of every respondent; utilities
        in either space), and log_likelihood. If beta has more than 2,000,000 numbers, files contain
        them with 9 bits each, a relative error of at most 1 / 1,024, without the group of pointwise
        log-likelihoods: 4,000 draws of 300 people and 12 coefficients take 38 MB instead of 240.
    coef_ : pandas.Series (p,)
        Posterior mean of the population's mean taste: of mu, or of the mean over respondents where
        tastes have a sign. In willingness-to-pay space amounts, with the scale instead of the
        price, as "scale[price]".
    individual_ : pandas.DataFrame (respondents, p)
        Posterior means of every respondent's tastes, in willingness-to-pay space amounts and scales
        likewise.

    Raises
    ------
    DataError
        If the data are not a choice experiment; in willingness-to-pay space also if demand does not
        fall with the price.
    ArgumentError
        If an argument is outside its range; in willingness-to-pay space if no attribute is a
        price with a single slope.

    References
    ----------
    Rossi, Allenby & McCulloch (2005), Bayesian statistics and marketing, chapter 5; Train (2009),
    Discrete choice methods with simulation, chapter 12; of amounts: Train & Weeks (2005), Discrete
    choice models in preference space and willingness-to-pay space.

    Examples
    --------
    >>> import pandas as pd
    >>> import thali as th
    >>> rows = {
    ...     "id": [1] * 4 + [2] * 4,
    ...     "task": [1, 1, 2, 2] * 2,
    ...     "choice": [1, 0, 1, 0, 0, 1, 0, 1],
    ...     "price": [90, 150] * 4,
    ... }
    >>> data = th.ChoiceExperiment.from_frame(pd.DataFrame(rows))
    >>> model = HierarchicalLogit().fit(data, draws=200, tune=50, random_seed=1, progressbar=False)
    >>> first, second = model.individual_["price[150]"]
    >>> first < 0 < second
    True
    """

    _FINDINGS: ClassVar[str] = "thali._choice.logits.findings"
    posterior_: "xarray.DataTree"
    coef_: "pd.Series"
    individual_: "pd.DataFrame"
    _interrupted_: bool
    _scheme_: "Scheme"
    _coding_: "Coding"
    _scale_: TasteScale
    _covariates_: "RespondentCovariates"
    _respondents_: tuple[str, ...]
    _new_people_: np.random.SeedSequence

    def __init__(
        self,
        linear: Iterable[str] = (),
        knots: Mapping[str, Any] | None = None,
        interactions: Iterable[tuple[str, str]] = (),
        constants: bool | None = None,
        signs: Mapping[str, str] | None = None,
        by: str | Sequence[str] | None = None,
        priors: Mapping[str, float] | None = None,
        space: str = PREFERENCE,
    ) -> None:
        self.linear = linear
        self.knots = knots
        self.interactions = interactions
        self.constants = constants
        self.signs = signs
        self.by = by
        self.priors = priors
        self.space = space

    def fit(
        self,
        data: "ChoiceExperiment",
        draws: int | None = None,
        tune: int = 200,
        chains: int = 4,
        thin: int | None = None,
        cores: int | None = None,
        random_seed: "RandomSeed" = None,
        progressbar: bool = True,
        job: str | os.PathLike[str] | None = None,
        max_time: float | None = None,
    ) -> "HierarchicalLogit":
        """Sample the posterior.

        Parameters
        ----------
        data : ChoiceExperiment
        draws : int, optional
            States kept in each chain. None draws until every number with an R-hat has one of at
            most 1.01 and an effective sample size of at least 400; it looks at them after 1,000,
            2,000, 4,000, ... draws, and stops at 64,000 or 2 GB. Of so many respondents that 1,000
            draws of all of them take more than half a GB, there are fewer draws, further apart.
        tune : int
            States of each chain that are discarded first, while step sizes adapt.
        chains : int
            Independent chains.
        thin : int, optional
            Sweeps of the sampler for each state. None means 2, or more of many respondents.
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
        HierarchicalLogit

        Raises
        ------
        ArgumentError
            If an argument is outside its range.
        DataError
            If the data are not a choice experiment, or the job is damaged, is in use, or is another
            fit.

        Warns
        -----
        DataWarning
            If a declared level is never shown.
        ConvergenceWarning
            If the chains do not agree, or have too few effective draws.
        InterruptedWarning
            If Ctrl-C or `max_time` stopped the run; its draws are kept.
        """
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
        ).check()
        data, fit_arguments = self._check_fit(data)
        chain_fit = self._build_fit(data, run)
        coding = fit_arguments.coding
        remarks = build_unseen_remarks(coding, data.levels)
        if not is_quiet():
            directions = parse_directions("signs", self.signs, data)
            if contradiction_sentence := describe_contradicted_directions(data, directions):
                remarks = [*remarks, contradiction_sentence]
        return self._run_job(chain_fit.build_job(str(data), remarks))

    def _get_comparison_run(self) -> dict[str, Any]:
        """Return the arguments of `fit` that model comparisons use."""
        return {"draws": 1000}

    def _headline_facts(self) -> Facts:
        """Return (name, value) facts to show with a fit."""
        facts = *super()._headline_facts(), *build_measured_facts(self._coding_, self._scheme_)
        if self._view.draws["beta"].size <= MAX_EXACT_TASTES:
            return facts
        file_note = (
            f"store individual coefficients with {BITS_IN_FILES} bits, without pointwise"
            " log-likelihoods"
        )
        return (*facts, ("files", file_note))

    def _select_storable_attributes(self) -> dict[str, Any]:
        """Return fitted attributes to store, without log-likelihoods of many tastes."""
        attributes = super()._select_storable_attributes()
        if (
            self._view.draws["beta"].size > MAX_EXACT_TASTES
        ):  # log-likelihoods follow from tastes and data
            tree = attributes["posterior_"]
            tree_groups = {
                name: tree_node.to_dataset()
                for name, tree_node in tree.children.items()
                if name != "log_likelihood"
            }
            attributes["posterior_"] = build_tree(tree_groups, tree.attrs)
        return attributes

    def _check_fit(self, data: Any) -> "tuple[ChoiceExperiment, FitArguments]":
        """Check data and arguments; return the experiment and resolved arguments."""
        data = require_experiment(data, self.constants)
        refuse_many_levels(data, self._build_coding(data).linear)
        fit_arguments = self._resolve_arguments(data)
        if self.space == MONEY:
            coding = fit_arguments.coding
            refuse_rising_demand(data, coding, coding.names[fit_arguments.scale.price])
        return data, fit_arguments

    def _build_fit(self, source: "ChoiceExperiment", run: Run) -> TasteFit:
        """Return the fit of a checked experiment, ready to run."""
        return TasteFit(self, source, run, self._resolve_arguments(source))

    def _build_coding(self, data: "ChoiceExperiment") -> "Coding":
        """Return the model-matrix columns for these data."""
        return build_coding(data, self.linear, self.knots, self.interactions)

    def _resolve_arguments(self, data: "ChoiceExperiment") -> "FitArguments":
        """Return all model arguments resolved for these data."""
        coding = self._build_coding(data)
        signs = parse_directions("signs", self.signs, data)
        price = None
        if check_allowed("space", self.space, SPACES) == MONEY:
            price = require_price(data, coding)
            refuse_rising_price(price, signs)
        scale = build_taste_scale(coding, data, signs, price)
        covariates = build_covariates(self.by, data.people, data.n_respondents)
        return FitArguments(coding, scale, covariates, self._build_prior(len(coding.names)))

    def _sample_prior(
        self, rngs: Sequence[np.random.Generator], data: "ChoiceExperiment"
    ) -> PriorSample:
        """Draw tastes from the prior and choices given them, once per generator."""
        data = require_experiment(data, self.constants)
        return sample_taste_prior(self._resolve_arguments(data), data, rngs)

    def _build_observed(self, data: "ChoiceExperiment") -> dict[str, np.ndarray]:
        """Return the chosen alternatives; {} if the respondents are others."""
        data = require_experiment(data, self.constants)
        if tuple(data.respondents) != tuple(self._respondents_):
            return {}
        return {"chosen": data.chosen}

    def _simulate_replicates(
        self, rng: np.random.Generator, data: "ChoiceExperiment"
    ) -> dict[str, np.ndarray]:
        """Simulate the choices of the data at every draw."""
        beta = self._view.draws["beta"].values
        tasks = encode_choices(require_experiment(data, self.constants), self._coding_)
        return draw_logit_choices(beta, tasks, data.first_task, rng)

    def _build_prior(self, p: int) -> Any:
        """Return the prior of means and covariance of p coefficients, checked."""
        from .hierarchical_sweep import TastePrior

        prior_sizes = check_priors("priors", self.priors)
        df = prior_sizes.get("df", p + 3.0)
        if df < p + 2:
            raise ArgumentError(
                Argument("priors"), f": df must be >= {p + 2} with {p} coefficients; got {df:g}."
            )
        return TastePrior(
            df, prior_sizes.get("scale", DEFAULT_SCALE), prior_sizes.get("mean_sd", MEAN_SD)
        )

    def _require_fit_data(self, requirement: str) -> "ChoiceExperiment":
        """Return the data of the fit; raise DataError if the model has none."""
        data = self._get_fit_data()
        if data is None:
            raise DataError(f"{requirement}, which the model file does not contain; fit again.")
        return data

    def population(self, ci: float = INTERVAL) -> "pd.DataFrame":
        """Return a summary of the distribution of tastes among people, with diagnostics.

        Rows: mean[coefficient] and sd[coefficient] of tastes, and log_likelihood (of all choices).
        The convergence check includes them; they mix more slowly than the predictions in `summary`.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns as in `summary`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        from thali._posterior.summary_table import build_summary

        return build_summary(self._get_further_checked_quantities(), ci)

    def _simulate_choices(
        self, max_draws: int, rng: np.random.Generator
    ) -> "tuple[ChoiceExperiment, np.ndarray]":
        """Return the data, and choices simulated at up to `max_draws` draws."""
        beta = flatten_chains(self._view.draws["beta"].values)[None]
        data = self._require_fit_data("The check requires the data of the fit")
        draw_indices = space_evenly(beta.shape[1], max_draws)
        replicated_choices = draw_logit_choices(
            beta[:, draw_indices], encode_choices(data, self._coding_), data.first_task, rng
        )
        return data, replicated_choices["chosen"][0]

    def _preferences(self) -> "Preferences":
        """Return each respondent's preferences between levels in every draw."""
        return estimate_taste_preferences(
            flatten_chains(self._view.draws["beta"].values), self._coding_, self._get_fit_data()
        )

    def _get_quantities(self) -> dict[str, np.ndarray]:
        """Return draws of the summary rows by name."""
        return read_summary_rows(self._view.draws)

    def _get_further_checked_quantities(self) -> dict[str, np.ndarray]:
        """Return draws of the rows of `population` by name."""
        return population_quantities(self._view)

    def summary(self, ci: float = INTERVAL) -> "pd.DataFrame":
        """Return a summary of shares and effects of levels, with diagnostics.

        Rows: share[attribute=level], the expected share of choices of products with that level
        among all tasks of the data, for every level except the first; and effect[attribute: level
        over first], how often a respondent would choose it from two products that are equal
        otherwise, as in `level_effects`. `population` has means and standard deviations of tastes.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, low and high (ends of the interval), mcse_mean,
            ess_bulk, ess_tail, r_hat.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        return super().summary(ci)

    def predict_proba(
        self,
        new: "pd.DataFrame | ChoiceExperiment",
        return_se: bool = False,
        ci: float | None = None,
    ) -> Any:
        """Return posterior mean probabilities that each alternative of new tasks is chosen.

        Parameters
        ----------
        new : DataFrame or ChoiceExperiment
            As for `ChoiceExperiment.encode`; attributes in `linear` may have any number. A
            respondent who is not in the data of the fit is drawn from the population.
        return_se : bool
            Whether to give the Monte Carlo standard error of each probability, too.
        ci : float in (0, 1), optional
            The probability of an interval of each probability, over the draws of a
            person's tastes; for a new person also over people; None: none.

        Returns
        -------
        array (rows,)
            In the order of the rows; they sum to 1 within a task. With `return_se` or `ci` several
            arrays: the standard errors, from the effective sample size of the draws, and the lower
            and the upper ends of the intervals.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            As `ChoiceExperiment.encode`, or if the tasks of the fit never show a level.
        ArgumentError
            If `ci` is not a probability.
        """
        posterior_draws = self._view.draws
        model_matrix, encoded_tasks = encode_new_tasks(
            self._coding_, self._scheme_, new, self._respondents_
        )
        if ci is not None:
            ci = check_interval(ci)
        mean_probabilities, *other_arrays = predict_probabilities(
            posterior_draws,
            self._build_taste_distribution(),
            model_matrix,
            encoded_tasks.task_of_row,
            encoded_tasks.respondent_of_row,
            self._new_people_,
            return_se,
            ci,
        )
        if other_arrays:
            return mean_probabilities, *other_arrays
        return mean_probabilities

    def _build_chooser(self) -> "LogitChooser":
        """Build the `Chooser` from each respondent's tastes in every draw."""
        posterior = self._view.draws
        data = self._require_fit_data("Individual results require the data of the fit")
        signs = encode_directions(parse_directions("signs", self.signs, data), data.attributes)
        return build_chooser(
            self._coding_, data, posterior, self._build_taste_distribution(), signs
        )

    def _find_price_coefficient(self) -> str | None:
        """Return the price coefficient's name in willingness-to-pay space, else None."""
        if self._scale_.price < 0:
            return None
        return self._coding_.names[self._scale_.price]

    def _build_taste_distribution(self) -> "TasteDistribution":
        """Return the population's distribution of tastes at every draw."""
        return TasteDistribution(self._view.draws, self._scale_, self._covariates_)
