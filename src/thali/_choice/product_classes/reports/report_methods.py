"""`ProductClassReports`: methods of fitted product classes for tables and predictions."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._model.base import SampledModel
from thali._model.chain_runs import SUFFICIENT_ESS
from thali._posterior.convergence_check import Advice
from thali._posterior.posterior_interval import INTERVAL
from thali.errors import Argument, Setting

from ...reports.market_methods import MarketMethods
from ...reports.predictive_check import ChoiceModelCheck, read_summary_rows
from .class_table import MIN_OVERLAP, build_class_table

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.experiments.fitted_design import ExperimentDesign
    from thali._inference.random_seeds import RandomSeed
    from thali._people.respondent_segments import Preferences

    from ...reports.market_simulator import MarketDraws
    from ..ragged_draws import Particles
    from .class_choice_draws import ClassChooser

_STUCK = (
    "the chains stay in different sets of classes, and longer runs help only slowly. Predictions"
    " average over the chains and can be used, but do not rely on single classes; use "
)


class ProductClassReports(MarketMethods, ChoiceModelCheck, SampledModel):
    """Methods of fitted product classes: summary, classes and predictions."""

    posterior_: "xarray.DataTree"
    _people_: "pandas.DataFrame | None"
    _draws_: "Particles"
    _design_: "ExperimentDesign"

    def _get_draws_and_design(self) -> "tuple[Particles, ExperimentDesign]":
        """Return the recorded draws and the design of the fit."""
        self._require_posterior()
        return self._draws_, self._design_

    def _get_quantities(self) -> dict[str, np.ndarray]:
        """Return draws of the summary rows, by name."""
        return read_summary_rows(self._view.draws)

    def summary(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return means, intervals and convergence of level shares and level effects.

        Rows: share[attribute=level], the expected share of the data's tasks in which a product
        with that level is chosen, for every level but the first; and effect[attribute: level over
        other], how often one level is preferred to the other, all else being equal
        (`level_effects`), for every level and the first. Both are simulated on at least 2,000
        occasions per draw. The parameters (n_classes, value_shape, stability, alpha,
        log_likelihood) are in `posterior_`; chains rarely agree about them where they agree about
        predictions.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, low and high (ends of the interval), mcse_mean,
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
        """Return what to advise if chains disagree: more chains or draws."""
        dim_sizes = self._view.draws.sizes
        n_draws = int(self.posterior_.attrs["draws"])
        stuck_advice = (
            _STUCK,
            Setting("chains", max(16, 2 * dim_sizes["chain"])),
            " or more ",
            Argument("draws"),
        )
        return Advice("draws", n_draws, tunes=False, stuck=stuck_advice, ess=SUFFICIENT_ESS)

    def classes(self, cover: float = 0.8, similar: float = MIN_OVERLAP) -> "pandas.DataFrame":
        r"""Product classes, the most important first, with similar classes merged.

        .. math::

            \mathrm{overlap}(A, B) = \frac{|A \cap B|}{|A \cup B|}, \text{ among all combinations of
            levels}

        Equivalent classes are merged: a class with one attribute, disliked, equals its complement,
        liked, if no product lacks the attribute. Then the most important class takes in similar
        classes, the most important remaining class does the same, and so on; a group has the name
        of its first class. Exact classes are rarely certain even if predictions are; read them
        after `level_effects` and `attribute_importance`.

        Parameters
        ----------
        cover : float in (0, 1]
            Classes are listed until they cover this share of the importance; the last row contains
            all others.
        similar : float in (0, 1]
            Minimum overlap with the class that gives a group its name; 1 merges only equal classes.

        Returns
        -------
        pandas.DataFrame
            `product_class`, a description; `rules`, the number of distinct classes merged into this
            one; `probability` that any respondent owns one of them, the share of draws;
            `stability`, the share of chains in which it has at least half of its importance, so
            that a class with at least 0.5 is likely to be found with another seed; `share` of
            respondents who own one and `share_se`, its standard error over groups; `liked`, the
            share of owners who like it; `importance`, the mean over respondents of its share of
            their values (importances sum to 1 minus the probability that a respondent owns no
            class), and `importance_se`; `share_new`, the probability that a new respondent owns
            one.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `cover` or `similar` is outside its range.
        """
        return build_class_table(*self._get_draws_and_design(), cover, similar)

    def _preferences(self) -> "Preferences":
        """Return each respondent's simulated preferences between levels."""
        from .level_effects import simulate_preferences

        return simulate_preferences(*self._get_draws_and_design())

    def _simulate_choices(
        self, max_draws: int, rng: np.random.Generator
    ) -> "tuple[ExperimentDesign, np.ndarray]":
        """Return the design, and choices simulated at up to `max_draws` draws."""
        from ...reports.choice_draws import select_draws
        from .choice_probabilities import draw_choices

        draws, design = self._get_draws_and_design()
        return design, draw_choices(draws, design, rng, select_draws(draws.group, max_draws))

    def predict_proba(
        self,
        new: Any,
        repeats: int | None = None,
        cores: int | None = None,
        random_seed: "RandomSeed" = 0,
        return_se: bool = False,
        ci: float | None = None,
    ) -> Any:
        """Probability that each alternative is chosen in its task.

        Parameters
        ----------
        new : data frame or ChoiceExperiment
            Tasks with the columns of the training data (the choice is not read). A respondent who
            is not in the training data is new.
        repeats : int, optional
            Occasions simulated per draw; None means 3, or more up to 5,000 over all draws; 400 for
            the interval.
        cores : int, optional
            Threads; has no influence on the numbers.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        return_se : bool
            Whether to return the Monte Carlo standard error of each probability.
        ci : float in (0, 1), optional
            The probability of an interval of each probability, over up to 400 draws of a
            respondent's classes and values; for new respondents also over the population; None
            omits it. With R occasions per draw the probability p of a draw has the noise sqrt(p
            (1 - p) / R), which makes the interval slightly too wide.

        Returns
        -------
        array (rows,)
            In the order of the rows; sums to 1 within a task. With `return_se` or `ci` several
            arrays: standard errors from the differences between the C chains, which include
            chains that stay apart (their interval uses the t distribution with C - 1 degrees of
            freedom; NaN for a single chain); and the lower and the upper ends of the intervals.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the tasks cannot be read or contain a level that was not declared.
        ArgumentError
            If `ci` is not a probability.
        """
        from thali._argument_checks import check_integer

        from ...reports.choice_draws import append_interval, standard_error
        from .choice_probabilities import INTERVAL_DRAWS, predict_tasks

        draws, design = self._get_draws_and_design()
        if repeats is not None:
            repeats = check_integer("repeats", repeats, 1)
        encoded_tasks = design.scheme.encode(new, design.respondents)
        simulation_settings: dict[str, Any] = {
            "repeats": repeats,
            "cores": cores,
            "random_seed": random_seed,
        }
        chain_probabilities = predict_tasks(draws, encoded_tasks, **simulation_settings)
        predictions: Any = chain_probabilities.mean(axis=0)
        if return_se:
            predictions = predictions, standard_error(chain_probabilities.T)

        def compute_draw_probabilities() -> np.ndarray:
            """Return choice probabilities by draw, for intervals."""
            return predict_tasks(
                self._build_chooser().thin(INTERVAL_DRAWS).draws,
                encoded_tasks,
                by_draw=True,
                **simulation_settings,
            )

        return append_interval(predictions, compute_draw_probabilities, ci)

    def _build_chooser(self) -> "ClassChooser":
        """Return a `ClassChooser`, which simulates choices of the fitted respondents."""
        from .class_choice_draws import ClassChooser

        return ClassChooser(*self._get_draws_and_design(), self._people_)

    def _get_fit_data(self) -> "ExperimentDesign":
        """Return attributes, levels and tasks of the fitted experiment."""
        return self._design_

    def _get_market_draws(self) -> "MarketDraws":
        """Return draws for the market simulator of a page."""
        from .simulator_draws import build_market_draws

        return build_market_draws(*self._get_draws_and_design(), self._people_)
