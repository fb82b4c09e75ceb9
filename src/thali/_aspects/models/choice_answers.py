"""Results of models of choices other than features: choice probabilities, ranks, unique weights, a
check."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from thali._model.chain_model import require_stored_chains
from thali._model.requirements import require_covariates, requires
from thali._posterior.dependence import INDEPENDENT
from thali._posterior.interval import INTERVAL
from thali.errors import ArgumentError, Setting

from ..answers.data_kind_checks import require_choices
from .base import LatentFeatures

if TYPE_CHECKING:
    import pandas


def choices(model: Any, name: str) -> None:
    """Require draws of choices of one group of respondents."""
    require_choices(model._view, name)


def ranked_options(model: Any, name: str) -> None:
    """Require draws that order the options in one way for all respondents."""
    if model._view.common_worth is None:
        choices(model, name)


class ChoiceAnswers(LatentFeatures):
    """Base of the latent-feature models that are fitted to choices."""

    @requires(choices)
    def unique_weights(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """The weight that each option has alone: its unique aspect, and every feature that no other
        option owns.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row an option: weight, weight_low, weight_high, and share, the weight divided by the
            sum over options. With `aspects="unique"` the shares are the scale values of the
            Bradley-Terry-Luce model.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        from ..answers.option_tables import unique_weights_table

        return unique_weights_table(self._view, ci)

    @property
    def _covariates(self) -> tuple[str, ...]:
        """After `fit`: the covariates of comparisons that it used."""
        return self._engine.covariates(self)

    @requires(require_covariates)
    def covariate_effects(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """By how much a unit of each covariate changes the log odds of the first of two options.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a covariate. Of draws: mean, sd, low and high (the interval) of its coefficient,
            above_0 (the probability that it is positive) and odds (the factor exp(mean) of the
            odds). By maximum likelihood: estimate, std_error (over people as those of weights), z
            and p_value (Wald test that it has no effect; see also `thali.likelihood_ratio`), low
            and high (the interval), odds (the factor exp(estimate) of the odds);
            ``attrs["interval"]`` is `ci`.

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
        return self._engine.covariate_effects(self, ci)

    @requires(ranked_options)
    def ranks(self, every_rank: bool = False, ci: float = INTERVAL) -> "pandas.DataFrame":
        """The posterior of each option's rank by utility, the weight of all its aspects.

        .. math:: U_i = u_i + \\sum_k w_k f_{ik}

        Of two options the one with the higher utility is chosen over the other more often than not.

        Parameters
        ----------
        every_rank : bool
            Whether to give the probability of every rank, a column each, and not of the first
            alone.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row an option, the best first: rank (posterior mean; 1 is the best), rank_low and
            rank_high (its 89 % interval), p_1, the probability of being the best, and with
            `every_rank` p_2, p_3, ... of the other ranks. `thali.plots.ranks` draws the table.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model was fitted to similarities.
        """
        return self._data_answers.ranks(every_rank, ci)

    def predict_proba(
        self,
        sets: Any,
        return_se: bool = False,
        covariates: Any = None,
        respondent: Mapping[str, Any] | None = None,
    ) -> Any:
        """Posterior mean choice probabilities, lapse included.

        With `LatentClasses` they are those of a new person, for pairs. A new person is in a class
        with a probability proportional to one more than the number of people who are. For those of
        one class ask `respondents.of_class`. With ``people=Individuals()`` they are the mean over
        new people, whose weights vary about the common ones; for those of one person ask
        `of_group`.

        Parameters
        ----------
        sets : list of (a, b), list of lists, or Choices
            Labels of the options that are offered together.
        return_se : bool
            Whether to give the Monte Carlo standard error of each probability, too.
        covariates : mapping or DataFrame, optional
            Of comparisons, by name a number for all pairs or one for each, with the sign of "a over
            b": ``{"order": 1}`` where a is shown first. Those not named are 0.
        respondent : mapping, optional
            With `Individuals(by=...)`: what is known of the new person, such as ``{"age": 30,
            "sex": "f"}``. None: the mean over new people of whom as much is known as of those who
            answered.

        Returns
        -------
        ndarray, shape (number of pairs,), or list of ndarray
            Of pairs alone: the probability that a is chosen over b (where there are ties: if one of
            the two is chosen; see `predict_outcomes`). Of larger sets, or `Choices`: for each set
            the probabilities of its members, in their order; of best-worst `Choices` those of the
            ordered pairs (best, worst), the first member as the best with each of the others as the
            worst, then the second. With `return_se` a pair of these: the second holds the standard
            errors, from the effective sample size of the draws.

        Raises
        ------
        ArgumentError
            If a label or a covariate is unknown, an entry is not two different options or more, or
            `respondent` does not say what weights depend on, or has a label that no respondent has.
        DataError
            If `respondent` has no number where the respondents have numbers.
        """
        if respondent is not None:
            from thali._people.columns import no_covariates

            from ..answers.new_respondents import predict_from_population

            if not self._engine.draws:
                raise no_covariates()
            return predict_from_population(self._view, sets, return_se, covariates, respondent)
        return self._engine.predict_proba(self, sets, return_se, covariates)

    def predict_outcomes(self, pairs: Any, covariates: Any = None) -> "pandas.DataFrame":
        """Posterior mean probabilities of the three outcomes of comparisons that may end in a tie.

        Parameters
        ----------
        pairs : list of (a, b)
            Labels of two different options each.
        covariates : mapping or DataFrame, optional
            As of `predict_proba`.

        Returns
        -------
        pandas.DataFrame
            One row a pair: a, b, p_a (a is chosen), p_tie (neither is) and p_b, which sum to 1.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If a label is unknown, an entry is not two different options, or the model knows no
            ties.
        """
        return self._engine.predict_outcomes(self, pairs, covariates)

    def log_predictive(self, choices: Any) -> "pandas.Series":
        r"""How probable all choices of a person together are, of whom nothing else is known.

        .. math::
            \ln \frac1S \sum_s \prod_t p_t^{(s)}(x_t), \qquad
            \text{with latent classes} \quad
            \ln \frac1S \sum_s \sum_g \pi_g^{(s)} \prod_t p_{gt}^{(s)}(x_t)

        and with ``people=Individuals()`` the integral over the weights w of a new person,

        .. math::
            \ln \frac1S \sum_s \int \prod_t p_t(x_t \mid w) \, dP(w \mid v^{(s)}, \kappa^{(s)})

        The product over the choices x_t of a person is taken within each draw s, and each class g.
        So what the first choices say of the others counts; the product of what `predict_proba`
        gives has each choice made by another person. It is of the likelihood itself, also where
        draws were adjusted for people who answered more than once. The integral is found by
        annealed importance sampling (Neal 2001) with 1,024 new people or more, the same for
        everybody; its Monte Carlo error was .03 to .15 a person of 24 to 66 choices.
        `thali.compare` scores people who are left out by it, too.

        Parameters
        ----------
        choices : Choices
            With respondents. Comparisons become choices by ``Choices.from_comparisons``.

        Returns
        -------
        pandas.Series
            One number a respondent who chose anything, in nats; lapse included.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If an option is unknown.
        DataError
            If the choices have no respondents.
        """
        return self._engine.log_predictive(self, choices)

    def check(self, random_seed: Any = None, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Posterior predictive check: which observed proportions does the model miss?

        Each compared pair is replicated once a draw, Binomial(n, p), or each set that was offered,
        Multinomial(n, p), and the observed proportion is held against the replicates. Replicates of
        a pair have the covariates of its comparisons. `thali.plots.check` draws the table.

        Parameters
        ----------
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the replicates.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a compared pair (a, b), or a member of a set (alternative, offered), the worst
            first: n, observed (proportion in which a, or the alternative, was chosen), predicted
            (posterior mean), low and high (the interval of the replicated proportion), p_value
            (two-sided) and missed (whether observed lies outside the interval). If there are ties
            two rows a pair, with the column tied: of the choices of a, and of the ties.
            ``attrs["p_value"]`` is that of all pairs together (chi-square discrepancy; NaN where n
            is below 2 on average, of which the check says nothing). Where the model is true it is
            conservative: below .05 in .5 to 1.5 % of simulated data sets.

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

        return self._data_answers.check(random_seed, ci)

    @requires(choices)
    def next_pairs(
        self, n: int = 10, among: Any = None, goal: Any = "everything", random_seed: Any = 1
    ) -> "pandas.DataFrame":
        r"""The pairs of options that are best asked next: those whose answers are expected to teach
        most.

        .. math:: I(\text{answer}; s) = H\bigl(E_s\, p(s)\bigr) - E_s H\bigl(p(s)\bigr)

        in nats, where p(s) are the probabilities of the outcomes in draw s of the posterior. With
        another goal the answer is to teach something about the draw: the order of each two options
        (`"ranks"`, summed over the pairs of options), the best option (`"best"`), or an aspect.

        Parameters
        ----------
        n : int
            How many pairs; they are chosen one after the other, each for what it adds to the
            answers of those before. None stands twice, even where the same question again would
            teach more than any other.
        among : list of labels, optional
            The options that can be asked about; None: all.
        goal : {"everything", "ranks", "best"} or mapping
            ``{"aspect": [labels]}``: whether there is an aspect of just these options, or of nearly
            these with ``"similar": 0.8``, the least Jaccard index.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of answers, pairs and orders that are drawn where there are too many to look at all of
            them: more than some 11,000 pairs, 1,000 orders, or 256 combinations of answers.

        Returns
        -------
        pandas.DataFrame
            One row a pair, in this order: a, b, p_a (posterior mean probability that a is chosen;
            p_tie where there are ties), information (what the answer adds to those above it, in
            nats) and alone (what it teaches as the only one). From 4,000 draws at most; the bias of
            finitely many is subtracted, and nothing is below 0.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If a label or the goal is unknown, or the model was fitted to similarities or triplets.

        References
        ----------
        Lindley (1956), On a measure of the information provided by an experiment; Houlsby, Huszar,
        Ghahramani & Lengyel (2011), Bayesian active learning for classification and preference
        learning.

        Examples
        --------
        >>> import thali as th
        >>> model = th.EliminationByAspects("unique").fit(
        ...     th.PairedComparisons(
        ...         [[0, 9, 5], [1, 0, 0], [5, 0, 0]], labels=["tea", "milk", "beer"]
        ...     ),
        ...     draws=500,
        ...     tune=100,
        ...     random_seed=1,
        ...     progressbar=False,
        ... )
        >>> model.next_pairs(1).loc[0, ["a", "b"]].tolist()
        ['milk', 'beer']
        """
        from ..answers.next_question import next_pairs_table

        return next_pairs_table(self._view, n, among, goal, random_seed)

    @requires(choices)
    def next_sets(
        self,
        size: int = 3,
        n: int = 10,
        among: Any = None,
        goal: Any = "everything",
        random_seed: Any = 1,
    ) -> "pandas.DataFrame":
        """The sets of options out of which a choice is expected to teach most; see `next_pairs`.

        Parameters
        ----------
        size : int, 2 or more
            Of the sets.
        n, among, goal, random_seed
            As of `next_pairs`; of more than 5,000 sets as many are looked at, drawn at random.

        Returns
        -------
        pandas.DataFrame
            One row a set: members, information and alone.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            As of `next_pairs`.
        """
        from ..answers.next_question import next_sets_table

        return next_sets_table(self._view, size, n, among, goal, random_seed)

    @requires(require_stored_chains)
    def update(
        self,
        new_data: Any,
        draws: int | None = None,
        cores: int | None = None,
        progressbar: bool = False,
    ) -> Self:
        """Draw from the posterior after further comparisons, such as the next vote.

        The chains go on from where they are, now with all comparisons: little has to be tuned, and
        after a few answers nothing has to be found again. The draws so far are replaced.

        Parameters
        ----------
        new_data : PairedComparisons or Choices
            Further comparisons, or choices from sets, of options that the model knows, and of the
            kind of the fit. Of the new and the old ones together it is forgotten in which order the
            options were shown; who made them is kept if both say it, and they have neither
            covariates nor dates.
        draws : int, optional
            States kept in each chain; None: as many as before. A tenth of it, and 20 at least,
            comes first and is discarded.
        cores : int, optional
            Threads; None means one a chain, as far as there are processors. Has no influence on the
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
            If parameters of the model were changed after the fit, it has no draws, or they allow
            for the people who answered.
        DataError
            If the new data have an option that the model does not know, or the model was fitted to
            other data than paired comparisons.

        Warns
        -----
        ConvergenceWarning
            If the chains do not agree yet.
        """
        from thali._data.judged import merge_new_data
        from thali._model.sampling import check_unchanged

        check_unchanged(self)
        self._population(self._state_.source).refuse_update()
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
        kept = self._state_.draws if draws is None else draws
        return self._update_fit(data, kept, max(20, kept // 10), cores, progressbar)
