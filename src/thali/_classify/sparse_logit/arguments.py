"""Checked arguments of the sparse logit: prior, reference class, standardisation."""

from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import check_allowed, check_positive
from thali._inference.user_warnings import warn
from thali._labels import shorten
from thali.errors import ArgumentError, Clause, DataError, DataWarning, Setting

from ..covariates_and_labels import (
    Standardization,
    compute_column_ranges,
    compute_standardization,
    format_column_name,
    is_sparse,
    warn_about_constant_columns,
)
from .time_forecast import METHODS

if TYPE_CHECKING:
    from .model import SparseMultinomialLogit


_MAX_COVARIATE = 1e100  # if not standardised: squares must be floats


class CoefficientPrior(NamedTuple):
    """Laplace prior of the coefficients; eta is fixed, or None for Gamma(shape, rate)."""

    eta: float | None
    shape: float
    rate: float
    intercept: bool


class LogitDesign(NamedTuple):
    """Classes and standardised covariates of a fit."""

    classes: np.ndarray
    reference: Any  # label of the reference class
    standardization: Standardization
    names: list[str]  # of all covariates

    @property
    def reference_index(self) -> int:
        """Index of the reference class."""
        return int(np.flatnonzero(self.classes == self.reference)[0])

    @property
    def free_labels(self) -> list[Any]:
        """Class labels without the reference class."""
        return [label for label in self.classes.tolist() if label != self.reference]

    @property
    def columns(self) -> list[str]:
        """Names of the covariates that vary, which have a coefficient."""
        return list(compress(self.names, self.standardization.varies))


def read_prior(model: "SparseMultinomialLogit") -> CoefficientPrior:
    """Return the prior from a model's arguments; raise ArgumentError if invalid."""
    check_allowed("method", model.method, METHODS)
    eta = model.eta
    if eta is not None:
        eta = check_positive("eta", eta, "a rate")
    shape = check_positive("shape", model.shape, "the shape of the Gamma prior on eta")
    rate = check_positive("rate", model.rate, "the rate of the Gamma prior on eta")
    if eta is None and model.method == "map":
        eta = shape / rate
    has_intercept = bool(check_allowed("fit_intercept", model.fit_intercept, (True, False)))
    return CoefficientPrior(eta, shape, rate, has_intercept)


def find_reference_class(model: "SparseMultinomialLogit") -> Any:
    """Return the reference class: the argument `reference`, or the first class."""
    if model.reference is None:
        return model.classes_[0]
    for label in model.classes_:
        if label == model.reference:
            return label
    class_list = shorten(model.classes_.tolist(), 10)
    raise ArgumentError(
        f"`reference` must be one of the classes ({class_list}); got {model.reference!r}."
    )


def choose_standardization(
    model: "SparseMultinomialLogit",
    matrix: np.ndarray,
    has_intercept: bool,
    counts: np.ndarray | None = None,
) -> Standardization:
    """Return the covariates' standardisation; identity if not requested."""
    column_names = vars(model).get("feature_names_in_")
    column_min, column_max = compute_column_ranges(matrix)
    if check_allowed("standardize", model.standardize, (True, False)):
        standardization = compute_standardization(matrix, column_names, counts)
        # columns of zeros are expected: words that these rows lack
        warn_about_constant_columns(
            standardization, column_names, is_sparse(matrix) & (column_min == 0.0)
        )
        return standardization
    max_absolute = np.maximum(-column_min, column_max)
    if (max_absolute > _MAX_COVARIATE).any():
        column_index = int(np.argmax(max_absolute))
        raise DataError(
            f"{_capitalise(format_column_name(column_names, column_index))} reaches"
            f" {max_absolute[column_index]:g}, whose square overflows; rescale it",
            Clause(", or set ", Setting("standardize", True)),
            ".",
        )
    constant_indices = np.flatnonzero((column_min == column_max) & (column_min != 0.0))
    if constant_indices.size and has_intercept:
        warn(
            DataWarning(
                f"{_capitalise(format_column_name(column_names, int(constant_indices[0])))} is"
                " constant and equivalent to the intercept; remove it."
            )
        )
    d = matrix.shape[1]
    return Standardization(np.ones(d), np.zeros(d), np.ones(d))


def _capitalise(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[0].upper() + text[1:]
