"""Results about respondents with individual tastes: utilities, reach and segments."""

from typing import TYPE_CHECKING, Any

from thali._people.respondent_results import RespondentResults
from thali._people.respondent_segments import Preferences, SegmentResults
from thali._posterior.posterior_interval import INTERVAL

from .level_utilities import tabulate_respondent_utilities
from .product_lines import tabulate_reach

if TYPE_CHECKING:
    import pandas

    from thali._inference.random_seeds import RandomSeed


class ChoiceRespondents(RespondentResults, SegmentResults):
    """Results about respondents who have individual tastes among products.

    `respondents` of a fitted `HierarchicalLogit` or `ProductClasses`.
    """

    def individuals(self, zero_centred: bool = False) -> "pandas.DataFrame":
        r"""Return the utility of each level of each attribute for each respondent.

        Posterior means, centred like `utilities` of the model.

        Parameters
        ----------
        zero_centred : bool
            Whether to return zero-centred differences: the mean range of the attributes is 100.

        Returns
        -------
        pandas.DataFrame
            One row per respondent, one column per level ("zoom: 10x").
        """
        return tabulate_respondent_utilities(self._model._get_fitted_chooser(), zero_centred)

    def reach(
        self,
        products: "pandas.DataFrame",
        size: int = 3,
        top: int = 10,
        people: Any = None,
        random_seed: "RandomSeed" = 0,
        ci: float = INTERVAL,
    ) -> "pandas.DataFrame":
        r"""Return the product lines that reach most respondents (TURF).

        .. math:: r(S) = \frac1N \sum_n \max_{j \in S} [\, u_{nj} > u_{n0} \,]

        TURF is total unduplicated reach and frequency. A product reaches a respondent if its
        expected utility exceeds the utility of the no-choice option; without such an option, if the
        respondent would choose it from all products more often than by chance.

        Parameters
        ----------
        products : data frame
            The possible products, as for `market_shares`, with a row of the no-choice option if the
            data have one.
        size : int
            Products per line, fewer than the possible products.
        top : int
            Number of lines listed.
        people : optional
            The respondents, as for `market_shares`, except "new"; None and "respondents" are equal.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Seed of the respondents' weights in intervals.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per line, the largest reach first: members, reach, its interval low to high for
            the sampled population, frequency and best, defined as for sets of options by worths.

        Raises
        ------
        DataError
            As `market_shares`.
        ArgumentError
            If all respondents have the same tastes in the model, or an argument is out of range.

        References
        ----------
        Miaoulis, Free & Parsons (1990), TURF: A new planning approach for product line extensions;
        Nemhauser, Wolsey & Fisher (1978), An analysis of approximations for maximizing submodular
        set functions.
        """
        return tabulate_reach(
            self._model._get_fitted_chooser(), products, size, top, people, random_seed, ci
        )

    def _preferences(self) -> Preferences:
        """Return each respondent's preferences between levels in every draw."""
        return self._model._preferences()
