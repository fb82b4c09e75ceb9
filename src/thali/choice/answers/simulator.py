"""The market simulator of a page: what it shows at once, and what its script needs to go on."""

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import shorten
from thali.model.finding import Finding, Text
from thali.model.wording import said
from thali.people.columns import MOST_VALUES
from thali.posterior.interval import INTERVAL, interval_name, tails_of

from .english import ENGLISH
from .market import markets_of

if TYPE_CHECKING:
    import pandas

    from ..market_draws.market import MarketAttribute, MarketDraws, Product
    from .chooser import Chooser

NONE = "none of them"
_LONGEST = 80  # characters of a label that the page shows


class Share(NamedTuple):
    """The share of a product in percent, as it is printed: the mean, and the ends and the width of the interval."""

    name: str
    mean: str
    low: str
    high: str
    width: str


class Simulator(NamedTuple):
    """A market that the reader may change where a script may run."""

    data: str  # JSON, for the script
    products: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]  # of the first market: name, (attribute, level)
    shares: tuple[Share, ...]  # of the first market
    interval: str  # what the interval is called


class Offered(NamedTuple):
    """The market on which the simulator opens."""

    what: str  # in a sentence
    products: "dict[str, Product]"  # by name, without the no-choice option
    none: str | None  # what the no-choice option is called; None: people must choose a product


def first_task(draws: "MarketDraws") -> Offered:
    """The products that a respondent saw together."""
    products = {f"Product {chr(ord('A') + number)}": product for number, product in enumerate(draws.first_task)}
    return Offered(ENGLISH["market.first"], products, None if draws.none is None else NONE)


def offered_in(draws: "MarketDraws", chooser: "Chooser", table: "pandas.DataFrame") -> Offered:
    """The products of a table, or of the first of its scenarios."""
    market = markets_of(chooser.data.scheme, table)[0]
    cells = chooser.cells(market.table)
    known = tuple(chooser.data.scheme.levels.values())
    products = {
        name: tuple(map(_asked, draws.attributes, known, row))
        for name, row in zip(market.labels, cells.tolist(), strict=True)
    }
    nothing = [name for name, product in products.items() if product == draws.none]
    what = ENGLISH["market.asked"]
    if market.scenario is not None:
        what = str(said(ENGLISH, "market.scenario", scenario=market.scenario))
    return Offered(
        what,
        {name: product for name, product in products.items() if name not in nothing},
        nothing[0] if nothing else None,
    )


def _asked(attribute: "MarketAttribute", levels: Sequence[str], cell: float) -> float | None:
    """A cell of a product as the draws of a market know it."""
    if math.isnan(cell):
        return None
    return cell if attribute.takes_any else attribute.levels.index(levels[int(cell)])


def simulated(
    draws: "MarketDraws", offered: Offered | None = None, ci: float = INTERVAL, price: str | None = None
) -> Finding:
    """A market, that of the first task unless another is offered, and its shares, which a reader may change.

    With an attribute that is a price, costs give profits.
    """
    import pandas as pd

    offered = first_task(draws) if offered is None else offered
    names = [*offered.products, *([] if offered.none is None else [offered.none])]
    none = [] if offered.none is None or draws.none is None else [draws.none]
    found = draws.shares([[*offered.products.values(), *none]])[0]
    mean, low, high = draws.described(found, tails_of(ci))
    shares = tuple(
        Share(name, *(f"{100 * value:.1f}" for value in values))
        for name, values in zip(names, np.transpose([mean, low, high, high - low]), strict=True)
    )
    first = shares[int(mean.argmax())]
    facts = {"first": first.name, "mean": first.mean, "low": first.low, "high": first.high}
    sentence = said(ENGLISH, "market", what=offered.what, interval=interval_name(ci), **facts)
    products = [(name, _levels(draws.attributes, product)) for name, product in offered.products.items()]
    table = pd.DataFrame({"share": mean, "share_low": low, "share_high": high}, pd.Index(names, name="product"))
    table.attrs["interval"] = ci
    return Finding(
        sentence,
        table=table,
        shown=table.iloc[:0],
        rows=0,
        notes=(said(ENGLISH, "market.size", size=draws.size), *_left_out(draws)),
        widget=Simulator(_for_script(draws, offered, ci, price), tuple(products), shares, interval_name(ci)),
    )


def _left_out(draws: "MarketDraws") -> tuple[Text, ...]:
    """A word on the columns of people by which nobody is chosen."""
    if draws.people is None or not draws.people.others:
        return ()
    return (said(ENGLISH, "market.others", most=MOST_VALUES, named=shorten(draws.people.others)),)


def _levels(attributes: "tuple[MarketAttribute, ...]", product: Any) -> tuple[tuple[str, str], ...]:
    """What there is to say of a product: attributes and their levels."""
    said = []
    for attribute, level in zip(attributes, product, strict=True):
        if attribute.fixed is None:
            text = f"{level:g}" if attribute.takes_any else "(lacks it)" if level is None else attribute.levels[level]
            said.append((_shortened(attribute.name), _shortened(text)))
    return tuple(said)


def _for_script(draws: "MarketDraws", offered: Offered, ci: float, price: str | None) -> str:
    """What the script reads: JSON that ends no element of a page, whatever the labels are."""
    amounts = [a.name == price and a.fixed is None and a.numbers is not None for a in draws.attributes]
    found = {
        "price": amounts.index(True) if any(amounts) else -1,
        "attributes": [attribute._asdict() for attribute in draws.attributes],
        "rule": draws.rule.packed(),
        "lapse": draws.lapse,
        "is_estimate": draws.is_estimate,
        "none": draws.none,
        "none_name": offered.none or NONE,
        "offers_none": offered.none is not None,
        "products": list(offered.products.items()),
        "people": None if draws.people is None else draws.people.packed(),
        "tails": tails_of(ci),
        "interval": interval_name(ci),
        "interval_words": f"{100 * ci:.6g} % of the draws",
    }
    text = json.dumps(found, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
