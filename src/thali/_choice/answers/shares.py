"""Shares in simulated markets, before and after a change; demand curves; the best products to
offer."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product as combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import check_integer, is_list
from thali._data.experiments.levels import parse_number
from thali._data.experiments.scheme import INSIDE
from thali._labels import format_label, shorten, suggest
from thali.errors import Argument, ArgumentError

from .chooser import Chooser, check_probability, estimate_interval, point_estimate
from .english import ENGLISH
from .market import (
    SCENARIO,
    Market,
    apply_change,
    draw_market_weights,
    find_product,
    parse_competitors,
    parse_markets,
    parse_single_market,
)
from .rules import How

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments.scheme import Scheme


def market_shares(
    chooser: "Chooser",
    products: "pandas.DataFrame",
    change: Any,
    people: Any,
    respondent_weights: Any,
    ci: float,
    each_draw: bool,
    how: How,
    cores: int | None,
    random_seed: Any,
) -> "pandas.DataFrame":
    """Posterior of the share of every product, and of its change."""
    import pandas as pd

    from thali._tables import Table

    ci = check_probability(ci)
    markets = parse_markets(chooser.data.scheme, products)
    after = [] if change is None else [apply_change(market, change) for market in markets]
    how = how.checked(markets)
    asked = draw_market_weights(chooser, people, respondent_weights, random_seed)
    found = how.shares(chooser, [*markets, *after], asked.drawn, cores, random_seed)
    named = {"share": np.hstack(found[: len(markets)])}
    if change is not None:
        now = np.hstack(found[len(markets) :])
        named |= {"after": now, "change": now - named["share"]}
    index = _index(markets)
    if each_draw:
        tables = {name: pd.DataFrame(values, columns=index) for name, values in named.items()}
        of_draws = pd.concat(tables, axis=1).rename_axis(index="draw")
        of_draws.attrs["whose"] = asked.whose
        return of_draws
    columns = {name: point_estimate(chooser, values) for name, values in named.items()}
    for name, values in named.items():
        columns |= spread(chooser, name, values, ci)
    table = Table(columns, index=index)
    table.attrs.update(chooser.interval_attrs(ci), whose=asked.whose)
    if how.actual is not None:
        table.attrs["notes"] = [ENGLISH["shares.known"]]
    return table


def spread(chooser: "Chooser", name: str, values: np.ndarray, ci: float) -> dict[str, np.ndarray]:
    """The interval of values (draws, quantities), and the standard error."""
    low, high = estimate_interval(chooser, values, ci)
    return {
        f"{name}_low": low,
        f"{name}_high": high,
        f"{name}_se": chooser.errors(values, chooser.chain),
    }


def _index(markets: "Sequence[Market]") -> "pandas.Index":
    """The products, with their scenario where there are several."""
    import pandas as pd

    if markets[0].scenario is None:
        return pd.Index(markets[0].labels, name="product")
    rows = [(market.scenario, label) for market in markets for label in market.labels]
    return pd.MultiIndex.from_tuples(rows, names=[SCENARIO, "product"])


def demand(
    chooser: "Chooser",
    attribute: str,
    product: Any,
    values: Any,
    products: "pandas.DataFrame",
    people: Any,
    respondent_weights: Any,
    ci: float,
    cost: float | None,
    how: How,
    cores: int | None,
    random_seed: Any,
) -> "pandas.DataFrame":
    """The share of a product of a market at each value of an attribute, and what it earns there."""
    from thali._tables import Table

    ci = check_probability(ci)
    market = parse_single_market(chooser.data.scheme, products)
    how = how.checked([market])
    place = find_product(format_label(product), market.labels, "product")
    if attribute not in market.table.columns:
        raise ArgumentError(
            f"`attribute` is {attribute!r}, which the products do not"
            f" have.{suggest(str(attribute), list(market.table))}"
        )
    if not is_list(values) or not len(values := list(values)):
        raise ArgumentError(
            f"`values` must list values of {attribute!r}, such as [100, 150, 200]; got {values!r}."
        )
    label = market.labels[place]
    every = [market, *(apply_change(market, {attribute: {label: value}}) for value in values)]
    numbers = [parse_number(format_label(value)) for value in values]
    if cost is not None and None in numbers:
        raise ArgumentError(
            Argument("cost"), f" requires numeric values of {attribute!r}, the revenue per sale."
        )
    asked = draw_market_weights(chooser, people, respondent_weights, random_seed)
    found = how.shares(chooser, every if how.actual else every[1:], asked.drawn, cores, random_seed)
    shares = np.column_stack([each[:, place] for each in found[-len(values) :]])
    columns = {
        attribute: values if None in numbers else numbers,
        "share": point_estimate(chooser, shares),
        **spread(chooser, "share", shares, ci),
    }
    if cost is not None:
        if (amount := parse_number(format_label(cost))) is None:
            raise ArgumentError(
                Argument("cost"), f", the cost per sale, must be a number; got {cost!r}."
            )
        profit = shares * (np.array(numbers, float) - amount)
        columns |= {
            "profit": point_estimate(chooser, profit),
            **spread(chooser, "profit", profit, ci),
            "probability_best": best_of(chooser, profit),
        }
    table = Table(columns)
    table.attrs.update(
        chooser.interval_attrs(ci), product=label, attribute=attribute, whose=asked.whose
    )
    return table


def best_of(chooser: "Chooser", values: np.ndarray) -> np.ndarray:
    """The part of the draws in which each of the quantities (draws, quantities) is the largest;
    ties share it."""
    draws = values[1:] if chooser.is_estimate else values
    is_best = draws == draws.max(axis=1, keepdims=True)
    return (is_best / is_best.sum(axis=1, keepdims=True)).mean(axis=0)


# The best products to offer against given competitors: search by greedy choice and exchange, and
# how sure it is


_MAX_LISTED = 300  # products up to which all are tried in each place of a line
_STARTS = 300  # products at random, the best of which the search begins with where there are more
_FINALISTS = 20  # lines that are compared by all draws

Product = tuple[int, ...]  # of each attribute the number of its value
Line = tuple[Product, ...]


class Earned(NamedTuple):
    """What values of one or several attributes add to the profit of a sale."""

    places: tuple[int, ...]  # of the attributes
    amounts: np.ndarray  # of each combination of their values, an axis an attribute


class ProductSpace(NamedTuple):
    """What a product may be, and what it earns."""

    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]  # of each attribute
    cells: tuple[np.ndarray, ...]  # the same as cells
    base: np.ndarray  # cells of what is not chosen: "inside"
    places: tuple[int, ...]  # columns of the attributes among the cells
    earned: tuple[Earned, ...]  # added up; empty: shares are the aim

    @property
    def size(self) -> int:
        """How many products there may be."""
        return math.prod(len(own) for own in self.values)

    def cells_of(self, line: Line) -> np.ndarray:
        """The products of a line, shape (products, attributes)."""
        found = np.repeat(self.base[None], len(line), axis=0)
        for row, product in zip(found, line, strict=True):
            for place, own, number in zip(self.places, self.cells, product, strict=True):
                row[place] = own[number]
        return found

    def described(self, product: Product) -> tuple[Any, ...]:
        """The values of a product."""
        return tuple(own[number] for own, number in zip(self.values, product, strict=True))

    def margins(self, line: Line) -> np.ndarray:
        """What one sale of each product earns; 1 where shares are the aim."""
        if not self.earned:
            return np.ones(len(line))
        return np.array(
            [
                sum(own.amounts[tuple(product[k] for k in own.places)] for own in self.earned)
                for product in line
            ]
        )


def best_products(
    chooser: "Chooser",
    attributes: Any,
    competitors: "pandas.DataFrame",
    n: int,
    costs: Any,
    price: str | None,
    people: Any,
    respondent_weights: Any,
    ci: float,
    top: int,
    cores: int | None,
    random_seed: Any,
) -> "pandas.DataFrame":
    """The best lines of n products, a row a product, the best line first."""
    from thali._tables import Table

    ci, n, top = check_probability(ci), check_integer("n", n, 1), check_integer("top", top, 1)
    space = space_of(chooser, attributes, costs, price)
    if n > space.size:
        raise ArgumentError(
            f"`n` is {n}, but the attributes allow only {space.size:,} different products; reduce"
            " `n`."
        )
    others = chooser.cells(parse_competitors(chooser.data.scheme, competitors))
    asked = draw_market_weights(chooser, people, respondent_weights, random_seed)

    def worth(chooser: "Chooser", lines: Sequence[Line], weights: np.ndarray | None) -> np.ndarray:
        """What lines earn, or their shares, in each draw; shape (draws, lines)."""
        markets = [np.vstack([space.cells_of(line), others]) for line in lines]
        shares = chooser.shares(markets, weights, cores, random_seed)
        pairs = zip(shares, lines, strict=True)
        return np.column_stack([own[:, : len(line)] @ space.margins(line) for own, line in pairs])

    searcher = chooser.thin(chooser.search_draws)
    search = LineSearch(space, lambda lines: worth(searcher, lines, asked.plain).mean(axis=0))
    search.run(n, np.random.default_rng(0))
    lines = search.best(n, max(top, _FINALISTS))
    found = worth(chooser, lines, asked.drawn)
    means, probability = point_estimate(chooser, found), best_of(chooser, found)
    low, high = estimate_interval(chooser, found, ci)
    errors = chooser.errors(found, chooser.chain)
    name = "profit" if space.earned else "share"
    rows = []
    for rank, k in enumerate(np.argsort(-means, kind="stable")[:top].tolist(), 1):
        figures = (means[k], low[k], high[k], errors[k], probability[k])
        rows += [(rank, *space.described(product), *figures) for product in lines[k]]
    table = Table(
        rows,
        columns=[
            "line",
            *space.names,
            name,
            f"{name}_low",
            f"{name}_high",
            f"{name}_se",
            "probability_best",
        ],
    )
    table.attrs.update(
        chooser.interval_attrs(ci), lines=len(lines), tried=len(search.known), whose=asked.whose
    )
    return table


class LineSearch:
    """Lines that were tried, and what they are worth."""

    space: ProductSpace
    worth: Callable[[Sequence[Line]], np.ndarray]

    def __init__(self, space: ProductSpace, worth: Callable[[Sequence[Line]], np.ndarray]) -> None:
        self.space, self.worth = space, worth
        self.known: dict[Line, float] = {}

    def run(self, n: int, rng: np.random.Generator) -> None:
        """One product after the other, each the best beside those before; then exchanges while they
        help."""
        line: Line = ()
        for _ in range(n):
            line = self._improved((*line, self._start(line, rng)), len(line))
        while True:
            before = self._value(line)
            for place in range(n):
                line = self._improved(line, place)
            if self._value(line) <= before:
                return

    def best(self, n: int, most: int) -> list[Line]:
        """The best lines of that length that were tried."""
        lines = [line for line in self.known if len(line) == n]
        return sorted(lines, key=lambda line: -self.known[line])[:most]

    def _start(self, line: Line, rng: np.random.Generator) -> Product:
        """A product that is not in the line: of the best of some at random."""
        sizes = [len(own) for own in self.space.values]
        if self._is_listed():
            return next(
                product for product in combinations(*map(range, sizes)) if product not in line
            )
        tried = {tuple(rng.integers(sizes).tolist()) for _ in range(_STARTS)} - set(line)
        return self._best_of([(*line, product) for product in sorted(tried)], len(line))[len(line)]

    def _improved(self, line: Line, place: int) -> Line:
        """The line with the best product in that place: of all, or attribute by attribute while
        that helps."""
        sizes = [len(own) for own in self.space.values]
        if self._is_listed():
            every = combinations(*map(range, sizes))
            return self._best_of([_with(line, place, product) for product in every], place)
        while True:
            before = line
            for attribute, size in enumerate(sizes):
                product = line[place]
                every = [(*product[:attribute], k, *product[attribute + 1 :]) for k in range(size)]
                line = self._best_of([_with(line, place, product) for product in every], place)
            if self._value(line) <= self._value(before):
                return before

    def _is_listed(self) -> bool:
        return self.space.size <= _MAX_LISTED

    def _best_of(self, lines: Sequence[Line], place: int) -> Line:
        """The best of some lines that hold no product twice; products keep their places."""
        lines = [line for line in lines if line[place] not in line[:place] + line[place + 1 :]]
        new = list(
            dict.fromkeys(key for line in lines if (key := tuple(sorted(line))) not in self.known)
        )
        if new:
            self.known |= dict(zip(new, self.worth(new).tolist(), strict=True))
        return max(lines, key=self._value)

    def _value(self, line: Line) -> float:
        return self.known[tuple(sorted(line))]


def _with(line: Line, place: int, product: Product) -> Line:
    """The line with another product in that place."""
    return (*line[:place], product, *line[place + 1 :])


def space_of(chooser: "Chooser", attributes: Any, costs: Any, price: str | None) -> ProductSpace:
    """What products may be, checked."""
    import pandas as pd

    names = tuple(name for name in chooser.data.scheme.names if name != INSIDE)
    if not isinstance(attributes, Mapping):
        raise ArgumentError(
            "`attributes` must map each attribute to its possible values, such as {'price': [1,"
            f" 2]}}; got {attributes!r}."
        )
    given = {str(name): values for name, values in attributes.items()}
    for name in given:
        if name not in names:
            raise ArgumentError(
                f"`attributes` contains {name!r}, which is not an attribute of the"
                f" data.{suggest(name, names)}"
            )
    if absent := [name for name in names if name not in given]:
        raise ArgumentError(
            f"`attributes` lack {shorten(absent)}; list the possible values of each, or a single"
            " value to keep an attribute fixed."
        )
    values = tuple(_listed(name, given[name]) for name in names)
    cells, base = [], None
    for name in names:
        first = {
            other: [own[0]] * len(given[name]) for other, own in zip(names, values, strict=True)
        }
        read = chooser.cells(pd.DataFrame(first | {name: list(given[name])}))
        cells.append(read[:, chooser.data.scheme.names.index(name)])
        base = read[0] if base is None else base
    assert base is not None
    places = tuple(map(chooser.data.scheme.names.index, names))
    return ProductSpace(
        names,
        values,
        tuple(cells),
        base,
        places,
        _earned(names, values, costs, price, chooser.data.scheme),
    )


def _listed(name: str, values: Any) -> tuple[Any, ...]:
    if not is_list(values) or not (found := tuple(values)):
        raise ArgumentError(
            f"`attributes`: {name!r} must list its possible values; got {values!r}."
        )
    return found


def _earned(
    names: Sequence[str],
    values: Sequence[Sequence[Any]],
    costs: Any,
    price: str | None,
    scheme: "Scheme",
) -> tuple[Earned, ...]:
    """What values add to the profit of a sale; empty without a price."""
    if price is None:
        if costs is not None:
            raise ArgumentError(
                "`costs` require ", Argument("price"), ", the attribute with the revenue per sale."
            )
        return ()
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
    place = names.index(price)
    found = [Earned((place,), np.array([_amount(price, value) for value in values[place]]))]
    for key, own in (costs or {}).items():
        of = tuple(map(str, key)) if isinstance(key, tuple) else (str(key),)
        for name in of:
            if name not in names:
                raise ArgumentError(
                    f"`costs` contains {name!r}, which is not an attribute.{suggest(name, names)}"
                )
        if len(set(of)) < len(of):
            raise ArgumentError(
                f"The `costs` of {shorten(of)} list an attribute twice; list each once."
            )
        places = tuple(map(names.index, of))
        found.append(Earned(places, -_costs_of(of, [values[k] for k in places], own, scheme)))
    return tuple(found)


def _amount(price: str, value: Any) -> float:
    number = parse_number(format_label(value))
    if number is None:
        raise ArgumentError(
            f"`attributes`: the values of {price!r}, the price, must be numbers; got {value!r}."
        )
    return number


def _costs_of(
    names: Sequence[str], values: Sequence[Sequence[Any]], costs: Any, scheme: "Scheme"
) -> np.ndarray:
    """The costs of the levels of an attribute, or of the combinations of levels of several, an axis
    an attribute."""
    whose = f"The `costs` of {shorten(names)}"
    if not isinstance(costs, Mapping):
        raise ArgumentError(f"{whose} must map its levels to numbers; got {costs!r}.")
    known = {_combination(names, key): cost for key, cost in costs.items()}
    wanted = list(combinations(*([format_label(value) for value in own] for own in values)))
    if absent := [", ".join(each) for each in wanted if each not in known]:
        what = "each of its levels" if len(names) == 1 else "each combination of their levels"
        raise ArgumentError(f"{whose} lack {shorten(absent)}; give a number for {what}.")
    for name, own, labels in zip(names, values, zip(*known, strict=True), strict=True):
        every = [*scheme.levels[name], *map(format_label, own)]
        if unknown := [label for label in labels if label not in every]:
            raise ArgumentError(
                f"{whose} contain {shorten(unknown)}, which is not a level of {name!r}; remove"
                f" it.{suggest(unknown[0], every)}"
            )
    found = [parse_number(format_label(known[each])) for each in wanted]
    if None in found:
        raise ArgumentError(f"{whose} must be numbers; got {costs!r}.")
    return np.array(found, float).reshape([len(own) for own in values])


def _combination(names: Sequence[str], key: Any) -> tuple[str, ...]:
    """The labels of levels that a cost is of."""
    labels = tuple(map(format_label, key)) if isinstance(key, tuple) else (format_label(key),)
    if len(labels) != len(names):
        raise ArgumentError(
            f"The keys of the `costs` of {shorten(names)} must be"
            f" {'tuples with one level of each attribute' if len(names) > 1 else 'single levels'};"
            f" got {key!r}."
        )
    return labels
