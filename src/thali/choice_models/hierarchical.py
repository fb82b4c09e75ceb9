"""`HierarchicalLogit`: tastes are normally distributed among people."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._quiet import is_quiet
from thali.choice_models.multinomial import experiment, warn_of_unseen
from thali.errors import ArgumentError, ConvergenceWarning, InterruptedWarning, NotFittedError
from thali.models.arguments import positive, refuse_endless, whole
from thali.models.prior_sample import PriorSample, SampledFromData

if TYPE_CHECKING:
    import pandas as pd
    import xarray

    from thali.data.experiment import ChoiceExperiment

THIN = 25


class HierarchicalLogit(SampledFromData):
    r"""The hierarchical logit: every person has tastes of their own, which are normally distributed.

    .. math::
        P(x_j \mid X_{nt}) = e^{x_j^T \beta_n} \Big/ \sum_{j' \in X_{nt}} e^{x_{j'}^T \beta_n}, \qquad
        \beta_n \sim N(\mu, \Sigma), \quad \mu \sim N(0, s^2 I), \quad \Sigma \sim IW(\nu, \nu V I)

    Columns are coded as by `MultinomialLogit`; for the prior, numbers are divided by their standard deviation over the
    products.

    Parameters
    ----------
    linear : attribute or list of attributes
        Those whose number itself has a coefficient; predictions then take any number.
    mean_sd : float above 0
        s, the prior standard deviation of a mean taste.
    df : float of p + 2 or more, optional
        nu, the degrees of freedom of the inverse Wishart prior of p coefficients; None: p + 3.
    scale : float above 0
        V, about the prior size of a variance among people.

    Attributes
    ----------
    posterior_ : xarray.DataTree
        The draws in the ArviZ schema: mean, covariance, beta (of every respondent) and log_likelihood.
    coef_ : pandas.Series (p,)
        Posterior mean of mu.
    individual_ : pandas.DataFrame (respondents, p)
        Posterior means of every respondent's tastes.
    log_likelihood_ : float
        Posterior mean of the log-likelihood of all choices given everybody's tastes.
    interrupted_ : bool
        Whether Ctrl-C ended the fit early.

    Raises
    ------
    DataError
        If the data are no choice experiment.
    ArgumentError
        If an argument is outside its range.

    References
    ----------
    Rossi, Allenby & McCulloch (2005), Bayesian statistics and marketing, chapter 5; Train (2009), Discrete choice
    methods with simulation, chapter 12.

    Example
    -------
    >>> import pandas as pd
    >>> import thali as th
    >>> rows = {"id": [1] * 4 + [2] * 4, "task": [1, 1, 2, 2] * 2, "choice": [1, 0, 1, 0, 0, 1, 0, 1],
    ...         "price": [90, 150] * 4}
    >>> data = th.ChoiceExperiment.from_frame(pd.DataFrame(rows))
    >>> model = HierarchicalLogit().fit(data, draws=200, tune=50, random_seed=1, progressbar=False)
    >>> first, second = model.individual_["price[150]"]
    >>> first < 0 < second
    True
    """

    posterior_: "xarray.DataTree"
    coef_: "pd.Series"
    individual_: "pd.DataFrame"
    log_likelihood_: float
    interrupted_: bool

    def __init__(self, linear: Any = (), mean_sd: float = 10.0, df: float | None = None, scale: float = 1.0):
        self.linear = linear
        self.mean_sd = mean_sd
        self.df = df
        self.scale = scale

    def fit(
        self,
        data: "ChoiceExperiment",
        draws: int = 400,
        tune: int = 200,
        chains: int = 4,
        thin: int | None = None,
        cores: int | None = None,
        random_seed=None,
        progressbar: bool = True,
    ) -> "HierarchicalLogit":
        """Draw from the posterior.

        Parameters
        ----------
        data : ChoiceExperiment
        draws, tune : int
            Kept states of each chain, and those before them, by which it tunes its steps and forgets its start.
        chains : int
        thin : int, optional
            Sweeps for each state; None: 25.
        cores : int, optional
            Chains run at once; None: as many as there are processors. Draws do not depend on it.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        progressbar : bool

        Returns
        -------
        HierarchicalLogit

        Warns
        -----
        DataWarning
            If a declared level is never shown.
        ConvergenceWarning
            If the chains do not agree, or hold too few effective draws.
        InterruptedWarning
            If Ctrl-C stopped the run; what was drawn is kept.
        """
        from thali._random import root
        from thali.choice_models.coding import coding_of
        from thali.choice_models.hierarchical_chain import problem_of, run_chains
        from thali.choice_models.hierarchical_draws import to_datatree
        from thali.choice_models.logit import tasks_of
        from thali.progress import Progress

        experiment(data)
        coding = coding_of(data, self.linear)
        warn_of_unseen(coding, data.levels)
        prior = self._prior(len(coding.names))
        draws, tune, chains = whole("draws", draws, 1), whole("tune", tune, 0), whole("chains", chains, 1)
        thin = THIN if thin is None else whole("thin", thin, 1)
        refuse_endless(draws, tune, chains, thin)
        cores = None if cores is None else whole("cores", cores, 1)
        seed, self._new_people = root(random_seed).spawn(2)
        tasks = tasks_of(data, coding)
        problem, pooled = problem_of(tasks._replace(matrix=tasks.matrix / coding.scale), data.first_task, prior)
        with Progress(bool(progressbar), "sampling", chains * (tune + draws) * thin, "sweeps") as progress:
            states, interrupted = run_chains(problem, pooled, draws, tune, thin, chains, cores, seed, progress)
        attrs = {"thin": thin, "tuning_steps": tune}
        self.posterior_ = to_datatree(states, data.respondents, coding.names, coding.scale, attrs)
        self.scheme_, self._coding, self._respondents = data.scheme, coding, data.respondents
        self.interrupted_ = interrupted
        self._keep_means()
        self._warn(draws)
        return self

    def _prior_sample(self, rngs, data) -> PriorSample:
        from thali.choice_models.coding import coding_of
        from thali.choice_models.hierarchical_prior import sample_tastes

        coding = coding_of(experiment(data), self.linear)
        return sample_tastes(self._prior(len(coding.names)), coding, data, rngs)

    def _prior(self, p: int):
        from thali.choice_models.hierarchical_chain import Prior

        sd = positive("mean_sd", self.mean_sd, "the prior standard deviation of a mean taste")
        scale = positive("scale", self.scale, "the prior size of a variance among people")
        df = p + 3.0 if self.df is None else positive("df", self.df, "a number of degrees of freedom")
        if df < p + 2:
            raise ArgumentError(f"df must be {p + 2} or more for {p} coefficients; got {self.df!r}.")
        return Prior(df, scale, sd)

    def _keep_means(self) -> None:
        import pandas

        posterior = self.posterior_["posterior"].dataset
        over = ["chain", "draw"]
        self.coef_ = posterior["mean"].mean(over).to_series().rename("coef")
        tastes = posterior["beta"].mean(over)
        people, names = (pandas.Index(tastes[dim].values, name=dim) for dim in ("respondent", "coefficient"))
        self.individual_ = pandas.DataFrame(tastes.values, people, names)
        self.log_likelihood_ = float(posterior["log_likelihood"].mean())

    def _warn(self, draws: int) -> None:
        from thali.posterior.summary import verdict

        if is_quiet():
            return
        if self.interrupted_:
            kept = self.posterior_["posterior"].sizes["draw"]
            warnings.warn(
                f"Stopped early; {kept} of {draws} draws a chain were kept.", InterruptedWarning, stacklevel=3
            )
        agree, sentence = verdict(self.summary())
        if not agree:
            warnings.warn(sentence, ConvergenceWarning, stacklevel=3)

    def summary(self) -> "pd.DataFrame":
        """Posterior mean, sd, interval, Monte Carlo error, ESS and R-hat of the population and the log-likelihood.

        Rows: mean[coefficient] and sd[coefficient] of tastes among people, and log_likelihood (of all choices).

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, eti89_lb, eti89_ub (the 89 % interval), mcse_mean, ess_bulk, ess_tail, r_hat.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from thali.choice_models.hierarchical_draws import quantities_of
        from thali.posterior.summary import summary_table

        self._require_fitted()
        return summary_table(quantities_of(self.posterior_))

    def predict_proba(self, new: "pd.DataFrame | ChoiceExperiment") -> np.ndarray:
        """Posterior mean of the probability that each alternative of new tasks is chosen.

        Parameters
        ----------
        new : DataFrame or ChoiceExperiment
            As for `ChoiceExperiment.encode`; attributes in `linear` may have any number. A respondent who is not in the
            data of the fit is drawn from the population.

        Returns
        -------
        array (rows,)
            In the order of the rows; they sum to 1 within a task.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            As `ChoiceExperiment.encode`, or if the tasks of the fit never show a level.
        """
        from thali.choice_models.coding import read_new
        from thali.choice_models.hierarchical_draws import mean_probabilities

        self._require_fitted()
        matrix, found = read_new(self._coding, self.scheme_, new, self._respondents)
        return mean_probabilities(self.posterior_, matrix, found.task_of_row, found.respondent_of_row, self._new_people)

    def _require_fitted(self) -> None:
        if not hasattr(self, "posterior_"):
            raise NotFittedError("This HierarchicalLogit is not fitted yet; call fit(data) first.")
