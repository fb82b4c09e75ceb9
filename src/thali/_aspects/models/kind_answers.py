"""What latent-feature models answer of latent classes: the model of one class, and checks."""

from typing import TYPE_CHECKING, Any, Self

from thali._people.latent_classes import HasLatentClasses
from thali._people.populations import LatentClasses
from thali._posterior.interval import INTERVAL
from thali.errors import ArgumentError

from .base import LatentFeatures

if TYPE_CHECKING:
    import pandas


class KindAnswers(HasLatentClasses, LatentFeatures):
    """Base of the latent-feature models that are fitted with `people=LatentClasses(...)`."""

    people: Any

    def _part_of_class(self, number: int) -> Self:
        results: Any = self._data_answers
        return self._of_part(results.classes.of_group(str(number)).tree, f"class {number}")

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
