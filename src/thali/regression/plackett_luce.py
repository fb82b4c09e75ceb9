"""Plackett–Luce regression as a classifier."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._quiet import is_quiet
from thali.errors import ArgumentError, ConvergenceWarning
from thali.models.arguments import one_of, whole
from thali.regression.classifier import Classifier
from thali.regression.design import Design
from thali.regression.pl_gibbs import SAMPLERS, law_of
from thali.regression.pl_methods import fit_by_gibbs, fit_by_variational

if TYPE_CHECKING:
    import pandas
    import xarray

_STEP = 4096  # rows predicted at a time


class PlackettLuceRegression(Classifier):
    r"""Classes compete with scores that are non-negative sums of non-negative functions of the covariates.

    .. math:: P(Y_i = k) = \frac{\sum_j W_{ij} \lambda_{kj}}{\sum_l \sum_j W_{ij} \lambda_{lj}}, \qquad
              \lambda_{kj} \sim \mathrm{Gamma}(a, b)

    W holds, by default, e^x and e^−x of every standardised covariate, and a column of ones. Only the relative weights
    matter to the predictions; the smaller a, the fewer of them carry the total.

    Parameters
    ----------
    method : {"gibbs", "map", "variational"}
        "gibbs" draws from the posterior. "variational" approximates it by independent Gamma distributions, the best of
        several starts; predictions are its exact averages. "map" is the maximum of the posterior for a fixed `a`: a > 1
        keeps all weights positive; a = 1, the maximum of the likelihood, sets most to exactly zero; for a < 1 the
        density has no maximum, and the published fixed-point rule is followed from the solution at a = 1, so that its
        answer depends on where it starts.
    transform : "exponential", "exponential-pairs", callable or None
        How W is made: e^±x and 1; also e^±(x_a + x_b) of all pairs; a function of the (standardised) covariates that
        returns a matrix of non-negative numbers; None takes non-negative covariates as they are.
    a : float, > 0, optional
        Shape of the prior. None learns it, which `method="map"` cannot.
    a_range : pair of float, > 0
        Ends of the prior p(a) ∝ 1/a of an a that is learned. The published prior has none, and with it the posterior
        cannot be normalised.
    b : float, > 0
        Rate of the prior; without influence on predictions for a fixed a.
    standardize : bool
        Whether covariates are first given mean 0 and standard deviation 1, those of the training data. Left out for
        `transform=None`. Covariates that are the same in every row of the training data say nothing: they are left
        out of W (a callable gets 0), with a warning, and predictions do not depend on them.
    sampler : {None, "recommended", "exchange", "hamiltonian", "paper"}
        Of `method="gibbs"`: "exchange" draws latent variables, a with the weights left out and moves that carry weights
        from column to column; "hamiltonian" follows trajectories on ln λ for a fixed a; "paper" is the published
        sampler, for comparison. None and "recommended" take "hamiltonian" for a fixed a of .5 or more, else "exchange".
    draws, tune : int
        Of `method="gibbs"`: states kept in each chain, and states discarded before them.
    chains : int
    thin : int, optional
        Sweeps for each state; None means 10, and 1 for "hamiltonian" or if W has more than a million entries.
    cores : int, optional
        Threads; all when left out. Has no influence on the results.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
    progressbar : bool

    Attributes
    ----------
    weights_ : pandas.DataFrame or array, shape (K, p)
        Relative weights, which sum to 1: a frame of classes and columns of W if X was a data frame, else an array.
        Posterior means, or the maximum of the posterior.
    columns_ : list of str
        Names of the columns of W.
    a_ : float
        The one given, or the posterior mean of ln a exponentiated, or the best one found by `method="variational"`.
    log_likelihood_ : float
        Of the whole training data, natural logarithm: the posterior mean, or that of the weights.
    n_passes_ : int
        Sweeps over the training data, those of all chains or starts together.
    posterior_ : xarray.DataTree
        After `method="gibbs"`: the draws in the ArviZ schema (a, log_likelihood, weights, and logit, the log odds of
        the observed class of up to 40 rows).
    interrupted_ : bool
        After `method="gibbs"`: whether Ctrl-C ended the fit early.
    lower_bound_ : float
        After `method="variational"`: of the logarithm of the evidence, without the prior on a.
    shapes_, rates_ : arrays, shapes (K, p) and (p,)
        After `method="variational"`: of the Gamma distributions of the weights, which need not sum to 1.
    collapsed_ : bool
        After `method="variational"`: whether the best fit says no more than that all classes are equally probable.
    objective_ : float
        After `method="map"`: log-likelihood + (a − 1) Σ ln of the relative weights, zeros left out for a ≤ 1.
    support_ : pandas.DataFrame
        After `method="map"`: class, column and weight of all weights above zero, the largest first.
    n_iter_ : int
        After `method="map"`.
    design_ : Design
        How covariates become W.
    class_count_ : array, shape (K,)

    References
    ----------
    Archambeau & Caron (2012), Plackett-Luce regression: a new Bayesian model for polychotomous data, equations 4 to 19.

    Examples
    --------
    >>> import numpy as np
    >>> import thali as th
    >>> X = np.array([[-1.4], [-0.6], [-0.1], [0.3], [0.9], [1.7]])
    >>> y = ["no", "no", "yes", "no", "yes", "yes"]
    >>> model = th.PlackettLuceRegression(method="map", a=1.1).fit(X, y)
    >>> model.predict([[-2.0], [2.0]]).tolist()
    ['no', 'yes']
    >>> model = th.PlackettLuceRegression(draws=500, random_seed=1).fit(X, y)
    >>> model.summary().index[:3].to_list()
    ['a', 'log_likelihood', 'logit[0]']
    """

    # An attribute `transform` would make scikit-learn take the model for a transformer.
    _kept_as = {"transform": "_transform"}

    weights_: Any
    columns_: list[str]
    a_: float
    log_likelihood_: float
    posterior_: "xarray.DataTree"
    interrupted_: bool
    lower_bound_: float
    shapes_: Any
    rates_: np.ndarray
    collapsed_: bool
    objective_: float
    support_: "pandas.DataFrame"
    n_passes_: int
    n_iter_: int
    design_: Design
    class_count_: np.ndarray

    def __init__(
        self,
        method="gibbs",
        transform: Any = "exponential",
        a=None,
        a_range=(1e-3, 1e2),
        b=1.0,
        standardize=True,
        sampler=None,
        draws=1000,
        tune=1000,
        chains=4,
        thin=None,
        cores=None,
        random_seed=None,
        progressbar=False,
    ):
        self.method = method
        self._transform = transform
        self.a = a
        self.a_range = a_range
        self.b = b
        self.standardize = standardize
        self.sampler = sampler
        self.draws = draws
        self.tune = tune
        self.chains = chains
        self.thin = thin
        self.cores = cores
        self.random_seed = random_seed
        self.progressbar = progressbar

    def _fit_blocks(self, X, y) -> bool:
        from thali.regression.blocks import gather, is_blocked

        if not is_blocked(X):
            return False
        self._check_arguments()
        found = gather(X, y, self._transform, self.standardize, type(self).__name__, stacklevel=4)
        self.classes_, self.n_features_in_ = found.classes, found.n_features
        self.class_count_ = found.class_counts
        self._learn(found.data, found.design, found.look, stacklevel=4)
        return True

    def _fit(self, matrix: np.ndarray, codes: np.ndarray) -> None:
        from thali.regression.duplicates import distinct_rows
        from thali.regression.scale_check import look_at, warn_of_constants
        from thali.regression.statistics import Rows

        self._check_arguments()
        design = Design.fit(matrix, self._column_names(), self._transform, self.standardize)
        if design.standard is None and isinstance(self._transform, str) and not is_quiet():
            warn_of_constants(matrix, self._column_names(), stacklevel=3)
        W, counts = design.apply(matrix), None
        if self.method != "gibbs":
            W, codes, counts = distinct_rows(W, codes)
        self.class_count_ = np.bincount(codes, counts, len(self.classes_))
        rows = Rows(W, codes, len(self.classes_), counts, self.cores)
        self._learn(rows, design, look_at(W, counts), stacklevel=4)

    def _prior_draws(self, matrix: np.ndarray, rngs):
        from thali.regression.pl_prior import sample_weights

        self._check_arguments()
        design = Design.fit(matrix, self._column_names(), self._transform, self.standardize)
        law = law_of(self.a, self.a_range, self.b)
        return sample_weights(law, design.apply(matrix), self.classes_, design.columns, rngs)

    def _refit(self, data: tuple, random_seed, settings: dict) -> "xarray.DataTree":
        if self.method != "gibbs":
            raise ArgumentError(f"Only method='gibbs' draws from the posterior; got method={self.method!r}.")
        return super()._refit(data, random_seed, settings)

    def _check_arguments(self) -> None:
        one_of("method", self.method, tuple(_METHODS))
        one_of("standardize", self.standardize, (True, False))
        law_of(self.a, self.a_range, self.b)
        if self.sampler is not None:
            one_of("sampler", self.sampler, SAMPLERS)
        for name, least in (("draws", 1), ("tune", 0), ("chains", 1)):
            whole(name, getattr(self, name), least)
        for name in ("thin", "cores"):
            if getattr(self, name) is not None:
                whole(name, getattr(self, name), 1)

    def _learn(self, data, design: Design, look, stacklevel: int) -> None:
        """The work of a fit that all methods share, whether the rows are in memory or not."""
        from thali.regression.scale_check import scaling_advice, warn_about
        from thali.regression.standard import warn_of_left_out

        self.design_, self.columns_ = design, list(design.columns)
        warn_of_left_out(design.standard, getattr(self, "feature_names_in_", None), stacklevel)
        if not is_quiet():
            mend = scaling_advice(self._transform, self.standardize)
            warn_about(look, design.columns, mend, stacklevel)
        _METHODS[self.method](self, data, stacklevel + 1)

    def _labelled(self, weights: np.ndarray) -> Any:
        """Weights with classes and columns where the data had names."""
        if not hasattr(self, "feature_names_in_"):
            return weights
        import pandas

        return pandas.DataFrame(weights, index=pandas.Index(self.classes_, name="class"), columns=self.columns_)

    def summary(self) -> "pandas.DataFrame":
        """Posterior mean, sd, interval, Monte Carlo error, ESS and R-hat, after `method="gibbs"`.

        Rows: a (if learned), log_likelihood (of the whole training data) and logit[row], the log odds of the observed
        class of up to 40 rows of the training data. Single weights are left out: see `weights_table`.

        Returns
        -------
        pandas.DataFrame
            Columns mean, sd, eti89_lb, eti89_ub (the 89 % interval), mcse_mean, ess_bulk, ess_tail, r_hat.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            After a fit by another method, which has no draws.
        """
        from thali.regression.pl_methods import summary_of_draws

        return summary_of_draws(self._with_draws("summary"))

    def weights_table(self) -> "pandas.DataFrame":
        """Posterior mean and interval of every relative weight, the largest first, after `method="gibbs"`.

        Returns
        -------
        pandas.DataFrame
            class, column, weight, weight_low and weight_high (the 89 % interval). The weights of a draw sum to 1.

        Raises
        ------
        NotFittedError, ArgumentError
            As `summary`.
        """
        from thali.regression.pl_posterior import weights_table

        weights = self._with_draws("weights_table").posterior_["posterior"].dataset["weights"].values
        return weights_table(weights.reshape(-1, *weights.shape[2:]), self.classes_, self.columns_)

    def _with_draws(self, what: str) -> "PlackettLuceRegression":
        self._require_fitted()
        if not hasattr(self, "posterior_"):
            raise ArgumentError(f"{what}() describes draws, which only method='gibbs' makes; see weights_ instead.")
        return self

    def _probabilities(self, matrix: np.ndarray) -> np.ndarray:
        from thali.regression.pl_methods import probabilities_of_draws, probabilities_of_variational

        if hasattr(self, "posterior_"):
            return probabilities_of_draws(self, matrix)
        if hasattr(self, "shapes_"):
            return probabilities_of_variational(self, matrix, _STEP)
        from thali.regression.pl_posterior import NOTHING, scores_from_logs

        weights = np.asarray(self.weights_)
        result = np.empty((len(matrix), len(self.classes_)))
        for start in range(0, len(matrix), _STEP):
            part = matrix[start : start + _STEP]
            scores = self.design_.apply(part) @ weights.T
            lost = scores.sum(axis=1) < NOTHING
            if lost.any():
                logs = self.design_.logs(part[lost])
                scores[lost] = scores_from_logs(logs, weights, self.class_count_, stacklevel=3)
            result[start : start + _STEP] = scores / scores.sum(axis=1, keepdims=True)
        return result

    def plot_path(self, X, y, a=None, *, method="map", axes=None):
        """Draw every relative weight against the shape a of the prior, refitted for each a.

        Parameters
        ----------
        X : array or data frame (n, d)
        y : sequence (n,)
        a : sequence of float above 0, optional
        method : {"map", "variational", "gibbs"}
        axes : matplotlib axes, optional

        Returns
        -------
        matplotlib axes

        Raises
        ------
        ThaliError
            As `thali.plots.path`.
        """
        from thali.plots.path import path

        return path(self, X, y, a, method=method, axes=axes)

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


def _fit_map(model: PlackettLuceRegression, data, stacklevel: int) -> None:
    import pandas

    from thali.regression.pl_map import maximise

    if model.a is None:
        raise ArgumentError(
            "method='map' needs a number for a; choose a=1.1 to keep all weights positive, or a=1.0 for the maximum of "
            "the likelihood, most of whose weights are exactly zero."
        )
    fit = maximise(data, float(model.a), float(model.b))
    model.weights_ = model._labelled(fit.weights)
    model.a_, model.objective_, model.log_likelihood_ = fit.a, fit.objective, fit.log_likelihood
    model.n_passes_, model.n_iter_ = fit.n_passes, fit.n_iter
    of_class, column = np.nonzero(fit.support)
    table = {
        "class": model.classes_[of_class],
        "column": [model.columns_[j] for j in column],
        "weight": fit.weights[fit.support],
    }
    model.support_ = pandas.DataFrame(table).sort_values("weight", ascending=False, kind="stable", ignore_index=True)
    if not fit.converged and not is_quiet():
        mend = (
            "choose a = 1, whose maximum exists" if fit.a < 1.0 else "standardise the covariates or choose a larger a"
        )
        warnings.warn(
            f"The weights have not settled after {fit.n_passes} sweeps over the data (the gradient is still "
            f"{fit.slope:.1e} a row); {mend}.",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


# What each method does with the rows: a function of the model, the rows (`Rows` or `Blocks`) and a stack level.
_METHODS = {"gibbs": fit_by_gibbs, "map": _fit_map, "variational": fit_by_variational}
