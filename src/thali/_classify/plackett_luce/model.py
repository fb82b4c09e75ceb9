"""Plackett–Luce regression as a classifier."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._arguments import one_of
from thali._data.rows import TrainingData
from thali._inference.chains import Run
from thali._inference.warn import is_quiet
from thali._model.base import Job
from thali._model.engine import Engine
from thali._model.sampling import Sampling
from thali._posterior.interval import INTERVAL

from ..blocks import is_blocked
from ..classifier import Classifier
from .design import PlackettLuceDesign
from .draws import WeightAnswers
from .engines import ADVICE, ENGINES, blocks_of_draws, sampling_of
from .gibbs import prior_of

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._posterior.convergence import Advice

    from .blocks import Blocks
    from .row_sums import CovariateRows


class PlackettLuceRegression(WeightAnswers, Classifier):
    r"""Classes from covariates, not rankings (those: `BradleyTerryLuce` on
    `Choices.from_rankings`).

    Classes compete with scores that are non-negative sums of non-negative functions of the
    covariates.

    .. math::

        P(Y_i = k) = \frac{\sum_j W_{ij} \lambda_{kj}}{\sum_l \sum_j W_{ij} \lambda_{lj}}, \qquad
              \lambda_{kj} \sim \mathrm{Gamma}(a, b)

    A model to read rather than to predict with: `SparseMultinomialLogit` predicts better on nearly
    all data.

    W holds, by default, e^x and e^−x of every standardised covariate, and a column of ones. Only
    the relative weights matter to the predictions; the smaller a, the fewer of them carry the
    total.

    Parameters
    ----------
    method : {"gibbs", "map", "variational"}
        "gibbs" draws from the posterior. "variational" approximates it by independent Gamma
        distributions, the best of several starts; predictions are its exact averages. "map" is the
        maximum of the posterior for a fixed `a`: a > 1 keeps all weights positive; a = 1, the
        maximum of the likelihood, sets most to exactly zero; for a < 1 the density has no maximum,
        and the published fixed-point rule is followed from the solution at a = 1, so that its
        answer depends on where it starts.
    transform : "exponential", "exponential-pairs", callable or None
        How W is made: e^±x and 1; also e^±(x_a + x_b) of all pairs; a function of the
        (standardised) covariates that returns a matrix of non-negative numbers; None takes
        non-negative covariates as they are. Pairs help where two covariates decide together (test
        errors of iris from two of them fall from .19 to .06) and cost d² columns. None is for rows
        that are positive in few columns, such as counts of rare words; else no class can be
        probable, and a warning says so.
    a : float, > 0, optional
        Shape of the prior. None learns it, which `method="map"` cannot.
    a_range : pair of float, > 0
        Ends of the prior p(a) ∝ 1/a of an a that is learned. The published prior has none, and with
        it the posterior cannot be normalised.
    b : float, > 0
        Rate of the prior; without influence on predictions for a fixed a.
    standardize : bool
        Whether covariates are first given mean 0 and standard deviation 1, those of the training
        data. Left out for `transform=None`. Covariates that are the same in every row of the
        training data say nothing: they are left out of W (a callable gets 0), with a warning, and
        predictions do not depend on them.
    draws : int, optional
        States kept in each chain. None draws until every row of `summary` has an R-hat of at most
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
        else an array. Posterior means, or the maximum of the posterior.
    a_ : float
        The one given, or the posterior mean of ln a exponentiated, or the best one found by
        `method="variational"`.
    log_likelihood_ : float
        Of the whole training data, natural logarithm: the posterior mean, or that of the weights.
    posterior_ : xarray.DataTree
        After `method="gibbs"`: the draws in the ArviZ schema (a, log_likelihood, weights, and
        logit, the log odds of the observed class of up to 40 rows).
    lower_bound_ : float
        After `method="variational"`: of the logarithm of the evidence, without the prior on a.
    shapes_, rates_ : arrays, shapes (K, p) and (p,)
        After `method="variational"`: of the Gamma distributions of the weights, which need not sum
        to 1.
    collapsed_ : bool
        After `method="variational"`: whether the best fit says no more than that all classes are
        equally probable.
    objective_ : float
        After `method="map"`: log-likelihood + (a − 1) Σ ln of the relative weights, zeros left out
        for a ≤ 1.
    support_ : pandas.DataFrame
        After `method="map"`: class, column and weight of all weights above zero, the largest first.
    n_iter_ : int
        After `method="map"`.
    converged_ : bool
        After `method="map"` or "variational": whether the climb ended.
    slope_ : float
        After `method="map"`: the gradient that is left, a row.

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

    # An attribute `transform` would make scikit-learn take the model for a transformer; what is no
    # argument it does not want to find in `vars`.
    __slots__ = ("_transform",)
    _ATTRIBUTE_OF_ARGUMENT = {"transform": "_transform"}
    _learned = "weights"
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
        transform: Any = "exponential",
        a: Any = None,
        a_range: Any = (1e-3, 1e2),
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
        """Return what a copy is made of, with the setting that `vars` does not contain."""
        return super().__getstate__(), {"_transform": self._transform}

    def _job_of_blocks(self, X: Any, y: Any, sample_weight: Any, run: Run) -> Job | None:
        if not is_blocked(X):
            return None
        from .blocks import gather

        self._check_arguments()
        found = gather(X, y, sample_weight, self._transform, self.standardize, type(self).__name__)
        self.classes_: np.ndarray = found.classes
        self.n_features_in_: int = found.n_features
        return self._job_of_rows(
            found.data, found.design, found.look, found.class_counts, found.data.n_rows, run
        )

    def _job(self, data: TrainingData, run: Run) -> Job:
        from .design import look_at, warn_of_constants

        self._check_arguments()
        design = PlackettLuceDesign.fit(
            data.matrix, self._column_names(), self._transform, self.standardize, data.counts
        )
        if design.standard is None and isinstance(self._transform, str):
            warn_of_constants(data.matrix, self._column_names())
        W, classes = design.apply(data.matrix, data.first()), len(self.classes_)
        rows = self._engine.rows(data._replace(matrix=W), classes, run)
        of_class = np.bincount(data.codes, data.counts, classes)
        return self._job_of_rows(
            rows, design, look_at(W, data.counts), of_class, len(data.row), run
        )

    def _prior_draws(self, matrix: np.ndarray, rngs: Any) -> Any:
        from .draws import sample_weights

        self._check_arguments()
        design = PlackettLuceDesign.fit(
            matrix, self._column_names(), self._transform, self.standardize
        )
        prior = prior_of(self.a, self.a_range, self.b)
        return sample_weights(prior, design.apply(matrix), self.classes_, design.columns, rngs)

    def _check_arguments(self) -> None:
        engine = self._engine
        one_of("standardize", self.standardize, (True, False))
        engine.check(self)
        prior_of(self.a, self.a_range, self.b)

    def _job_of_rows(
        self,
        data: "TrainingData | CovariateRows | Blocks",
        design: PlackettLuceDesign,
        look: Any,
        class_count: np.ndarray,
        rows: int,
        run: Run,
    ) -> Job:
        """What all methods share, whether the rows are in memory or not."""
        from ..input import warn_of_left_out
        from .design import scaling_advice, warn_about

        warn_of_left_out(design.standard, vars(self).get("feature_names_in_"))
        if not is_quiet():
            warn_about(look, design.columns, scaling_advice(self._transform, self.standardize))
        self._design_, self._columns_, self._class_count_ = (
            design,
            list(design.columns),
            class_count,
        )
        job = replace(self._engine.job(self, data, run), data=self._size(rows))
        return (
            job
            if self._transform is not None or is_quiet()
            else replace(job, run=lambda: self._judged(job.run()))
        )

    def _judged(self, found: dict[str, Any]) -> dict[str, Any]:
        """What was found, after a look at whether it says anything."""
        from .design import warn_of_poor_fit

        warn_of_poor_fit(found["log_likelihood_"], self._class_count_)
        return found

    def _build_sampling(self, source: Any, run: Run) -> Sampling[Any]:
        return sampling_of(self, source, run)

    def _get_quantities(self) -> dict[str, np.ndarray]:
        """a (if learned), the log-likelihood and log odds of observed classes, draw by draw, after
        `method="gibbs"`."""
        from .draws import quantities_of

        return quantities_of(self._view)

    def _get_advice(self) -> "Advice":
        return ADVICE

    def summary(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """What was learned, in rows.

        After `method="gibbs"`: posterior mean, sd, interval, Monte Carlo error, ESS and R-hat of a
        (if learned), log_likelihood (of the whole training data) and logit[row], the log odds of
        the observed class of up to 40 rows of the training data; single weights are left out: see
        `weights_table`. Otherwise weight[class, column], the relative weights that are not zero,
        the largest first.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, eti89_lb, eti89_ub (the interval, by its probability), mcse_mean,
            ess_bulk, ess_tail, r_hat; after "variational" the first four, with sd and interval of a
            weight divided by the mean of their sum; after "map" the first.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        self._require_fitted()
        return super().summary(ci)

    def _probability_blocks(self, matrix: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        return blocks_of_draws(self, matrix)

    def _probabilities(self, matrix: np.ndarray) -> np.ndarray:
        return self._engine.probabilities(self, matrix)
