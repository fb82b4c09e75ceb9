"""What models answer of people of whom each has weights of their own."""

from typing import TYPE_CHECKING

from thali._people.segments import HasSegments
from thali._posterior.interval import INTERVAL

from .base import LatentFeatures

if TYPE_CHECKING:
    import pandas

    from thali._people.segments import Preferences


class PeopleAnswers(LatentFeatures):
    """Base of the latent-feature models that are fitted with `people=Individuals()`."""

    def individuals(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        r"""What each person prefers, with its error, if everybody has weights of their own about
        common ones.

        .. math:: U_{ni} \Big/ \sum_j U_{nj}, \qquad U_{ni} = u_{ni} + \sum_k w_{nk} f_{ik}

        is the share of option i for person n, with everybody's own weights u and w. Of options that
        a person never judged it is what the others say, with the error of a new person.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a person and option, indexed by both in this order: mean of the share over
            draws, and its 89 % interval low to high; the shares of a person sum to 1. Of
            similarities and triplets a row a person and feature (its members, of those of several
            objects with a probability of .05 or more): its weight for the person, if present.
            `thali.plots.individuals` draws the table of shares.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model was not fitted with `people=Individuals()`.
        """
        from ..answers.individuals import of_everybody, person_table

        return person_table(of_everybody(self._view, "individuals"), ci)

    def respondent_effects(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        r"""By how much a unit of each column of people changes their weights, of
        `Individuals(by=...)`.

        Of choices of each option's share s of all worths, by the common weights w at the mean of
        the columns, and of aspects of several options,

        .. math:: \frac{\partial \ln s_i}{\partial x} = e_i - \sum_j s_j e_j, \qquad
            e_i = \Big(u_i b_i + \sum_k w_k f_{ik} b_k\Big) \Big/ U_i

        where b are the slopes of the logarithms of weights; of triplets b itself.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a column of people (numbers as they are, labels as "sex[male]" against the
            first) and `item`, an option or the members of a feature: mean, sd, low and high of the
            change of the logarithm for a unit of the column, above_0 (the probability that it
            rises), ratio (the factor exp(mean)) and probability (that the feature is there; numbers
            are of draws with it).

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model has no columns `by`, or `ci` is not between 0 and 1.
        """
        from ..answers.slopes import effects_table

        return effects_table(self._view, ci)


class ChooserAnswers(HasSegments, PeopleAnswers):
    """Base of those that are fitted to what people choose."""

    def _preferences(self) -> "Preferences":
        from ..answers.individuals import of_everybody, preferences_of_people

        return preferences_of_people(of_everybody(self._view, "segments"))
