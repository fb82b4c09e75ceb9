"""Tables of market shares, demand curves and best products."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product as combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import check_integer, is_list
from thali._data.experiments.attribute_levels import parse_number
from thali._data.experiments.product_encoding import INSIDE
from thali._inference.index_arithmetic import argsort_descending
from thali._inference.numerics.weight_shares import compute_shares
from thali._labels import format_label, shorten, suggest
from thali._posterior.posterior_interval import check_interval
from thali.errors import Argument, ArgumentError

from .choice_draws import Chooser, drop_estimate, estimate_interval, point_estimate
from .finding_sentences import ENGLISH
from .market_tables import (
    SCENARIO,
    Market,
    apply_change,
    find_product,
    parse_competitors,
    parse_markets,
    parse_single_market,
)
from .people_weights import draw_people_weights
from .share_settings import ShareSettings

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments.product_encoding import Scheme
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


# The best products to offer against competitors: search by greedy choice and exchange -------------


_MAX_ENUMERATED = 300  # number of products up to which all are tried in each position of a line
_STARTS = 300  # random products; with more products the search starts from the best of them
_FINALISTS = 20  # lines that are compared in all draws

ProductCode = tuple[int, ...]  # index of the value of each attribute
ProductLine = tuple[ProductCode, ...]


class ProductSpace(NamedTuple):
    """All products that a search may offer, with the profit per sale of each."""

    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]  # values of each attribute
    cells: tuple[np.ndarray, ...]  # the same as cells
    base: np.ndarray  # cells of attributes that are not chosen: "inside"
    columns: tuple[int, ...]  # columns of the attributes among the cells
    # {index of an attribute: amount that each of its values adds to the profit per sale}; empty:
    # maximise shares
    margins: dict[int, np.ndarray]

    @property
    def size(self) -> int:
        """Number of possible products."""
        return math.prod(map(len, self.values))

    def encode_line(self, line: ProductLine) -> np.ndarray:
        """Return the products of a line encoded, shape (products, attributes)."""
        product_rows = np.repeat(self.base[None], len(line), axis=0)
        for product_row, product in zip(product_rows, line, strict=True):
            for attribute_index, cells, value_index in zip(
                self.columns, self.cells, product, strict=True
            ):
                product_row[attribute_index] = cells[value_index]
        return product_rows

    def decode_product(self, product: ProductCode) -> tuple[Any, ...]:
        """Return the attribute values of a product code."""
        return tuple(values[index] for values, index in zip(self.values, product, strict=True))

    @property
    def objective(self) -> str:
        """Name of the quantity to maximise: profit or share."""
        if self.margins:
            return "profit"
        return "share"

    def compute_margins(self, line: ProductLine) -> np.ndarray:
        """Return the profit per sale of each product of a line; 1 for shares."""
        if not self.margins:
            return np.ones(len(line))
        return np.array(
            [sum(amounts[product[k]] for k, amounts in self.margins.items()) for product in line]
        )


def tabulate_best_products(
    chooser: "Chooser",
    attributes: Mapping[str, Any],
    competitors: "pandas.DataFrame",
    n: int,
    costs: Mapping[str, Mapping[Any, float]] | None,
    price: str | None,
    people: Any,
    respondent_weights: Any,
    ci: float,
    top: int,
    cores: int | None,
    random_seed: "RandomSeed",
) -> "pandas.DataFrame":
    """Tabulate the best lines of n products, one row per product."""
    ci = check_interval(ci)
    n = check_integer("n", n, 1)
    top = check_integer("top", top, 1)
    space = build_product_space(chooser, attributes, costs, price)
    if n > space.size:
        raise ArgumentError(
            f"`n` is {n}, but the attributes allow only {space.size:,} different products; reduce"
            " `n`."
        )
    competitor_cells = chooser.cells(parse_competitors(chooser.data.scheme, competitors))
    market_weights = draw_people_weights(chooser, people, respondent_weights, random_seed)

    def evaluate_lines(
        chooser: "Chooser", lines: Sequence[ProductLine], weights: np.ndarray | None
    ) -> np.ndarray:
        """Return profit or share of lines in each draw, shape (draws, lines)."""
        markets = [np.vstack([space.encode_line(line), competitor_cells]) for line in lines]
        shares = chooser.shares(markets, weights, cores, random_seed)
        shares_and_lines = zip(shares, lines, strict=True)
        return np.column_stack(
            [
                share[:, : len(line)] @ space.compute_margins(line)
                for share, line in shares_and_lines
            ]
        )

    thinned_chooser = chooser.thin(chooser.search_draws)
    line_search = LineSearch(
        space,
        lambda lines: evaluate_lines(thinned_chooser, lines, market_weights.plain).mean(axis=0),
    )
    line_search.run(n, np.random.default_rng(0))
    lines = line_search.list_best(n, max(top, _FINALISTS))
    line_values = evaluate_lines(chooser, lines, market_weights.drawn)
    line_summary = summarize_draws(chooser, space.objective, line_values, ci)
    line_summary["probability_best"] = probability_best(chooser, line_values)
    table = _tabulate_lines(space, lines, line_summary, top)
    table.attrs.update(
        chooser.interval_attrs(ci),
        lines=len(lines),
        tried=len(line_search.value_by_line),
        whose=market_weights.whose,
    )
    return table


def _tabulate_lines(
    space: ProductSpace, lines: Sequence[ProductLine], line_summary: dict[str, np.ndarray], top: int
) -> "pandas.DataFrame":
    """Tabulate the `top` product lines with the largest objective, one row per product."""
    # `figures` contain a number per line.
    from thali._exportable_table import Table

    product_rows = []
    line_order = argsort_descending(line_summary[space.objective])
    for rank, k in enumerate(line_order[:top].tolist(), 1):
        line_figures = [figure[k] for figure in line_summary.values()]
        product_rows += [
            (rank, *space.decode_product(product), *line_figures) for product in lines[k]
        ]
    return Table(product_rows, columns=["line", *space.names, *line_summary])


@dataclass
class LineSearch:
    """Search for the best product lines that remembers the value of each tried line."""

    space: ProductSpace
    evaluate: Callable[[Sequence[ProductLine]], np.ndarray]
    value_by_line: dict[ProductLine, float] = field(default_factory=dict)

    def run(self, n: int, rng: np.random.Generator) -> None:
        """Add the best products one by one, then exchange products while that improves."""
        line: ProductLine = ()
        for _ in range(n):
            line = self._improve((*line, self._choose_start(line, rng)), len(line))
        while True:
            previous_value = self._get_value(line)
            for position in range(n):
                line = self._improve(line, position)
            if self._get_value(line) <= previous_value:
                return

    def list_best(self, n: int, max_lines: int) -> list[ProductLine]:
        """Return the best of the tried lines of n products, at most `max_lines`."""
        lines = [line for line in self.value_by_line if len(line) == n]
        return sorted(lines, key=lambda line: -self.value_by_line[line])[:max_lines]

    def _choose_start(self, line: ProductLine, rng: np.random.Generator) -> ProductCode:
        """Return a product to add to the line, the best of some random ones."""
        n_values = list(map(len, self.space.values))
        if self._is_enumerable():
            return next(
                product for product in combinations(*map(range, n_values)) if product not in line
            )
        random_products = {tuple(rng.integers(n_values).tolist()) for _ in range(_STARTS)} - set(
            line
        )
        return self._choose_best(
            [(*line, product) for product in sorted(random_products)], len(line)
        )[-1]

    def _improve(self, line: ProductLine, position: int) -> ProductLine:
        """Return the line with the product at one position replaced by the best."""
        # All products are tried, or attribute by attribute while that helps.
        n_values = list(map(len, self.space.values))
        if self._is_enumerable():
            candidate_products = combinations(*map(range, n_values))
            candidate_lines = [
                _replace_product(line, position, product) for product in candidate_products
            ]
            return self._choose_best(candidate_lines, position)
        while True:
            previous_line = line
            for attribute, n_options in enumerate(n_values):
                old_product = line[position]
                candidate_products = [
                    (*old_product[:attribute], k, *old_product[attribute + 1 :])
                    for k in range(n_options)
                ]
                candidate_lines = [
                    _replace_product(line, position, product) for product in candidate_products
                ]
                line = self._choose_best(candidate_lines, position)
            if self._get_value(line) <= self._get_value(previous_line):
                return previous_line

    def _is_enumerable(self) -> bool:
        """Return whether every possible product can be tried in each position."""
        return self.space.size <= _MAX_ENUMERATED

    def _choose_best(self, lines: Sequence[ProductLine], position: int) -> ProductLine:
        """Return the best line whose product at `position` occurs nowhere else in it."""
        lines = [
            line for line in lines if line[position] not in line[:position] + line[position + 1 :]
        ]
        sorted_lines = dict.fromkeys(tuple(sorted(line)) for line in lines)
        untried_lines = [key for key in sorted_lines if key not in self.value_by_line]
        if untried_lines:
            self.value_by_line |= dict(
                zip(untried_lines, self.evaluate(untried_lines).tolist(), strict=True)
            )
        return max(lines, key=self._get_value)

    def _get_value(self, line: ProductLine) -> float:
        """Return the share or profit of a tried line, in any order of products."""
        return self.value_by_line[tuple(sorted(line))]


def _replace_product(line: ProductLine, position: int, product: ProductCode) -> ProductLine:
    """Return the line with another product in one position."""
    return (*line[:position], product, *line[position + 1 :])


def build_product_space(
    chooser: "Chooser",
    attributes: Mapping[str, Any],
    costs: Mapping[str, Mapping[Any, float]] | None,
    price: str | None,
) -> ProductSpace:
    """Build the space of possible products from the user's arguments, checked."""
    import pandas as pd

    attribute_names = tuple(name for name in chooser.data.scheme.names if name != INSIDE)
    if not isinstance(attributes, Mapping):
        raise ArgumentError(
            "`attributes` must map each attribute to its possible values, such as {'price': [1,"
            f" 2]}}; got {attributes!r}."
        )
    values_by_name = {str(name): values for name, values in attributes.items()}
    for name in values_by_name:
        if name not in attribute_names:
            raise ArgumentError(
                f"`attributes` contains {name!r}, which is not an attribute of the"
                f" data.{suggest(name, attribute_names)}"
            )
    if absent_attributes := [name for name in attribute_names if name not in values_by_name]:
        raise ArgumentError(
            f"`attributes` lack {shorten(absent_attributes)}; list the possible values of each, or"
            " a single"
            " value to keep an attribute fixed."
        )
    values = tuple(_parse_values(name, values_by_name[name]) for name in attribute_names)
    first_values = {
        name: possible_values[0]
        for name, possible_values in zip(attribute_names, values, strict=True)
    }
    cells = []
    base_product = np.empty(0)
    for name, possible_values in zip(attribute_names, values, strict=True):
        value_cells = chooser.cells(pd.DataFrame(first_values | {name: possible_values}))
        cells.append(value_cells[:, chooser.data.scheme.names.index(name)])
        base_product = value_cells[0]  # the first value of every attribute
    attribute_indices = tuple(map(chooser.data.scheme.names.index, attribute_names))
    return ProductSpace(
        attribute_names,
        values,
        tuple(cells),
        base_product,
        attribute_indices,
        _parse_margins(attribute_names, values, costs, price, chooser.data.scheme),
    )


def _parse_values(name: str, values: Any) -> tuple[Any, ...]:
    """Return the checked possible values of one attribute."""
    if not is_list(values) or not (possible_values := tuple(values)):
        raise ArgumentError(
            f"`attributes`: {name!r} must list its possible values; got {values!r}."
        )
    return possible_values


def _parse_margins(
    names: Sequence[str],
    values: Sequence[Sequence[Any]],
    costs: Mapping[str, Mapping[Any, float]] | None,
    price: str | None,
    scheme: "Scheme",
) -> dict[int, np.ndarray]:
    """Return what each value adds to the profit per sale, by attribute; {} without a price."""
    if price is None:
        if costs is not None:
            raise ArgumentError(
                "`costs` require ", Argument("price"), ", the attribute with the revenue per sale."
            )
        return {}
    if price not in names:
        raise ArgumentError(
            Argument("price"),
            f" is {price!r}, which is not an attribute.{suggest(str(price), names)}",
        )
    if not isinstance(costs, Mapping | None):
        raise ArgumentError(
            "`costs` must map attributes to costs of levels, such as {'zoom': {'yes': 20}};"
            f" got {costs!r}."
        )
    margins = {k: np.zeros(len(attribute_values)) for k, attribute_values in enumerate(values)}
    price_index = names.index(price)
    margins[price_index] += [_parse_amount(price, value) for value in values[price_index]]
    for name, level_costs in (costs or {}).items():
        attribute = str(name)
        if attribute not in names:
            raise ArgumentError(
                f"`costs` contains {attribute!r}, which is not an"
                f" attribute.{suggest(attribute, names)}"
            )
        k = names.index(attribute)
        margins[k] -= _parse_costs(attribute, values[k], level_costs, scheme.levels[attribute])
    return margins


def _parse_amount(price: str, cell: Any) -> float:
    """Return a price as a number; raise ArgumentError if it is not one."""
    number = parse_number(format_label(cell))
    if number is None:
        raise ArgumentError(
            f"`attributes`: the values of {price!r}, the price, must be numbers; got {cell!r}."
        )
    return number


def _parse_costs(
    attribute: str, values: Sequence[Any], costs: Mapping[Any, float], levels: Sequence[str]
) -> np.ndarray:
    """Return the user's costs of an attribute's values as an array."""
    costs_phrase = f"The `costs` of {attribute!r}"
    if not isinstance(costs, Mapping):
        raise ArgumentError(f"{costs_phrase} must map its levels to numbers; got {costs!r}.")
    cost_by_level = {format_label(level): cost for level, cost in costs.items()}
    labels = list(map(format_label, values))
    if absent_labels := [label for label in labels if label not in cost_by_level]:
        raise ArgumentError(
            f"{costs_phrase} lack {shorten(absent_labels)}; give a number for each of its levels."
        )
    known_labels = [*levels, *labels]
    if unknown_labels := [label for label in cost_by_level if label not in known_labels]:
        raise ArgumentError(
            f"{costs_phrase} contain {shorten(unknown_labels)}, which is not a level of"
            f" {attribute!r}; remove it.{suggest(unknown_labels[0], known_labels)}"
        )
    amounts = [parse_number(format_label(cost_by_level[label])) for label in labels]
    if None in amounts:
        raise ArgumentError(f"{costs_phrase} must be numbers; got {costs!r}.")
    return np.array(amounts, float)
