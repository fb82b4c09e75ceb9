"""Tables of substitution between products: elasticities."""

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.experiments.attribute_levels import parse_number
from thali._inference.user_warnings import silence_warnings
from thali._labels import format_label, shorten, suggest
from thali._posterior.posterior_interval import check_interval
from thali.errors import Argument, ArgumentError, Setting

from .choice_draws import LOGIT, Chooser
from .market_shares import summarize_draws
from .market_tables import (
    Market,
    apply_change,
    parse_single_market,
)
from .people_weights import draw_people_weights
from .share_settings import ShareSettings
from .willingness_to_pay import find_price_attribute

if TYPE_CHECKING:
    import pandas

    from thali._inference.random_seeds import RandomSeed

# relative step of a point elasticity; the error of the difference is about its square
_STEP = 1e-4


def tabulate_elasticities(
    chooser: Chooser,
    products: "pandas.DataFrame",
    attribute: str | None,
    change: float | None,
    people: Any,
    respondent_weights: Any,
    ci: float,
    settings: ShareSettings,
    cores: int | None,
    random_seed: "RandomSeed",
) -> "pandas.DataFrame":
    """Tabulate the elasticity of each share with respect to each product's price."""
    from thali._exportable_table import Table

    ci = check_interval(ci)
    market = parse_single_market(chooser.data.scheme, products)
    settings = settings.validate([market])
    attribute = attribute or _find_price(chooser.data.scheme)
    price_steps = _choose_steps(chooser, market, attribute, change)
    if (
        change is None
        and settings.rule != LOGIT
        and chooser.is_number(chooser.data.scheme.names.index(attribute))
    ):
        raise ArgumentError(
            Argument("change"),
            " is required because shares are discontinuous with ",
            Setting("rule", settings.rule),
            "; set the relative change of the attribute, such as `change=0.1`.",
        )
    markets = [market]
    for label, (_, low_price, high_price) in price_steps.items():
        markets += [
            apply_change(market, {attribute: {label: number}}) for number in (low_price, high_price)
        ]
    weights = draw_people_weights(chooser, people, respondent_weights, random_seed)
    # the steps would repeat the warnings of the market about numbers outside the tested range
    with silence_warnings():
        market_shares = settings.shares(chooser, markets, weights.drawn, cores, random_seed)
    row_labels, elasticity_draws = _compute_elasticities(market, price_steps, market_shares, change)
    table = Table(row_labels, columns=["changed", "product", "from", "to"]).assign(
        **summarize_draws(chooser, "elasticity", elasticity_draws, ci)
    )
    if change is None and all(
        low_price < current_price < high_price
        for current_price, low_price, high_price in price_steps.values()
    ):
        table = table.drop(columns=["from", "to"])
    table.attrs.update(chooser.interval_attrs(ci), attribute=attribute, whose=weights.whose)
    return table


def _find_price(scheme: Any) -> str:
    """Return the attribute whose name means price; raise ArgumentError without one."""
    price = find_price_attribute(scheme)
    if price is None:
        raise ArgumentError(
            Argument("attribute"),
            f" is required because no attribute is called price or cost; choose one of"
            f" {shorten(scheme.names)}.",
        )
    return price


def _compute_elasticities(
    market: Market,
    price_steps: dict[str, Any],
    market_shares: list[np.ndarray],
    change: float | None,
) -> tuple[list[Any], np.ndarray]:
    """Return the label of each row of the table, and its draws, (n_draws, n_rows)."""
    current_shares, *changed_shares = market_shares
    row_labels = []
    elasticities = []
    for step_index, (label, (current_price, low_price, high_price)) in enumerate(
        price_steps.items()
    ):
        low_shares, high_shares = changed_shares[2 * step_index : 2 * step_index + 2]
        with np.errstate(divide="ignore", invalid="ignore"):
            if change is None and low_price < current_price < high_price:  # d log s / d log x
                product_elasticities = (
                    (high_shares - low_shares)
                    / current_shares
                    * current_price
                    / (high_price - low_price)
                )
            else:  # relative to the midpoint, which treats up and down equally
                product_elasticities = (
                    (high_shares - low_shares)
                    / (high_shares + low_shares)
                    * (high_price + low_price)
                    / (high_price - low_price)
                )
        elasticities.append(product_elasticities)
        reported_price = low_price
        if low_price == current_price:
            reported_price = high_price
        row_labels += [(label, product, current_price, reported_price) for product in market.labels]
    return row_labels, np.hstack(elasticities)


def _choose_steps(
    chooser: Chooser, market: Market, attribute: str, change: float | None
) -> dict[str, tuple[float, ...]]:
    """Return current, lower and upper price of each product, for finite differences."""
    # Shares at the lower and the upper number are compared.
    attributes = chooser.data.scheme.names
    if attribute not in market.table.columns or attribute not in attributes:
        suggestion = ""
        if attribute not in attributes:
            suggestion = suggest(str(attribute), [*map(str, attributes)])
        raise ArgumentError(
            Argument("attribute"), f": the products have no attribute {attribute!r}.{suggestion}"
        )
    price_by_product = {
        product: parse_number(format_label(cell))
        for product, cell in zip(market.labels, market.table[attribute], strict=True)
    }
    attribute_index = attributes.index(attribute)
    has_attribute = ~np.isnan(chooser.cells(market.table)[:, attribute_index])
    checked_price_by_product: dict[str, float] = {}
    for (product, current_value), has_product_attribute in zip(
        price_by_product.items(), has_attribute, strict=True
    ):
        if not has_product_attribute:
            continue
        if current_value is None or current_value <= 0.0:
            raise ArgumentError(
                Argument("attribute"),
                f": an elasticity requires positive numbers, but {attribute!r} of {product!r} is"
                f" {market.table[attribute].tolist()[market.labels.index(product)]!r}.",
            )
        checked_price_by_product[product] = current_value
    if change is not None:
        price_factor = 1.0 + _parse_relative_change(change)
        if not chooser.is_number(attribute_index):
            raise ArgumentError(
                Argument("change"),
                f" requires values of {attribute!r} that were not tested and have no coefficient;"
                " remove ",
                Argument("change"),
                " to use the next tested value, or make the attribute linear.",
            )
        return {
            product: (current_value, *sorted((current_value, current_value * price_factor)))
            for product, current_value in checked_price_by_product.items()
        }
    if chooser.is_number(attribute_index):
        return {
            product: (current_value, current_value * (1.0 - _STEP), current_value * (1.0 + _STEP))
            for product, current_value in checked_price_by_product.items()
        }
    levels = list_tested_numbers(chooser, attribute)
    return {
        product: (current_value, *_find_next_level(current_value, levels))
        for product, current_value in checked_price_by_product.items()
    }


def _parse_relative_change(change: float | None) -> float:
    """Return the argument `change`; raise ArgumentError outside its range."""
    if (
        not isinstance(change, Real)
        or isinstance(change, bool)
        or not 0.0 < abs(float(change)) < 1.0
    ):
        raise ArgumentError(
            Argument("change"),
            f", a relative change, must be between -1 and 1 and not 0; got {change!r}.",
        )
    return float(change)


def list_tested_numbers(chooser: Chooser, attribute: str) -> list[float]:
    """Return the sorted tested numbers of a numeric attribute."""
    scheme = chooser.data.scheme
    known_levels = np.flatnonzero(~np.isnan(chooser.level_cells()[scheme.names.index(attribute)]))
    tested_numbers = [parse_number(scheme.levels[attribute][level]) for level in known_levels]
    return sorted(number for number in tested_numbers if number is not None)


def _find_next_level(current_number: float, levels: list[float]) -> tuple[float, float]:
    """Return a number and the next higher tested one (next lower at the highest)."""
    for level in levels:
        if level > current_number:
            return current_number, level
    lower_levels = [level for level in levels if level < current_number]
    if not lower_levels:
        raise ArgumentError(
            Argument("attribute"),
            f": {current_number:g} is the only tested value, so no arc elasticity can be computed;"
            " test other"
            " values.",
        )
    return lower_levels[-1], current_number
