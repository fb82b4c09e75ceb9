"""Willingness-to-pay space: coefficients as amounts of money, times the scale of utility."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from thali._labels import shorten
from thali.errors import Argument, ArgumentError, DataError, Setting

from ..logit_likelihood import encode_choices, maximise_log_likelihood
from ..product_coding import Coding
from ..reports.willingness_to_pay import find_price_attribute

if TYPE_CHECKING:
    from thali._data.experiments import ChoiceExperiment

PREFERENCE, MONEY = SPACES = "preference", "willingness-to-pay"
# precision of a coefficient per standard deviation of its column, which keeps estimates finite
_RIDGE = 1.0
_MAX_LOG_SCALE = 115.0  # e^115 is 10^50, so that squares of utilities are finite
# standard errors; choices may rise with the price by chance
_MIN_RISING_Z = 3.0


def require_price(data: "ChoiceExperiment", coding: Coding) -> str:
    """Return the price attribute; raise DataError for data without one."""
    space_setting = Setting("space", MONEY)
    price = find_price_attribute(data.scheme)
    if price is None:
        raise ArgumentError(
            space_setting,
            f" requires a price among the attributes ({shorten(data.attributes, 8)}); rename the"
            " column of amounts to 'price', 'cost', 'fee' or 'fare'.",
        )
    price_coding = coding.parts[data.attributes.index(price)]
    if price_coding.numbers is None or price_coding.knots:
        raise ArgumentError(
            space_setting,
            f" requires a single slope for {price!r}; set ",
            Setting("linear", price),
            ".",
        )
    price_column = coding.names.index(price)
    product_columns = coding.names[len(coding.names) - len(coding.crossed) :]
    if crossed_columns := [
        name
        for name, column_pair in zip(product_columns, coding.crossed, strict=True)
        if price_column in column_pair
    ]:
        raise ArgumentError(
            space_setting,
            f" requires a single slope for {price!r}, but the model also contains"
            f" {shorten(crossed_columns, 4)}; remove the interactions of {price!r}.",
        )
    return price


def refuse_rising_price(price: str, signs: Mapping[str, str]) -> None:
    """Raise ArgumentError if utility is set to increase with the price."""
    if signs.get(price, "decreasing") != "decreasing":
        raise ArgumentError(
            Setting("space", MONEY),
            f" assumes that utility decreases with {price!r}; remove {price!r} from ",
            Argument("signs"),
            ".",
        )


def refuse_rising_demand(data: "ChoiceExperiment", coding: Coding, price: str) -> None:
    """Raise DataError if choices rise with the price in a pooled logit."""
    tasks = encode_choices(data, coding)
    price_index = coding.names.index(price)
    estimate = maximise_log_likelihood(tasks._replace(matrix=tasks.matrix / coding.scale), _RIDGE)
    slope = estimate.beta[price_index]
    slope_error = np.sqrt(np.linalg.inv(estimate.hessian)[price_index, price_index])
    if slope > _MIN_RISING_Z * slope_error:
        raise _build_rising_error(price, slope / coding.scale[price_index], slope / slope_error)


def _build_rising_error(price: str, slope: float, z: float) -> DataError:
    """Return the DataError for demand that rises with the price."""
    return DataError(
        f"Demand does not decrease with {price!r} (coefficient {slope:.3g}, z = {z:.1f}), so"
        " willingness to pay is undefined; check the attribute, or set ",
        Setting("space", PREFERENCE),
        ".",
    )


def convert_to_amounts(
    beta: np.ndarray, covariance: np.ndarray, price_index: int, price: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return scale and amounts from coefficients, with covariance by the delta method.

    The covariance is exact at a maximum of the likelihood.
    """
    price_slope = beta[price_index]
    if not price_slope < 0.0:
        raise _build_rising_error(
            price, price_slope, price_slope / np.sqrt(covariance[price_index, price_index])
        )
    derivatives = differentiate_amounts(beta, price_index)
    is_estimated = ~np.isnan(np.diag(covariance))
    amounts_covariance = np.full_like(covariance, np.nan)
    jacobian = derivatives[np.ix_(is_estimated, is_estimated)]
    amounts_covariance[np.ix_(is_estimated, is_estimated)] = (
        jacobian @ covariance[np.ix_(is_estimated, is_estimated)] @ jacobian.T
    )
    amounts = -beta / price_slope
    amounts[price_index] = -price_slope
    return amounts, amounts_covariance


def differentiate_amounts(beta: np.ndarray, price_index: int) -> np.ndarray:
    """Return derivatives of scale and amounts by coefficients, shape (p, p)."""
    price_slope = beta[price_index]
    derivatives = np.eye(len(beta)) / -price_slope
    derivatives[:, price_index] = beta / price_slope**2
    derivatives[price_index] = 0.0
    derivatives[price_index, price_index] = -1.0
    return derivatives


def convert_to_utility(coef: np.ndarray, price_index: int) -> np.ndarray:
    """Return utility coefficients (..., p) from scale and amounts."""
    utility = coef * coef[..., price_index : price_index + 1]
    utility[..., price_index] = -coef[..., price_index]
    return utility


def convert_from_logarithm(log_coefficients: np.ndarray, price_index: int) -> np.ndarray:
    """Return utility coefficients from log scale and amounts."""
    coefficients = log_coefficients.copy()
    # estimates that diverge, as if the cheapest is always chosen, have draws beyond any number
    coefficients[..., price_index] = np.exp(
        np.clip(coefficients[..., price_index], -_MAX_LOG_SCALE, _MAX_LOG_SCALE)
    )
    return convert_to_utility(coefficients, price_index)


def convert_covariance_to_utility(
    covariance: np.ndarray, beta: np.ndarray, price_index: int
) -> np.ndarray:
    """Return the covariance of utility coefficients from that of log scale and amounts."""
    derivatives = -beta[price_index] * np.eye(len(beta))
    derivatives[:, price_index] = beta
    return derivatives @ covariance @ derivatives.T
