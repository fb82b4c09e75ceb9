"""What the classifiers share: scikit-learn's interface, and checks of what is passed to it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._data.facts import MAX_LISTED
from thali._data.rows import Observations, TrainingData, merge_rows, wrap_sparse_rows
from thali._described import Facts
from thali._inference.chains import Run, build_run
from thali._labels import listed, plural
from thali._late import carried_out_by
from thali._model.base import Job
from thali._model.chain_model import MarkovChainModel, require_prior
from thali._model.engine import MAXIMUM, Engine
from thali._model.prior_sample import (
    PriorSample,
    add_replicates,
    build_predictive_group,
    draw_prior,
)
from thali._model.requirements import requires
from thali.errors import (
    ConvergenceWarning,
    DataError,
    ThaliWarning,
)

from .input import codes_of, is_sparse, names_of
from .predictions import Predictions
from .rows import drawn_codes, observed_groups
from .scikit_learn import seed_from
from .weights import warn_of_shares, weighted_classes, weights_of

if TYPE_CHECKING:
    import xarray

    from thali._model.settings import AnswerSettings


class Classifier(Predictions, MarkovChainModel):
    """Base of a classifier that scikit-learn's tools take for one of theirs, though it needs no
    scikit-learn.

    A subclass has `_job(data, run)` of `TrainingData`, `_probabilities(matrix)`,
    `_probability_blocks(matrix)` and `_prior_draws(matrix, rngs)`: matrix is a C-contiguous array
    of float (n, d), codes are positions in `classes_`, and probabilities an array (n, K). When a
    fit fails, all that it has set is forgotten, so that a model never is half fitted.

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
    _FINDINGS: ClassVar[str] = "thali._classify.findings"
    _ENGINES: ClassVar[Mapping[str, Engine]] = {"": MAXIMUM}

    def _complete_settings(self, data: Any, settings: "AnswerSettings") -> "AnswerSettings":
        """The settings with the rows of the fit, once it is clear that they can be divided into so
        many folds."""
        if isinstance(data, Observations):
            settings = replace(settings, rows=(data.covariates, data.labels))
        if settings.rows is not None:
            carried_out_by("Classifier.check_folds")(np.asarray(settings.rows[1]), settings.folds)
        return settings

    def _format_python(self) -> str:
        """The fit as Python; the length of its run and its seed are in the constructor."""
        return f"import thali as th\n\nmodel = th.{' '.join(repr(self).split())}\nmodel.fit(X, y)"

    def __repr__(self) -> str:  # before and after a fit, as scikit-learn has it
        return self._format_call()

    def _job(self, data: TrainingData, run: Run) -> Job:
        """The fit, checked."""
        raise NotImplementedError

    def _prior_draws(self, matrix: np.ndarray, rngs: Any) -> "tuple[xarray.Dataset, np.ndarray]":
        """Draws from the prior as a group of a tree, and the codes (draws, n) simulated at them."""
        raise NotImplementedError

    def _job_of_blocks(self, X: Any, y: Any, sample_weight: Any, run: Run) -> Job | None:
        """The fit if X holds its rows in blocks that this model can leave where they are."""
        return None

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        thin: Any = None,
        cores: Any = None,
        progressbar: bool = True,
        job: Any = None,
        max_time: float | None = None,
    ) -> Any:
        """Fit to covariates and labels.

        Parameters
        ----------
        X : array, data frame or sparse matrix (n, d)
            Finite numbers, one row an observation. Sparse only for `SparseMultinomialLogit` by
            "auto", "laplace", "variational" or "map"; columns that are 0 in every row, such as
            words that only other texts have, are left out without a warning.
        y : sequence of str, int or bool (n,)
            A label for each row; two classes or more.
        sample_weight : sequence of float (n,), optional
            Of 0 or more. A row of weight k counts as k equal rows, to the last bit of the draws;
            one of weight 0 is left out. Weights are not rescaled: those that sum to 1, as AdaBoost
            passes them, count as one row in all, against the same prior, and are warned of.
        thin : int, optional
            Sweeps of the sampler for each state. None lets the model choose.
            `PlackettLuceRegression` takes 10, and 1 for a fixed a of 0.5 or more or if W has more
            than a million entries. `SparseMultinomialLogit` by "polya-gamma" takes 1 where there
            are at least as many rows as coefficients of a class and at most 600 coefficients; else
            4 for two classes and 10 for more. With the horseshoe it takes 3 and 64.
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
            If X, y or the weights cannot be used; the message says where and what to do.
        ArgumentError
            If an argument of the model is outside its range.

        Warns
        -----
        DataWarning
            If a class has a single member, or the weights sum to less than the number of classes.
        """
        self._clear_fit()
        try:
            seed = seed_from(self.random_state)
            run = build_run(
                self.draws, self.tune, self.chains, thin, cores, seed, progressbar, job, max_time
            )
            work = self._job_of_blocks(X, y, sample_weight, run)
            work = work or self._job(self._training_data(X, y, sample_weight), run)
            # classes and columns, which the data say before anything is learned
            named = self._get_fitted_attributes()
            return self._run_job(replace(work, run=lambda: named | work.run()))
        except BaseException:
            self._clear_fit()
            raise

    def _training_data(self, X: Any, y: Any, sample_weight: Any) -> TrainingData:
        """The rows that differ, with their weights."""
        matrix, codes = self._read(X, y)
        weight = weights_of(sample_weight, len(codes))
        if sample_weight is not None:
            warn_of_shares(weight, len(self.classes_))
        weight = weighted_classes(weight, codes, self.classes_, self._class_weight())
        return (
            wrap_sparse_rows(matrix, codes, weight)
            if is_sparse(matrix)
            else merge_rows(matrix, codes, weight)
        )

    def _class_weight(self) -> Any:
        """Weights of classes, as the user gave them."""
        return None

    def _reword_warning(self, warning: ThaliWarning) -> ThaliWarning:
        """In one text for every fit, so that Python shows it once for the many fits of a search."""
        if not isinstance(warning, ConvergenceWarning):
            return warning
        return ConvergenceWarning(
            f"{type(self).__name__} has not converged; see print(model.convergence()) for details"
            " and remedies."
        )

    def _read(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Covariates and codes; keeps the names of classes and columns."""
        names = names_of(X)
        matrix = self._matrix_of(X, names)
        classes, codes = codes_of(y, type(self).__name__, matrix.shape[0])
        self.classes_: np.ndarray = classes
        self.n_features_in_: int = matrix.shape[1]
        if names is not None:
            self.feature_names_in_ = names
        return matrix, codes

    @requires(require_prior)
    def sample_prior(  # type: ignore[override]
        self, X: Any, y: Any, draws: int = 500, random_seed: Any = None
    ) -> "xarray.DataTree":
        r"""Draw parameters from the prior, and from each of them a label for every row.

        .. math:: \theta^{(s)} \sim p(\theta), \qquad y^{(s)} \sim p(y \mid X, \theta^{(s)})

        Parameters
        ----------
        X : array or data frame (n, d)
        y : sequence of str, int or bool (n,)
            As for `fit`; only which classes there are matters.
        draws : int
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        xarray.DataTree
            In the ArviZ schema: `prior` has the variables of `posterior_["posterior"]`
            (`log_likelihood` is that of the labels simulated at the same draw), `prior_predictive`
            the labels, as positions in `constant_data["classes"]`.

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
        self, X: Any, y: Any, random_seed: Any = None
    ) -> "xarray.DataTree":
        r"""Draw a label for every row at every draw of the posterior.

        .. math::

            y^{(s)} \sim p(y \mid X, \theta^{(s)}), \qquad
            \theta^{(s)} \sim p(\theta \mid X, y_\text{observed})

        Parameters
        ----------
        X : array or data frame (n, d)
        y : sequence of str, int or bool (n,)
            Those of the fit.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        xarray.DataTree
            `posterior_`, with a further group `posterior_predictive`: `label` (chain, draw, row),
            positions of classes in `classes_`, as in `observed_data`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If X and y are not those of the fit, or there would be more than 20,000,000 labels.
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
        return add_replicates(self, random_seed, X, y)

    def _sample_prior(self, rngs: Any, X: Any, y: Any) -> PriorSample:
        model = type(self)(**self.get_params())
        matrix, given = model._read(X, y)
        prior, codes = model._prior_draws(matrix, rngs)
        fixed = observed_groups(given, model.classes_, {})
        predictive = build_predictive_group(fixed["observed_data"], prior, {"label": codes[None]})
        # else `fit` would know fewer classes
        whole = [np.unique(drawn).size == model.classes_.size for drawn in codes]
        data = [
            (X, model.classes_[drawn]) if is_whole else None
            for drawn, is_whole in zip(codes, whole, strict=True)
        ]
        return PriorSample(prior, predictive, data, fixed)

    def _build_observed(self, X: Any, y: Any) -> dict[str, np.ndarray]:
        matrix = self._checked(X)
        classes, codes = codes_of(y, type(self).__name__, matrix.shape[0])
        return {"label": codes} if np.array_equal(classes, self.classes_) else {}

    def _simulate_replicates(
        self, rng: np.random.Generator, X: Any, y: Any
    ) -> dict[str, np.ndarray]:
        matrix, sizes = self._checked(X), self._view.draws.sizes  # type: ignore[attr-defined]
        codes = np.empty((sizes["chain"] * sizes["draw"], matrix.shape[0]), np.int64)
        for part, probabilities in self._probability_blocks(matrix):
            codes[:, part] = drawn_codes(probabilities, rng).T
        return {"label": codes.reshape(sizes["chain"], sizes["draw"], -1)}

    def _pack_design(self, design: Any) -> tuple[Any, ...]:
        if not isinstance(design, tuple) or len(design) != 2:
            raise DataError(
                f"The design of a classifier must be the pair (X, y); got {type(design).__name__}."
            )
        return design

    def _refit_posterior(
        self, data: tuple[Any, ...], random_seed: Any, settings: dict[Any, Any]
    ) -> "xarray.DataTree":
        self._check_draws_method()
        length = dict(settings)
        thin = length.pop("thin", None)
        self.set_params(random_state=random_seed, **length).fit(
            *data, thin=thin, cores=1, progressbar=False
        )
        return self.posterior_  # type: ignore[attr-defined]

    def _size(self, rows: int) -> str:
        """The size of the data of a fit in words."""
        covariates = plural(self.n_features_in_, "covariate")
        return f"{plural(rows, 'row')}, {covariates}, {len(self.classes_)} classes"

    def _describe_fitted_data(self) -> Facts:
        """Rows, covariates and the rows of each class."""
        data = self._get_fit_data()
        if data is None:
            return ()
        columns = self._column_names()
        counts = np.bincount(data.codes[data.row], minlength=len(self.classes_)).tolist()
        of_classes = [
            f"{label}: {count:,}" for label, count in zip(self.classes_, counts, strict=True)
        ]
        return (
            ("Rows", f"{len(data.row):,}"),
            ("Covariates", f"{len(columns):,}: {listed(columns, MAX_LISTED)}"),
            ("Rows per class", listed(of_classes, MAX_LISTED)),
        )

    def _column_names(self) -> list[str]:
        """Names of the covariates; x0, x1, ... where the data had none."""
        names = getattr(self, "feature_names_in_", None)
        return (
            [f"x{j}" for j in range(self.n_features_in_)]
            if names is None
            else [str(name) for name in names]
        )
