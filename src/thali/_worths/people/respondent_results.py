"""Results about respondents with individual worths."""

from typing import TYPE_CHECKING

from thali._people.respondent_results import RespondentResults
from thali._people.respondent_segments import Preferences, SegmentResults
from thali._people.turf_reach import tabulate_best_sets
from thali._posterior.posterior_interval import INTERVAL

from ..density_from_data import keep_single_choices
from ..worth_draws import WorthDraws
from .respondent_draws import RespondentDraws
from .respondent_fit import measure_fit
from .respondent_tables import (
    find_reached_options,
    measure_preferences,
    pivot_scores,
    tabulate_respondent_effects,
    tabulate_respondent_scores,
)

if TYPE_CHECKING:
    import pandas

    from thali._inference.random_seeds import RandomSeed

    from ..model import BradleyTerryLuce


class WorthRespondents(RespondentResults, SegmentResults):
    """Results about respondents with individual worths.

    `BradleyTerryLuce.respondents`, after a fit with ``people=Individuals()``.
    """

    def __init__(
        self, model: "BradleyTerryLuce", draws: WorthDraws, respondent_draws: RespondentDraws
    ) -> None:
        super().__init__(model)
        self._draws = draws
        self._respondent_draws = respondent_draws
        self._labels = draws.labels

    def individuals(self, wide: bool = False, ci: float = INTERVAL) -> "pandas.DataFrame":
        r"""Return the scores of each respondent, from 0 to 100; those of a respondent sum to 100.

        .. math::

            s_{pi} = 100 \, q_{pi} \Big/ \sum_j q_{pj}, \qquad
            q_{pi} = \frac{e^{u_{pi}}}{e^{u_{pi}} + a - 1}

        with the log worths u of respondent p less their mean, and a options in a set as respondents
        were shown it, the mean of the data. The score of an unseen option is inferred from
        the answers of other respondents.

        Parameters
        ----------
        wide : bool
            Whether to give one row per respondent, with one column per option.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per respondent and option: mean (posterior mean of the score), low and high.
            With `wide` one row per respondent: fit, and the mean score of each option. The fit is
            the root likelihood, the geometric mean of the probabilities of the respondent's
            answers, from 0 to 1. The best and the worst of a set of a options are one answer, with
            the probability 1 / (a (a - 1)) by chance.

        Raises
        ------
        ArgumentError
            If `ci` is not between 0 and 1.

        References
        ----------
        Sawtooth Software (2013), The MaxDiff system technical paper, version 8: the probability
        scale, and the fit statistic.
        """
        table = tabulate_respondent_scores(
            self._respondent_draws, self._labels, self._model._build_score_scale(), ci
        )
        if not wide:
            return table
        data = keep_single_choices(self._model._get_fit_data())
        respondent_fit = self._model._compute_once(
            "fit_of_respondents", lambda: measure_fit(self._draws, self._respondent_draws, data)
        )
        return pivot_scores(table, respondent_fit, self._labels)

    def effects(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return the effect on log worths of a unit of each column of `Individuals(by=...)`.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per column of respondents (numeric columns by name, labels as "sex[male]"
            compared with the first) and option: mean, sd, low and high of the change of the log
            worth for a unit of the column, relative to the mean change of all options; above_0 (the
            probability that it rises) and ratio (the factor exp(mean) of the worth).

        Raises
        ------
        ArgumentError
            If the model has no columns `by`, or `ci` is not between 0 and 1.
        """
        return tabulate_respondent_effects(self._respondent_draws, self._labels, ci)

    def reach(
        self,
        size: int = 3,
        top: int = 10,
        none: str | None = None,
        random_seed: "RandomSeed" = 0,
        ci: float = INTERVAL,
    ) -> "pandas.DataFrame":
        r"""Return the sets of options that reach most respondents (TURF).

        TURF is total unduplicated reach and frequency:

        .. math::

            r(S) = \frac1N \sum_p \max_{i \in S} \left[ \frac{e^{u_{pi}}}{\sum_j e^{u_{pj}}} >
            \frac1I \right]

        An option reaches a respondent whose share of preference for it is above 1 / I, the mean of
        the I options; with `none`, an option that represents none of the others, if the respondent
        prefers it to `none`.

        Parameters
        ----------
        size : int
            Number of options in a set, below the number of options.
        top : int
            Number of sets in the table.
        none : str, optional
            The option that represents none of the others (an anchored scale); sets exclude it.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            For the weights of respondents in intervals.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per set, the highest reach first: members, reach (the share of reached
            respondents, mean over draws), low and high (for the population of the respondents, by a
            Bayesian bootstrap with half a respondent whom every set reaches and half a respondent
            whom no set reaches), frequency (mean number of its options that reach a respondent) and
            best (the probability of the highest reach; sets with equal reach share it).
            ``attrs["sets"]`` is the number of sets of this size. Up to a million, all are tried
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
        is_reached, labels = find_reached_options(self._respondent_draws, self._labels, none)
        return tabulate_best_sets(is_reached, labels, size, top, random_seed, ci)

    def _preferences(self) -> Preferences:
        """Return the preferences of all respondents in every draw, from their worths."""
        return measure_preferences(self._respondent_draws, self._labels)
