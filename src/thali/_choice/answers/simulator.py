"""Markets by the draws of a model, small enough to be sent as part of a page, and the simulator of
that page."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np

from thali._data.experiments.levels import parse_number
from thali._data.experiments.scheme import INSIDE
from thali._inference.warn import warn
from thali._labels import listed, shorten
from thali._model.finding import Finding, Text
from thali._model.phrases import phrase
from thali._page import as_json
from thali._people.respondent_columns import MAX_VALUES, MarketRespondents, RespondentColumn
from thali._posterior.interval import INTERVAL, interval_name, level_name, tails_of
from thali.errors import DataWarning

from .chooser import FIRST_CHOICE, LOGIT, RANDOMISED
from .english import ENGLISH
from .market import parse_markets
from .rules import How, occasions

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments import ChoiceExperiment
    from thali._data.experiments.design import ExperimentDesign

    from .chooser import Chooser


# Markets: products by their levels, and the shares that the draws of a model give them ------------


# Of each attribute the number of its level, the value itself where any number may be asked, or
# None: it is missing.
Product = tuple[float | None, ...]


class MarketAttribute(NamedTuple):
    """What may be asked of an attribute."""

    name: str
    levels: tuple[str, ...]
    numbers: tuple[float, ...] | None  # of the levels, where all are numbers
    takes_any: bool = False  # whether any number between the least and the largest may be asked
    may_lack: bool = False  # whether a product may lack the attribute
    fixed: int | None = None  # the level of every product, where there is nothing to ask


class SimulationRule(Protocol):
    """How people choose, draw by draw."""

    def shares(
        self, markets: Sequence[Sequence[Product]], weights: np.ndarray | None = None
    ) -> list[np.ndarray]:
        """Shares (draws, products) of every market, without lapses; NaN in a draw that holds nobody
        with a weight."""
        ...

    def packed(self) -> dict[str, Any]:
        """The rule in terms of JSON; `name` says which rule it is."""
        ...

    def telling_apart(self, products: int) -> Self:
        """The same for products whose last cell is their number, of so many, or None."""
        ...


class MarketDraws(NamedTuple):
    """The choices of people in any market, draw by draw."""

    attributes: tuple[MarketAttribute, ...]
    rule: SimulationRule
    lapse: float  # the probability of a choice at random
    none: Product | None  # the no-choice option
    first_task: tuple[Product, ...]  # products that a respondent saw together
    size: str  # draws and people in words
    # whether the first draw is an estimate, and the others of its sampling distribution
    is_estimate: bool = False
    people: MarketRespondents | None = None  # None: there is nobody to choose
    # On which part of the occasions each product is found that is told apart by its last cell;
    # None: all are, on all.
    available: tuple[float, ...] | None = None

    def shares(
        self, markets: Sequence[Sequence[Product]], weights: np.ndarray | None = None
    ) -> list[np.ndarray]:
        """Share of each product in each draw, shape (draws, products), of whom weighted respondents
        represent."""
        found_in = [
            occasions([self._available(product) for product in market]) for market in markets
        ]
        asked = [
            [own[k] for k in there]
            for own, sets in zip(markets, found_in, strict=True)
            for there, _ in sets
        ]
        parts = iter(self.rule.shares(asked, weights))
        found = []
        for market, sets in zip(markets, found_in, strict=True):
            total: Any = 0.0
            for there, part in sets:
                of_these = next(parts)
                every = np.zeros((len(of_these), len(market)))
                every[:, there] = part * ((1.0 - self.lapse) * of_these + self.lapse / len(there))
                total = total + every
            found.append(total)
        return found

    def _available(self, product: Product) -> float:
        """On which part of the occasions it is found."""
        return (
            1.0
            if self.available is None or product[-1] is None
            else self.available[int(product[-1])]
        )

    def with_people(self, name: str, labels: tuple[str, ...], codes: np.ndarray) -> "MarketDraws":
        """The same with one more column by which people are chosen, whose name is another one than
        theirs."""
        known = self.people or MarketRespondents(len(codes), (), (), (), ())
        taken = {column.name for column in known.columns}
        while name in taken:
            name = f"{name} of this report"
        column = RespondentColumn(name, labels, codes)
        return self._replace(people=known._replace(columns=(*known.columns, column)))

    def described(
        self, shares: np.ndarray, tails: tuple[float, float]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of shares (draws, products) the estimate or mean, and the ends of the interval."""
        draws = shares[1:] if self.is_estimate else shares
        draws = draws[~np.isnan(draws).any(axis=1)]
        low, high = np.quantile(draws, tails, axis=0)
        return shares[0] if self.is_estimate else draws.mean(axis=0), low, high


def hash_exponentials(draws: int, respondents: int) -> np.ndarray:
    """Hash draws and respondents to standard exponential numbers (draws, respondents), the same as
    on the page."""
    number = np.arange(draws * respondents, dtype=np.uint32) + np.uint32(0x9E3779B9)
    return -np.log((spread(number) + 0.5) / 4294967296.0).reshape(draws, respondents)


def spread(number: np.ndarray) -> np.ndarray:
    """A mixing of 32 bits (the finaliser of MurmurHash3), the same in every language."""
    number = number ^ (number >> np.uint32(16))
    number = number * np.uint32(0x85EBCA6B)
    number = number ^ (number >> np.uint32(13))
    number = number * np.uint32(0xC2B2AE35)
    return number ^ (number >> np.uint32(16))


def held(draws: int, people: int, respondents: int) -> np.ndarray:
    """Whom each of the draws holds, (draws, people): at even steps, each of the respondents equally
    often."""
    return (np.arange(people) * draws + np.arange(draws)[:, None]) * respondents // (people * draws)


# What may be offered in a market, by the data of a choice experiment or what a model keeps of them


MAX_PRODUCTS = 8  # of the first task


def are_real(design: "ChoiceExperiment | ExperimentDesign") -> np.ndarray:
    """Which products are not the no-choice option (products,)."""
    if not design.scheme.none:
        return np.ones(len(design.products), bool)
    if design.scheme.has_inside:
        return design.products[:, 0] > 0
    return np.any(design.products >= 0, axis=1)


def attributes_of(
    design: "ChoiceExperiment | ExperimentDesign",
    known: Mapping[str, tuple[str, ...]],
    take_any: Sequence[bool],
) -> tuple[MarketAttribute, ...]:
    """What may be asked of each attribute: levels that are known, or any number between them."""
    real, found = are_real(design), []
    for place, (name, levels) in enumerate(known.items()):
        numbers = [parse_number(level) for level in levels]
        of_levels = tuple(number for number in numbers if number is not None)
        is_inside = design.scheme.has_inside and place == 0 and name == INSIDE
        found.append(
            MarketAttribute(
                name,
                levels,
                of_levels if len(of_levels) == len(levels) else None,
                takes_any=take_any[place],
                may_lack=bool((design.products[real, place] < 0).any()),
                fixed=1 if is_inside else None,
            )
        )
    return tuple(found)


def none_of(design: "ChoiceExperiment | ExperimentDesign") -> Product | None:
    """The no-choice option, which lacks every attribute but "inside"."""
    if not design.scheme.none:
        return None
    missing: Product = (None,) * len(design.scheme.attributes)
    return (0, *missing) if design.scheme.has_inside else missing


def first_task_of(design: "ChoiceExperiment | ExperimentDesign") -> tuple[Product, ...]:
    """The products of the first task, without the no-choice option."""
    rows = design.products[design.row_product[: design.first_row[1]]].tolist()
    products = [tuple(None if level < 0 else level for level in row) for row in rows]
    return tuple(product for product in products if product != none_of(design))[:MAX_PRODUCTS]


NONE = "none of them"
_LONGEST = 80  # characters of a label that the page shows


class Share(NamedTuple):
    """The share of a product in percent, as it is printed: the mean, and the ends and the width of
    the interval."""

    name: str
    mean: str
    low: str
    high: str
    width: str


class Simulator(NamedTuple):
    """A market that the reader may change where a script may run."""

    data: str  # JSON, for the script
    # of the first market: name, (attribute, level)
    products: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    shares: tuple[Share, ...]  # of the first market
    interval: str  # what the interval is called


class Offered(NamedTuple):
    """The market on which the simulator opens."""

    what: str  # in a sentence
    products: "dict[str, Product]"  # by name, without the no-choice option
    none: str | None  # what the no-choice option is called; None: people must choose a product


def first_task(draws: "MarketDraws") -> Offered:
    """The products that a respondent saw together."""
    products = {
        f"Product {chr(ord('A') + number)}": product
        for number, product in enumerate(draws.first_task)
    }
    return Offered(ENGLISH["market.first"], products, None if draws.none is None else NONE)


def offered_in(draws: "MarketDraws", chooser: "Chooser", table: "pandas.DataFrame") -> Offered:
    """The products of a table, or of the first of its scenarios."""
    market = parse_markets(chooser.data.scheme, table)[0]
    cells = chooser.cells(market.table)
    known = tuple(chooser.data.scheme.levels.values())
    products = {
        name: tuple(map(_asked, draws.attributes, known, row))
        for name, row in zip(market.labels, cells.tolist(), strict=True)
    }
    nothing = [name for name, product in products.items() if product == draws.none]
    what = ENGLISH["market.asked"]
    if market.scenario is not None:
        what = str(phrase(ENGLISH, "market.scenario", scenario=market.scenario))
    return Offered(
        what,
        {name: product for name, product in products.items() if name not in nothing},
        nothing[0] if nothing else None,
    )


_MOST_LIMITED = 4  # products of the page that are not always found, of which every set is a market


def as_asked(
    draws: "MarketDraws", offered: Offered, how: How
) -> tuple["MarketDraws", Offered, tuple[Text, ...]]:
    """The draws and the market for utilities that become shares in another way, and what there is
    to say of it.

    Each product of the market is told apart from others like it by a further cell, its number.
    """
    names = (*offered.products, *([] if offered.none is None else [offered.none]))
    limited = how.availability or {}
    notes: list[Text] = []
    available = None
    if sum(limited.get(name, 1.0) < 1.0 for name in names) > _MOST_LIMITED:
        notes.append(_unlike(str(phrase(ENGLISH, "market.many_limited", most=_MOST_LIMITED))))
    elif limited:
        available = tuple(limited.get(name, 1.0) for name in names)
        named = [f"{name} {limited[name]:g}" for name in names if name in limited]
        notes.append(phrase(ENGLISH, "market.availability", named=listed(named)))
    if how.rule == RANDOMISED:
        notes.append(_unlike(ENGLISH["market.randomised"]))
    if how.rule == FIRST_CHOICE:
        notes.append(ENGLISH["market.first_choice"])
    if how.scale != 1.0:
        notes.append(phrase(ENGLISH, "market.scale", scale=f"{how.scale:g}"))
    told = draws._replace(
        attributes=(*draws.attributes, MarketAttribute("", names, None, may_lack=True, fixed=0)),
        rule=draws.rule.telling_apart(len(names)),
        none=None
        if draws.none is None
        else (*draws.none, None if offered.none is None else len(names) - 1),
        first_task=tuple((*product, None) for product in draws.first_task),
        available=available,
    )
    numbered = offered._replace(
        products={name: (*product, k) for k, (name, product) in enumerate(offered.products.items())}
    )
    if (how.rule, how.scale, how.actual) == (LOGIT, 1.0, None):
        return told, numbered, tuple(notes)
    rule: Any = told.rule  # of a logit, as others have neither a rule nor a scale nor constants
    takes_first = how.rule == FIRST_CHOICE
    plain = told._replace(rule=rule.changed(how.scale, takes_first))
    if how.actual is None:
        return plain, numbered, tuple(notes)
    market = [
        *numbered.products.values(),
        *([] if offered.none is None or told.none is None else [told.none]),
    ]

    def shares(constants: np.ndarray) -> np.ndarray:
        return plain._replace(rule=rule.changed(how.scale, takes_first, constants)).shares(
            [market]
        )[0]

    constants = how.constants(names, len(rule.codes), shares)
    # 0: as an average product has
    constants -= constants[:, : len(offered.products)].mean(axis=1, keepdims=True)
    notes += [ENGLISH["shares.known"], ENGLISH["market.added"]]
    calibrated = rule.changed(how.scale, takes_first, constants.astype(np.float32).astype(float))
    return told._replace(rule=calibrated), numbered, tuple(notes)


def _unlike(said: str) -> str:
    """What the page does not do, which is warned of, too."""
    warn(DataWarning(said))
    return said


def _asked(attribute: "MarketAttribute", levels: Sequence[str], cell: float) -> float | None:
    """A cell of a product as the draws of a market know it."""
    if math.isnan(cell):
        return None
    return cell if attribute.takes_any else attribute.levels.index(levels[int(cell)])


def simulated(
    draws: "MarketDraws",
    offered: Offered | None = None,
    ci: float = INTERVAL,
    price: str | None = None,
    notes: tuple[Text, ...] = (),
) -> Finding:
    """A market, at first that of the first task, and its shares, which a reader may change; costs
    give profits."""
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
    sentence = phrase(ENGLISH, "market", what=offered.what, interval=interval_name(ci), **facts)
    products = [
        (name, _levels(draws.attributes, product)) for name, product in offered.products.items()
    ]
    table = pd.DataFrame(
        {"share": mean, "share_low": low, "share_high": high}, pd.Index(names, name="product")
    )
    table.attrs["interval"] = ci
    return Finding(
        sentence,
        table=table,
        shown=table.iloc[:0],
        is_printed=False,
        notes=(*notes, phrase(ENGLISH, "market.size", size=draws.size), *_left_out(draws)),
        widget=Simulator(
            _for_script(draws, offered, ci, price), tuple(products), shares, interval_name(ci)
        ),
    )


def _left_out(draws: "MarketDraws") -> tuple[Text, ...]:
    """A word on the columns of people by which nobody is chosen."""
    if draws.people is None or not draws.people.others:
        return ()
    return (phrase(ENGLISH, "market.others", most=MAX_VALUES, named=shorten(draws.people.others)),)


def _levels(attributes: "tuple[MarketAttribute, ...]", product: Any) -> tuple[tuple[str, str], ...]:
    """What there is to say of a product: attributes and their levels."""
    cells = []
    for attribute, level in zip(attributes, product, strict=True):
        if attribute.fixed is None:
            text = (
                f"{level:g}"
                if attribute.takes_any
                else "(lacks it)"
                if level is None
                else attribute.levels[level]
            )
            cells.append((_shortened(attribute.name), _shortened(text)))
    return tuple(cells)


def _for_script(draws: "MarketDraws", offered: Offered, ci: float, price: str | None) -> str:
    """What the script reads: JSON that ends no element of a page, whatever the labels are."""
    amounts = [
        a.name == price and a.fixed is None and a.numbers is not None for a in draws.attributes
    ]
    found = {
        "price": amounts.index(True) if any(amounts) else -1,
        "attributes": [attribute._asdict() for attribute in draws.attributes],
        "rule": draws.rule.packed(),
        "lapse": draws.lapse,
        "available": draws.available,
        "is_estimate": draws.is_estimate,
        "none": draws.none,
        "none_name": offered.none or NONE,
        "offers_none": offered.none is not None,
        "products": list(offered.products.items()),
        "people": None if draws.people is None else draws.people.to_json(),
        "tails": tails_of(ci),
        "interval": interval_name(ci),
        "interval_words": f"{level_name(ci)} of the draws",
    }
    return as_json(found)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
