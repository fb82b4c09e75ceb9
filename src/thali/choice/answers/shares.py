"""Shares in simulated markets, before and after a change, and at several prices."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import as_label, suggest
from thali.data.experiments.levels import as_number
from thali.errors import ArgumentError

from .chooser import centre, ends_of_draws, probability_of
from .market import SCENARIO, changed, market_of, markets_of, place_of, weights_of

if TYPE_CHECKING:
    import pandas

    from .chooser import Chooser
    from .market import Market


def market_shares(
    chooser: "Chooser",
    products: "pandas.DataFrame",
    change: Any,
    people: Any,
    respondent_weights: Any,
    ci: float,
    each_draw: bool,
    cores: int | None,
    random_seed: Any,
) -> "pandas.DataFrame":
    """Posterior of the share of every product, and of its change."""
    import pandas as pd

    from thali._tables import Table

    ci = probability_of(ci)
    markets = markets_of(chooser.data.scheme, products)
    after = [] if change is None else [changed(market, change) for market in markets]
    cells = [chooser.cells(market.table) for market in (*markets, *after)]
    weights = weights_of(chooser, people, respondent_weights)
    found = chooser.shares(cells, weights, cores, random_seed)
    named = {"share": np.hstack(found[: len(markets)])}
    if change is not None:
        now = np.hstack(found[len(markets) :])
        named |= {"after": now, "change": now - named["share"]}
    index = _index(markets)
    if each_draw:
        tables = {name: pd.DataFrame(values, columns=index) for name, values in named.items()}
        return pd.concat(tables, axis=1).rename_axis(index="draw")
    columns = {name: centre(chooser, values) for name, values in named.items()}
    for name, values in named.items():
        columns |= spread(chooser, name, values, ci)
    table = Table(columns, index=index)
    table.attrs["interval"] = ci
    return table


def spread(chooser: "Chooser", name: str, values: np.ndarray, ci: float) -> dict[str, np.ndarray]:
    """The interval of values (draws, quantities), and the standard error."""
    low, high = ends_of_draws(chooser, values, ci)
    return {f"{name}_low": low, f"{name}_high": high, f"{name}_se": chooser.errors(values, chooser.chain)}


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
    cores: int | None,
    random_seed: Any,
) -> "pandas.DataFrame":
    """The share of a product of a market at each value of an attribute."""
    from thali._tables import Table

    ci = probability_of(ci)
    market = market_of(chooser.data.scheme, products)
    place = place_of(as_label(product), market.labels, "product")
    if attribute not in market.table.columns:
        raise ArgumentError(
            f"attribute: the products have no attribute {attribute!r}.{suggest(str(attribute), list(market.table))}"
        )
    if isinstance(values, str) or not isinstance(values, Iterable) or not len(values := list(values)):
        raise ArgumentError(f"values must list what {attribute!r} may be, such as [100, 150, 200]; got {values!r}.")
    label = market.labels[place]
    cells = [chooser.cells(changed(market, {attribute: {label: value}}).table) for value in values]
    found = chooser.shares(cells, weights_of(chooser, people, respondent_weights), cores, random_seed)
    shares = np.column_stack([each[:, place] for each in found])
    numbers = [as_number(as_label(value)) for value in values]
    columns = {
        attribute: values if None in numbers else numbers,
        "share": centre(chooser, shares),
        **spread(chooser, "share", shares, ci),
    }
    table = Table(columns)
    table.attrs.update(interval=ci, product=label, attribute=attribute)
    return table
