"""The sparse Bayesian multinomial logit as a classifier."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import one_of, positive
from thali._described import Facts
from thali.errors import (
    Argument,
    ArgumentError,
    Clause,
    ConvergenceWarning,
    DataError,
    DataWarning,
    Setting,
    ThaliWarning,
)
from thali.inference.chains import Run
from thali.inference.warn import warn

from ..base import Job, Model, RunByChains
from ..classifiers.classifier import Classifier
from ..classifiers.input import column_name
from ..classifiers.training_data import TrainingData
from ..sampling import Sampling
from .at_maximum import (
    by_map,
    of_map,
    other_classes,
    path_of,
    probabilities_at_maximum,
    summary_of_maximum,
    target_of,
    varying_names,
)

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali.posterior.verdict import Advice, Verdict

    from ..classifiers.standard import Standard

METHODS = ("polya-gamma", "holmes-held", "laplace", "map")
PRIORS = ("laplace", "horseshoe")
THIN_MOVED = 1  # sweeps a kept draw where there are trajectories, unless the user says otherwise
THIN_TWO, THIN = 4, 10  # without them, of two classes and of more
_LARGEST = 1e100  # of covariates that are not standardised: their squares must be floats


class SparseMultinomialLogit(Classifier, RunByChains):
    r"""Multinomial logit whose coefficients are shrunk towards 0, with draws from its posterior.

    .. math:: P(y = k \mid x) \propto e^{b_k + x^T \beta_k}, \qquad
              p(\beta_{kj} \mid \eta) = \tfrac12 \sqrt\eta\, e^{-\sqrt\eta |\beta_{kj}|}, \qquad
              \eta \sim \mathrm{Gamma}(\text{shape}, \text{rate}), \qquad b_k \sim \mathrm{Normal}(0, 100)

    The reference class has b = 0 and beta = 0; the prior depends on which class that is. With `prior="horseshoe"`

    .. math:: \beta_{kj} \sim \mathrm{Normal}\Big(0, \big(1/c^2 + 1/(\tau\lambda_{kj})^2\big)^{-1}\Big), \quad
              \lambda_{kj} \sim C^+(0, 1), \quad \tau \sim C^+(0, \tau_0), \quad c^2 \sim \mathrm{InvGamma}(2, 12.5),

    which shrinks small coefficients more than the Laplace prior and large ones hardly: they come from the slab, about
    Student's t of 4 degrees of freedom and scale 2.5.

    Parameters
    ----------
    method : {"polya-gamma", "holmes-held", "laplace", "map"}
        The first two name the auxiliary variables of the Gibbs sampler, which have no influence on the posterior;
        Polya-Gamma mixes better, the more so as Hamiltonian trajectories of all coefficients follow each of its sweeps
        where there are at most 600. "laplace" draws independently from a normal approximation, for many rows: with 20 rows
        a coefficient or more, its standard deviations are within a tenth of those of the posterior. "map" is the
        maximum of the posterior for a fixed `eta`, which has no intervals, but coefficients of exactly 0, takes sparse
        matrices as they are, and scales to millions of rows.
    eta : float above 0, optional
        Rate parameter of the exponential law that mixes the variances of the coefficients (mean 2/eta), the square of
        the rate of the Laplace prior. None learns it, which `method="map"` cannot. Where scikit-learn penalises by
        sum abs(beta) / C, that is eta = 1/C².
    shape, rate : float above 0
        Of the Gamma prior of eta, if it is learned.
    prior : {"laplace", "horseshoe"}
        "horseshoe" where few of many covariates are expected to matter. It is for the two Gibbs samplers, and has no
        eta.
    global_scale : float above 0
        Of the horseshoe, tau_0. If m of d coefficients are expected to matter, Piironen and Vehtari take
        2 m / ((d - m) sqrt(n)) for n rows.
    reference : label, optional
        The reference class; None is `classes_[0]`, so that for two classes `coef_` has scikit-learn's sign.
    fit_intercept : bool
        Whether there is b, which is not shrunk.
    standardize : bool
        Whether the covariates are given mean 0 and standard deviation 1, those of the training data. The prior is the
        same for all coefficients, which makes sense on one scale only. Covariates that are the same in every row of the
        training data say nothing: they are left out, with a warning, and predictions do not depend on them.
    class_weight : dict of label to float, "balanced" or None
        Factors of the weights of rows, by their class; "balanced" gives all classes the same weight in total.
    draws : int or None
        States kept in each chain. None draws until every row of `summary` has an R-hat of at most 1.01 and an effective
        sample size of at least 400; it looks at them after 1,000, 2,000, 4,000, ... draws, and stops at 64,000 or 2 GB.
    tune : int
        States discarded before them.
    chains : int
    thin : int, optional
        Sweeps for each state. None means 1 for "polya-gamma" where there are at least as many rows as coefficients of a
        class and at most 600 coefficients; else 4 for two classes and 10 for more, which mix more slowly.
    cores : int, optional
        Threads; None means one a chain, as far as there are processors. Has no influence on the draws.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
    random_state : int, numpy.random.RandomState or Generator, optional
        Another name of `random_seed`, which decides where both are given; for tools of scikit-learn.
    progressbar : bool
    job : str or path, optional
        A folder that holds the draws and the state of the chains while they run. The same fit goes on from it after
        the process was killed, and gives the draws of an unbroken run; with more `draws` it goes on further.
    max_time : float, optional
        Seconds after which the run stops and keeps what was drawn.

    Attributes
    ----------
    classes_ : array (K,)
    coef_ : array (K - 1, d)
        Posterior means for covariates as they were given, not standardised, one row a class other than the reference,
        in the order of `classes_`; 0 for covariates that are the same in every row. After "map" the maximum.
    intercept_ : array (K - 1,)
        Likewise, so that it holds what standardising takes off, even where `fit_intercept` is False.
    log_likelihood_ : float
        Posterior mean of the log-likelihood of the whole training data.
    posterior_ : xarray.DataTree
        The draws in the ArviZ schema: coef and intercept (of the standardised covariates that vary), eta or, of the
        horseshoe, tau and slab (c), log_likelihood.
    reference_ : label
    scaled_coef_, scaled_intercept_ : arrays, shapes (K - 1, v) and (K - 1,)
        After `method="map"`: of the v standardised covariates that vary, and where all of them have their mean.
    objective_ : float
        After `method="map"`: log-likelihood - sqrt(eta) sum abs(beta) - sum b²/200.
    n_iter_ : int
        After `method="map"`.
    converged_ : bool
        After `method="laplace"` and `method="map"`: whether the climb ended.
    slope_ : float
        After `method="map"`: the largest subgradient that is left, a row.
    interrupted_ : bool
        Whether Ctrl-C ended the fit early.
    n_features_in_ : int
    feature_names_in_ : array of str (d,)
        Only after a fit to a data frame.

    References
    ----------
    Archambeau & Caron (2012), appendix A, with consistent hyperparameters; Park & Casella (2008), The Bayesian lasso;
    Polson, Scott & Windle (2013); Holmes & Held (2006). Piironen & Vehtari (2017), Sparsity information and
    regularization in the horseshoe and other shrinkage priors.

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

    _drawing = METHODS[:3]

    coef_: np.ndarray
    intercept_: np.ndarray
    log_likelihood_: float
    posterior_: "xarray.DataTree"
    interrupted_: bool
    reference_: Any
    scaled_coef_: np.ndarray
    scaled_intercept_: np.ndarray
    objective_: float
    n_iter_: int
    converged_: bool
    slope_: float
    _standard_: "Standard"

    def __init__(
        self,
        method: str = "polya-gamma",
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
        thin: Any = None,
        cores: Any = None,
        random_seed: Any = None,
        random_state: Any = None,
        progressbar: bool = True,
        job: Any = None,
        max_time: float | None = None,
        prior: str = "laplace",
        global_scale: float = 1.0,
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
        self.thin = thin
        self.cores = cores
        self.random_seed = random_seed
        self.random_state = random_state
        self.progressbar = progressbar
        self.job = job
        self.max_time = max_time
        self.prior = prior
        self.global_scale = global_scale

    def _job(self, data: TrainingData) -> Job:
        prior = self._prior()
        run = self._run()
        self._position_of_reference()
        self._standard_ = self._standard_for(data.matrix, prior.intercept, data.counts)
        if self.method == "map":
            return by_map(self, self._target(data, prior), prior.eta, self._size(len(data.row)))
        source = data._replace(matrix=self._standard_.varying(data.matrix))
        return self._job_of(self._sampling(source, run), self._size(len(data.row)))

    def _target(self, data: TrainingData, prior: Any) -> Any:
        """What `method="map"` maximises."""
        reference = self._position_of_reference()
        return target_of(data, self._standard_, len(self.classes_), reference, prior.intercept)

    def _takes_sparse(self) -> bool:
        return self.method == "map"

    def _class_weight(self) -> Any:
        return self.class_weight

    def _sampling(self, source: Any, run: Run) -> Sampling[Any]:
        from thali.inference.seeds import streams

        from .by_laplace import sampling_of_normal
        from .chain import Chain, problem_of, trajectories_of
        from .draws import means, to_datatree

        if self.method == "laplace":
            return sampling_of_normal(self, source, run)
        prior, reference, standard = self._prior(), self._position_of_reference(), self._standard_
        names, classes = varying_names(self), len(self.classes_)
        moves = trajectories_of(len(source.codes), len(names) + prior.intercept, classes, self.method)
        thin = run.thin or (THIN_MOVED if moves else THIN_TWO if classes == 2 else THIN)

        @cache
        def problem() -> Any:
            rows = source.matrix, source.codes, classes, reference
            return problem_of(*rows, prior, self.method, counts=source.counts, trajectories=moves)

        def chains(draws: int, seed: np.random.SeedSequence) -> list[Chain]:
            return [Chain(problem(), prior.eta, rng, draws, run.tune, thin) for rng in streams(seed, run.chains)]

        def tree(chains: Sequence[Chain]) -> "xarray.DataTree":
            attrs = {"method": self.method, "thin": thin, "tuning_steps": run.tune}
            return to_datatree(chains, source, self.classes_, names, prior.intercept, attrs)

        def found(tree: "xarray.DataTree", chains: Any, seed: Any) -> dict[str, Any]:
            return {"reference_": self.classes_[reference], **means(tree, standard)}

        return Sampling(source, run._replace(thin=thin), chains, tree, found)

    def _prior(self) -> Any:
        """The prior that the arguments say."""
        from .chain import Prior

        one_of("method", self.method, METHODS)
        is_horseshoe = one_of("prior", self.prior, PRIORS) == "horseshoe"
        if is_horseshoe and self.method in ("laplace", "map"):
            raise ArgumentError(
                Setting("method", self.method), " is for the Laplace prior; got ", Setting("prior", "horseshoe"), "."
            )
        if is_horseshoe and self.eta is not None:
            raise ArgumentError(
                Argument("eta"), " is of the Laplace prior; with ", Setting("prior", "horseshoe"), " leave it out."
            )
        if self.method == "map" and self.eta is None:
            raise ArgumentError(
                Setting("method", "map"),
                " needs a number for ",
                Argument("eta"),
                "; choose it by cross-validation, or take the posterior mean of a fit by ",
                Setting("method", "polya-gamma"),
                ".",
            )
        eta = None if self.eta is None else positive("eta", self.eta, "a rate")
        shape = positive("shape", self.shape, "a parameter of the Gamma prior of eta")
        rate = positive("rate", self.rate, "a parameter of the Gamma prior of eta")
        scale = positive("global_scale", self.global_scale, "the scale of the prior of tau")
        intercept = bool(one_of("fit_intercept", self.fit_intercept, (True, False)))
        return Prior(eta, shape, rate, intercept, self.prior, scale)

    def _prior_draws(self, matrix: np.ndarray, rngs: Any) -> Any:
        from .prior_sample import sample_coefficients

        prior, reference = self._prior(), self._position_of_reference()
        z = self._standard_for(matrix, prior.intercept).varying(matrix)
        return sample_coefficients(prior, z, self.classes_, reference, self._column_names(), rngs)

    def _position_of_reference(self) -> int:
        if self.reference is None:
            return 0
        found = [k for k, label in enumerate(self.classes_) if label == self.reference]
        if not found:
            known = ", ".join(repr(label) for label in self.classes_[:10].tolist())
            raise ArgumentError(f"reference must be one of the classes, {known}; got {self.reference!r}.")
        return found[0]

    def _standard_for(self, matrix: np.ndarray, intercept: bool, counts: np.ndarray | None = None) -> "Standard":
        """The scale of the covariates: their own, or none."""
        from ..classifiers.standard import Standard, ends_of, standard_of, warn_of_left_out

        names = vars(self).get("feature_names_in_")
        if one_of("standardize", self.standardize, (True, False)):
            standard = standard_of(matrix, names, counts)
            warn_of_left_out(standard, names)
            return standard
        low, high = ends_of(matrix)
        largest = np.maximum(-low, high)
        if (largest > _LARGEST).any():
            column = int(np.argmax(largest))
            raise DataError(
                f"{_capital(column_name(names, column))} reaches {largest[column]:g}, whose square is too large for "
                "floats; rescale it",
                Clause(", or set ", Setting("standardize", True)),
                ".",
            )
        constant = np.flatnonzero(low == high)
        if constant.size and intercept:
            warn(
                DataWarning(
                    f"{_capital(column_name(names, int(constant[0])))} is constant and says the same as the intercept; "
                    "leave it out."
                )
            )
        d = matrix.shape[1]
        return Standard(np.ones(d), np.zeros(d), np.ones(d))

    def _probabilities(self, matrix: np.ndarray) -> np.ndarray:
        if self.method == "map":
            return probabilities_at_maximum(self, matrix)
        from .draws import mean_probabilities

        return mean_probabilities(self.posterior_, self._standard_.varying(matrix), self._position())

    def _probability_blocks(self, matrix: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        from .draws import probability_blocks

        blocks = probability_blocks(self.posterior_, self._standard_.varying(matrix), self._position())
        return ((part, found.transpose(2, 0, 1)) for part, found in blocks)

    def _position(self) -> int:
        """The reference class of the fit."""
        return int(np.flatnonzero(self.classes_ == self.reference_)[0])

    def summary(self) -> "pandas.DataFrame":
        """Posterior mean, sd, interval, Monte Carlo error, ESS and R-hat of scales, log-likelihood and coefficients.

        Rows: eta (if learned) or, of the horseshoe, tau and slab; log_likelihood (of the whole training data);
        coef[class, column] of standardised covariates; after `method="map"` only the coefficients that are not 0, the
        largest first.

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, eti89_lb, eti89_ub (the 89 % interval), mcse_mean, ess_bulk, ess_tail, r_hat; after "map"
            the first.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        self._require_fitted()
        return summary_of_maximum(self) if self.method == "map" else super().summary()

    def _answers(self) -> Facts:
        if self.method != "map":
            return super()._answers()
        count = f"{np.count_nonzero(self.scaled_coef_):,} of {self.scaled_coef_.size:,} are not 0"
        return ("coefficients", count), ("log-likelihood", f"{self.log_likelihood_:,.2f} (all rows)")

    def _outcome(self, job: Job) -> Iterator[ThaliWarning]:
        yield from of_map(self) if self.method == "map" else super()._outcome(job)
        if self.method == "laplace" and not self.converged_:
            yield ConvergenceWarning(
                "The normal approximation has not settled; take ", Setting("method", "polya-gamma"), "."
            )

    def coefficient_path(self, X: Any, y: Any, eta: Any = None, sample_weight: Any = None) -> "pandas.DataFrame":
        """The maximum of the posterior for many values of eta, each found from the one before.

        The model is left as it is, whatever its method and prior; the path is that of the Laplace prior.

        Parameters
        ----------
        X : array, data frame or sparse matrix (n, d)
        y : sequence of str, int or bool (n,)
            As for `fit`.
        eta : sequence of float above 0, optional
            None takes 30 values, from the smallest for which all coefficients are 0 down to 1/10,000 of it.
        sample_weight : sequence of float (n,), optional

        Returns
        -------
        pandas.DataFrame
            One row an eta, falling: eta, non_zero (the number of coefficients that are not 0), log_likelihood,
            objective and coef[class, covariate] of standardised covariates.

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
        model = type(self)(**(self.get_params() | {"method": "map", "eta": 1.0, "prior": "laplace"}))
        data, prior = model._training_data(X, y, sample_weight), model._prior()
        model._standard_ = model._standard_for(data.matrix, prior.intercept, data.counts)
        model.reference_ = model.classes_[model._position_of_reference()]
        return path_of(model._target(data, prior), varying_names(model), other_classes(model), eta)

    def coefficients(self, delta: float = 0.1) -> "pandas.DataFrame":
        r"""Every coefficient with its interval, its sign and the probability that it is not small.

        .. math:: P(|\beta_{kj}| > \delta \mid X, y)

        The posterior has no exact zeros; a coefficient matters where this probability is near 1.

        Parameters
        ----------
        delta : float, 0 or more
            Of standardised covariates: 0.1 multiplies the odds by 1.1 where the covariate rises by a standard
            deviation.

        Returns
        -------
        pandas.DataFrame
            One row a coefficient, the surest first: class, covariate, coef (posterior mean, of the standardised
            covariate), sd, low and high (the 89 % interval), probability (of \|coef\| > delta), positive (the
            probability of coef > 0), excludes_0 (whether the interval does), original (`coef_`, of the covariate as it
            was given).

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
        >>> model = th.SparseMultinomialLogit(random_seed=1).fit(X, X[:, 0] + X[:, 1] > 0.1)
        >>> model.coefficients().query("excludes_0")["covariate"].sort_values().tolist()
        ['x0', 'x1']
        """
        from .coefficients import coefficients

        return coefficients(self._with_draws(), delta)

    def quantities(self) -> dict[str, np.ndarray]:
        """The learned scales, the log-likelihood and the coefficients of standardised covariates, draw by draw.

        Returns
        -------
        dict of arrays (chain, draw)
            By the names of the rows of `summary`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from .draws import quantities_of

        return quantities_of(self._with_draws().posterior_)

    def _advice(self) -> "Advice":
        from .by_laplace import ADVICE

        return ADVICE if self.method == "laplace" else super()._advice()

    def verdict(self) -> "Verdict":
        """Whether the chains agree and are long enough, by some of the coefficients where there are many.

        After `method="map"`, whether the maximum was found.

        Returns
        -------
        Verdict
            `.agrees`, `.facts`, `.remedies`; `str` gives a sentence.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        from thali.posterior.summary import summary_table
        from thali.posterior.verdict import verdict_of

        from .draws import MAX_COEFFICIENTS, quantities_of

        if self.method == "map":
            return Model.verdict(self)
        return verdict_of(summary_table(quantities_of(self._fitted(), MAX_COEFFICIENTS)), self._advice())


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
