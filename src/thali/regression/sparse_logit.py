"""The sparse Bayesian multinomial logit as a classifier."""

import warnings
from typing import TYPE_CHECKING

import numpy as np

from thali._quiet import is_quiet
from thali.errors import ArgumentError, ConvergenceWarning, DataError, DataWarning, InterruptedWarning
from thali.models.arguments import one_of, positive, refuse_endless, whole
from thali.regression.classifier import Classifier
from thali.regression.input import column_name

if TYPE_CHECKING:
    import pandas
    import xarray

THIN_TWO, THIN = 4, 10  # sweeps a kept draw of two classes, of more, unless the user says otherwise
_LARGEST = 1e100  # of covariates that are not standardised: their squares must be floats


class SparseMultinomialLogit(Classifier):
    r"""Multinomial logit whose coefficients have a Laplace prior, with draws from its posterior.

    .. math:: P(y = k \mid x) \propto e^{b_k + x^T \beta_k}, \qquad
              p(\beta_{kj} \mid \eta) = \tfrac12 \sqrt\eta\, e^{-\sqrt\eta |\beta_{kj}|}, \qquad
              \eta \sim \mathrm{Gamma}(\text{shape}, \text{rate}), \qquad b_k \sim \mathrm{Normal}(0, 100)

    The reference class has b = 0 and beta = 0; the prior depends on which class that is.

    Parameters
    ----------
    method : {"polya-gamma", "holmes-held"}
        Auxiliary variables of the Gibbs sampler, which have no influence on the posterior; Polya-Gamma mixes better.
    eta : float above 0, optional
        Rate parameter of the exponential law that mixes the variances of the coefficients (mean 2/eta), the square of
        the rate of the Laplace prior. None learns it.
    shape, rate : float above 0
        Of the Gamma prior of eta, if it is learned.
    reference : label, optional
        The reference class; None is `classes_[0]`, so that for two classes `coef_` has scikit-learn's sign.
    fit_intercept : bool
        Whether there is b, which is not shrunk.
    standardize : bool
        Whether the covariates are given mean 0 and standard deviation 1, those of the training data. The prior is the
        same for all coefficients, which makes sense on one scale only. Covariates that are the same in every row of the
        training data say nothing: they are left out, with a warning, and predictions do not depend on them.
    draws, tune : int
        States kept in each chain, and states discarded before them.
    chains : int
    thin : int, optional
        Sweeps for each state; None means 4 for two classes and 10 for more, which mix more slowly.
    cores : int, optional
        Threads; None means one a chain, as far as there are processors. Has no influence on the draws.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
    progressbar : bool

    Attributes
    ----------
    classes_ : array (K,)
    coef_ : array (K - 1, d)
        Posterior means for covariates as they were given, not standardised, one row a class other than the reference,
        in the order of `classes_`; 0 for covariates that are the same in every row.
    intercept_ : array (K - 1,)
        Likewise, so that it holds what standardising takes off, even where `fit_intercept` is False.
    log_likelihood_ : float
        Posterior mean of the log-likelihood of the whole training data.
    posterior_ : xarray.DataTree
        The draws in the ArviZ schema: coef and intercept (of the standardised covariates that vary), eta,
        log_likelihood.
    reference_ : label
    interrupted_ : bool
        Whether Ctrl-C ended the fit early.
    n_features_in_ : int
    feature_names_in_ : array of str (d,)
        Only after a fit to a data frame.

    References
    ----------
    Archambeau & Caron (2012), appendix A, with consistent hyperparameters; Park & Casella (2008), The Bayesian lasso;
    Polson, Scott & Windle (2013); Holmes & Held (2006).

    Examples
    --------
    >>> import numpy as np
    >>> import thali as th
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = np.where(X[:, 0] + 0.5 * rng.logistic(size=200) > 0, "yes", "no")
    >>> model = th.SparseMultinomialLogit(random_seed=1).fit(X, y)
    >>> model.predict([[2.0, 0.0, 0.0]]).item()
    'yes'
    >>> model.summary().index.to_list()
    ['eta', 'log_likelihood', 'coef[yes, x0]', 'coef[yes, x1]', 'coef[yes, x2]']
    """

    coef_: np.ndarray
    intercept_: np.ndarray
    log_likelihood_: float
    posterior_: "xarray.DataTree"
    interrupted_: bool

    def __init__(
        self,
        method="polya-gamma",
        eta=None,
        shape=1.0,
        rate=1.0,
        reference=None,
        fit_intercept=True,
        standardize=True,
        draws=1000,
        tune=1000,
        chains=4,
        thin=None,
        cores=None,
        random_seed=None,
        progressbar=False,
    ):
        self.method = method
        self.eta = eta
        self.shape = shape
        self.rate = rate
        self.reference = reference
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.draws = draws
        self.tune = tune
        self.chains = chains
        self.thin = thin
        self.cores = cores
        self.random_seed = random_seed
        self.progressbar = progressbar

    def _fit(self, matrix: np.ndarray, codes: np.ndarray) -> None:
        from thali.progress import Progress
        from thali.regression.sparse_logit_chain import problem_of, run_chains
        from thali.regression.sparse_logit_posterior import to_datatree

        prior = self._prior()
        eta, intercept = prior.eta, prior.intercept
        draws, tune = whole("draws", self.draws, 1), whole("tune", self.tune, 0)
        usual = THIN_TWO if len(self.classes_) == 2 else THIN
        thin = usual if self.thin is None else whole("thin", self.thin, 1)
        chains = whole("chains", self.chains, 1)
        refuse_endless(draws, tune, chains, thin)
        cores = self.cores if self.cores is None else whole("cores", self.cores, 1)
        reference = self._position_of_reference()
        z = self._standardised_for_fit(matrix, intercept)
        problem = problem_of(z, codes, len(self.classes_), reference, prior, self.method)
        with Progress(bool(self.progressbar), "sampling", chains * (tune + draws) * thin) as progress:
            states, interrupted = run_chains(problem, eta, draws, tune, thin, chains, cores, self.random_seed, progress)
        attrs = {"method": self.method, "thin": thin, "tuning_steps": tune}
        names = [name for name, varies in zip(self._column_names(), self._standard.varies, strict=True) if varies]
        self.posterior_ = to_datatree(states, self.classes_, names, intercept, attrs)
        self.interrupted_ = interrupted
        self._keep_means()
        self._warn(draws)

    def _prior(self):
        """The prior that the arguments say."""
        from thali.regression.sparse_logit_chain import Prior

        one_of("method", self.method, ("polya-gamma", "holmes-held"))
        eta = None if self.eta is None else positive("eta", self.eta, "a rate")
        shape = positive("shape", self.shape, "a parameter of the Gamma prior of eta")
        rate = positive("rate", self.rate, "a parameter of the Gamma prior of eta")
        return Prior(eta, shape, rate, bool(one_of("fit_intercept", self.fit_intercept, (True, False))))

    def _prior_draws(self, matrix: np.ndarray, rngs):
        from thali.regression.sparse_logit_prior import sample_coefficients

        prior, reference = self._prior(), self._position_of_reference()
        z = self._standardised_for_fit(matrix, prior.intercept)
        return sample_coefficients(prior, z, self.classes_, reference, self._column_names(), rngs)

    def _position_of_reference(self) -> int:
        if self.reference is None:
            self.reference_ = self.classes_[0]
            return 0
        found = [k for k, label in enumerate(self.classes_) if label == self.reference]
        if not found:
            known = ", ".join(repr(label) for label in self.classes_[:10].tolist())
            raise ArgumentError(f"reference must be one of the classes, {known}; got {self.reference!r}.")
        self.reference_ = self.classes_[found[0]]
        return found[0]

    def _standardised_for_fit(self, matrix: np.ndarray, intercept: bool) -> np.ndarray:
        from thali.regression.standard import Standard, standard_of, warn_of_left_out

        names = getattr(self, "feature_names_in_", None)
        if one_of("standardize", self.standardize, (True, False)):
            self._standard = standard_of(matrix, names)
            warn_of_left_out(self._standard, names, stacklevel=4)
            return self._varying(matrix)
        largest = np.abs(matrix).max(axis=0)
        if (largest > _LARGEST).any():
            column = int(np.argmax(largest))
            raise DataError(
                f"{_capital(column_name(names, column))} reaches {largest[column]:g}, whose square is too large for "
                "floats; rescale it, or leave standardize at True."
            )
        constant = np.flatnonzero(np.ptp(matrix, axis=0) == 0)
        if constant.size and intercept and not is_quiet():
            warnings.warn(
                f"{_capital(column_name(names, int(constant[0])))} is constant and says the same as the intercept; "
                "leave it out.",
                DataWarning,
                stacklevel=4,
            )
        d = matrix.shape[1]
        self._standard = Standard(np.ones(d), np.zeros(d), np.ones(d))
        return matrix

    def _varying(self, matrix: np.ndarray) -> np.ndarray:
        """The standardised covariates that varied in the training data."""
        return np.ascontiguousarray(self._standard.apply(matrix)[:, self._standard.varies])

    def _keep_means(self) -> None:
        posterior = self.posterior_["posterior"].dataset
        unit, mean, sd = self._standard
        means = posterior["coef"].values.mean(axis=(0, 1))
        coefs = np.zeros((len(means), len(sd)))
        coefs[:, self._standard.varies] = means
        with np.errstate(over="ignore", under="ignore"):
            self.coef_ = np.nan_to_num(coefs / sd / unit)
        at_mean = posterior["intercept"].values.mean(axis=(0, 1)) if "intercept" in posterior else np.zeros(len(coefs))
        self.intercept_ = at_mean - coefs @ (mean / sd)
        self.log_likelihood_ = float(posterior["log_likelihood"].values.mean())

    def _warn(self, draws: int) -> None:
        from thali.posterior.summary import summary_table, verdict
        from thali.regression.sparse_logit_posterior import MOST_COEFFICIENTS, quantities_of

        if is_quiet():
            return
        if self.interrupted_:
            kept = self.posterior_["posterior"].sizes["draw"]
            warnings.warn(
                f"Stopped early; {kept} of {draws} draws a chain were kept.", InterruptedWarning, stacklevel=4
            )
        agree, sentence = verdict(summary_table(quantities_of(self.posterior_, MOST_COEFFICIENTS)))
        if not agree:
            warnings.warn(sentence, ConvergenceWarning, stacklevel=4)

    def _probabilities(self, matrix: np.ndarray) -> np.ndarray:
        from thali.regression.sparse_logit_posterior import mean_probabilities

        reference = int(np.flatnonzero(self.classes_ == self.reference_)[0])
        return mean_probabilities(self.posterior_, self._varying(matrix), reference)

    def summary(self) -> "pandas.DataFrame":
        """Posterior mean, sd, interval, Monte Carlo error, ESS and R-hat of eta, the log-likelihood and coefficients.

        Rows: eta (if learned), log_likelihood (of the whole training data) and coef[class, column] of standardised
        covariates.

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, eti89_lb, eti89_ub (the 89 % interval), mcse_mean, ess_bulk, ess_tail, r_hat.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from thali.posterior.summary import summary_table
        from thali.regression.sparse_logit_posterior import quantities_of

        self._require_fitted()
        return summary_table(quantities_of(self.posterior_))

    def plot_decision(self, X, y=None, *, axes=None):
        """Draw which class is the most probable one where, for a model of two covariates.

        Parameters
        ----------
        X : array or data frame (n, 2)
            Rows that the picture should hold.
        y : sequence (n,), optional
            Their classes; without them no points are drawn.
        axes : matplotlib axes, optional

        Returns
        -------
        matplotlib axes

        Raises
        ------
        ThaliError
            As `thali.plots.decision`.
        """
        from thali.plots.decision import decision

        return decision(self, X, y, axes=axes)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
