"""`PlackettLuceRegression`, the classifier that users fit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._argument_checks import check_allowed
from thali._data.classification_data import TrainingData
from thali._inference.markov_chains import Run
from thali._inference.user_warnings import is_quiet
from thali._model.base import Job
from thali._model.fitting_methods import Engine
from thali._model.method_requirements import require_draws, requires
from thali._posterior.posterior_interval import INTERVAL
from thali._posterior.posterior_tree import flatten_chains
from thali.errors import Argument, ArgumentError, Setting

from ..classifier import Classifier
from ..covariates_and_labels import list_covariate_names
from .fitting_methods import ADVICE, ENGINES, WeightFit
from .markov_chain import build_plackett_luce_prior
from .nonnegative_columns import PlackettLuceDesign
from .posterior_draws import WeightPredictor, build_weights_table, compute_importances

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._posterior.convergence_check import Advice


class PlackettLuceRegression(Classifier):
    r"""Classifier whose class scores are non-negative sums of functions of covariates.

    The functions are non-negative, too. For rankings use `BradleyTerryLuce` on
    `Choices.from_rankings`.

    .. math::

        P(Y_i = k) = \frac{\sum_j W_{ij} \lambda_{kj}}{\sum_l \sum_j W_{ij} \lambda_{lj}}, \qquad
              \lambda_{kj} \sim \mathrm{Gamma}(a, b)

    The model is for interpretation rather than prediction: `SparseMultinomialLogit` predicts better
    on nearly all data.

    By default, W contains e^x and e^−x of every standardised covariate, and a column of ones.
    Predictions depend on relative weights only; with a smaller a, fewer weights contribute to the
    total.

    Parameters
    ----------
    method : {"gibbs", "map", "variational"}
        "gibbs" draws from the posterior. "variational" approximates it by independent Gamma
        distributions, the best of several starts; predictions are its exact averages. "map" is the
        posterior mode for a fixed `a`: a > 1 keeps all weights positive; a = 1, the maximum of the
        likelihood, sets most to exactly zero; for a < 1 the density has no maximum, and the
        published fixed-point rule is iterated from the solution at a = 1, so that the result
        depends on the start.
    transform : "exponential", "exponential-pairs", callable or None
        The construction of W: e^±x and 1; also e^±(x_a + x_b) of all pairs; a function of the
        (standardised) covariates that returns a matrix of non-negative numbers; None uses
        non-negative covariates without transformation. Pairs help if the effect of two covariates
        is joint (test errors of iris with two covariates fall from 0.19 to 0.06) and add d²
        columns. None is for rows that are positive in few columns, such as counts of rare words;
        otherwise no class can be probable, and a warning reports this.
    a : float, > 0, optional
        Shape of the prior. None learns it, which `method="map"` cannot.
    a_range : pair of float, > 0
        Range of the prior p(a) ∝ 1/a, if a is learned. The published prior is unbounded, and with
        it the posterior cannot be normalised.
    b : float, > 0
        Rate of the prior; it has no influence on predictions for a fixed a.
    standardize : bool
        Whether to scale the covariates to mean 0 and standard deviation 1 in the training data.
        Ignored for `transform=None`. Covariates that are constant in the training data carry no
        information: they are omitted from W (a callable gets 0), with a warning, and predictions
        do not depend on them.
    draws : int, optional
        States kept in each chain. None draws until every number with an R-hat has one of at most
        1.01 and an effective sample size of at least 400; it looks at them after 1,000, 2,000,
        4,000, ... draws, and stops at 64,000 or 2 GB. Only of `method="gibbs"`.
    tune : int
        States of each chain that are discarded first, while step sizes adapt. Only of
        `method="gibbs"`.
    chains : int
        Independent chains.
    random_state : int, numpy.random.RandomState, Generator or SeedSequence, optional
        The same seed gives the same draws; None takes a fresh one.

    Attributes
    ----------
    weights_ : pandas.DataFrame or array, shape (K, p)
        Relative weights, which sum to 1: a frame of classes and columns of W if X was a data frame,
        else an array. Posterior means, or the posterior mode.
    a_ : float
        The fixed value, or the exponential of the posterior mean of ln a, or the best value of
        `method="variational"`.
    log_likelihood_ : float
        Full training data, natural logarithm: posterior mean, or the value at `weights_`.
    posterior_ : xarray.DataTree
        After `method="gibbs"`: the draws in the ArviZ schema (a, log_likelihood, weights, and
        logit, the log odds of the observed class of up to 40 rows).
    lower_bound_ : float
        After `method="variational"`: lower bound of the log evidence, without the prior on a.
    shapes_, rates_ : arrays, shapes (K, p) and (p,)
        After `method="variational"`: parameters of the Gamma distributions of the weights, which
        do not have to sum to 1.
    collapsed_ : bool
        After `method="variational"`: whether all classes are almost equally probable in the best
        fit.
    objective_ : float
        After `method="map"`: log-likelihood + (a − 1) Σ ln of the relative weights, without zeros
        for a ≤ 1.
    support_ : pandas.DataFrame
        After `method="map"`: class, column and weight of all weights above zero, the largest first.
    n_iter_ : int
        After `method="map"`.
    converged_ : bool
        After `method="map"` or "variational": whether the optimiser converged.
    slope_ : float
        After `method="map"`: the remaining gradient, per row.

    References
    ----------
    Archambeau & Caron (2012), Plackett-Luce regression: a new Bayesian model for polychotomous
    data, equations 4 to 19.

    Examples
    --------
    >>> import numpy as np
    >>> import thali as th
    >>> X = np.array([[-1.4], [-0.6], [-0.1], [0.3], [0.9], [1.7]])
    >>> y = ["no", "no", "yes", "no", "yes", "yes"]
    >>> model = th.PlackettLuceRegression(method="map", a=1.1).fit(X, y)
    >>> model.predict([[-2.0], [2.0]]).tolist()
    ['no', 'yes']
    >>> model = th.PlackettLuceRegression(draws=500, random_state=1).fit(X, y)
    >>> model.summary().index[:3].to_list()
    ['a', 'log_likelihood', 'logit[0]']
    """

    # With an attribute `transform`, scikit-learn would treat the model as a transformer; and it
    # requires that `vars` contains arguments only.
    __slots__ = ("_transform",)
    _ATTRIBUTE_OF_ARGUMENT = {"transform": "_transform"}
    _ENGINES: ClassVar[Mapping[str, Engine]] = ENGINES

    weights_: Any
    _columns_: list[str]
    a_: float
    log_likelihood_: float
    posterior_: "xarray.DataTree"
    _interrupted_: bool
    lower_bound_: float
    shapes_: Any
    rates_: np.ndarray
    collapsed_: bool
    objective_: float
    support_: "pandas.DataFrame"
    _n_passes_: int
    n_iter_: int
    _design_: PlackettLuceDesign
    _class_count_: np.ndarray
    converged_: bool
    slope_: float

    def __init__(
        self,
        method: str = "gibbs",
        transform: str | Callable[[np.ndarray], np.ndarray] | None = "exponential",
        a: Any = None,
        a_range: tuple[float, float] = (1e-3, 1e2),
        b: float = 1.0,
        standardize: bool = True,
        draws: int | None = 1000,
        tune: int = 1000,
        chains: int = 4,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self._transform = transform
        self.a = a
        self.a_range = a_range
        self.b = b
        self.standardize = standardize
        self.draws = draws
        self.tune = tune
        self.chains = chains
        self.random_state = random_state

    def __getstate__(self) -> Any:
        """Return the state for copies and pickles, with the setting `vars` lacks."""
        return super().__getstate__(), {"_transform": self._transform}

    def _build_fit_job(self, data: TrainingData, run: Run) -> Job:
        """Return the job of a fit to checked training data."""
        from ..covariates_and_labels import warn_about_constant_columns
        from .nonnegative_columns import (
            build_scaling_advice,
            summarise_columns,
            warn_about_columns,
            warn_about_constants,
        )

        self._check_arguments()
        design = PlackettLuceDesign.fit(
            data.matrix, list_covariate_names(self), self._transform, self.standardize, data.counts
        )
        if design.standard is None and isinstance(self._transform, str):
            warn_about_constants(data.matrix, list_covariate_names(self))
        W = design.apply(data.matrix, data.first_row_indices())
        n_classes = len(self.classes_)
        rows = self._engine.prepare_rows(data._replace(matrix=W), n_classes, run)
        warn_about_constant_columns(design.standard, vars(self).get("feature_names_in_"))
        if not is_quiet():
            warn_about_columns(
                summarise_columns(W, data.counts),
                design.columns,
                build_scaling_advice(self._transform, self.standardize),
            )
        self._design_ = design
        self._columns_ = list(design.columns)
        self._class_count_ = np.bincount(data.codes, data.counts, n_classes)
        job = self._engine.build_job(self, self._columns_, rows, run)
        job = replace(job, data=self._describe_size(len(data.row)))
        if self._transform is not None or is_quiet():
            return job
        return replace(job, run=lambda: self._warn_about_fit(job.run()))

    def _sample_prior_draws(self, matrix: np.ndarray, rngs: Sequence[np.random.Generator]) -> Any:
        """Sample weights from the prior, and class codes (draws, n)."""
        from .posterior_draws import sample_prior_weights

        self._check_arguments()
        design = PlackettLuceDesign.fit(
            matrix, list_covariate_names(self), self._transform, self.standardize
        )
        prior = build_plackett_luce_prior(self.a, self.a_range, self.b)
        return sample_prior_weights(
            prior, design.apply(matrix), self.classes_, design.columns, rngs
        )

    def _check_arguments(self) -> None:
        """Raise ArgumentError for invalid arguments, or `a` None where required."""
        check_allowed("standardize", self.standardize, (True, False))
        if self._engine.requires_shape and self.a is None:
            raise ArgumentError(
                Setting("method", "map"),
                " requires a number for ",
                Argument("a"),
                "; choose ",
                Setting("a", 1.1),
                " to keep all weights positive, or ",
                Setting("a", 1.0),
                " for the maximum-likelihood estimate, in which most weights are exactly zero.",
            )
        build_plackett_luce_prior(self.a, self.a_range, self.b)

    def _build_fit(self, source: TrainingData, run: Run) -> WeightFit:
        """Return the fit of training rows by Gibbs sampling, ready to run."""
        return WeightFit(self, source, run, self._columns_)

    @property
    def _predictor(self) -> WeightPredictor:
        """Columns W and class sizes of the fit."""
        return WeightPredictor(self._design_, self._class_count_)

    def _warn_about_fit(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """Warn if the fit is poor; return its attributes unchanged."""
        from .nonnegative_columns import warn_about_poor_fit

        warn_about_poor_fit(attributes["log_likelihood_"], self._class_count_)
        return attributes

    def _get_quantities(self) -> dict[str, np.ndarray]:
        """Return draws of a (if learned), log-likelihood and log odds, by name."""
        from .posterior_draws import collect_weight_summary

        return collect_weight_summary(self._view)

    def _get_advice(self) -> "Advice":
        """Return the advice for chains that disagree."""
        return ADVICE

    def summary(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return summaries of parameters, or of nonzero weights.

        After `method="gibbs"`: posterior mean, sd, interval, Monte Carlo error, ESS and R-hat of a
        (if learned), log_likelihood (full training data) and logit[row], the log odds of the
        observed class of up to 40 rows of the training data; for single weights see
        `weights_table`. Otherwise weight[class, column], the nonzero relative weights, largest
        first.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, low and high (ends of the interval), mcse_mean,
            ess_bulk, ess_tail, r_hat; after "variational" the first four, with sd and interval of a
            weight divided by the mean of their sum; after "map" the mean only.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        self._require_fitted()
        return super().summary(ci)

    @requires(require_draws)
    def weights_table(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return means and intervals of relative weights, largest first.

        It requires `method="gibbs"`.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            class, column, weight, weight_low and weight_high (the interval). The weights of a draw
            sum to 1.

        Raises
        ------
        NotFittedError, ArgumentError
            As `summary`.
        """
        weights = self._view.draws["weights"].values
        return build_weights_table(flatten_chains(weights), self.classes_, self._columns_, ci)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each covariate in the relative weights, shape (d,).

        scikit-learn's `SelectFromModel` and `RFE` use it. It is the sum of the relative weights of
        all columns of W that contain the covariate, over classes; a column of a sum of two
        covariates counts half for each. The column of ones is omitted, and the shares sum to 1.

        Returns
        -------
        array (d,)

        Raises
        ------
        NotFittedError
            Before `fit`.
        AttributeError
            If `transform` is a function, because the covariates of a column are then unknown.
        """
        self._require_fitted()
        return compute_importances(np.asarray(self.weights_), self._design_)
