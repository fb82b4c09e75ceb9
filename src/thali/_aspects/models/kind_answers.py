"""What models answer of latent classes: who is in which, their sizes, and the model of one
class."""

from typing import TYPE_CHECKING, Any, Self

from thali._arguments import whole
from thali._people.populations import LatentClasses
from thali._posterior.interval import INTERVAL
from thali._posterior.view import Posterior
from thali.errors import ArgumentError, Setting

from .base import LatentFeatures

if TYPE_CHECKING:
    import pandas


class KindAnswers(LatentFeatures):
    """Base of the latent-feature models that are fitted with `people=LatentClasses(...)`."""

    people: Any

    def _of_kinds(self, what: str) -> Posterior:
        """Return the posterior; an ArgumentError names what was asked for if the model has no
        classes."""
        posterior = self._view
        if not posterior.has_classes:
            raise ArgumentError(
                f"{what} requires a model with latent classes; refit with ",
                Setting("people", LatentClasses(2)),
                ".",
            )
        return posterior

    def same_class(self) -> "pandas.DataFrame":
        """Return the posterior probability that two respondents are in the same class.

        It does not depend on how the classes are numbered.

        Returns
        -------
        pandas.DataFrame
            People by people, 1 on the diagonal.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model has no `LatentClasses`.
        """
        from ..answers.kinds_of_people import same_class_table

        return same_class_table(self._of_kinds("same_class"))

    def class_sizes(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        r"""Return the size of each class, in the sample and in the population.

        .. math:: \pi \mid z \sim \text{Dirichlet}(1 + n_1, \dots, 1 + n_G), \qquad
            n_g \text{ respondents of the sample being in class } g

        The numbers of classes mean nothing within a draw, and are made comparable: the classes of
        every draw are assigned to common ones so that the memberships of all people agree best, and
        these are ordered by size. So are they in `assignment`, `of_class` and `features`.

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
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model has no `LatentClasses`.

        References
        ----------
        Stephens (2000), Dealing with label switching in mixture models.
        """
        from ..answers.kinds_of_people import sizes_table

        return sizes_table(self._of_kinds("class_sizes"), ci)

    def assignment(self) -> "pandas.DataFrame":
        """Return the most probable class of each respondent.

        Returns
        -------
        pandas.DataFrame
            One row a respondent: class, its probability, and that of each class, ``P(1)``,
            ``P(2)``, ...; the classes are those of `class_sizes`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model has no `LatentClasses`.
        """
        from ..answers.kinds_of_people import assignment_table

        return assignment_table(self._of_kinds("assignment"))

    def of_class(self, number: int) -> Self:
        """Return the fitted model of one class, which answers whatever a model of one group of
        people does.

        Parameters
        ----------
        number : int
            Of the class, from 1, as in `class_sizes`.

        Returns
        -------
        model
            Its draws are those of the common class, so their agreement between chains is that after
            numbers were made comparable. Weights are shares of the class's total. Observed are the
            comparisons of those who are most probably of it. It cannot go on drawing, and `check`
            is of all people alone.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the model has no `LatentClasses`, or not so many.
        """
        posterior = self._of_kinds("of_class")
        number, most = whole("number", number, 1), posterior.most_classes
        if number > most:
            raise ArgumentError(
                f"There is no class {number}; classes are numbered from 1 to {most}."
            )
        results: Any = self._data_answers
        return self._of_part(results.classes.of_group(str(number)), f"class {number}")

    def check(self, random_seed: Any = None, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Posterior predictive check: what was observed against replicates that the fitted model
        draws.

        As `LatentFeatureModel.check`. With `LatentClasses` the respondents are those of the data,
        and in every draw each answers as the class of the draw. `thali.plots.check` draws the
        table.

        Parameters
        ----------
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the replicates.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            As there.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            Of the model of one class, whose respondents are not known.
        """
        if isinstance(self.people, LatentClasses) and not self._view.has_classes:
            raise ArgumentError(
                "The check covers all respondents together, because class membership is unknown;"
                " call it on the whole model."
            )
        return super().check(random_seed, ci)  # type: ignore[misc]
