"""The sparse Bayesian multinomial logit as a classifier."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._data.rows import TrainingData, convert_sparse_data
from thali._described import Facts
from thali._inference.chains import Run
from thali._model.base import Job
from thali._model.engine import Engine
from thali._posterior.interval import INTERVAL

from ..blocks import is_blocked
from ..classifier import Classifier
from ..input import ends_of, is_sparse
from .arguments import method_for, position_of, prior_of, refuse_large, scale_of
from .draws import CoefficientAnswers, scale_words
from .engines import ENGINES
from .maximum import observed_of

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._posterior.convergence import Advice

    from ..input import Standard
    from .approximation import NormalPosterior


class SparseMultinomialLogit(CoefficientAnswers, Classifier):
    r"""Multinomial logit whose coefficients are shrunk towards 0, with draws from its posterior.

    .. math:: P(y = k \mid x) \propto e^{b_k + x^T \beta_k}, \qquad
              p(\beta_{kj} \mid \eta) = \tfrac12 \sqrt\eta\, e^{-\sqrt\eta |\beta_{kj}|}, \qquad
              \eta \sim \mathrm{Gamma}(\text{shape}, \text{rate}), \qquad
              b_k \sim \mathrm{Normal}(0, 100)

    The reference class has b = 0 and beta = 0; the prior depends on which class that is. With
    `prior="horseshoe"`

    .. math::

        \beta_{kj} \sim \mathrm{Normal}\Big(0, \big(1/c^2
        + 1/(\tau\lambda_{kj})^2\big)^{-1}\Big), \quad
              \lambda_{kj} \sim C^+(0, 1), \quad \tau \sim C^+(0, \tau_0), \quad
              c^2 \sim \mathrm{InvGamma}(2, 12.5),

    which shrinks small coefficients more than the Laplace prior and large ones hardly: they come
    from the slab, about Student's t of 4 degrees of freedom and scale 2.5.

    Parameters
    ----------
    method : {"auto", "polya-gamma", "laplace", "variational", "map"}
        "auto" is "polya-gamma" if it is expected to take less than a minute of the processor. If it
        takes longer, "auto" is "variational" where there are 20 rows or more a coefficient, and
        anywhere if the Gibbs sampler would take longer than ten minutes and it does not; `method_`
        says which. "polya-gamma" is a Gibbs sampler with Polya-Gamma variables. With at most 600
        coefficients each sweep is followed by Hamiltonian trajectories of all of them. "laplace"
        and "variational" draw independently from a normal approximation, for many rows: by the
        curvature at the maximum, or of the highest lower bound of the evidence. With 20 rows a
        coefficient their standard deviations are within a tenth of those of the posterior; with
        fewer they are too small, the variational ones less so. "map" is the maximum of the
        posterior for a fixed `eta`, which has no intervals, but coefficients of exactly 0, and
        scales to millions of rows. All three take sparse matrices as they are, and leave Dask
        arrays in their blocks, which "auto" fits by "variational". The Gibbs sampler needs a dense
        matrix: of a sparse one "auto" makes one where it chooses it.
    prior : {"laplace", "horseshoe"}
        "horseshoe" where few of many covariates are expected to matter. It is for the Gibbs
        sampler, and has no eta.
    eta : float above 0, optional
        Rate parameter of the exponential law that mixes the variances of the coefficients (mean
        2/eta), the square of the rate of the Laplace prior. None learns it; `method="map"` then
        fixes it at its prior mean, shape/rate: by default 1, which is scikit-learn's default C = 1,
        as that penalises by sum abs(beta) / C and eta = 1/C².
    shape, rate : float above 0
        Of the Gamma prior of eta, if it is learned.
    global_scale : float above 0
        Of the horseshoe, tau_0. If m of d coefficients are expected to matter, Piironen and Vehtari
        take 2 m / ((d - m) sqrt(n)) for n rows.
    reference : label, optional
        The reference class; None is `classes_[0]`, so that for two classes `coef_` has
        scikit-learn's sign.
    fit_intercept : bool
        Whether there is b, which is not shrunk.
    standardize : bool
        Whether the covariates are given mean 0 and standard deviation 1, those of the training
        data. The prior is the same for all coefficients, which makes sense on one scale only.
        Covariates that are the same in every row of the training data say nothing: they are left
        out, with a warning (of a sparse matrix none where they are 0: words that other texts have),
        and predictions do not depend on them.
    class_weight : dict of label to float, "balanced" or None
        Factors of the weights of rows, by their class; "balanced" gives all classes the same weight
        in total.
    draws : int, optional
        States kept in each chain. None draws until every row of `summary` has an R-hat of at most
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
        Posterior means in units of X: log odds for a unit of a covariate as it was given, whatever
        `standardize` says, one row a class other than the reference, in the order of `classes_`; 0
        for covariates that are the same in every row. After "map" the maximum. `coefficients()` and
        `summary()` are about standardised covariates.
    intercept_ : array (K - 1,)
        Likewise, so that it holds what standardising takes off, even where `fit_intercept` is
        False.
    log_likelihood_ : float
        Posterior mean of the log-likelihood of the whole training data.
    posterior_ : xarray.DataTree
        The draws in the ArviZ schema: coef and intercept (of the standardised covariates that
        vary), eta or, of the horseshoe, tau and slab (c), log_likelihood.
    scaled_coef_, scaled_intercept_ : arrays, shapes (K - 1, v) and (K - 1,)
        After `method="map"`: of the v standardised covariates that vary, and where all of them have
        their mean.
    objective_ : float
        After `method="map"`: log-likelihood - sqrt(eta) sum abs(beta) - sum b²/200.
    n_iter_ : int
        After `method="map"`.
    method_ : str
        `method`, or what "auto" has chosen.
    lower_bound_ : float
        After `method="variational"`: of the logarithm of the evidence, ln P(y | X), up to the error
        of the quadrature over linear predictors: some nats where there are fewer than 20 rows a
        coefficient, so do not compare models by it there.
    converged_ : bool
        After `method="laplace"`, "variational" and "map": whether the climb ended.
    slope_ : float
        After `method="map"`: the largest subgradient that is left, a row.
    n_features_in_ : int
    feature_names_in_ : array of str (d,)
        Only after a fit to a data frame.

    References
    ----------
    Archambeau & Caron (2012), appendix A, with consistent hyperparameters; Park & Casella (2008),
    The Bayesian lasso; Polson, Scott & Windle (2013). Piironen & Vehtari (2017), Sparsity
    information and regularization in the horseshoe and other shrinkage priors.

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

    _learned = "coef"
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
    _standard_: "Standard"
    _normal_: "NormalPosterior"  # of rows in blocks

    def __init__(
        self,
        method: str = "auto",
        prior: str = "laplace",
        eta: Any = None,
        shape: float = 1.0,
        rate: float = 1.0,
        global_scale: float = 1.0,
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
        self.prior = prior
        self.eta = eta
        self.shape = shape
        self.rate = rate
        self.global_scale = global_scale
        self.reference = reference
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.draws = draws
        self.tune = tune
        self.chains = chains
        self.random_state = random_state

    def _job(self, data: TrainingData, run: Run) -> Job:
        prior = prior_of(self)
        self._position_of_reference()
        if is_sparse(data.matrix):
            data = self._dense_if_drawn(data, prior)
        self._standard_ = self._standard_for(data.matrix, prior.intercept, data.counts)
        columns = int(self._standard_.varies.sum()) + prior.intercept
        self.method_ = method_for(
            self.method, self.prior, len(data.codes), columns, len(self.classes_)
        )
        return self._engine.job(self, data, prior, run)

    def _dense_if_drawn(self, data: TrainingData, prior: Any) -> TrainingData:
        """A sparse matrix dense where "auto" draws from the posterior itself, for which it must be
        small enough."""
        low, high = ends_of(data.matrix)
        columns = (int((low != high).sum()) if self.standardize else len(low)) + prior.intercept
        if (
            method_for(self.method, self.prior, len(data.codes), columns, len(self.classes_))
            != "polya-gamma"
        ):
            return data
        refuse_large(data.matrix.shape, columns, len(self.classes_))
        return convert_sparse_data(data)

    def _job_of_blocks(self, X: Any, y: Any, sample_weight: Any, run: Run) -> Job | None:
        if not is_blocked(X):
            return None
        from .by_blocks import job_of_blocks

        return job_of_blocks(self, X, y, sample_weight, run)

    def _for_maximum(self, data: TrainingData, prior: Any) -> Any:
        """What `method="map"` maximises."""
        reference = self._position_of_reference()
        return observed_of(data, self._standard_, len(self.classes_), reference, prior.intercept)

    @property
    def _used(self) -> Any:
        """The engine of the method that the fit used."""
        return ENGINES[self.method_]

    def _takes_sparse(self) -> bool:
        return self._engine.takes_sparse

    def _class_weight(self) -> Any:
        return self.class_weight

    def _position_of_reference(self) -> int:
        return position_of(self.reference, self.classes_)

    def _standard_for(
        self, matrix: np.ndarray, intercept: bool, counts: np.ndarray | None = None
    ) -> "Standard":
        names = vars(self).get("feature_names_in_")
        return scale_of(matrix, names, counts, self.standardize, intercept)

    def _prior_draws(self, matrix: np.ndarray, rngs: Any) -> Any:
        from .draws import sample_coefficients

        prior, reference = prior_of(self), self._position_of_reference()
        z = self._standard_for(matrix, prior.intercept).varying(matrix)
        return sample_coefficients(prior, z, self.classes_, reference, self._column_names(), rngs)

    def _probabilities(self, matrix: np.ndarray) -> np.ndarray:
        return self._engine.probabilities(self, matrix)

    def _probability_blocks(self, matrix: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        from .draws import probability_blocks

        blocks = probability_blocks(self._view, matrix, self._standard_, self._position())
        return ((part, found.transpose(2, 0, 1)) for part, found in blocks)

    def _position(self) -> int:
        """The reference class of the fit."""
        return int(np.flatnonzero(self.classes_ == self._reference_)[0])

    def summary(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Posterior mean, sd, interval, Monte Carlo error, ESS and R-hat of scales, log-likelihood
        and coefficients.

        Rows: eta (if learned) or, of the horseshoe, log_tau and slab; log_likelihood (of the whole
        training data); coef[class, column] of standardised covariates (log odds for a standard
        deviation), or in units of X with `standardize=False`, as `attrs["scale"]` says; after
        `method="map"` only the coefficients that are not 0, the largest first. `coef_` is in units
        of X.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, eti89_lb, eti89_ub (the interval, by its probability), mcse_mean,
            ess_bulk, ess_tail, r_hat; after "map" the first.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        """
        self._require_fitted()
        table = super().summary(ci)
        table.attrs["scale"] = scale_words(self)
        return table

    def _headline_facts(self) -> Facts:
        left_out = int((~self._standard_.varies).sum())
        of = (
            f"{self.n_features_in_ - left_out:,} of {self.n_features_in_:,}; the other covariates"
            " are constant"
        )
        return *super()._headline_facts(), *((("covariates", of),) if left_out else ())

    def _get_quantities(self) -> dict[str, np.ndarray]:
        """The learned scales, the log-likelihood and the coefficients of standardised covariates,
        draw by draw."""
        from .draws import quantities_of

        return quantities_of(self._view)

    def _get_advice(self) -> "Advice":
        return self._engine.advice(self)
