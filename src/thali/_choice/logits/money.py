"""Willingness-to-pay space: coefficients as amounts of money, beside the scale of utility."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from thali._labels import shorten
from thali.errors import Argument, ArgumentError, DataError, Setting

from ..answers.willingness_to_pay import find_price_attribute
from ..coding import Coding
from ..logit import encode_choices, maximise_log_likelihood

if TYPE_CHECKING:
    from thali._data.experiments import ChoiceExperiment

PREFERENCE, MONEY = SPACES = "preference", "willingness-to-pay"
# precision of a coefficient, of a standard deviation of its column: finite where choices are
# separated
_RIDGE = 1.0
# standard errors: each person's demand falls with the price, and their choices may rise by chance
_CLEARLY = 3.0


def price_of_space(data: "ChoiceExperiment", coding: Coding) -> str:
    """The attribute of money, whose coefficient is the scale."""
    setting = Setting("space", MONEY)
    price = find_price_attribute(data.scheme)
    if price is None:
        raise ArgumentError(
            setting,
            f" requires a price among the attributes ({shorten(data.attributes, 8)}); rename the"
            " column of amounts to 'price', 'cost', 'fee' or 'fare'.",
        )
    part = coding.parts[data.attributes.index(price)]
    if part.numbers is None or part.knots:
        raise ArgumentError(
            setting, f" requires a single slope for {price!r}; set ", Setting("linear", price), "."
        )
    slope, products = (
        coding.names.index(price),
        coding.names[len(coding.names) - len(coding.crossed) :],
    )
    if crossed := [
        name for name, pair in zip(products, coding.crossed, strict=True) if slope in pair
    ]:
        raise ArgumentError(
            setting,
            f" requires a single slope for {price!r}, but the model also contains"
            f" {shorten(crossed, 4)}; remove the interactions of {price!r}.",
        )
    return price


def refuse_without_price(price: str, signs: Mapping[str, str], ignored: Sequence[str]) -> None:
    """Refuse what is at odds with a price that everybody pays heed to and would rather have low."""
    setting = Setting("space", MONEY)
    if signs.get(price, "decreasing") != "decreasing":
        raise ArgumentError(
            setting,
            f" assumes that utility decreases with {price!r}; remove {price!r} from ",
            Argument("signs"),
            ".",
        )
    if price in ignored:
        raise ArgumentError(
            setting,
            f": a respondent who ignores {price!r} has no finite willingness to pay; list only the"
            " other attributes in ",
            Argument("attention"),
            ".",
        )


def refuse_rising(data: "ChoiceExperiment", coding: Coding, price: str) -> None:
    """Refuse data whose choices, of all people taken together, speak for a higher price."""
    tasks, place = encode_choices(data, coding), coding.names.index(price)
    found = maximise_log_likelihood(tasks._replace(matrix=tasks.matrix / coding.scale), _RIDGE)
    value, error = found.beta[place], np.sqrt(np.linalg.inv(found.hessian)[place, place])
    if value > _CLEARLY * error:
        raise _rising(price, value / coding.scale[place], value / error)


def _rising(price: str, value: float, z: float) -> DataError:
    return DataError(
        f"Demand does not decrease with {price!r} (coefficient {value:.3g}, z = {z:.1f}), so"
        " willingness to pay is undefined; check the attribute, or set ",
        Setting("space", PREFERENCE),
        ".",
    )


def in_money(
    beta: np.ndarray, covariance: np.ndarray, place: int, price: str
) -> tuple[np.ndarray, np.ndarray]:
    """The scale and the amounts, and their covariance by the delta method, which is exact at a
    maximum."""
    value = beta[place]
    if not value < 0.0:
        raise _rising(price, value, value / np.sqrt(covariance[place, place]))
    slopes = np.eye(len(beta)) / -value
    slopes[:, place] = beta / value**2
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


def from_logarithm(values: np.ndarray, place: int) -> np.ndarray:
    """The coefficients of utility by the logarithm of the scale and the amounts."""
    found = values.copy()
    found[..., place] = np.exp(found[..., place])
    return in_utility(found, place)


def covariance_in_utility(covariance: np.ndarray, beta: np.ndarray, place: int) -> np.ndarray:
    """The covariance of coefficients of utility by that of the logarithm of the scale and the
    amounts."""
    slopes = -beta[place] * np.eye(len(beta))
    slopes[:, place] = beta
    return slopes @ covariance @ slopes.T
