"""What models answer of people of whom each has weights of their own."""

from typing import TYPE_CHECKING

from thali.people.segments import HasSegments

from .base import LatentFeatures

if TYPE_CHECKING:
    import pandas

    from thali.people.segments import Preferences


class PeopleAnswers(HasSegments, LatentFeatures):
    """Base of the latent-feature models that are fitted with `people="random"`."""

    def individuals(self) -> "pandas.DataFrame":
        r"""What each person prefers, with its error, if everybody has weights of their own about common ones.

        .. math:: U_{ni} \Big/ \sum_j U_{nj}, \qquad U_{ni} = u_{ni} + \sum_k w_{nk} f_{ik}

        is the share of option i for person n, with everybody's own weights u and w. Of options that a person never
        judged it is what the others say, with the error of a new person.

        Returns
        -------
        pandas.DataFrame
            One row a person and option, indexed by both in this order: mean of the share over draws, and its 89 %
            interval low to high; the shares of a person sum to 1. Of similarities and triplets a row a person and
            feature (its members, of those with a probability of .05 or more): its weight for the person, if present.
            `thali.plots.individuals` draws the table of shares.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model was not fitted with `people="random"`.
        """
        from ..answers.individuals import of_everybody, person_table

        return person_table(of_everybody(self._fitted(), "individuals"))

    def _preferences(self) -> "Preferences":
        from ..answers.individuals import of_everybody, preferences_of_people

        return preferences_of_people(of_everybody(self._fitted(), "segments"))
