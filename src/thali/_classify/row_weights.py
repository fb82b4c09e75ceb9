"""Weights of training rows, by row and by class, checked."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from thali._inference.user_warnings import warn
from thali._labels import format_plural, index_labels, shorten
from thali.errors import Argument, ArgumentError, DataError, DataWarning, Message, Setting, one_of

from .covariates_and_labels import format_class_label

LARGEST = 1e15  # largest weight: weights count rows


def check_row_weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Return the row weights, shape (rows,); all 1 if none are given.

    Examples
    --------
    >>> check_row_weights([1, 0, -2], 3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    thali.errors.DataError: `sample_weight` is -2 in row 2; weights must be finite, >= 0 and at ...
    """
    if sample_weight is None:
        return np.ones(n_rows)
    try:
        weights = np.array(sample_weight, float)
    except (TypeError, ValueError):
        raise DataError("`sample_weight` must contain numbers, one per row of X.") from None
    if weights.shape != (n_rows,):
        raise DataError(
            f"`sample_weight` must be one-dimensional, with one number for each of the {n_rows}"
            f" rows of X; got shape {weights.shape}."
        )
    if (is_invalid := ~((weights <= LARGEST) & (weights >= 0.0))).any():
        row_index = int(np.argmax(is_invalid))
        raise DataError(
            f"`sample_weight` is {weights[row_index]:g} in row {row_index}; weights must be finite,"
            f" >= 0 and at most {LARGEST:g}."
        )
    if not weights.any():
        raise DataError(
            "All sample weights are zero, so no rows are left; give rows of at least two classes a"
            " positive weight."
        )
    return weights


def is_finite_weight(weight: Any) -> bool:
    """Return whether a weight is a finite number >= 0, and no bool."""
    if isinstance(weight, bool) or not isinstance(weight, int | float | np.number):
        return False
    return bool(0.0 <= weight < np.inf)


def apply_class_weights(
    row_weights: np.ndarray, class_codes: np.ndarray, classes: np.ndarray, class_weight: Any
) -> np.ndarray:
    r"""Return row weights times the weights of the rows' classes.

    .. math:: w_k^{\text{balanced}} = \frac{\sum_i w_i}{K \sum_{i: y_i = k} w_i}
    """
    class_totals = np.bincount(class_codes, row_weights, len(classes))
    class_factors = np.ones(len(classes))
    if isinstance(class_weight, Mapping):
        class_factors = _read_class_factors(class_weight, classes)
    elif class_weight is not None:
        if not (isinstance(class_weight, str) and class_weight == "balanced"):
            raise ArgumentError(
                Argument("class_weight"),
                f" must be a dict of labels and weights, 'balanced' or None; got {class_weight!r}.",
            )
        class_factors = class_totals.sum() / (
            len(classes) * np.maximum(class_totals, np.finfo(float).tiny)
        )
    if (is_empty := class_totals * class_factors == 0.0).any():
        raise DataError(
            f"All rows of class {format_class_label(classes[int(np.argmax(is_empty))])} have weight"
            " 0; remove the class from y, or give its rows a positive weight."
        )
    return row_weights * class_factors[class_codes]


def warn_about_small_weights(weights: np.ndarray, n_classes: int) -> None:
    """Warn if all weights sum to less than one row per class.

    Weights that sum to 1 are an example.
    """
    if (total_weight := float(weights.sum())) < n_classes:
        n_rows = int((weights > 0.0).sum())
        warn(
            DataWarning(
                f"`sample_weight` sums to {total_weight:.3g} for {format_plural(n_rows, 'row')}, so"
                " the prior"
                " dominates. If the weights are shares (as in AdaBoost), pass sample_weight *"
                " (len(sample_weight) / sum(sample_weight))."
            )
        )


def _read_class_factors(class_weight: Mapping[Any, Any], classes: np.ndarray) -> np.ndarray:
    """Return each class's factor from the user's dict of class weights."""
    index_by_label = index_labels(classes.tolist())
    factors = np.ones(len(classes))
    for label, factor in class_weight.items():
        if label not in index_by_label:
            label_list = shorten(list(index_by_label), 10)
            raise ArgumentError(
                Argument("class_weight"),
                f" has a weight for {label!r}, but y contains only {label_list}.",
            )
        if not is_finite_weight(factor):
            raise ArgumentError(
                Argument("class_weight"),
                f" of {label!r} must be a finite number >= 0; got {factor!r}.",
            )
        factors[index_by_label[label]] = factor
    return factors


def refuse_fractional_weights(counts: np.ndarray, methods: tuple[str, ...]) -> None:
    """Raise DataError for row weights that are not integers.

    Gibbs sampling draws one variable per copy of a row.
    """
    if (is_fractional := counts != np.floor(counts)).any():
        raise DataError(
            Message(f"Some rows have weight {counts[int(np.argmax(is_fractional))]:g}, but "),
            Setting("method", "gibbs"),
            " draws one variable per copy of a row; pass integer weights, or set ",
            Message(Argument("method"), " to ", one_of("method", methods, " or ")),
            ".",
        )
