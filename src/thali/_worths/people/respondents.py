"""Results about respondents of whom each has individual worths."""

from typing import TYPE_CHECKING, Any

from thali._people.reach import reach_table
from thali._people.respondents import RespondentResults
from thali._people.segments import HasSegments, Preferences
from thali._posterior.interval import INTERVAL

from ..of_data import keep_single_choices
from .check import measure_fit
from .draws import RespondentDraws
from .tables import effects_table, find_reached, measure_preferences, scores_table, widen_scores

if TYPE_CHECKING:
    import pandas


class WorthRespondents(RespondentResults, HasSegments):
    """Results about respondents of whom each has individual worths.

    `BradleyTerryLuce.respondents`, after a fit with ``people=Individuals()``.
    """

    def __init__(self, model: Any, drawn: RespondentDraws) -> None:
        super().__init__(model)
        self._drawn, self._labels = drawn, model._draws.labels

    def individuals(self, wide: bool = False, ci: float = INTERVAL) -> "pandas.DataFrame":
        r"""Return the scores of each respondent, from 0 to 100; those of a respondent sum to 100.

        .. math::

            s_{pi} = 100 \, q_{pi} \Big/ \sum_j q_{pj}, \qquad
            q_{pi} = \frac{e^{u_{pi}}}{e^{u_{pi}} + a - 1}

        with the log worths u of respondent p less their mean, and a options in a set as respondents
        were shown it, the mean of the data. The score of an option that a respondent never saw is
        what the answers of others say.

        Parameters
        ----------
        wide : bool
            Whether to give a row a respondent, with a column an option.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a respondent and option: mean (posterior mean of the score), low and high. With
            `wide` one row a respondent: fit, and the mean score of each option. The fit is the root
            likelihood, the geometric mean of the probabilities of the respondent's answers, from 0
            to 1. The best and the worst of a set of a options are one answer, with the probability
            1 / (a (a - 1)) by chance.

        Raises
        ------
        ArgumentError
            If `ci` is not between 0 and 1.

        References
        ----------
        Sawtooth Software (2013), The MaxDiff system technical paper, version 8: the probability
        scale, and the fit statistic.
        """
        model, drawn, labels = self._model, self._drawn, self._labels
        table = scores_table(drawn, labels, model._score_scale(), ci)
        if not wide:
            return table
        data = keep_single_choices(model._get_fit_data())
        fit = model._compute_once(
            "fit_of_respondents", lambda: measure_fit(model._draws, drawn, data)
        )
        return widen_scores(table, fit, labels)

    def effects(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return the effect on log worths of a unit of each column of `Individuals(by=...)`.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a column of respondents (numbers as they are, labels as "sex[male]" against the
            first) and option: mean, sd, low and high of the change of the log worth for a unit of
            the column, beside the mean change of all options; above_0 (the probability that it
            rises) and ratio (the factor exp(mean) of the worth).

        Raises
        ------
        ArgumentError
            If the model has no columns `by`, or `ci` is not between 0 and 1.
        """
        return effects_table(self._drawn, self._labels, ci)

    def reach(
        self,
        size: int = 3,
        top: int = 10,
        none: str | None = None,
        random_seed: Any = 0,
        ci: float = INTERVAL,
    ) -> "pandas.DataFrame":
        r"""Return the sets of options that reach most respondents: TURF, total unduplicated reach
        and frequency.

        .. math::

            r(S) = \frac1N \sum_p \max_{i \in S} \left[ \frac{e^{u_{pi}}}{\sum_j e^{u_{pj}}} >
            \frac1I \right]

        An option reaches a respondent whose share of preference for it is above 1 / I, the mean of
        the I options; with `none`, an option that stands for none of the others, if the respondent
        prefers it to that.

        Parameters
        ----------
        size : int
            Options of a set, fewer than there are.
        top : int
            How many sets to list.
        none : str, optional
            The option that stands for none of the others (an anchored scale); it is in no set.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the weights of respondents in intervals.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a set, the one that reaches most first: members, reach (the share of respondents
            whom it reaches, mean over draws), low and high (for the population that they are a
            sample of, by a Bayesian bootstrap with half a respondent whom every set reaches and
            half a one whom none does), frequency (how many of its options reach a respondent, on
            average) and best (the probability that it reaches most; sets that reach as many share
            it). ``attrs["sets"]`` is the number of sets of this size. Up to a million all are tried
            (``attrs["exact"]``); of more the search is greedy, with exchanges, and no set reaches
            more than ``attrs["bound"]``. `thali.plots.reach` draws the table.

        Raises
        ------
        ArgumentError
            If there is no option `none`, or size or top is out of its range.

        References
        ----------
        Miaoulis, Free & Parsons (1990), TURF: A new planning approach for product line extensions;
        Nemhauser, Wolsey & Fisher (1978), An analysis of approximations for maximizing submodular
        set functions; Rubin (1981), The Bayesian bootstrap.
        """
        reached, labels = find_reached(self._drawn, self._labels, none)
        return reach_table(reached, labels, size, top, random_seed, ci)

    def _preferences(self) -> Preferences:
        return measure_preferences(self._drawn, self._labels)
