"""The arguments of the sparse multinomial logit, checked: prior, reference class, scale of the covariates."""

from typing import Any, NamedTuple

import numpy as np

from thali._arguments import one_of, positive
from thali.errors import Argument, ArgumentError, Clause, DataError, DataWarning, Setting
from thali.inference.warn import warn

from ..input import column_name
from ..standard import Standard, ends_of, standard_of, warn_of_left_out
from .method import METHODS, NORMAL

PRIORS = ("laplace", "horseshoe")
_LARGEST = 1e100  # of covariates that are not standardised: their squares must be floats


class Prior(NamedTuple):
    """Prior of the coefficients: eta, fixed or None for Gamma(shape, rate), and whether there is an intercept.

    Or the horseshoe, whose tau is half-Cauchy of scale `global_scale`.
    """

    eta: float | None
    shape: float
    rate: float
    intercept: bool
    name: str = "laplace"
    global_scale: float = 1.0

    @property
    def is_horseshoe(self) -> bool:
        """Whether there is no eta."""
        return self.name == "horseshoe"


def prior_of(model: Any) -> Prior:
    """The prior that the arguments say."""
    one_of("method", model.method, METHODS)
    is_horseshoe = one_of("prior", model.prior, PRIORS) == "horseshoe"
    if is_horseshoe and model.method in (*NORMAL, "map"):
        raise ArgumentError(
            Setting("method", model.method), " is for the Laplace prior; got ", Setting("prior", "horseshoe"), "."
        )
    if is_horseshoe and model.eta is not None:
        raise ArgumentError(
            Argument("eta"), " is of the Laplace prior; with ", Setting("prior", "horseshoe"), " leave it out."
        )
    if model.method == "map" and model.eta is None:
        raise ArgumentError(
            Setting("method", "map"),
            " needs a number for ",
            Argument("eta"),
            "; choose it by cross-validation, or take the posterior mean of a fit by ",
            Setting("method", "polya-gamma"),
            ".",
        )
    eta = None if model.eta is None else positive("eta", model.eta, "a rate")
    shape = positive("shape", model.shape, "a parameter of the Gamma prior of eta")
    rate = positive("rate", model.rate, "a parameter of the Gamma prior of eta")
    scale = positive("global_scale", model.global_scale, "the scale of the prior of tau")
    intercept = bool(one_of("fit_intercept", model.fit_intercept, (True, False)))
    return Prior(eta, shape, rate, intercept, model.prior, scale)


def position_of(reference: Any, classes: np.ndarray) -> int:
    """The place of the reference class."""
    if reference is None:
        return 0
    found = [k for k, label in enumerate(classes) if label == reference]
    if not found:
        known = ", ".join(repr(label) for label in classes[:10].tolist())
        raise ArgumentError(f"reference must be one of the classes, {known}; got {reference!r}.")
    return found[0]


def scale_of(
    matrix: np.ndarray, names: np.ndarray | None, counts: np.ndarray | None, standardize: Any, intercept: bool
) -> Standard:
    """The scale of the covariates: their own, or none."""
    if one_of("standardize", standardize, (True, False)):
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


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
