"""Tables of market shares and demand curves."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._argument_checks import is_list
from thali._data.experiments.attribute_levels import parse_number
from thali._inference.numerics.weight_shares import compute_shares
from thali._labels import format_label, suggest
from thali._posterior.posterior_interval import check_interval
from thali.errors import Argument, ArgumentError

from .choice_draws import Chooser, drop_estimate, estimate_interval, point_estimate
from .finding_sentences import ENGLISH
from .market_tables import (
    SCENARIO,
    Market,
    apply_change,
    find_product,
    parse_markets,
    parse_single_market,
)
from .people_weights import draw_people_weights
from .share_settings import ShareSettings

if TYPE_CHECKING:
    import pandas

    from thali._inference.random_seeds import RandomSeed


def tabulate_market_shares(
    chooser: "Chooser",
    products: "pandas.DataFrame",
    change: Mapping[str, Any] | None,
    people: Any,
    respondent_weights: Any,
    ci: float,
    each_draw: bool,
    settings: ShareSettings,
    cores: int | None,
    random_seed: "RandomSeed",
) -> "pandas.DataFrame":
    """Tabulate the share of every product, and its change after `change`."""
    import pandas as pd

    from thali._exportable_table import Table

    ci = check_interval(ci)
    markets = parse_markets(chooser.data.scheme, products)
    changed_markets = []
    if change is not None:
        changed_markets = [apply_change(market, change) for market in markets]
    settings = settings.validate(markets)
    weights = draw_people_weights(chooser, people, respondent_weights, random_seed)
    share_arrays = settings.shares(
        chooser, markets + changed_markets, weights.drawn, cores, random_seed
    )
    draws_by_column = {"share": np.hstack(share_arrays[: len(markets)])}
    if change is not None:
        changed_shares = np.hstack(share_arrays[len(markets) :])
        draws_by_column |= {
            "after": changed_shares,
            "change": changed_shares - draws_by_column["share"],
        }
    product_labels = _build_product_index(markets)
    if each_draw:
        tables = {
            name: pd.DataFrame(draws, columns=product_labels)
            for name, draws in draws_by_column.items()
        }
        draw_table = pd.concat(tables, axis=1).rename_axis(index="draw")
        draw_table.attrs["whose"] = weights.whose
        return draw_table
    table_columns = {
        name: point_estimate(chooser, draws) for name, draws in draws_by_column.items()
    }
    for name, draws in draws_by_column.items():
        table_columns |= summarize_draws(chooser, name, draws, ci)
    table = Table(table_columns, index=product_labels)
    table.attrs.update(chooser.interval_attrs(ci), whose=weights.whose)
    if settings.actual is not None:
        table.attrs["notes"] = [ENGLISH["shares.known"]]
    return table


def summarize_draws(
    chooser: "Chooser", name: str, draws: np.ndarray, ci: float
) -> dict[str, np.ndarray]:
    """Return estimate, interval and standard error of quantities, by column name."""
    low, high = estimate_interval(chooser, draws, ci)
    return {
        name: point_estimate(chooser, draws),
        f"{name}_low": low,
        f"{name}_high": high,
        f"{name}_se": chooser.errors(draws, chooser.chain),
    }


def _build_product_index(markets: "Sequence[Market]") -> "pandas.Index":
    """Return a table index of product labels, with scenarios if several."""
    import pandas as pd

    if markets[0].scenario is None:
        return pd.Index(markets[0].labels, name="product")
    scenario_and_label = [(market.scenario, label) for market in markets for label in market.labels]
    return pd.MultiIndex.from_tuples(scenario_and_label, names=[SCENARIO, "product"])


def tabulate_demand(
    chooser: "Chooser",
    attribute: str,
    product: str,
    values: Iterable[Any],
    products: "pandas.DataFrame",
    people: Any,
    respondent_weights: Any,
    ci: float,
    cost: float | None,
    settings: ShareSettings,
    cores: int | None,
    random_seed: "RandomSeed",
) -> "pandas.DataFrame":
    """Tabulate share (and profit) of a product at each value of an attribute."""
    from thali._exportable_table import Table

    ci = check_interval(ci)
    market = parse_single_market(chooser.data.scheme, products)
    settings = settings.validate([market])
    product_index = find_product(format_label(product), market.labels, "product")
    if attribute not in market.table.columns:
        raise ArgumentError(
            f"`attribute` is {attribute!r}, which the products do not"
            f" have.{suggest(str(attribute), list(market.table))}"
        )
    if not is_list(values) or not len(values := list(values)):
        raise ArgumentError(
            f"`values` must list values of {attribute!r}, such as [100, 150, 200]; got {values!r}."
        )
    value_numbers = [parse_number(format_label(value)) for value in values]
    sale_cost = 0.0
    if cost is not None:
        sale_cost = _parse_sale_cost(cost, attribute, value_numbers)
    product_label = market.labels[product_index]
    markets = [apply_change(market, {attribute: {product_label: value}}) for value in values]
    if settings.actual:  # the shares of the first market
        markets.insert(0, market)
    weights = draw_people_weights(chooser, people, respondent_weights, random_seed)
    share_arrays = settings.shares(chooser, markets, weights.drawn, cores, random_seed)
    shares = np.column_stack([draws[:, product_index] for draws in share_arrays[-len(values) :]])
    if None not in value_numbers:
        values = value_numbers
    table_columns = {attribute: values, **summarize_draws(chooser, "share", shares, ci)}
    if cost is not None:
        profit_draws = shares * (np.array(value_numbers, float) - sale_cost)
        table_columns |= summarize_draws(chooser, "profit", profit_draws, ci)
        table_columns["probability_best"] = probability_best(chooser, profit_draws)
    table = Table(table_columns)
    table.attrs.update(
        chooser.interval_attrs(ci), product=product_label, attribute=attribute, whose=weights.whose
    )
    return table


def _parse_sale_cost(cost: float | None, attribute: str, revenues: Sequence[float | None]) -> float:
    """Return the cost per sale; raise ArgumentError unless all prices are numbers."""
    if None in revenues:
        raise ArgumentError(
            Argument("cost"), f" requires numeric values of {attribute!r}, the revenue per sale."
        )
    sale_cost = parse_number(format_label(cost))
    if sale_cost is None:
        raise ArgumentError(
            Argument("cost"), f", the cost per sale, must be a number; got {cost!r}."
        )
    return sale_cost


def probability_best(chooser: "Chooser", values: np.ndarray) -> np.ndarray:
    """Return the share of draws in which each quantity is the largest.

    `values` are (draws, quantities); ties share a draw.
    """
    value_draws = drop_estimate(chooser, values)
    is_best = value_draws == value_draws.max(axis=1, keepdims=True)
    return compute_shares(is_best).mean(axis=0)
