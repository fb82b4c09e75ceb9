"""`SparseMultinomialLogit`, the classifier that users fit."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._data.classification_data import TrainingData, convert_sparse_data
from thali._inference.markov_chains import Run
from thali._model.base import Job
from thali._model.fitting_methods import Engine
from thali._model.method_requirements import require_draws, requires
from thali._object_descriptions import Facts
from thali._posterior.posterior_interval import INTERVAL

from ..classifier import Classifier
from ..covariates_and_labels import compute_column_ranges, is_sparse, list_covariate_names
from .arguments import LogitDesign, choose_standardization, find_reference_class, read_prior
from .fitting_methods import ENGINES, CoefficientFit
from .posterior_draws import build_coefficient_table, build_path_table, describe_scale
from .time_forecast import choose_method, refuse_large_sparse_matrix

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._posterior.convergence_check import Advice

    from ..covariates_and_labels import Standardization


class SparseMultinomialLogit(Classifier):
    r"""Multinomial logit with shrunken coefficients and draws from its posterior.

    .. math:: P(y = k \mid x) \propto e^{b_k + x^T \beta_k}, \qquad
              p(\beta_{kj} \mid \eta) = \tfrac12 \sqrt\eta\, e^{-\sqrt\eta |\beta_{kj}|}, \qquad
              \eta \sim \mathrm{Gamma}(\text{shape}, \text{rate}), \qquad
              b_k \sim \mathrm{Normal}(0, 100)

    The reference class has b = 0 and beta = 0; the prior depends on which class that is.

    Parameters
    ----------
    method : {"auto", "polya-gamma", "laplace", "variational", "map"}
        "auto" is "polya-gamma" if its expected CPU time is below a minute. Otherwise "auto" is
        "variational" with at least 20 rows per coefficient, or if the Gibbs sampler would take
        more than ten minutes and "variational" would not; `method_` is the chosen method.
        "polya-gamma" is a Gibbs sampler with Polya-Gamma variables. With at most 600 coefficients
        each sweep is followed by Hamiltonian trajectories of all of them. "laplace" and
        "variational" draw independently from a normal approximation, for many rows: by the
        curvature at the maximum, or with the highest lower bound of the evidence. With 20 rows per
        coefficient their standard deviations are within 10 % of the posterior's; with fewer rows
        they are too small, for "variational" less so. "map" is the posterior mode for a fixed
        `eta`; it has no intervals, but coefficients of exactly 0, and scales to millions of rows.
        All three accept sparse matrices without conversion. The Gibbs sampler requires a dense
        matrix: "auto" converts a sparse one if it chooses this sampler.
    eta : float above 0, optional
        Squared rate of the Laplace prior, which is a mixture of normal distributions whose variance
        is exponential (mean 2/eta). None learns it; `method="map"` then fixes it at its prior mean,
        shape/rate: by default 1, which is scikit-learn's default C = 1, as its penalty is
        sum abs(beta) / C and eta = 1/C².
    shape, rate : float above 0
        Parameters of the Gamma prior of eta, if it is learned.
    reference : label, optional
        The reference class; None is `classes_[0]`, so that for two classes `coef_` has the same
        sign as in scikit-learn.
    fit_intercept : bool
        Whether to include b, which is not shrunk.
    standardize : bool
        Whether to scale the covariates to mean 0 and standard deviation 1 in the training data.
        The prior is the same for all coefficients, which requires a common scale. Covariates that
        are constant in the training data carry no information: they are omitted, with a warning
        (without one if they are 0 in a sparse matrix: words of other texts), and predictions do not
        depend on them.
    class_weight : dict of label to float, "balanced" or None
        Factors of the weights of rows by class; "balanced" gives all classes the same total weight.
    draws : int, optional
        States kept in each chain. None draws until every number with an R-hat has one of at most
        1.01 and an effective sample size of at least 400; it looks at them after 1,000, 2,000,
        4,000, ... draws, and stops at 64,000 or 2 GB.
    tune : int
        States of each chain that are discarded first, while step sizes adapt.
    chains : int
        Independent chains.
    random_state : int, numpy.random.RandomState, Generator or SeedSequence, optional
        The same seed gives the same draws; None takes a fresh one.

    Attributes
    ----------
    classes_ : array (K,)
    coef_ : array (K - 1, d)
        Posterior means in units of X: log odds per unit of a covariate in X, for any `standardize`,
        one row per class other than the reference, in the order of `classes_`; 0 for constant
        covariates. After "map" the posterior mode. `coefficients()` and `summary()` report
        standardised covariates.
    intercept_ : array (K - 1,)
        In units of X, so that it includes the effect of centring, even if `fit_intercept` is False.
    log_likelihood_ : float
        Posterior mean of the log-likelihood of the full training data.
    posterior_ : xarray.DataTree
        The draws in the ArviZ schema: coef and intercept (for standardised covariates that vary),
        eta, log_likelihood.
    scaled_coef_, scaled_intercept_ : arrays, shapes (K - 1, v) and (K - 1,)
        After `method="map"`: coefficients of the v standardised covariates that vary, and intercept
        at their means.
    objective_ : float
        After `method="map"`: log-likelihood - sqrt(eta) sum abs(beta) - sum b²/200.
    n_iter_ : int
        After `method="map"`.
    method_ : str
        `method`, or the choice of "auto".
    lower_bound_ : float
        After `method="variational"`: lower bound of the log evidence, ln P(y | X), up to the error
        of the quadrature over linear predictors: some nats with fewer than 20 rows per coefficient,
        so do not compare models by it in that case.
    converged_ : bool
        After `method="laplace"`, "variational" and "map": whether the optimiser converged.
    slope_ : float
        After `method="map"`: the largest remaining subgradient, per row.
    n_features_in_ : int
    feature_names_in_ : array of str (d,)
        Only after a fit to a data frame.

    References
    ----------
    Archambeau & Caron (2012), appendix A, with consistent hyperparameters; Park & Casella (2008),
    The Bayesian lasso; Polson, Scott & Windle (2013).

    Examples
    --------
    >>> import numpy as np
    >>> import thali as th
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = np.where(X[:, 0] + 0.5 * rng.logistic(size=200) > 0, "yes", "no")
    >>> model = th.SparseMultinomialLogit(random_state=1).fit(X, y)
    >>> model.predict([[2.0, 0.0, 0.0]]).item()
    'yes'
    >>> model.summary().index.to_list()
    ['eta', 'log_likelihood', 'coef[yes, x0]', 'coef[yes, x1]', 'coef[yes, x2]']
    """

    _ENGINES: ClassVar[Mapping[str, Engine]] = ENGINES

    coef_: np.ndarray
    intercept_: np.ndarray
    log_likelihood_: float
    posterior_: "xarray.DataTree"
    _interrupted_: bool
    _reference_: Any
    scaled_coef_: np.ndarray
    scaled_intercept_: np.ndarray
    objective_: float
    n_iter_: int
    converged_: bool
    method_: str
    lower_bound_: float
    slope_: float
    _standard_: "Standardization"

    def __init__(
        self,
        method: str = "auto",
        eta: Any = None,
        shape: float = 1.0,
        rate: float = 1.0,
        reference: Any = None,
        fit_intercept: bool = True,
        standardize: bool = True,
        class_weight: Any = None,
        draws: int | None = 1000,
        tune: int = 1000,
        chains: int = 4,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.eta = eta
        self.shape = shape
        self.rate = rate
        self.reference = reference
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.draws = draws
        self.tune = tune
        self.chains = chains
        self.random_state = random_state

    def _build_fit_job(self, data: TrainingData, run: Run) -> Job:
        """Return the job of a fit, with method and standardisation chosen."""
        prior = read_prior(self)
        self._reference_ = find_reference_class(self)
        column_min, column_max = compute_column_ranges(data.matrix)
        n_columns = len(column_min) + prior.intercept
        if self.standardize:
            n_columns -= int((column_min == column_max).sum())
        n_classes = len(self.classes_)
        self.method_ = choose_method(self.method, len(data.codes), n_columns, n_classes)
        if is_sparse(data.matrix) and self.method_ == "polya-gamma":
            refuse_large_sparse_matrix(data.matrix.shape, n_columns, n_classes)
            data = convert_sparse_data(data)
        self._standard_ = choose_standardization(self, data.matrix, prior.intercept, data.counts)
        job = self._engine.build_job(self, self._predictor, data, prior, run)
        return replace(job, data=self._describe_size(len(data.row)))

    def _build_fit(self, source: TrainingData, run: Run) -> CoefficientFit:
        """Return the fit of standardised data by the method that was chosen."""
        return ENGINES[self.method_].fit_class(self, source, run, self._predictor)

    @property
    def _predictor(self) -> LogitDesign:
        """Classes and standardised covariates of the fit."""
        return LogitDesign(
            self.classes_, self._reference_, self._standard_, list_covariate_names(self)
        )

    def _sample_prior_draws(self, matrix: np.ndarray, rngs: Sequence[np.random.Generator]) -> Any:
        """Sample coefficients from the prior, and class codes (draws, n)."""
        from .posterior_draws import sample_prior_predictive

        prior = read_prior(self)
        self._reference_ = find_reference_class(self)
        self._standard_ = choose_standardization(self, matrix, prior.intercept)
        return sample_prior_predictive(prior, self._predictor, matrix, rngs)

    def coefficient_path(
        self, X: Any, y: Any, eta: Any = None, sample_weight: Any = None
    ) -> "pandas.DataFrame":
        """Return the posterior mode for many values of eta.

        Each maximum is started from the previous one. The model is not changed, and its method is
        ignored.

        Parameters
        ----------
        X : array, data frame or sparse matrix (n, d)
        y : sequence of str, int or bool (n,)
            As for `fit`.
        eta : sequence of float above 0, optional
            None uses 30 values, from the smallest for which all coefficients are 0 down to
            1/10,000 of it.
        sample_weight : sequence of float (n,), optional

        Returns
        -------
        pandas.DataFrame
            One row per eta, in falling order: eta, non_zero (number of nonzero coefficients),
            log_likelihood, objective and coef[class, covariate] of standardised covariates, as
            stated in `attrs["scale"]`.

        Raises
        ------
        DataError
            If X, y, the weights or eta cannot be used.

        Examples
        --------
        >>> import numpy as np
        >>> import thali as th
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> path = th.SparseMultinomialLogit().coefficient_path(X, X[:, 0] + X[:, 1] > 0.1)
        >>> path["non_zero"].iloc[[0, -1]].tolist()
        [0, 3]
        """
        model = type(self)(**self.get_params()).set_params(method="map")
        data = model._read_training_data(X, y, sample_weight)
        return build_path_table(model, data, eta)

    @requires(require_draws)
    def coefficients(self, delta: float = 0.1, ci: float = INTERVAL) -> "pandas.DataFrame":
        r"""Return coefficients with intervals, signs and probabilities that they are large.

        .. math:: P(|\beta_{kj}| > \delta \mid X, y)

        The posterior has no exact zeros; a covariate has an effect if this probability is near 1.

        Parameters
        ----------
        delta : float, 0 or more
            For standardised covariates: with 0.1, a covariate that rises by a standard deviation
            multiplies the odds by 1.1.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per coefficient, most certain first: class, covariate, coef (posterior mean,
            for the standardised covariate), sd, low and high (the interval), probability (of
            \|coef\| > delta), positive (the probability of coef > 0), excludes_0 (whether the
            interval excludes 0), original (`coef_`, per unit of the covariate in X).
            `attrs["scale"]` states the scale of each column; with `standardize=False` both scales
            are the units of X.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `delta` is negative, or the fit made no draws.

        Examples
        --------
        >>> import numpy as np
        >>> import thali as th
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> model = th.SparseMultinomialLogit(random_state=1).fit(X, X[:, 0] + X[:, 1] > 0.1)
        >>> model.coefficients().query("excludes_0")["covariate"].sort_values().tolist()
        ['x0', 'x1']
        """
        return build_coefficient_table(self, self._standard_.varies, delta, ci)

    def summary(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return posterior summaries of scales, log-likelihood and coefficients.

        Rows: eta (if learned), log_likelihood (full training data), coef[class, column] of
        standardised covariates (log odds per standard deviation), or in units of X with
        `standardize=False`, as stated in `attrs["scale"]`; after `method="map"` only the nonzero
        coefficients, largest first. `coef_` is in units of X.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, low and high (ends of the interval), mcse_mean,
            ess_bulk, ess_tail, r_hat; after "map" the mean only.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        self._require_fitted()
        table = super().summary(ci)
        table.attrs["scale"] = describe_scale(self)
        return table

    def _headline_facts(self) -> Facts:
        """Return (name, value) facts to show with a fit."""
        facts = super()._headline_facts()
        if self._engine is not ENGINES[self.method_]:
            (name, draws), *other_facts = facts
            draws = f"{draws} ({self.method_}, chosen by the size of the data)"
            facts = (name, draws), *other_facts
        n_constant = int((~self._standard_.varies).sum())
        if not n_constant:
            return facts
        covariates = (
            f"{self.n_features_in_ - n_constant:,} of {self.n_features_in_:,}; the other covariates"
            " are constant"
        )
        return *facts, ("covariates", covariates)

    def _get_quantities(self) -> dict[str, np.ndarray]:
        """Return draws of scales, log-likelihood and coefficients, by name."""
        from .posterior_draws import collect_summary_draws

        return collect_summary_draws(self._view)

    def _get_advice(self) -> "Advice":
        """Return the advice for chains that disagree."""
        return ENGINES[self.method_].advice
