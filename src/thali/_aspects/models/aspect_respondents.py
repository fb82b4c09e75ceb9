"""Results about respondents who have individual weights of aspects, or are in latent classes."""

from typing import TYPE_CHECKING

from thali._people.populations import LatentClasses
from thali._people.segments import HasSegments, Preferences
from thali._posterior.interval import INTERVAL
from thali._posterior.view import Posterior
from thali.errors import ArgumentError, Setting

from ..answers.individuals import of_everybody, preferences_of_people
from ..answers.kinds_of_people import assignment_table, same_class_table, sizes_table
from .feature_respondents import FeatureRespondents

if TYPE_CHECKING:
    import pandas

    from .elimination import EliminationByAspects


class AspectRespondents(FeatureRespondents, HasSegments):
    """Results about respondents of whom each has individual weights, or is in a latent class.

    `EliminationByAspects.respondents`: `individuals`, `segments` and `effects` after a fit with
    ``people=Individuals()``; `classes`, `membership`, `same_class` and `of_class` after one with
    ``people=LatentClasses()``.
    """

    def _preferences(self) -> Preferences:
        return preferences_of_people(of_everybody(self._model._view, "segments"))

    def _with_classes(self, what: str) -> Posterior:
        """Return the posterior; an ArgumentError names what was asked for if the model has no
        classes."""
        posterior = self._model._view
        if not posterior.has_classes:
            raise ArgumentError(
                f"{what} requires a model with latent classes; refit with ",
                Setting("people", LatentClasses(2)),
                ".",
            )
        return posterior

    def classes(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        r"""Return the size of each class, in the sample and in the population.

        .. math:: \pi \mid z \sim \text{Dirichlet}(1 + n_1, \dots, 1 + n_G), \qquad
            n_g \text{ respondents of the sample being in class } g

        The numbers of classes mean nothing within a draw, and are made comparable: the classes of
        every draw are assigned to common ones so that the memberships of all people agree best, and
        these are ordered by size. So are they in `membership`, `of_class` and `features`.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a class, numbered from 1: sample_share, the posterior mean of the share of those
            who answered who are of it, with sample_share_low and sample_share_high (their
            interval); population_share, population_share_low and population_share_high, those of
            its share π of the population that they are a sample of; occupied, the probability that
            anybody of the sample is of it, and respondents, the names of those who most probably
            are. ``attrs["n_classes"]`` has the probability of each number of occupied classes.

        Raises
        ------
        ArgumentError
            If the model has no `LatentClasses`.

        References
        ----------
        Stephens (2000), Dealing with label switching in mixture models.
        """
        return sizes_table(self._with_classes("classes"), ci)

    def membership(self) -> "pandas.DataFrame":
        """Return the most probable class of each respondent.

        Returns
        -------
        pandas.DataFrame
            One row a respondent: class, its probability, and that of each class, ``P(1)``,
            ``P(2)``, ...; the classes are those of `classes`.

        Raises
        ------
        ArgumentError
            If the model has no `LatentClasses`.
        """
        return assignment_table(self._with_classes("membership"))

    def same_class(self) -> "pandas.DataFrame":
        """Return the posterior probability that two respondents are in the same class.

        It does not depend on how the classes are numbered.

        Returns
        -------
        pandas.DataFrame
            People by people, 1 on the diagonal.

        Raises
        ------
        ArgumentError
            If the model has no `LatentClasses`.
        """
        return same_class_table(self._with_classes("same_class"))

    def of_class(self, number: int) -> "EliminationByAspects":
        """Return the fitted model of one class, which answers whatever a model of one group of
        people does.

        Parameters
        ----------
        number : int
            Of the class, from 1, as in `classes`.

        Returns
        -------
        model
            Its draws are those of the common class, so their agreement between chains is that after
            numbers were made comparable. Weights are shares of the class's total. Observed are the
            comparisons of those who are most probably of it. It cannot go on drawing, and `check`
            is of all people alone.

        Raises
        ------
        ArgumentError
            If the model has no `LatentClasses`, or not so many.
        """
        self._with_classes("of_class")
        return self._model._of_part(self._model._data_answers.classes, number, "class")
