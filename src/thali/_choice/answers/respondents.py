"""Results about respondents who have individual tastes among described products."""

from typing import TYPE_CHECKING, Any

from thali._people.respondents import RespondentResults
from thali._people.segments import Preferences, SegmentResults
from thali._posterior.interval import INTERVAL

from .lines import tabulate_reach
from .utilities import tabulate_respondent_utilities

if TYPE_CHECKING:
    import pandas


class ChoiceRespondents(RespondentResults, SegmentResults):
    """Results about respondents who have individual tastes.

    `respondents` of a fitted `HierarchicalLogit` or `ProductClasses`.
    """

    def individuals(self, zero_centred: bool = False) -> "pandas.DataFrame":
        r"""Return what each level of each attribute adds to the utility of each respondent.

        Posterior means, centred as those of `utilities` of the model.

        Parameters
        ----------
        zero_centred : bool
            Whether to give zero-centred differences: the mean range of the attributes is 100.

        Returns
        -------
        pandas.DataFrame
            One row a respondent, one column a level ("zoom: 10x").
        """
        return tabulate_respondent_utilities(self._model._people_of_fit(), zero_centred)

    def reach(
        self,
        products: "pandas.DataFrame",
        size: int = 3,
        top: int = 10,
        people: Any = None,
        random_seed: Any = 0,
        ci: float = INTERVAL,
    ) -> "pandas.DataFrame":
        r"""Return the product lines that reach most people: TURF, total unduplicated
        reach and frequency.

        .. math:: r(S) = \frac1N \sum_n \max_{j \in S} [\, u_{nj} > u_{n0} \,]

        A product reaches whom it pleases more than choosing nothing, by the person's utilities
        without the chance of the occasion; where nothing could be chosen, whoever would choose it
        out of all of them more often than one of them by chance.

        Parameters
        ----------
        products : data frame
            What may be in a line, as for `market_shares`, with a row of the no-choice option where
            there is one.
        size : int
            Products of a line, fewer than there are.
        top : int
            How many lines to list.
        people : optional
            Of whom, as for `market_shares`, but not "new"; None and "respondents" are alike.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the weights of people in intervals.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a line, the one that reaches most first: members, reach, its interval low to
            high for the population that the people are a sample of, frequency and best, as
            those of sets of options by worths.

        Raises
        ------
        DataError
            As `market_shares`.
        ArgumentError
            If everybody has the same tastes in the model, or an argument is out of its range.

        References
        ----------
        Miaoulis, Free & Parsons (1990), TURF: A new planning approach for product line extensions;
        Nemhauser, Wolsey & Fisher (1978), An analysis of approximations for maximizing submodular
        set functions.
        """
        return tabulate_reach(
            self._model._people_of_fit(), products, size, top, people, random_seed, ci
        )

    def _preferences(self) -> Preferences:
        return self._model._preferences()
