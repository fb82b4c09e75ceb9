"""What a fit by maximum likelihood says of choices and of covariates."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError
from thali.posterior.interval import INTERVAL

from ..base import Model
from ..latent_features.answers.covariates import values_for
from .covariates import own_names

if TYPE_CHECKING:
    import pandas

    from thali.data.left_out import LeftPair

    from .estimates import Estimates


class EstimatedChoices(Model):
    """Predictions, and effects of covariates, of `MaximumLikelihoodElimination`."""

    ties: Any

    def _maximum(self) -> "Estimates":
        raise NotImplementedError

    @property
    def covariates_(self) -> tuple[str, ...]:
        """The covariates that the fit used."""
        return own_names(self._maximum().data)

    def covariate_effects(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """By how much a unit of each covariate changes the log odds of the first of two options.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a covariate: estimate, std_error (over people as those of weights), z and p_value (Wald test that it
            has no effect; see also `thali.likelihood_ratio`), lower and upper (the interval), odds (the factor
            exp(estimate) of the odds); ``attrs["interval"]`` is `ci`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.

        Examples
        --------
        >>> import pandas as pd, thali as th
        >>> games = [("Hull", "Stoke", "H"), ("Stoke", "Hull", "A"), ("Hull", "Stoke", "A"), ("Stoke", "Hull", "H")] * 3
        >>> games = pd.DataFrame([*games, ("Hull", "Stoke", "H")], columns=["home", "away", "result"])
        >>> data = th.PairedComparisons.from_results(games, covariates=["order"])
        >>> model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(data)
        >>> model.covariate_effects()["odds"].round(3).to_dict()
        {'order': 1.155}
        """
        from .covariates import covariate_table

        return covariate_table(self._maximum(), ci)

    def predict_proba(self, sets: Any, covariates: Any = None) -> "np.ndarray | list[np.ndarray]":
        """Choice probabilities at the estimates, lapse included.

        Parameters
        ----------
        sets : list of (a, b), list of lists, or Choices
            Labels of the options that are offered together.
        covariates : mapping or DataFrame, optional
            Of comparisons, by name a number for all pairs or one for each, with the sign of "a over b": ``{"order":
            1}`` where a is shown first. Those not named are 0.

        Returns
        -------
        ndarray, shape (number of pairs,), or list of ndarray
            Of pairs alone: the probability that a is chosen over b (where there are ties: if one of the two is chosen;
            see `predict_outcomes`). Of larger sets, or `Choices`: for each set the
            probabilities of its members, in their order; of best-worst `Choices` those of the ordered pairs (best,
            worst), the first member as the best with each of the others as the worst, then the second.

        Raises
        ------
        ArgumentError
            If a label or a covariate is unknown, or an entry is not two different options or more.
        """
        from ..latent_features.answers.predict import has_answers, places_of

        found = self._maximum()
        places, paired = places_of(sets, list(found.data.labels))
        if paired:
            first, second = np.array(places).T
            return found.probabilities(first, second, self._values(covariates, len(places)))
        if covariates is not None:
            raise ArgumentError("Covariates are for comparisons of two options; give pairs of labels, [(a, b), ...].")
        if has_answers(sets):
            return [found.answer_probabilities(each) for each in places]
        return [found.set_probabilities(each) for each in places]

    def log_predictive(self, choices: Any) -> "pandas.Series":
        """How probable all choices of a person together are, at the estimates: the sum of the ln of each.

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
            If nobody is told apart.
        """
        from ..latent_features.answers.log_predictive import by_respondent, choices_by_person, log_of_choices

        which, times = choices_by_person(choices)
        p = np.concatenate(self.predict_proba(choices))[which]
        return by_respondent(choices, log_of_choices(p[None], times)[0])

    def _values(self, covariates: Any, count: int) -> np.ndarray:
        """The covariates of so many predicted comparisons."""
        data = self._maximum().data
        options = data.covariates.options if own_names(data) else np.zeros((1, 0))
        return values_for(covariates, own_names(data), options, count)

    def predict_outcomes(self, pairs: Any, covariates: Any = None) -> "pandas.DataFrame":
        """Probabilities of the three outcomes of comparisons that may end in a tie, at the estimates.

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
            If a label is unknown, an entry is not two different options, or the model knows no ties.
        """
        from ..latent_features.answers.predict import table_of_outcomes, tied_places
        from ..latent_features.answers.ties import outcomes

        found = self._maximum()
        labels = list(found.data.labels)
        first, second = tied_places(pairs, labels, found.tie is not None or self.ties == "davidson")
        p = found.probabilities(first, second, self._values(covariates, len(first)))
        return table_of_outcomes(labels, first, second, outcomes(p, 1.0 - p, found.tie or 0.0))

    def predict_left_out(self, part: "LeftPair") -> np.ndarray:
        """What the estimates predict for a pair that the model was fitted without, as scores of left-out data need it.

        Parameters
        ----------
        part : LeftPair
            All comparisons of the pair. Covariates that the model does not know do not count.

        Returns
        -------
        ndarray, shape (cells, outcomes)
            The probability of each outcome, lapse included: the first option is chosen, neither is (if the part has
            ties), the second.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If a label is unknown, or the part has ties and the model knows none.
        """
        pairs, given = [part.pair] * len(part.counts), part.known(self.covariates_) or None
        if part.counts.shape[1] == 3:
            return self.predict_outcomes(pairs, given)[["p_a", "p_tie", "p_b"]].to_numpy()
        p = np.asarray(self.predict_proba(pairs, given))
        return np.stack([p, 1.0 - p], axis=-1)
