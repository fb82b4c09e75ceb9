"""Reports of a fitted model of product classes: the methods of `ProductClasses` after a fit."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._model.base import SampledModel
from thali._model.sampling import SUFFICIENT_ESS
from thali._posterior.convergence import Advice
from thali._posterior.interval import INTERVAL
from thali.errors import Argument, Setting

from ...answers.check import HasChoiceCheck, reported_rows
from ...answers.methods import MarketAnswers
from .class_table import SIMILAR, class_table

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.experiments.design import ExperimentDesign
    from thali._people.segments import Preferences

    from ...answers.simulator import MarketDraws
    from ..particles import Particles
    from .chooser import ClassChooser

_STUCK = (
    "the chains stay in different sets of classes, and longer runs help only slowly. Predictions"
    " average over the chains and can be used, but do not rely on single classes; use "
)


class ProductClassReports(MarketAnswers, HasChoiceCheck, SampledModel):
    """Reports and predictions of a fitted model."""

    posterior_: "xarray.DataTree"
    _people_: "pandas.DataFrame | None"
    _draws_: "Particles"
    _design_: "ExperimentDesign"

    def _fitted_parts(self) -> "tuple[Particles, ExperimentDesign]":
        self._require_posterior()
        return self._draws_, self._design_

    def _get_quantities(self) -> dict[str, np.ndarray]:
        return reported_rows(self._view.draws)

    def summary(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Posterior mean, sd, interval, Monte Carlo error, ESS and R-hat of what the convergence
        check judges.

        Rows: share[attribute=level], the expected share of the tasks of the data in which a product
        with that level is chosen, of every level but the first; and effect[attribute: level over
        other], how often the one is preferred to the other, all else being equal (`level_effects`),
        of every level and the first. Both are simulated, on 2,000 occasions of a draw or more. The
        parameters (n_classes, value_shape, stability, alpha, log_likelihood) are in `posterior_`;
        chains seldom agree about them where they agree about predictions.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, eti89_lb, eti89_ub (the interval, by its probability), mcse_mean,
            ess_bulk, ess_tail, r_hat.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        return super().summary(ci)

    def _get_advice(self) -> Advice:
        """What helps chains that disagree: more draws, and more chains where they stay apart."""
        sizes, now = self._view.draws.sizes, int(self.posterior_.attrs["draws"])
        stuck = (
            _STUCK,
            Setting("chains", max(16, 2 * sizes["chain"])),
            " or more ",
            Argument("draws"),
        )
        return Advice("draws", now, tunes=False, stuck=stuck, ess=SUFFICIENT_ESS)

    def classes(self, cover: float = 0.8, similar: float = SIMILAR) -> "pandas.DataFrame":
        r"""The classes of products that people care about, the most important first; similar ones
        count as one.

        .. math::

            \mathrm{overlap}(A, B) = \frac{|A \cap B|}{|A \cup B|}, \text{ among all combinations of
            levels}

        Ways to write the same preference are merged: a class with one attribute, disliked, is its
        complement, liked, if no product lacks the attribute. Then the most important class takes in
        those that are similar to it, the most important one of the rest does so, and so on; a group
        goes by the name of its first class. Exact classes are seldom certain even where predictions
        are; read them after `level_effects` and `attribute_importance`.

        Parameters
        ----------
        cover : float in (0, 1]
            Classes are listed until they hold this share of the importance; the last row is all
            others.
        similar : float in (0, 1]
            Least overlap with the class that gives a group its name; 1: only equal classes are one.

        Returns
        -------
        pandas.DataFrame
            `product_class` in words; `rules`, the number of distinct classes that are counted as
            this one; `probability` that anybody owns one of them, the share of draws; `stability`,
            the share of chains in which it has at least half of its importance, so that one of .5
            or more is likely to be seen again with another seed; `share` of respondents who own one
            and `share_se`, its standard error over groups; `liked`, the share of owners who like
            it; `importance`, the mean over people of its part of a person's values (they sum to 1,
            less the probability that a person owns nothing), and `importance_se`; `share_new`, the
            probability that a new person owns one.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `cover` or `similar` is outside its range.
        """
        return class_table(*self._fitted_parts(), cover, similar)

    def _preferences(self) -> "Preferences":
        from .effects import preferences_of

        return preferences_of(*self._fitted_parts())

    def _choices_again(
        self, most: int, rng: np.random.Generator
    ) -> "tuple[ExperimentDesign, np.ndarray]":
        """The design and replicates of all choices, at `most` draws."""
        from ...answers.chooser import thinned
        from .predict import drawn_choices

        draws, design = self._fitted_parts()
        return design, drawn_choices(draws, design, rng, thinned(draws.group, most))

    def predict_proba(
        self,
        new: Any,
        repeats: int | None = None,
        cores: int | None = None,
        random_seed: Any = 0,
        return_se: bool = False,
        ci: float | None = None,
    ) -> Any:
        """Probability that each alternative is chosen in its task.

        Parameters
        ----------
        new : data frame or ChoiceExperiment
            Tasks with the columns of the training data (that of the choice is not read). A
            respondent who is not in the training data is a new person.
        repeats : int, optional
            Occasions simulated of each draw; None is 3, or as many as make 5,000 of all draws; for
            the interval 400.
        cores : int, optional
            Threads; has no influence on the numbers.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        return_se : bool
            Whether to give the Monte Carlo standard error of each probability, too.
        ci : float in (0, 1), optional
            The probability of an interval of each probability, over up to 400 draws of a person's
            classes and values; of somebody new also over the people that she may be; None: none.
            With R occasions of a draw the probability p of that draw has the noise sqrt(p (1 - p) /
            R), by which the interval is somewhat too wide.

        Returns
        -------
        array (rows,)
            In the order of the rows; sums to 1 within a task. With `return_se` or `ci` several
            arrays: the standard errors by the differences between the C chains, which also know of
            chains that stay apart (whose interval takes the t distribution with C - 1 degrees of
            freedom; NaN for a single chain); and the lower and the upper ends of the intervals.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the tasks cannot be read or hold a level that was not declared.
        ArgumentError
            If `ci` is no probability.
        """
        from thali._arguments import whole

        from ...answers.chooser import standard_error, with_ends
        from .predict import DRAWS_OF_INTERVAL, tasks_proba

        draws, design = self._fitted_parts()
        repeats = repeats if repeats is None else whole("repeats", repeats, 1)
        encoded = design.scheme.encode(new, design.respondents)
        how: dict[str, Any] = {"repeats": repeats, "cores": cores, "random_seed": random_seed}
        by_chain = tasks_proba(draws, encoded, **how)
        p = by_chain.mean(axis=0)

        def drawn() -> np.ndarray:
            return tasks_proba(
                self._chooser().thinned(DRAWS_OF_INTERVAL).draws, encoded, by_draw=True, **how
            )

        return with_ends((p, standard_error(by_chain.T)) if return_se else p, drawn, ci)

    def _chooser(self) -> "ClassChooser":
        from .chooser import ClassChooser

        return ClassChooser(*self._fitted_parts(), self._people_)

    def _get_fit_data(self) -> "ExperimentDesign":
        return self._design_

    def _get_market_draws(self) -> "MarketDraws":
        from .market import market_draws

        return market_draws(*self._fitted_parts(), self._people_)
