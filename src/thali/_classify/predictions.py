"""Predictions of a fitted classifier: class probabilities, classes, calibration."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._argument_checks import check_integer
from thali._inference.index_arithmetic import iterate_slices
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._inference.user_warnings import warn
from thali._labels import index_labels, shorten
from thali._posterior.posterior_interval import INTERVAL, compute_interval
from thali.errors import DataError, DataWarning, NotFittedError, Words

from .covariates_and_labels import (
    check_class_labels,
    combine_error_classes,
    convert_to_matrix,
    convert_to_sparse_matrix,
    format_class_label,
    is_sparse,
    read_string_column_names,
)
from .posterior_datasets import (
    average_probabilities,
    compute_probability_errors,
    sample_class_codes,
)
from .row_weights import check_row_weights
from .scikit_learn_interface import ScikitLearn

if TYPE_CHECKING:
    import pandas


# Predicted probabilities and observed frequencies, by class and bin -------------------------------


REPLICATES = 1000  # for a fit without draws


def _count_replicated_labels(
    probability_blocks: Iterable[tuple[slice, np.ndarray]],
    n_classes: int,
    bin_indices: np.ndarray,
    filled_bins: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Count replicated labels of the predicted class by bin, (replicates, bins)."""
    # The labels are sampled from the predictions; the counts have shape (replicates, bins).
    label_counts: Any = 0.0
    for row_slice, probabilities in probability_blocks:
        class_codes = sample_class_codes(probabilities, rng)  # (rows, replicates)
        for k in range(n_classes):
            label_counts = label_counts + (class_codes == k).T.astype(float) @ (
                bin_indices[row_slice, k, None] == filled_bins
            )
    return label_counts


def _repeat_probabilities(
    predicted_probabilities: np.ndarray,
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield blocks of rows with probabilities repeated, (rows, replicates, K)."""
    # All replicates have the same probabilities.
    n, K = predicted_probabilities.shape
    for row_slice in iterate_slices(n, REPLICATES * K):
        block = predicted_probabilities[row_slice, None]
        yield row_slice, np.broadcast_to(block, (len(block), REPLICATES, K))


def _encode_known_labels(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return each label's index among the fitted classes, or raise."""
    index_by_label = index_labels(classes.tolist())
    class_codes = np.array([index_by_label.get(label, -1) for label in labels.tolist()])
    if (class_codes < 0).any():
        class_list = shorten(list(index_by_label), 10)
        raise DataError(
            f"y contains {format_class_label(labels[int(np.argmin(class_codes))])}, but the model"
            f" was fitted to the classes {class_list}."
        )
    return class_codes


_MAX_NAMES = 5  # in a message


class Predictions(ScikitLearn):
    """Predictions of a fitted classifier for new rows.

    Its engines with draws have `iterate_probabilities(model, predictor, matrix)`, blocks of rows
    with probabilities (rows, draws, K); the others `compute_probabilities(model, predictor,
    matrix)`, class probabilities (n, K). `takes_sparse` is whether X may be a sparse matrix.
    """

    _predictor: Any  # columns and classes of the fit, as its engines need them

    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray

    _is_fitted: Any
    _require_posterior: Any

    def _compute_probabilities(self, matrix: np.ndarray) -> np.ndarray:
        """Return class probabilities of rows of covariates, shape (n, K)."""
        if not self._engine.draws:
            return self._engine.compute_probabilities(self, self._predictor, matrix)
        blocks = self._iterate_probabilities(matrix)
        return average_probabilities(blocks, matrix.shape[0], len(self.classes_))

    def _iterate_probabilities(self, matrix: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of rows with probabilities at each draw, (rows, draws, K)."""
        return self._engine.iterate_probabilities(self, self._predictor, matrix)

    def _predict_rows(self, X: Any) -> np.ndarray:
        """Return class probabilities of new rows, shape (n, K)."""
        return self._compute_probabilities(self._read_covariates(X))

    def predict_proba(self, X: Any, return_se: bool = False) -> Any:
        """Return the probability of each class.

        Parameters
        ----------
        X : array or data frame (n, d)
            The covariates of the fit, in the same order.
        return_se : bool
            Whether to return Monte Carlo standard errors as well.

        Returns
        -------
        array (n, K)
            Columns in the order of `classes_`; rows sum to 1. With `return_se` a pair of arrays:
            the second contains the standard errors, from the effective sample size of the draws.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If X cannot be used, or its columns differ from those in `fit`.
        ArgumentError
            If standard errors are requested for a fit without draws.
        """
        if not return_se:
            return self._predict_rows(X)
        matrix = self._read_covariates(X)
        self._require_posterior()
        probabilities = self._compute_probabilities(matrix)
        return probabilities, self._compute_probability_errors(matrix, probabilities.shape)

    def _compute_probability_errors(self, matrix: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Return Monte Carlo standard errors of the probabilities."""
        errors, n_chains = np.empty(shape), self._view.shape[0]  # type: ignore[attr-defined]
        for row_slice, probabilities in self._iterate_probabilities(matrix):
            errors[row_slice] = compute_probability_errors(probabilities, n_chains)
        return errors

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array or data frame (n, d)

        Returns
        -------
        array (n,)
            Labels from `classes_`.

        Raises
        ------
        NotFittedError, DataError
            As `predict_proba`.
        """
        probabilities = self._predict_rows(X)
        return self.classes_[np.argmax(probabilities, axis=1)]

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the natural logarithm of the probability of each class.

        Parameters
        ----------
        X : array or data frame (n, d)

        Returns
        -------
        array (n, K)

        Raises
        ------
        NotFittedError, DataError
            As `predict_proba`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self._predict_rows(X))

    def decision_function(self, X: Any) -> np.ndarray:
        r"""Return log odds or log probabilities, by which scikit-learn's tools rank rows.

        .. math:: \ln \frac{P(y = c_1 \mid x)}{P(y = c_0 \mid x)} \text{ for two classes, else }
                  \ln P(y = c_k \mid x)

        Parameters
        ----------
        X : array or data frame (n, d)

        Returns
        -------
        array (n,) for two classes, above 0 where the second is more probable; else (n, K)

        Raises
        ------
        NotFittedError, DataError
            As `predict_proba`.
        """
        has_two_classes = len(self._require_fitted_classes()) == 2
        log_probabilities = np.log(np.maximum(self._predict_rows(X), np.finfo(float).tiny))
        if has_two_classes:
            return log_probabilities[:, 1] - log_probabilities[:, 0]
        return log_probabilities

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose most probable class is their label.

        Parameters
        ----------
        X : array or data frame (n, d)
        y : sequence (n,)
        sample_weight : sequence of float (n,), optional
            Weights ≥ 0.

        Returns
        -------
        float
            Between 0 and 1.

        Raises
        ------
        NotFittedError, DataError
            As `predict_proba`, and if X and y differ in length.
        """
        predicted = self.predict(X)
        labels = np.asarray(y)
        if labels.shape[:1] != predicted.shape:
            raise DataError(
                f"X has {len(predicted)} rows but y has shape {labels.shape}; pass one label per"
                " row of X."
            )
        return float(
            np.average(
                predicted == labels.reshape(len(predicted)),
                weights=check_row_weights(sample_weight, len(predicted)),
            )
        )

    def calibration(
        self, X: Any, y: Any, bins: int = 10, random_seed: RandomSeed = 0, ci: float = INTERVAL
    ) -> "pandas.DataFrame":
        r"""Return observed class frequencies by bins of predicted probability.

        .. math:: B_{kb} = \{i: b/B \le p_{ik} < (b + 1)/B\}, \qquad
                  \text{observed}_{kb} = \frac{1}{|B_{kb}|} \sum_{i \in B_{kb}} 1\{y_i = k\}

        The interval is computed from replicates: labels drawn for the same rows at every draw of
        the posterior, or from the predicted probabilities if the fit has no draws. Observed
        frequencies outside the interval contradict the model.

        Parameters
        ----------
        X : array, data frame or sparse matrix (n, d)
            Preferably rows that were not in the fit; the model appears better on rows of the fit.
        y : sequence (n,)
            Their classes.
        bins : int, 2 or more
            B, number of bins of equal width.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Seed of the replicates.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per class and nonempty bin: class, rows, predicted (mean probability of the
            class), observed (its frequency), low and high (the interval of the replicates), missed
            (whether observed is outside). For two classes only the second, as the first mirrors it.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If X or y cannot be used, or y contains a label that is not in `classes_`.
        ArgumentError
            If `bins` is less than 2.

        References
        ----------
        Bröcker & Smith (2007), Increasing the reliability of reliability diagrams.

        Examples
        --------
        >>> import numpy as np
        >>> import thali as th
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(400, 2))
        >>> y = X[:, 0] + rng.logistic(size=400) > 0
        >>> model = th.SparseMultinomialLogit(method="map", eta=1.0).fit(X[:200], y[:200])
        >>> int(model.calibration(X[200:], y[200:], bins=4)["rows"].sum())
        200
        """
        from thali._exportable_table import Table

        bins = check_integer("bins", bins, 2)
        matrix = self._read_covariates(X)
        class_codes = _encode_known_labels(
            check_class_labels(y, type(self).__name__, matrix.shape[0]), self.classes_
        )
        predicted_probabilities = self._compute_probabilities(matrix)
        K = predicted_probabilities.shape[1]
        bin_indices = np.minimum(
            (predicted_probabilities * bins).astype(np.int64), bins - 1
        ) + bins * np.arange(K)
        bin_counts, probability_sums, label_counts = np.zeros((3, K * bins))
        np.add.at(bin_counts, bin_indices, 1.0)
        np.add.at(probability_sums, bin_indices, predicted_probabilities)
        np.add.at(label_counts, bin_indices[np.arange(len(class_codes)), class_codes], 1.0)
        if K == 2:
            bin_counts[:bins] = 0.0  # the first class mirrors the second
        filled_bins = np.flatnonzero(bin_counts)
        (rng,) = spawn_generators(random_seed, 1)
        probability_blocks = _repeat_probabilities(predicted_probabilities)
        if self._engine.draws:
            probability_blocks = self._iterate_probabilities(matrix)
        replicate_interval = compute_interval(
            _count_replicated_labels(probability_blocks, K, bin_indices, filled_bins, rng), ci
        )
        observed = label_counts[filled_bins] / bin_counts[filled_bins]
        low, high = replicate_interval / bin_counts[filled_bins]
        table = Table(
            {
                "class": self.classes_[filled_bins // bins],
                "rows": bin_counts[filled_bins].astype(np.int64),
                "predicted": probability_sums[filled_bins] / bin_counts[filled_bins],
                "observed": observed,
                "low": low,
                "high": high,
                "missed": (observed < low) | (observed > high),
            }
        )
        table.attrs["interval"] = ci
        return table

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    def _require_fitted(self) -> None:
        """Raise scikit-learn's error if the model is not fitted."""
        if not self.__sklearn_is_fitted__():
            raise combine_error_classes(NotFittedError, "NotFittedError")(
                f"This {type(self).__name__} has not been fitted yet; call fit(X, y) first."
            )

    def _convert_covariates(self, X: Any, names: np.ndarray | None) -> Any:
        """Return covariates as a matrix, sparse if X and the model are."""
        if is_sparse(X) and self._engine.takes_sparse:
            return convert_to_sparse_matrix(X)
        return convert_to_matrix(X, names)

    def _read_covariates(self, X: Any) -> np.ndarray:
        """Return covariates of new rows as a matrix; they must match the fit."""
        self._require_fitted()
        column_names = read_string_column_names(X)
        fitted_names = getattr(self, "feature_names_in_", None)
        if fitted_names is not None and column_names is None:
            warn(
                DataWarning(
                    f"X does not have valid feature names, but {type(self).__name__} was fitted"
                    " with feature names; its columns are assumed to be in the order of"
                    " feature_names_in_."
                )
            )
        elif (
            fitted_names is not None
            and column_names is not None
            and list(column_names) != list(fitted_names)
        ):
            raise _FeatureNamesError(list(column_names), list(fitted_names))
        matrix = self._convert_covariates(X, column_names)
        self._check_width(matrix.shape[1])
        return matrix

    def _check_width(self, n_columns: int) -> None:
        """Raise DataError if the number of columns differs from the fit."""
        if n_columns != self.n_features_in_:
            raise DataError(
                f"X has {n_columns} features, but {type(self).__name__} is expecting"
                f" {self.n_features_in_} features as input; pass the columns that it was fitted"
                " to."
            )

    def _require_fitted_classes(self) -> np.ndarray:
        """Return the fitted classes; raise NotFittedError before `fit`."""
        self._require_fitted()
        return self.classes_


class _FeatureNamesError(DataError):
    """Error for column names that differ from the fit, in scikit-learn's words.

    The checks of scikit-learn look for its words and lines.
    """

    def render(self, words: Words) -> str:
        """Return the message with one line per unexpected or missing name."""
        names, fitted_names = map(set, self.args)
        message = "The feature names should match those that were passed during fit.\n"
        unseen_names = sorted(names - fitted_names)
        missing_names = sorted(fitted_names - names)
        if unseen_names:
            message += f"Feature names unseen at fit time:\n{_format_name_lines(unseen_names)}"
        if missing_names:
            message += (
                "Feature names seen at fit time, yet now missing:\n"
                f"{_format_name_lines(missing_names)}"
            )
        if not unseen_names and not missing_names:
            message += "Feature names must be in the same order as they were in fit.\n"
        return message + "Pass X[model.feature_names_in_]."


def _format_name_lines(names: list[str]) -> str:
    """Return one indented line per name, at most five."""
    lines = [f"- {name}\n" for name in names[:_MAX_NAMES]]
    if len(names) > _MAX_NAMES:
        lines.append("- ...\n")
    return "".join(lines)
