"""Results of models of choices: probabilities, ranks, unique weights, next questions."""

from typing import TYPE_CHECKING, Any, Self

from thali._model.markov_chain_model import require_stored_chains
from thali._model.method_requirements import require_covariates, requires
from thali._posterior.posterior_interval import INTERVAL
from thali._posterior.respondent_dependence import INDEPENDENT
from thali.errors import ArgumentError, Setting

from ..results.data_kind_checks import require_choices
from .base_model import LatentFeatures

if TYPE_CHECKING:
    import pandas

    from thali._inference.random_seeds import RandomSeed


class ChoiceAnswers(LatentFeatures):
    """Base of the latent-feature models of choices."""

    def _require_choice_draws(self, answer_name: str) -> None:
        """Raise ArgumentError unless the model was fitted to choices."""
        require_choices(self._view, answer_name)

    @requires(_require_choice_draws)
    def unique_weights(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return the unique weight of each option.

        It is the weight of the unique aspect and of every feature that no other option owns.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per option: weight, weight_low, weight_high, and share, the weight divided by
            the sum over options. With `aspects="unique"` the shares are the scale values of the
            Bradley-Terry-Luce model.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        from ..results.option_tables import unique_weights_table

        return unique_weights_table(self._view, ci)

    @property
    def _covariates(self) -> tuple[str, ...]:
        """Names of the comparison covariates that the fit used."""
        return self._results.covariates

    @requires(require_covariates)
    def covariate_effects(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return the change of the log odds of the first option per unit of each covariate.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per covariate. With draws: mean, sd, low and high (the interval) of its
            coefficient, above_0 (the probability that it is positive) and odds (the factor
            exp(mean) of the odds). By maximum likelihood: estimate, std_error (over respondents, as
            for weights), z and p_value (Wald test that it has no effect; see also
            `thali.likelihood_ratio`), low and high (the interval), odds (the factor exp(estimate)
            of the odds); ``attrs["interval"]`` is `ci`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.

        Examples
        --------
        >>> import pandas as pd, thali as th
        >>> games = [
        ...     ("Hull", "Stoke", "H"),
        ...     ("Stoke", "Hull", "A"),
        ...     ("Hull", "Stoke", "A"),
        ...     ("Stoke", "Hull", "H"),
        ... ] * 3
        >>> games = pd.DataFrame(
        ...     [*games, ("Hull", "Stoke", "H")], columns=["home", "away", "result"]
        ... )
        >>> data = th.PairedComparisons.from_results(games, covariates=["order"])
        >>> model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(data)
        >>> model.covariate_effects()["odds"].round(3).to_dict()
        {'order': 1.155}
        """
        return self._results.covariate_effects(ci)

    @requires(_require_choice_draws)
    def ranks(self, every_rank: bool = False, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return the posterior of each option's rank by utility, the weight of all its aspects.

        .. math:: U_i = u_i + \\sum_k w_k f_{ik}

        Between two options, the option with the higher utility is chosen with probability > 0.5.

        Parameters
        ----------
        every_rank : bool
            Whether to return the probability of every rank, one column each, instead of the first
            rank only.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per option, the best first: rank (posterior mean; 1 is the best), rank_low and
            rank_high (its 89 % interval), p_1, the probability of being the best, and with
            `every_rank` p_2, p_3, ... of the other ranks. `thali.plots.ranks` draws the table.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model was fitted to similarities.
        """
        return self._data_results.ranks(every_rank, ci)

    def predict_proba(self, sets: Any, return_se: bool = False, covariates: Any = None) -> Any:
        """Return posterior mean choice probabilities, including lapses.

        Parameters
        ----------
        sets : list of (a, b), list of lists, or Choices
            Labels of the options that are offered together.
        return_se : bool
            Whether to return the Monte Carlo standard error of each probability too.
        covariates : mapping or DataFrame, optional
            Covariates of comparisons: by name one number for all pairs or one for each, with the
            sign of "a over b": ``{"order": 1}`` if a is shown first. Omitted covariates are 0.

        Returns
        -------
        ndarray, shape (number of pairs,), or list of ndarray
            For pairs: the probability that a is chosen over b (with ties: given that one of the two
            is chosen; see `predict_outcomes`). For larger sets, or `Choices`: for each set the
            probabilities of its members, in their order; for best-worst `Choices` the probabilities
            of ordered pairs (best, worst), the first member as the best with each of the others as
            the worst, then the second. With `return_se` two of these: the second contains the
            standard errors, from the effective sample size of the draws.

        Raises
        ------
        ArgumentError
            If a label or a covariate is unknown, or an entry is not at least two different options.
        """
        return self._results.predict_proba(sets, return_se, covariates)

    def predict_outcomes(self, pairs: Any, covariates: Any = None) -> "pandas.DataFrame":
        """Return posterior mean probabilities of win, tie and loss for each pair.

        Parameters
        ----------
        pairs : list of (a, b)
            Labels of two different options each.
        covariates : mapping or DataFrame, optional
            As for `predict_proba`.

        Returns
        -------
        pandas.DataFrame
            One row per pair: a, b, p_a (a is chosen), p_tie (neither is) and p_b, which sum to 1.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If a label is unknown, an entry is not two different options, or the model has no ties.
        """
        return self._results.predict_outcomes(pairs, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        r"""Return the joint log predictive probability of each new respondent's choices.

        .. math:: \ln \frac1S \sum_s \prod_t p_t^{(s)}(x_t)

        The product over the choices x_t of a respondent is taken within each draw s, so that the
        first choices inform predictions of the other choices; a product of `predict_proba` would
        treat each choice as made by a different respondent. The likelihood is not adjusted, even if
        draws were adjusted for repeated answers. `thali.compare` uses it to score held-out
        respondents.

        Parameters
        ----------
        choices : Choices
            With respondents. Comparisons become choices by ``Choices.from_comparisons``.

        Returns
        -------
        pandas.Series
            One number per respondent with a choice, in nats, including lapses.

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

    def check(self, random_seed: "RandomSeed" = None, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return a posterior predictive check of the observed proportions.

        Each compared pair is replicated once per draw, Binomial(n, p), or each offered set,
        Multinomial(n, p), and the observed proportion is compared with the replicates. Replicates
        of a pair have the covariates of its comparisons. `thali.plots.check` draws the table.

        Parameters
        ----------
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the replicates.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per compared pair (a, b), or member of a set (alternative, offered), the worst
            first: n, observed (proportion of choices of a, or of the alternative), predicted
            (posterior mean), low and high (the interval of the replicated proportion), p_value
            (two-sided) and missed (whether observed is outside the interval). With ties, each pair
            has two rows, with the column tied: choices of a, and ties. ``attrs["p_value"]`` is the
            p-value of all pairs jointly (chi-square discrepancy; NaN if n is below 2 on average,
            because the check is then uninformative). If the model is true the check is
            conservative: p < 0.05 in 0.5 to 1.5 % of simulated data sets.

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

        return self._data_results.check(random_seed, ci)

    @requires(require_stored_chains)
    def update(
        self,
        new_data: Any,
        draws: int | None = None,
        cores: int | None = None,
        progressbar: bool = False,
    ) -> Self:
        """Continue the chains after new comparisons, such as the next vote.

        The chains continue from their states, now with all comparisons: little tuning is needed,
        and a few answers rarely require new features. The previous draws are replaced.

        Parameters
        ----------
        new_data : PairedComparisons or Choices
            Additional comparisons, or choices from sets, of options of the fit, and of its data
            kind. The merged data lack the order in which options were shown; they have respondents
            if both data have them, and neither has covariates or dates.
        draws : int, optional
            Recorded states per chain; None: the number of the fit. A tenth of this number, and at
            least 20 states, are drawn first and discarded.
        cores : int, optional
            Threads; None means one per chain, up to the number of processors. Does not affect the
            draws.
        progressbar : bool

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If parameters of the model were changed after the fit, it has no draws, or they are
            adjusted for respondents.
        DataError
            If the new data have an option that the model does not know, or the model was fitted to
            other data than paired comparisons.

        Warns
        -----
        ConvergenceWarning
            If the chains do not agree yet.
        """
        from thali._data.base_classes import merge_new_data

        self._check_unchanged()
        dependence = self._view.dependence
        if dependence is not None and dependence.model != INDEPENDENT:
            raise ArgumentError(
                "The chains cannot be updated with ",
                Setting("people", self.get_params().get("people") or dependence.model),
                ", because the likelihood depends on all respondents; fit all data together, or"
                " set ",
                Setting("people", INDEPENDENT),
                ".",
            )
        data = merge_new_data(self._state_.source, new_data)
        if draws is None:
            draws = self._state_.draws
        return self._update_fit(data, draws, max(20, draws // 10), cores, progressbar)
