"""Base class of the classifiers: `fit`, checks of arguments, and prior simulation."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._data.classification_data import TrainingData, merge_rows, wrap_sparse_rows
from thali._data.report_facts import MAX_LISTED
from thali._inference.markov_chains import Run
from thali._labels import format_plural, list_names
from thali._model.base import Job
from thali._model.fitting_methods import MAXIMUM, Engine
from thali._model.markov_chain_model import MarkovChainModel, require_prior
from thali._model.method_requirements import requires
from thali._model.simulated_data import (
    PriorSample,
    build_predictive_dataset,
    draw_prior,
)
from thali._object_descriptions import Facts
from thali.errors import (
    ConvergenceWarning,
    ThaliWarning,
)

from .covariates_and_labels import (
    encode_class_labels,
    is_sparse,
    list_covariate_names,
    read_string_column_names,
)
from .posterior_datasets import build_observed_groups, sample_class_codes
from .predictions import Predictions
from .row_weights import apply_class_weights, check_row_weights, warn_about_small_weights
from .scikit_learn_interface import convert_random_state

if TYPE_CHECKING:
    import xarray

    from thali._inference.random_seeds import RandomSeed


class Classifier(Predictions, MarkovChainModel):
    """Base of the classifiers, usable with scikit-learn's tools.

    scikit-learn itself is not required. A subclass has `_build_fit_job(data, run)` for
    `TrainingData`, and `_sample_prior_draws(matrix, rngs)`. The matrix is a C-contiguous array of
    float (n, d); class codes are positions in `classes_`. If a fit fails, all attributes that it
    has set are deleted, so that a model is never half fitted.

    Attributes
    ----------
    classes_ : array (K,)
        Class labels, sorted.
    n_features_in_ : int
        Number of covariates.
    feature_names_in_ : array of str (d,)
        Names of the covariates; only after a fit to a data frame whose columns are named by
        strings.
    """

    draws: int | None
    tune: int
    chains: int
    random_state: Any
    _FINDINGS: ClassVar[str] = "thali._classify.classifier_findings"
    _ENGINES: ClassVar[Mapping[str, Engine]] = {"": MAXIMUM}

    def _format_python(self) -> str:
        """Return the fit as lines of Python code."""
        # Draws and seed are arguments of the constructor.
        return f"import thali as th\n\nmodel = th.{' '.join(repr(self).split())}\nmodel.fit(X, y)"

    def __repr__(self) -> str:  # before and after a fit, as scikit-learn has it
        return self._format_call()

    def _build_fit_job(self, data: TrainingData, run: Run) -> Job:
        """Return the job of a fit to checked training data; subclasses define it."""
        raise NotImplementedError

    def _sample_prior_draws(
        self, matrix: np.ndarray, rngs: Sequence[np.random.Generator]
    ) -> "tuple[xarray.Dataset, np.ndarray]":
        """Sample parameters from the prior, and class codes (draws, n) of the rows."""
        # The parameters are a group of a tree.
        raise NotImplementedError

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        thin: int | None = None,
        cores: int | None = None,
        progressbar: bool = True,
        job: str | os.PathLike[str] | None = None,
        max_time: float | None = None,
    ) -> Any:
        """Fit to covariates and labels.

        Parameters
        ----------
        X : array, data frame or sparse matrix (n, d)
            Finite numbers, one row an observation. Sparse only for `SparseMultinomialLogit` by
            "auto", "laplace", "variational" or "map"; columns that are 0 in every row, such as
            words of other texts, are omitted without a warning.
        y : sequence of str, int or bool (n,)
            A label for each row; two classes or more.
        sample_weight : sequence of float (n,), optional
            Weights ≥ 0. A row of weight k gives exactly the same draws as k equal rows; a row of
            weight 0 is omitted. Weights are not rescaled: weights that sum to 1, as AdaBoost passes
            them, equal one row in total with the same prior, which causes a warning.
        thin : int, optional
            Sweeps of the sampler for each state. None lets the model choose.
            `PlackettLuceRegression` takes 10, and 1 for a fixed a of 0.5 or more or if W has more
            than a million entries. `SparseMultinomialLogit` by "polya-gamma" takes 1 where there
            are at least as many rows as coefficients of a class and at most 600 coefficients; else
            4 for two classes and 10 for more.
        cores : int, optional
            Threads; None means as many as there are processors. Has no influence on the results.
        progressbar : bool
            Whether to show how far the run is.
        job : str or path, optional
            A folder that holds the draws and the state of the chains while they run. The same fit
            goes on from it after the process was killed, and gives the draws of an unbroken run;
            with more `draws` it goes on further.
        max_time : float, optional
            Seconds after which the run stops and keeps what was drawn. If half of them pass in
            tuning, the chains start again with less of it, and a warning says so.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If X, y or the weights cannot be used; the message names the row and a remedy.
        ArgumentError
            If an argument of the model is outside its range.

        Warns
        -----
        DataWarning
            If a class has a single member, or the weights sum to less than the number of classes.
        """
        self._clear_fit()
        try:
            run = Run(
                draws=self.draws,
                tune=self.tune,
                chains=self.chains,
                thin=thin,
                cores=cores,
                random_seed=convert_random_state(self.random_state),
                progressbar=progressbar,
                job=job,
                max_time=max_time,
            ).check()
            data = self._read_training_data(X, y, sample_weight)
            fit_job = self._build_fit_job(data, run)
            # attributes of classes and columns, which are set before the fit
            class_attributes = self._get_fitted_attributes()
            return self._run_job(replace(fit_job, run=lambda: class_attributes | fit_job.run()))
        except BaseException:
            self._clear_fit()
            raise

    def _read_training_data(self, X: Any, y: Any, sample_weight: Any) -> TrainingData:
        """Return checked covariates, class codes and weights, equal rows merged."""
        matrix, class_codes = self._read_rows(X, y)
        row_weights = check_row_weights(sample_weight, len(class_codes))
        if sample_weight is not None:
            warn_about_small_weights(row_weights, len(self.classes_))
        class_weight = self.get_params().get("class_weight")
        row_weights = apply_class_weights(row_weights, class_codes, self.classes_, class_weight)
        if is_sparse(matrix):
            return wrap_sparse_rows(matrix, class_codes, row_weights)
        return merge_rows(matrix, class_codes, row_weights)

    def _reword_warning(self, warning: ThaliWarning) -> ThaliWarning:
        """Return a convergence warning reworded to be the same for all fits."""
        # Python then shows it once for the many fits of a search.
        if not isinstance(warning, ConvergenceWarning):
            return warning
        return ConvergenceWarning(
            f"{type(self).__name__} has not converged; see print(model.convergence()) for details"
            " and remedies."
        )

    def _read_rows(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return covariates and class codes of rows; store class and column names."""
        column_names = read_string_column_names(X)
        matrix = self._convert_covariates(X, column_names)
        classes, class_codes = encode_class_labels(y, type(self).__name__, matrix.shape[0])
        self.classes_: np.ndarray = classes
        self.n_features_in_: int = matrix.shape[1]
        if column_names is not None:
            self.feature_names_in_ = column_names
        return matrix, class_codes

    @requires(require_prior)
    def sample_prior(  # type: ignore[override]
        self, X: Any, y: Any, draws: int = 500, random_seed: "RandomSeed" = None
    ) -> "xarray.DataTree":
        r"""Draw parameters from the prior, and labels of all rows given them.

        .. math:: \theta^{(s)} \sim p(\theta), \qquad y^{(s)} \sim p(y \mid X, \theta^{(s)})

        Parameters
        ----------
        X : array or data frame (n, d)
        y : sequence of str, int or bool (n,)
            As for `fit`; only the set of classes is used.
        draws : int
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        xarray.DataTree
            In the ArviZ schema: `prior` has the variables of `posterior_["posterior"]`
            (`log_likelihood` is computed for the labels simulated at the same draw),
            `prior_predictive` the labels, as positions in `constant_data["classes"]`.

        Raises
        ------
        DataError
            If X or y cannot be used.
        ArgumentError
            If an argument is outside its range.

        Examples
        --------
        >>> import thali as th
        >>> model = th.SparseMultinomialLogit()
        >>> tree = model.sample_prior(
        ...     [[0.5], [1.0], [2.0]], ["a", "b", "c"], draws=100, random_seed=1
        ... )
        >>> tree["prior_predictive"]["label"].shape
        (1, 100, 3)
        """
        return draw_prior(self, draws, random_seed, X, y).build_tree()

    def posterior_predictive(  # type: ignore[override]
        self, X: Any, y: Any, random_seed: "RandomSeed" = None
    ) -> "xarray.DataTree":
        r"""Draw a label for every row at every draw of the posterior.

        .. math::

            y^{(s)} \sim p(y \mid X, \theta^{(s)}), \qquad
            \theta^{(s)} \sim p(\theta \mid X, y_\text{observed})

        Parameters
        ----------
        X : array or data frame (n, d)
        y : sequence of str, int or bool (n,)
            The data of the fit.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        xarray.DataTree
            `posterior_` with an additional group `posterior_predictive`: `label` (chain, draw,
            row), positions of classes in `classes_`, as in `observed_data`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If X and y differ from the data of the fit, or there would be more than 20,000,000
            labels.
        ArgumentError
            After a fit that made no draws.

        Examples
        --------
        >>> import thali as th
        >>> X, y = [[0.5], [1.0], [2.0], [3.0]], ["a", "b", "a", "b"]
        >>> model = th.SparseMultinomialLogit(draws=500, random_state=1).fit(X, y)
        >>> model.posterior_predictive(X, y, random_seed=1)["posterior_predictive"]["label"].shape
        (4, 500, 4)
        """
        return self._add_replicates(random_seed, X, y)

    def _sample_prior(self, rngs: Sequence[np.random.Generator], X: Any, y: Any) -> PriorSample:
        """Sample parameters and labels from the prior, once per generator."""
        model = type(self)(**self.get_params())
        matrix, observed_codes = model._read_rows(X, y)
        prior, class_codes = model._sample_prior_draws(matrix, rngs)
        observed_groups = build_observed_groups(observed_codes, model.classes_, {})
        predictive = build_predictive_dataset(
            observed_groups["observed_data"], prior, {"label": class_codes[None]}
        )
        fit_arguments: list[Any] = []
        for draw_codes in class_codes:
            if np.unique(draw_codes).size < model.classes_.size:
                fit_arguments.append(None)  # `fit` would find fewer classes
            else:
                fit_arguments.append((X, model.classes_[draw_codes]))
        return PriorSample(prior, predictive, fit_arguments, observed_groups)

    def _build_observed(self, X: Any, y: Any) -> dict[str, np.ndarray]:
        """Return class codes as observed data, by name; {} for other classes."""
        matrix = self._read_covariates(X)
        classes, class_codes = encode_class_labels(y, type(self).__name__, matrix.shape[0])
        if not np.array_equal(classes, self.classes_):
            return {}
        return {"label": class_codes}

    def _simulate_replicates(
        self, rng: np.random.Generator, X: Any, y: Any
    ) -> dict[str, np.ndarray]:
        """Simulate class codes of rows at each draw of the posterior."""
        matrix, dimension_sizes = self._read_covariates(X), self._view.draws.sizes  # type: ignore[attr-defined]
        class_codes = np.empty(
            (dimension_sizes["chain"] * dimension_sizes["draw"], matrix.shape[0]), np.int64
        )
        for row_slice, probabilities in self._iterate_probabilities(matrix):
            class_codes[:, row_slice] = sample_class_codes(probabilities, rng).T
        return {"label": class_codes.reshape(dimension_sizes["chain"], dimension_sizes["draw"], -1)}

    def _describe_size(self, n_rows: int) -> str:
        """Return words on the numbers of rows, covariates and classes."""
        covariates = format_plural(self.n_features_in_, "covariate")
        return f"{format_plural(n_rows, 'row')}, {covariates}, {len(self.classes_)} classes"

    def _describe_fitted_data(self) -> Facts:
        """Return (name, text) facts: rows, covariates and rows per class."""
        data = self._get_fit_data()
        if data is None:
            return ()
        covariate_names = list_covariate_names(self)
        n_rows_by_class = np.bincount(data.codes[data.row], minlength=len(self.classes_)).tolist()
        class_count_texts = [
            f"{label}: {count:,}"
            for label, count in zip(self.classes_, n_rows_by_class, strict=True)
        ]
        return (
            ("Rows", f"{len(data.row):,}"),
            ("Covariates", f"{len(covariate_names):,}: {list_names(covariate_names, MAX_LISTED)}"),
            ("Rows per class", list_names(class_count_texts, MAX_LISTED)),
        )
