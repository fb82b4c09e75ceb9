"""Results about respondents with individual weights of features."""

from typing import TYPE_CHECKING

from thali._people.respondent_results import RespondentResults
from thali._posterior.posterior_interval import INTERVAL

from ..results.individual_weights import person_weights_table, require_individual_weights
from ..results.weight_slopes import effects_table

if TYPE_CHECKING:
    import pandas


class FeatureRespondents(RespondentResults):
    """Results about respondents with individual weights of features.

    `AdditiveClustering.respondents`, after a fit with ``people=Individuals()``.
    """

    def individuals(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        r"""Return each respondent's preferences: shares of options, or weights of features.

        .. math:: U_{ni} \Big/ \sum_j U_{nj}, \qquad U_{ni} = u_{ni} + \sum_k w_{nk} f_{ik}

        is the share of option i for respondent n, with individual weights u and w. For options that
        a respondent never judged it follows from the others, with the error of a new respondent.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per respondent and option, indexed by both in this order: mean of the share over
            draws, and its interval low to high; the shares of a respondent sum to 1. For
            similarities and triplets one row per respondent and feature (with at least two members
            and probability >= 0.05): its weight for the respondent, if present.
            `thali.plots.individuals` draws the table of shares.

        Raises
        ------
        ArgumentError
            If the model was not fitted with `people=Individuals()`.
        """
        return person_weights_table(
            require_individual_weights(self._model._view, "individuals"), ci
        )

    def effects(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        r"""Return the effect on weights of a unit of each column of `Individuals(by=...)`.

        For choices it is the effect on each option's share s of all worths, by the common weights w
        at the mean of the columns, and on aspects of several options,

        .. math:: \frac{\partial \ln s_i}{\partial x} = e_i - \sum_j s_j e_j, \qquad
            e_i = \Big(u_i b_i + \sum_k w_k f_{ik} b_k\Big) \Big/ U_i

        where b are the slopes of the logarithms of weights; for triplets b itself.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per respondent column (numbers unchanged, labels as "sex[male]" against the
            first) and `item`, an option or the members of a feature: mean, sd, low and high of the
            change of the logarithm for a unit of the column, above_0 (the probability that it
            rises), ratio (the factor exp(mean)) and probability (that the feature is present; other
            columns refer to draws with it).

        Raises
        ------
        ArgumentError
            If the model has no columns `by`, or `ci` is not between 0 and 1.
        """
        return effects_table(self._model._view, ci)
