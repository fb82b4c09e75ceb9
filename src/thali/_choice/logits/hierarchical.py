"""`HierarchicalLogit`: tastes are normally distributed among people."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._arguments import check_allowed, check_open_interval, check_positive
from thali._described import Facts
from thali._inference.chains import Run, build_run
from thali._inference.indexing import space_evenly
from thali._inference.warn import is_quiet
from thali._model.chain_model import MarkovChainModel
from thali._model.prior_sample import PriorSample
from thali._model.requirements import requires
from thali._model.sampling import Sampling
from thali._people.columns import RespondentCovariates, covariates_of
from thali._posterior.interval import INTERVAL
from thali._posterior.store import tree_of
from thali._posterior.view import flat
from thali.errors import Argument, ArgumentError, DataError, Setting

from ..answers.check import ChoiceModelCheck, read_summary_rows
from ..answers.chooser import check_probability
from ..answers.logit_chooser import LogitChooser, LogitReports
from ..answers.segments import estimate_taste_preferences
from ..coding import (
    Coding,
    build_coding,
    build_measured_facts,
    build_unseen_remarks,
    encode_new_tasks,
    refuse_many_levels,
    require_experiment,
)
from ..logit import (
    DIRECTIONS,
    describe_contradicted_directions,
    draw_logit_choices,
    encode_choices,
    parse_directions,
)
from .attention import AttentionTables, attention_of, attention_tables, owning
from .hierarchical_draws import (
    BITS_IN_FILES,
    MAX_EXACT,
    TasteDistribution,
    TasteScale,
    chooser_of,
    ends_of_probabilities,
    errors_of_probabilities,
    mean_probabilities,
    quantities_of,
    rates_of,
    taste_scale,
)
from .hierarchical_fit import (
    MEAN_SD,
    SCALE,
    SCALE_WITH_ATTENTION,
    FitArguments,
    sample_tastes,
    sampling_of,
)
from .money import MONEY, PREFERENCE, SPACES, price_of_space, refuse_rising, refuse_without_price
from .spec import check_priors

if TYPE_CHECKING:
    import pandas as pd
    import xarray

    from thali._data.experiments import ChoiceExperiment
    from thali._data.experiments.scheme import Scheme
    from thali._people.segments import Preferences


def modelled_attention(model: Any, name: str) -> None:
    """Require draws of which attributes respondents attend to."""
    model._require_posterior()
    if model._attention is None:
        raise ArgumentError(
            "This model was fitted without attribute non-attendance; refit with ",
            Setting("attention", True),
            ".",
        )


class HierarchicalLogit(LogitReports, MarkovChainModel, ChoiceModelCheck):
    r"""The hierarchical logit: every person has tastes of their own, which are normally
    distributed.

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
        Those whose number itself has a coefficient; predictions then take any number. Measured ones
        do anyway.
    knots, interactions, constants : optional
        As for `MultinomialLogit`.
    signs : dict, optional
        Attribute -> "increasing" or "decreasing", for everybody: later levels, or larger numbers,
        are better or worse. The logarithm of a slope, or of each step from a level to the next, is
        normally distributed then.
    by : list of str, optional
        Columns of `data.people` on which mean tastes depend: numbers, or labels, of which each but
        the first has a covariate. None: none.
    priors : dict, optional
        "mean_sd": s, the prior standard deviation of a mean taste (10; at most 2 of one that has a
        sign, which is a logarithm). "df": nu, the degrees of freedom of the inverse Wishart prior
        of p coefficients (p + 3; at least p + 2). "scale": V, about the prior size of a variance
        among people (1; with `attention` .2).
    attention : True or list of attributes, optional
        Attributes that a person may ignore: True, all of them (two or more); None: nobody ignores
        anything. Person n attends to attribute k, :math:`\lambda_{nk} = 1`, with probability
        :math:`\theta_k \sim \operatorname{Beta}(1, 1)`; its coefficients, those of its interactions
        too, are 0 for who does not. Constants, the no-choice option, and the columns of products
        that lack an attribute are attended to by all.
    attention_by : list of str, optional
        Columns of `data.people`, coded as those of `by`, on which it depends whether a person
        attends: :math:`\operatorname{logit} \theta_{nk} = \operatorname{logit} \theta_k + z_n^T
        \gamma_k` with :math:`\gamma_{rk} \sim N(0, 1)`; theta_k is then that of people with average
        columns. None: on none.
    space : {"preference", "willingness-to-pay"}
        What is normally distributed: utilities, or amounts in units of the attribute that is called
        a price, a cost, a fee or a fare. That must be taken as a number (`linear`), has no
        interaction, and nobody ignores it.

    Attributes
    ----------
    posterior_ : xarray.DataTree
        The draws in the ArviZ schema: mean and covariance (of tastes or their logarithms: the
        coordinate `taste` says which; of people with average covariates), covariate_effect (of a
        unit), beta (the tastes of every respondent; 0 where the respondent ignores the attribute in
        that draw; utilities in either space), log_likelihood, and with `attention` also attention
        (theta; with `attention_by` the mean of theta_n over the respondents) and attends (lambda),
        with `attention_by` also attention_typical (theta) and attention_effect (gamma, of a unit).
        Files hold beta of more than 2,000,000 numbers to 9 bits each, a relative error of at most 1
        / 1,024, and leave out the group of pointwise log-likelihoods then: 4,000 draws of 300
        people and 12 coefficients take 38 MB in place of 240.
    coef_ : pandas.Series (p,)
        Posterior mean of the population's mean taste: of mu, or of the mean over respondents where
        tastes have a sign; with `attention` of those who attend. In willingness-to-pay space
        amounts, and the scale in place of the price, as "scale[price]".
    individual_ : pandas.DataFrame (respondents, p)
        Posterior means of every respondent's tastes, in willingness-to-pay space amounts and scales
        likewise.

    Raises
    ------
    DataError
        If the data are no choice experiment; in willingness-to-pay space also if demand does not
        fall with the price.
    ArgumentError
        If an argument is outside its range; in willingness-to-pay space if there is no price, it is
        no straight line, or people may ignore it.

    References
    ----------
    Rossi, Allenby & McCulloch (2005), Bayesian statistics and marketing, chapter 5; Train (2009),
    Discrete choice methods with simulation, chapter 12; of attention: Gilbride, Allenby & Brazell
    (2006), Models for heterogeneous variable selection; of amounts: Train & Weeks (2005), Discrete
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
    _ATTRIBUTE_OF_ARGUMENT: ClassVar[dict[str, str]] = {"attention": "_attention"}
    posterior_: "xarray.DataTree"
    coef_: "pd.Series"
    individual_: "pd.DataFrame"
    _interrupted_: bool
    _scheme_: "Scheme"
    _coding_: "Coding"
    _scale_: TasteScale
    _covariates_: "RespondentCovariates"
    _respondents_: tuple[str, ...]
    _looking_: "RespondentCovariates | None" = None
    _new_people_: np.random.SeedSequence

    def __init__(
        self,
        linear: Any = (),
        knots: Any = None,
        interactions: Any = (),
        constants: bool | None = None,
        signs: Any = None,
        by: Any = None,
        priors: Any = None,
        attention: Any = None,
        attention_by: Any = None,
        space: str = PREFERENCE,
    ) -> None:
        self.linear = linear
        self.knots = knots
        self.interactions = interactions
        self.constants = constants
        self.signs = signs
        self.by = by
        self.priors = priors
        self._attention = attention
        self.attention_by = attention_by
        self.space = space

    def fit(
        self,
        data: "ChoiceExperiment",
        draws: int | None = None,
        tune: int = 200,
        chains: int = 4,
        thin: int | None = None,
        cores: int | None = None,
        random_seed: Any = None,
        progressbar: bool = True,
        job: Any = None,
        max_time: float | None = None,
    ) -> "HierarchicalLogit":
        """Draw from the posterior.

        Parameters
        ----------
        data : ChoiceExperiment
        draws : int, optional
            States kept in each chain. None draws until every row of `summary` has an R-hat of at
            most 1.01 and an effective sample size of at least 400; it looks at them after 1,000,
            2,000, 4,000, ... draws, and stops at 64,000 or 2 GB. Of so many respondents that 1,000
            draws of all of them take more than half a GB, there are fewer draws, further apart.
        tune : int
            States of each chain that are discarded first, while step sizes adapt.
        chains : int
            Independent chains.
        thin : int, optional
            Sweeps of the sampler for each state. None means 2, with attention 4, or more of many
            respondents.
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
            If the data are no choice experiment, or the job is damaged, is in use, or is another
            fit.

        Warns
        -----
        DataWarning
            If a declared level is never shown.
        ConvergenceWarning
            If the chains do not agree, or hold too few effective draws.
        InterruptedWarning
            If Ctrl-C or `max_time` stopped the run; what was drawn is kept.
        """
        run = build_run(draws, tune, chains, thin, cores, random_seed, progressbar, job, max_time)
        data, parts = self._checked(data)
        sampling = sampling_of(data, run, parts)
        remarks = build_unseen_remarks(parts.coding, data.levels)
        contradicted = (
            ""
            if is_quiet()
            else describe_contradicted_directions(data, parse_directions("signs", self.signs, data))
        )
        return self._run_job(
            self._build_job(
                sampling, str(data), [*remarks, contradicted] if contradicted else remarks
            )
        )

    def _get_comparison_run(self) -> dict[str, Any]:
        return {"draws": 1000}

    def _headline_facts(self) -> Facts:
        many = self._view.draws["beta"].size > MAX_EXACT
        files = (
            "files",
            f"store individual coefficients with {BITS_IN_FILES} bits, without pointwise"
            " log-likelihoods",
        )
        return (
            *super()._headline_facts(),
            *build_measured_facts(self._coding_, self._scheme_),
            *((files,) if many else ()),
        )

    def _select_storable_attributes(self) -> dict[str, Any]:
        found = super()._select_storable_attributes()
        if self._view.draws["beta"].size > MAX_EXACT:  # log-likelihoods follow from tastes and data
            tree = found["posterior_"]
            kept = {
                name: node.to_dataset()
                for name, node in tree.children.items()
                if name != "log_likelihood"
            }
            found["posterior_"] = tree_of(kept, tree.attrs)
        return found

    def _checked(self, data: Any) -> "tuple[ChoiceExperiment, FitArguments]":
        data = require_experiment(data, self.constants)
        coding = self._coding_of(data)
        refuse_many_levels(data, coding.linear)
        parts = self._parts(data)
        if (price := self._price(data, coding)) is not None:
            refuse_rising(data, coding, price)
        return data, parts

    def _build_sampling(self, source: Any, run: Run) -> Sampling[Any]:
        return sampling_of(source, run, self._parts(source))

    def _parts(self, data: "ChoiceExperiment") -> "FitArguments":
        """What the arguments say of these data."""
        coding = self._coding_of(data)
        signs, price = parse_directions("signs", self.signs, data), self._price(data, coding)
        attention = attention_of(self._attention, data, coding, self.attention_by)
        if price is not None:
            refuse_without_price(price, signs, attention.names)
        scale = taste_scale(coding, data, signs, price)
        covariates = covariates_of(self.by, data.people, data.n_respondents)
        return FitArguments(coding, scale, covariates, attention, self._prior(len(coding.names)))

    def _sample_prior(self, rngs: Any, data: Any) -> PriorSample:
        data = require_experiment(data, self.constants)
        return sample_tastes(self._parts(data), data, rngs)

    def _build_observed(self, data: Any) -> dict[str, np.ndarray]:
        data = require_experiment(data, self.constants)
        return (
            {"chosen": data.chosen} if tuple(data.respondents) == tuple(self._respondents_) else {}
        )

    def _simulate_replicates(self, rng: np.random.Generator, data: Any) -> dict[str, np.ndarray]:
        beta = self._view.draws["beta"].values
        return draw_logit_choices(
            beta,
            encode_choices(require_experiment(data, self.constants), self._coding_),
            data.first_task,
            rng,
        )

    def _coding_of(self, data: "ChoiceExperiment") -> "Coding":
        """The columns that the data have."""
        return build_coding(data, self.linear, self.knots, self.interactions)

    def _price(self, data: "ChoiceExperiment", coding: "Coding") -> str | None:
        """The attribute of money in willingness-to-pay space."""
        return (
            price_of_space(data, coding)
            if check_allowed("space", self.space, SPACES) == MONEY
            else None
        )

    def _prior(self, p: int) -> Any:
        from .hierarchical_sweep import TastePrior

        given = check_priors("priors", self.priors)
        df = given.get("df", p + 3.0)
        if df < p + 2:
            raise ArgumentError(
                Argument("priors"), f" must have a df >= {p + 2} for {p} coefficients; got {df:g}."
            )
        return TastePrior(df, self._prior_scale(), given.get("mean_sd", MEAN_SD))

    def _prior_scale(self) -> float:
        """V: what was given, or the default."""
        usual = SCALE if self._attention is None else SCALE_WITH_ATTENTION
        return check_priors("priors", self.priors).get("scale", usual)

    @requires(modelled_attention)
    def attention(self, ci: float = INTERVAL) -> AttentionTables:
        """Who attends to which attribute.

        Inattention and indifference look alike in choices: people whose tastes are near 0 count as
        people who ignore, unless most tastes are well away from 0.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        AttentionTables
            `.shares`, one row an attribute: the part of the population that `attends` (posterior
            mean of theta), its interval `low` to `high`, `ess` and `r_hat`, and the largest R-hat
            of a person's probability, `r_hat_respondents`; `.people` (respondents, attributes), the
            probability that each respondent attends; `.patterns`, the `share` of the respondents
            that attend to just these attributes, with its interval; and with `attention_by`
            `.odds`, a row an attribute and column of people: the factor `odds` by which one more of
            the column multiplies the odds of attending, its interval, `log_odds`, `ess` and
            `r_hat`. The parts in `.shares` are then of people with the columns of the respondents.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model was made without `attention`.

        References
        ----------
        Gilbride, Allenby & Brazell (2006), Models for heterogeneous variable selection; Hess,
        Stathopoulos, Campbell, O'Neill & Caussade (2013), It's not that I don't care, I just don't
        care very much.
        """
        posterior = self._view.draws
        ci = check_open_interval("ci", ci, "the probability of an interval")
        return self._compute_once(f"attention {ci}", lambda: attention_tables(posterior, ci))

    @requires(modelled_attention)
    def attention_by_scale(
        self, scale: float | None = None, ci: float = INTERVAL, progressbar: bool = True
    ) -> "pd.DataFrame":
        """Who attends to which attribute at another prior size of variances, too: the fit is
        repeated with it.

        The wider tastes may be before the data, the fewer people ignore an attribute, where tastes
        reach down to 0.

        Parameters
        ----------
        scale : float above 0, optional
            The other prior size; None: 1, or .2 where the fit has 1.
        ci : float in (0, 1)
            Probability of the intervals.
        progressbar : bool
            Whether to show how far the other fit is, which has the settings of this one.

        Returns
        -------
        pandas.DataFrame
            A row an attribute: the part of the population that `attends` with its interval `low` to
            `high`, as in ``attention().shares``, and that of the other fit, `attends_other`,
            `low_other` and `high_other`. ``attrs["scales"]`` has both sizes, ``attrs["interval"]``
            the probability.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model was made without `attention`, or the size is not above 0.
        DataError
            If the file of the model could not hold the data.

        Warns
        -----
        ConvergenceWarning
            If the chains of the other fit do not agree, or hold too few effective draws.
        """
        from thali._tables import Table

        own, was = self.attention(ci).shares, self._prior_scale()
        usual = SCALE if was != SCALE else SCALE_WITH_ATTENTION
        other = (
            usual
            if scale is None
            else check_positive("scale", scale, "the prior scale of a variance between respondents")
        )
        data = self._get_fit_data()
        if data is None:
            raise DataError(
                "The second fit requires the data of the first, which the model file does not"
                " contain; fit again."
            )

        def compared() -> "pd.DataFrame":
            priors = {**(self.priors or {}), "scale": other}
            again = type(self)(**{**self.get_params(), "priors": priors})
            shares = (
                again.fit(data, progressbar=progressbar, **self._get_run_settings())
                .attention(ci)
                .shares
            )
            columns = ["attends", "low", "high"]
            found = Table(own[columns]).join(shares[columns].add_suffix("_other"))
            found.attrs.update(interval=ci, scales=(was, other))
            return found

        return self._compute_once(f"attention by scale {other} {ci}", compared)

    def population(self, ci: float = INTERVAL) -> "pd.DataFrame":
        """Posterior mean, sd, interval, Monte Carlo error, ESS and R-hat of the distribution of
        tastes among people.

        Rows: mean[coefficient] and sd[coefficient] of tastes, attends[attribute] with `attention`,
        with `attention_by` also what a unit of a column adds to its log odds, and log_likelihood
        (of all choices). These mix more slowly than the predictions that `summary` is about: look
        at `mcse_mean` and `r_hat` before you report them.

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
        from thali._posterior.summary import summary_table

        return summary_table(quantities_of(self._view), ci)

    def _choices_again(
        self, most: int, rng: np.random.Generator
    ) -> "tuple[ChoiceExperiment, np.ndarray]":
        """The data and replicates of all choices, at `most` draws."""
        beta, data = self._view.draws["beta"].values, self._get_fit_data()
        if data is None:
            raise DataError(
                "The check requires the data of the fit, which the model file does not contain;"
                " fit again."
            )
        beta = flat(beta)[None]
        kept = space_evenly(beta.shape[1], most)
        drawn = draw_logit_choices(
            beta[:, kept], encode_choices(data, self._coding_), data.first_task, rng
        )
        return data, drawn["chosen"][0]

    def _preferences(self) -> "Preferences":
        return estimate_taste_preferences(
            flat(self._view.draws["beta"].values), self._coding_, self._get_fit_data()
        )

    def _get_quantities(self) -> dict[str, np.ndarray]:
        return read_summary_rows(self._view.draws) | rates_of(self._view.draws)

    def summary(self, ci: float = INTERVAL) -> "pd.DataFrame":
        """Posterior mean, sd, interval, Monte Carlo error, ESS and R-hat of what the convergence
        check judges.

        Rows: share[attribute=level], the expected share of the tasks of the data in which a product
        with that level is chosen, of every level but the first; and effect[attribute: level over
        first], how often a respondent would choose the one out of two products that differ in
        nothing else, as in `level_effects`; and attends[attribute] with `attention`, the part of
        the population that attends to it, with `attention_by` also the effects on its log odds.
        `population` has means and standard deviations of tastes.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, eti89_lb, eti89_ub (the interval, by its probability), mcse_mean,
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
        """Posterior mean of the probability that each alternative of new tasks is chosen.

        Parameters
        ----------
        new : DataFrame or ChoiceExperiment
            As for `ChoiceExperiment.encode`; attributes in `linear` may have any number. A
            respondent who is not in the data of the fit is drawn from the population.
        return_se : bool
            Whether to give the Monte Carlo standard error of each probability, too.
        ci : float in (0, 1), optional
            The probability of an interval of each probability, over the draws of a
            person's tastes; of somebody new also over the people that she may be; None: none.

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
            If `ci` is no probability.
        """
        posterior = self._view
        matrix, found = encode_new_tasks(self._coding_, self._scheme_, new, self._respondents_)
        rows = matrix, found.task_of_row, found.respondent_of_row
        where = (posterior.draws, self._population(), *rows, self._new_people_)
        found = [
            mean_probabilities(*where),
            *([errors_of_probabilities(*where)] if return_se else []),
        ]
        found += [] if ci is None else ends_of_probabilities(*where, ci=check_probability(ci))
        return tuple(found) if found[1:] else found[0]

    def _chooser(self) -> "LogitChooser":
        posterior, data = self._view.draws, self._get_fit_data()
        if data is None:
            raise DataError(
                "Individual results require the data of the fit, which the model file does not"
                " contain; fit again."
            )
        directions = parse_directions("signs", self.signs, data)
        ways = np.array([DIRECTIONS.get(directions.get(name, ""), 0) for name in data.attributes])
        return chooser_of(self._coding_, data, posterior, self._population(), ways)

    def _money(self) -> str | None:
        """The coefficient of the price of a fit in willingness-to-pay space."""
        return None if self._scale_.price < 0 else self._coding_.names[self._scale_.price]

    def _population(self) -> "TasteDistribution":
        posterior = self._view.draws
        names = (
            [] if self._attention is None else [str(name) for name in posterior["attribute"].values]
        )
        attention = owning(names, self._scheme_.names, self._coding_)._replace(
            people=self._looking_
        )
        return TasteDistribution(posterior, self._scale_, self._covariates_, attention)
