"""Willingness-to-pay space: coefficients as amounts of money, beside the scale of utility."""

from typing import TYPE_CHECKING

import numpy as np

from thali._labels import shorten
from thali.errors import ArgumentError, DataError, Setting

from ..answers.pay import price_among
from ..coding import Coding

if TYPE_CHECKING:
    from thali.data.experiments import ChoiceExperiment

PREFERENCE, MONEY = SPACES = "preference", "willingness-to-pay"


def price_of_space(data: "ChoiceExperiment", coding: Coding) -> str:
    """The attribute of money, whose coefficient is the scale."""
    setting = Setting("space", MONEY)
    price = price_among(data.scheme)
    if price is None:
        raise ArgumentError(
            setting,
            f" needs a price beside other attributes ({shorten(data.attributes, 8)}): call the column of amounts "
            "'price', 'cost', 'fee' or 'fare'.",
        )
    part = coding.parts[data.attributes.index(price)]
    if part.numbers is None or part.knots:
        raise ArgumentError(setting, f" needs one slope of {price!r}; set ", Setting("linear", price), ".")
    if crossed := [name for name in coding.names if price in name.split(":") and name != price]:
        raise ArgumentError(
            setting, f" needs one slope of {price!r}, and it has {shorten(crossed, 4)}; leave out its interactions."
        )
    return price


def in_money(beta: np.ndarray, covariance: np.ndarray, place: int, price: str) -> tuple[np.ndarray, np.ndarray]:
    """The scale and the amounts, and their covariance by the delta method, which is exact at a maximum."""
    value, error = beta[place], np.sqrt(covariance[place, place])
    if not value < 0.0:
        raise DataError(
            f"Demand does not fall with {price!r} (coefficient {value:.3g}, z = {value / error:.1f}), so that nothing "
            "is an amount of money; check how it was read, or set ",
            Setting("space", PREFERENCE),
            ".",
        )
    slopes = np.eye(len(covariance))
    slopes[: len(beta)] /= -value
    slopes[: len(beta), place] = beta / value**2
    slopes[place] = 0.0
    slopes[place, place] = -1.0
    known = ~np.isnan(np.diag(covariance))
    found = np.full_like(covariance, np.nan)
    own = slopes[np.ix_(known, known)]
    found[np.ix_(known, known)] = own @ covariance[np.ix_(known, known)] @ own.T
    amounts = -beta / value
    amounts[place] = -value
    return amounts, found


def in_utility(coef: np.ndarray, place: int) -> np.ndarray:
    """The coefficients of utility (..., p) by the scale and the amounts."""
    found = coef * coef[..., place : place + 1]
    found[..., place] = -coef[..., place]
    return found


def from_logarithm(values: np.ndarray, place: int, p: int) -> np.ndarray:
    """The coefficients of utility by the logarithm of the scale and the amounts; what follows these stays."""
    found = values.copy()
    found[..., place] = np.exp(found[..., place])
    found[..., :p] = in_utility(found[..., :p], place)
    return found


def covariance_in_utility(covariance: np.ndarray, beta: np.ndarray, place: int, p: int) -> np.ndarray:
    """The covariance of coefficients of utility by that of the logarithm of the scale and the amounts."""
    slopes = np.eye(len(covariance))
    slopes[:p, :p] *= -beta[place]
    slopes[:p, place] = beta[:p]
    return slopes @ covariance @ slopes.T
