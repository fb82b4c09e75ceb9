"""Predictions of a classifier: probabilities and classes of new rows, in memory or in blocks."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import whole
from thali._inference.seeds import spawn_generators
from thali._inference.warn import warn
from thali._labels import positions, shorten
from thali._posterior.interval import INTERVAL, tails_of
from thali.errors import DataError, DataWarning, NotFittedError, Words

from .blocks import is_blocked, predicted, refuse_errors
from .input import is_sparse, labels_of, matrix_of, names_of, shown, sklearn_error, sparse_matrix_of
from .rows import drawn_codes, errors_of_means
from .scikit_learn import ScikitLearn
from .weights import weights_of

if TYPE_CHECKING:
    import pandas


# Predicted probabilities beside the frequencies of the classes, class by class and bin by bin -----


REPLICATES = 1000  # of a fit without draws
_BLOCK = 2**21  # numbers of a block of rows


def _replicates(
    model: "Predictions",
    matrix: Any,
    predicted: np.ndarray,
    places: np.ndarray,
    kept: np.ndarray,
    rng: Any,
) -> np.ndarray:
    """How many rows of each bin have its class, shape (replicates, bins), in labels drawn from the
    predictions."""
    found: Any = 0.0
    for part, probabilities in (
        model._probability_blocks(matrix) if model._engine.draws else _the_same(predicted)
    ):
        drawn = drawn_codes(probabilities, rng)  # (rows, replicates)
        for k in range(predicted.shape[1]):
            found = found + (drawn == k).T.astype(float) @ (places[part, k, None] == kept)
    return found


def _the_same(predicted: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Some rows at a time, and their probabilities (rows, replicates, K), the same in every
    replicate."""
    n, K = predicted.shape
    step = max(1, _BLOCK // (REPLICATES * K))
    for first in range(0, n, step):
        part = slice(first, first + step)
        yield part, np.broadcast_to(predicted[part, None], (len(predicted[part]), REPLICATES, K))


def _codes_among(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The place of every label among the classes of the fit."""
    known = positions(classes.tolist())
    codes = np.array([known.get(label, -1) for label in labels.tolist()])
    if (codes < 0).any():
        named = shorten(list(known), 10)
        raise DataError(
            f"y contains {shown(labels[int(np.argmin(codes))])}, but the model was fitted to the"
            f" classes {named}."
        )
    return codes


_MAX_NAMES = 5  # in a message


class Predictions(ScikitLearn):
    """What a fitted classifier answers about new rows, from `_probabilities` and
    `_probability_blocks`."""

    # what is learned of each covariate and class: weights of 0 or more, or coefficients ("coef")
    _learned: str

    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray

    _is_fitted: Any
    _require_posterior: Any

    if TYPE_CHECKING:

        @property
        def _engine(self) -> Any: ...

    def _probabilities(self, matrix: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _probability_blocks(self, matrix: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Some rows at a time, and their class probabilities (rows, draws, K)."""
        raise NotImplementedError

    def predict_proba(self, X: Any, return_se: bool = False) -> Any:
        """Probability of each class.

        Parameters
        ----------
        X : array or data frame (n, d)
            The covariates that the model was fitted to, in the same order. Of a Dask array the
            predictions are a Dask array, block by block; likewise in the other methods that
            predict.
        return_se : bool
            Whether to give the Monte Carlo standard error of each probability, too.

        Returns
        -------
        array (n, K)
            Columns in the order of `classes_`; rows sum to 1. With `return_se` a pair of arrays:
            the second holds the standard errors, from the effective sample size of the draws.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If X cannot be used, or its columns are not those of `fit`.
        ArgumentError
            If standard errors are asked of a model that was not fitted by draws.
        """
        if is_blocked(X):
            refuse_errors(return_se)
            return self._in_blocks(self.predict_proba, X, len(self._fitted_classes()))
        matrix = self._checked(X)
        if return_se:
            self._require_posterior()
        found = self._probabilities(matrix)
        return (found, self._errors_of(matrix, found.shape)) if return_se else found

    def _errors_of(self, matrix: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Monte Carlo standard errors of `_probabilities`."""
        errors, chains = np.empty(shape), self._view.shape[0]  # type: ignore[attr-defined]
        for part, probabilities in self._probability_blocks(matrix):
            errors[part] = errors_of_means(probabilities, chains)
        return errors

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row.

        Parameters
        ----------
        X : array or data frame (n, d)

        Returns
        -------
        array (n,)
            Labels out of `classes_`.

        Raises
        ------
        NotFittedError, DataError
            As `predict_proba`.
        """
        if is_blocked(X):
            return self._in_blocks(self.predict, X, None, self._fitted_classes().dtype)
        probabilities = self._probabilities(self._checked(X))
        return self.classes_[np.argmax(probabilities, axis=1)]

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Natural logarithm of the probability of each class.

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
        if is_blocked(X):
            return self._in_blocks(self.predict_log_proba, X, len(self._fitted_classes()))
        with np.errstate(divide="ignore"):
            return np.log(self._probabilities(self._checked(X)))

    def decision_function(self, X: Any) -> np.ndarray:
        r"""Natural logarithm of the probabilities, as scikit-learn's tools rank rows by it.

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
        if is_blocked(X):
            classes = len(self._fitted_classes())
            return self._in_blocks(self.decision_function, X, None if classes == 2 else classes)
        logs = np.log(np.maximum(self._probabilities(self._checked(X)), np.finfo(float).tiny))
        return logs[:, 1] - logs[:, 0] if len(self.classes_) == 2 else logs

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose most probable class is their label.

        Parameters
        ----------
        X : array or data frame (n, d)
        y : sequence (n,)
        sample_weight : sequence of float (n,), optional
            Of 0 or more.

        Returns
        -------
        float
            Between 0 and 1.

        Raises
        ------
        NotFittedError, DataError
            As `predict_proba`, and if X and y differ in length.
        """
        predicted, labels = self.predict(X), np.asarray(y)
        if labels.shape[:1] != predicted.shape:
            raise DataError(
                f"X has {len(predicted)} rows but y has shape {labels.shape}; pass one label per"
                " row of X."
            )
        return float(
            np.average(
                predicted == labels.reshape(len(predicted)),
                weights=weights_of(sample_weight, len(predicted)),
            )
        )

    def calibration(
        self, X: Any, y: Any, bins: int = 10, random_seed: Any = 0, ci: float = INTERVAL
    ) -> "pandas.DataFrame":
        r"""The frequency of each class among rows for which its predicted probability is about the
        same.

        .. math:: B_{kb} = \{i: b/B \le p_{ik} < (b + 1)/B\}, \qquad
                  \text{observed}_{kb} = \frac{1}{|B_{kb}|} \sum_{i \in B_{kb}} 1\{y_i = k\}

        Its interval is that of replicates: labels drawn for the same rows at every draw of the
        posterior, or from the predicted probabilities where the fit has no draws. Observed
        frequencies outside of it are not what the model expects.

        Parameters
        ----------
        X : array, data frame or sparse matrix (n, d)
            Best rows that the model was not fitted to; it looks better on those of the fit.
        y : sequence (n,)
            Their classes.
        bins : int, 2 or more
            B, of equal width.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the replicates.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            A row for each class and bin that is not empty: class, rows, predicted (mean probability
            of the class), observed (its frequency), low and high (the interval of the replicates),
            missed (whether observed is outside). Of two classes only the second, which the first
            mirrors.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If X or y cannot be used, or y holds a label that is not in `classes_`.
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
        from thali._tables import Table

        bins = whole("bins", bins, 2)
        matrix = self._checked(X)
        codes = _codes_among(labels_of(y, type(self).__name__, matrix.shape[0]), self.classes_)
        predicted = self._probabilities(matrix)
        K = predicted.shape[1]
        places = np.minimum((predicted * bins).astype(np.int64), bins - 1) + bins * np.arange(K)
        counts, sums, chosen = np.zeros((3, K * bins))
        np.add.at(counts, places, 1.0)
        np.add.at(sums, places, predicted)
        np.add.at(chosen, places[np.arange(len(codes)), codes], 1.0)
        counts[: 0 if K > 2 else bins] = 0.0  # of two classes the first mirrors the second
        kept = np.flatnonzero(counts)
        (rng,) = spawn_generators(random_seed, 1)
        drawn = np.quantile(
            _replicates(self, matrix, predicted, places, kept, rng), tails_of(ci), axis=0
        )
        observed, (low, high) = chosen[kept] / counts[kept], drawn / counts[kept]
        table = Table(
            {
                "class": self.classes_[kept // bins],
                "rows": counts[kept].astype(np.int64),
                "predicted": sums[kept] / counts[kept],
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
        if not self.__sklearn_is_fitted__():
            raise sklearn_error(NotFittedError, "NotFittedError")(
                f"This {type(self).__name__} has not been fitted yet; call fit(X, y) first."
            )

    def _matrix_of(self, X: Any, names: np.ndarray | None) -> Any:
        """Covariates as a matrix: sparse only where X is, and the model takes it."""
        return sparse_matrix_of(X) if is_sparse(X) and self._takes_sparse() else matrix_of(X, names)

    def _checked(self, X: Any) -> np.ndarray:
        """Covariates to predict from, which must be those of the fit."""
        self._require_fitted()
        names, known = names_of(X), getattr(self, "feature_names_in_", None)
        if known is not None and names is None:
            warn(
                DataWarning(
                    f"X does not have valid feature names, but {type(self).__name__} was fitted"
                    " with feature names; its columns are assumed to be in the order of"
                    " feature_names_in_."
                )
            )
        elif known is not None and names is not None and list(names) != list(known):
            raise _OtherNames(list(names), list(known))
        matrix = self._matrix_of(X, names)
        self._check_width(matrix.shape[1])
        return matrix

    def _check_width(self, columns: int) -> None:
        if columns != self.n_features_in_:
            raise DataError(
                f"X has {columns} features, but {type(self).__name__} is expecting"
                f" {self.n_features_in_} features as input; pass the columns that it was fitted"
                " to."
            )

    def _fitted_classes(self) -> np.ndarray:
        self._require_fitted()
        return self.classes_

    def _in_blocks(self, predict: Any, X: Any, columns: int | None, dtype: Any = float) -> Any:
        """Predictions as a Dask array."""
        self._check_width(X.shape[1])
        return predicted(predict, X, columns, dtype)


class _OtherNames(DataError):
    """Columns are not those of the fit; in the words and lines of scikit-learn, which its checks
    look for."""

    def render(self, words: Words) -> str:
        """The difference, in lines."""
        names, known = map(set, self.args)
        message = "The feature names should match those that were passed during fit.\n"
        unseen, missing = sorted(names - known), sorted(known - names)
        if unseen:
            message += f"Feature names unseen at fit time:\n{_listed(unseen)}"
        if missing:
            message += f"Feature names seen at fit time, yet now missing:\n{_listed(missing)}"
        if not unseen and not missing:
            message += "Feature names must be in the same order as they were in fit.\n"
        return message + "Pass X[model.feature_names_in_]."


def _listed(names: list[str]) -> str:
    more = "- ...\n" if len(names) > _MAX_NAMES else ""
    return "".join(f"- {name}\n" for name in names[:_MAX_NAMES]) + more
