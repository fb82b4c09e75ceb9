"""The interactive market simulator of a report page: its draws, market and finding."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np

from thali._data.experiments.attribute_levels import parse_number
from thali._data.experiments.product_encoding import INSIDE
from thali._html_page import encode_json
from thali._inference.user_warnings import warn
from thali._labels import format_plural, list_names, shorten
from thali._model.finding import Finding, Text
from thali._model.sentence_templates import phrase
from thali._people.respondent_columns import MAX_VALUES, MarketRespondents, RespondentColumn
from thali._posterior.posterior_interval import (
    INTERVAL,
    describe_interval,
    format_level,
    interval_tails,
)
from thali.errors import DataWarning

from .choice_draws import FIRST_CHOICE, LOGIT, RANDOMISED, drop_estimate
from .finding_sentences import ENGLISH
from .market_tables import parse_markets
from .share_settings import ShareSettings, average_over_sets, list_available_sets

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments import ChoiceExperiment
    from thali._data.experiments.fitted_design import ExperimentDesign

    from .choice_draws import Chooser


# Markets: products by their levels, and their shares in each draw ---------------------------------


# For each attribute the code of its level, or the number itself if any number is allowed, or None
# if it is missing.
Product = tuple[float | None, ...]


class MarketAttribute(NamedTuple):
    """Name, labels and possible values of an attribute in the simulator."""

    name: str
    levels: tuple[str, ...]
    numbers: tuple[float, ...] | None = None  # of the levels, if all are numbers
    takes_any: bool = False  # whether any number between the least and the largest is allowed
    may_lack: bool = False  # whether a product may lack the attribute
    fixed: int | None = None  # the level of every product, if it cannot be changed


class SimulationRule(Protocol):
    """Interface of what turns markets into shares at each draw of the simulator."""

    def shares(
        self, markets: Sequence[Sequence[Product]], weights: np.ndarray | None = None
    ) -> list[np.ndarray]:
        """Return each market's shares without random answers, (draws, products) each.

        NaN in a draw without respondents of positive weight.
        """
        ...

    def pack(self) -> dict[str, Any]:
        """Return the rule as values for JSON, with its `name` for the page's script."""
        ...

    def distinguish_products(self, n_products: int) -> Self:
        """Return a rule for products that carry their number, or None."""
        ...


class MarketDraws(NamedTuple):
    """All that a simulator needs to predict shares: attributes, choice rule, respondents."""

    attributes: tuple[MarketAttribute, ...]
    rule: SimulationRule
    lapse: float  # the probability of a random choice
    none: Product | None  # the no-choice option
    first_task: tuple[Product, ...]  # products that a respondent saw together
    size: str  # text on how shares are computed from draws and respondents
    # whether the first draw is an estimate, and the others belong to its sampling distribution
    is_estimate: bool = False
    people: MarketRespondents | None = None  # None: respondents cannot be filtered
    # availability of each product, numbered by its last cell; None: all are always available
    available: tuple[float, ...] | None = None

    def shares(
        self, markets: Sequence[Sequence[Product]], weights: np.ndarray | None = None
    ) -> list[np.ndarray]:
        """Return shares of the products of each market, (draws, products).

        Weighted respondents represent the market.
        """
        sets_by_market = [
            list_available_sets([self._get_availability(product) for product in market])
            for market in markets
        ]
        available_products = [
            [market_products[k] for k in available_indices]
            for market_products, available_sets in zip(markets, sets_by_market, strict=True)
            for available_indices, _ in available_sets
        ]
        set_shares = (
            (1.0 - self.lapse) * shares + self.lapse / shares.shape[1]
            for shares in self.rule.shares(available_products, weights)
        )
        return [
            average_over_sets(set_shares, available_sets, len(market))
            for market, available_sets in zip(markets, sets_by_market, strict=True)
        ]

    def _get_availability(self, product: Product) -> float:
        """Return the probability that a product is available to a respondent."""
        if self.available is None or product[-1] is None:
            return 1.0
        return self.available[int(product[-1])]

    def add_people_column(
        self, name: str, labels: tuple[str, ...], codes: np.ndarray
    ) -> "MarketDraws":
        """Return the draws with one more column about respondents."""
        market_respondents = self.people or MarketRespondents(len(codes), (), (), (), ())
        used_names = {column.name for column in market_respondents.columns}
        while name in used_names:
            name = f"{name} of this report"
        respondent_column = RespondentColumn(name, labels, codes)
        return self._replace(
            people=market_respondents._replace(
                columns=(*market_respondents.columns, respondent_column)
            )
        )

    def summarize(
        self, shares: np.ndarray, tails: tuple[float, float]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return mean (or estimate) and both interval ends of shares (draws, products)."""
        share_draws = drop_estimate(self, shares)
        share_draws = share_draws[~np.isnan(share_draws).any(axis=1)]
        low, high = np.quantile(share_draws, tails, axis=0)
        if self.is_estimate:
            return shares[0], low, high
        return share_draws.mean(axis=0), low, high


def hash_exponentials(n_draws: int, n_respondents: int) -> np.ndarray:
    """Return standard exponentials (draws, respondents) by hashing their indices.

    The page computes the same numbers.
    """
    bits = np.arange(n_draws * n_respondents, dtype=np.uint32) + np.uint32(0x9E3779B9)
    return -np.log((mix_bits(bits) + 0.5) / 4294967296.0).reshape(n_draws, n_respondents)


def mix_bits(bits: np.ndarray) -> np.ndarray:
    """Mix 32 bits by the finaliser of MurmurHash3, equally in every language."""
    bits = bits ^ (bits >> np.uint32(16))
    bits = bits * np.uint32(0x85EBCA6B)
    bits = bits ^ (bits >> np.uint32(13))
    bits = bits * np.uint32(0xC2B2AE35)
    return bits ^ (bits >> np.uint32(16))


def assign_respondents(n_draws: int, people_per_draw: int, n_respondents: int) -> np.ndarray:
    """Return which respondents each draw contains, (draws, people), evenly spread."""
    return (
        (np.arange(people_per_draw) * n_draws + np.arange(n_draws)[:, None])
        * n_respondents
        // (people_per_draw * n_draws)
    )


def describe_draws(n_draws: int, people_per_draw: int, n_respondents: int) -> str:
    """Return text on the draws and respondents over which shares are averaged."""
    draw_phrase = f"in each of {format_plural(n_draws, 'posterior draw')}"
    if people_per_draw == n_respondents:
        return f"averaged over all respondents {draw_phrase}"
    return (
        f"averaged over {people_per_draw:,} of {n_respondents:,} respondents {draw_phrase}, so"
        " intervals are slightly too wide"
    )


# Products that a market may offer, from a choice experiment or the design stored by a model -------


MAX_PRODUCTS = 8  # of the first task


def find_real_products(design: "ChoiceExperiment | ExperimentDesign") -> np.ndarray:
    """Return a mask of products that are not the no-choice option."""
    if not design.scheme.none:
        return np.ones(len(design.products), bool)
    if design.scheme.has_inside:
        return design.products[:, 0] > 0
    return np.any(design.products >= 0, axis=1)


def build_market_attributes(
    design: "ChoiceExperiment | ExperimentDesign",
    levels_by_name: Mapping[str, tuple[str, ...]],
    take_any: Sequence[bool],
) -> tuple[MarketAttribute, ...]:
    """Return the simulator's attributes with known levels or number ranges."""
    is_real = find_real_products(design)
    market_attributes = []
    for attribute_index, (attribute_name, levels) in enumerate(levels_by_name.items()):
        numbers = tuple(number for level in levels if (number := parse_number(level)) is not None)
        attribute = MarketAttribute(
            attribute_name,
            levels,
            takes_any=take_any[attribute_index],
            may_lack=bool((design.products[is_real, attribute_index] < 0).any()),
        )
        if len(numbers) == len(levels):
            attribute = attribute._replace(numbers=numbers)
        if design.scheme.has_inside and attribute_index == 0 and attribute_name == INSIDE:
            attribute = attribute._replace(fixed=1)
        market_attributes.append(attribute)
    return tuple(market_attributes)


def build_no_choice_product(design: "ChoiceExperiment | ExperimentDesign") -> Product | None:
    """Return the no-choice option as a product; None if the design has none."""
    if not design.scheme.none:
        return None
    empty_product: Product = (None,) * len(design.scheme.attributes)
    if design.scheme.has_inside:
        return (0, *empty_product)
    return empty_product


def list_first_products(design: "ChoiceExperiment | ExperimentDesign") -> tuple[Product, ...]:
    """Return the products of the first task, without the no-choice option."""
    level_rows = design.products[design.row_product[: design.first_row[1]]].tolist()
    products = [tuple(None if level < 0 else level for level in row) for row in level_rows]
    return tuple(product for product in products if product != build_no_choice_product(design))[
        :MAX_PRODUCTS
    ]


NO_CHOICE_NAME = "none of them"
_MAX_LABEL = 80  # characters of a label that the page shows


class FormattedShare(NamedTuple):
    """A product's share in per cent as printed: mean, interval ends and width."""

    name: str
    mean: str
    low: str
    high: str
    width: str


class Simulator(NamedTuple):
    """Texts and data of an interactive market, for the script of a page."""

    data: str  # JSON, for the script
    # products of the first market: name, (attribute, level)
    products: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    shares: tuple[FormattedShare, ...]  # in the first market
    interval: str  # name of the interval


class OpeningMarket(NamedTuple):
    """The market that the simulator shows first: products by name, no-choice option."""

    description: str
    products: "dict[str, Product]"  # by name, without the no-choice option
    none: str | None = None  # name of the no-choice option; None: it is not offered

    @property
    def names(self) -> list[str]:
        """Names of all products, the no-choice option last."""
        names = list(self.products)
        if self.none is not None:
            names.append(self.none)
        return names

    def list_products(self, draws: MarketDraws) -> list[Product]:
        """Return all products of the market, the no-choice option last."""
        products = list(self.products.values())
        if self.none is not None and draws.none is not None:
            products.append(draws.none)
        return products


def build_opening_market(draws: "MarketDraws") -> OpeningMarket:
    """Return the products of the first task as the simulator's first market."""
    products = {
        f"Product {chr(ord('A') + product_index)}": product
        for product_index, product in enumerate(draws.first_task)
    }
    opening_market = OpeningMarket(ENGLISH["market.first"], products)
    if draws.none is not None:
        opening_market = opening_market._replace(none=NO_CHOICE_NAME)
    return opening_market


def read_opening_market(
    draws: "MarketDraws", chooser: "Chooser", table: "pandas.DataFrame"
) -> OpeningMarket:
    """Return the first scenario of a product table as the simulator's first market."""
    market = parse_markets(chooser.data.scheme, table)[0]
    cells = chooser.cells(market.table)
    levels_by_attribute = tuple(chooser.data.scheme.levels.values())
    products = {
        name: tuple(map(_convert_cell, draws.attributes, levels_by_attribute, row))
        for name, row in zip(market.labels, cells.tolist(), strict=True)
    }
    market_description = ENGLISH["market.asked"]
    if market.scenario is not None:
        market_description = str(phrase(ENGLISH, "market.scenario", scenario=market.scenario))
    real_products = {name: product for name, product in products.items() if product != draws.none}
    no_choice_name = next((name for name in products if name not in real_products), None)
    return OpeningMarket(market_description, real_products, no_choice_name)


_MAX_LIMITED_ON_PAGE = 4  # products of a page that are not always available; every set is a market


def apply_share_settings(
    draws: "MarketDraws", opening_market: OpeningMarket, settings: ShareSettings
) -> tuple["MarketDraws", OpeningMarket, tuple[Text, ...]]:
    """Return draws and market with the user's share settings, and notes on them.

    An additional cell, the product number, distinguishes each product from equal ones.
    """
    product_names = tuple(opening_market.names)
    availability_by_product, notes = _apply_availability(settings.availability or {}, product_names)
    if settings.rule == RANDOMISED:
        notes.append(_warn_difference(ENGLISH["market.randomised"]))
    if settings.rule == FIRST_CHOICE:
        notes.append(ENGLISH["market.first_choice"])
    if settings.scale != 1.0:
        notes.append(phrase(ENGLISH, "market.scale", scale=f"{settings.scale:g}"))
    numbered_draws = draws._replace(
        attributes=(*draws.attributes, MarketAttribute("", product_names, may_lack=True, fixed=0)),
        rule=draws.rule.distinguish_products(len(product_names)),
        first_task=tuple((*product, None) for product in draws.first_task),
        available=availability_by_product,
    )
    if draws.none is not None:
        none_number = None
        if opening_market.none is not None:
            none_number = len(product_names) - 1
        numbered_draws = numbered_draws._replace(none=(*draws.none, none_number))
    numbered_market = opening_market._replace(
        products={
            name: (*product, k) for k, (name, product) in enumerate(opening_market.products.items())
        }
    )
    if (settings.rule, settings.scale, settings.actual) == (LOGIT, 1.0, None):
        return numbered_draws, numbered_market, tuple(notes)
    # the rule of a logit: other models have neither a rule nor a scale nor constants
    rule: Any = numbered_draws.rule
    plain_rule = rule.adjust(settings.scale, settings.rule == FIRST_CHOICE)
    uncalibrated_draws = numbered_draws._replace(rule=plain_rule)
    if settings.actual is None:
        return uncalibrated_draws, numbered_market, tuple(notes)
    numbered_products = numbered_market.list_products(numbered_draws)

    def compute_market_shares(constants: np.ndarray) -> np.ndarray:
        """Return the market's shares at every draw, with these product constants."""
        adjusted_rule = plain_rule._replace(constants=constants)
        return uncalibrated_draws._replace(rule=adjusted_rule).shares([numbered_products])[0]

    constants = settings.calibrate_constants(product_names, len(rule.codes), compute_market_shares)
    # a new product gets the constant 0, the average of the products
    constants -= constants[:, : len(opening_market.products)].mean(axis=1, keepdims=True)
    notes += [ENGLISH["shares.known"], ENGLISH["market.added"]]
    calibrated_rule = plain_rule._replace(constants=constants.astype(np.float32).astype(float))
    return uncalibrated_draws._replace(rule=calibrated_rule), numbered_market, tuple(notes)


def _apply_availability(
    availability: Mapping[str, float], names: Sequence[str]
) -> tuple[tuple[float, ...] | None, list[Text]]:
    """Return the products' availability (None if always available) and notes."""
    if sum(availability.get(name, 1.0) < 1.0 for name in names) > _MAX_LIMITED_ON_PAGE:
        sentence = phrase(ENGLISH, "market.many_limited", most=_MAX_LIMITED_ON_PAGE)
        return None, [_warn_difference(str(sentence))]
    if not availability:
        return None, []
    availability_texts = [
        f"{name} {availability[name]:g}" for name in names if name in availability
    ]
    note = phrase(ENGLISH, "market.availability", named=list_names(availability_texts))
    return tuple(availability.get(name, 1.0) for name in names), [note]


def _warn_difference(sentence: str) -> str:
    """Warn that page and table differ in this way; return the sentence."""
    warn(DataWarning(sentence))
    return sentence


def _convert_cell(attribute: "MarketAttribute", levels: Sequence[str], cell: float) -> float | None:
    """Return a level index as its index in the simulator; None for NaN."""
    if math.isnan(cell):
        return None
    if attribute.takes_any:
        return cell
    return attribute.levels.index(levels[int(cell)])


def build_simulator_finding(
    draws: "MarketDraws",
    opening_market: OpeningMarket,
    ci: float = INTERVAL,
    price: str | None = None,
    notes: tuple[Text, ...] = (),
) -> Finding:
    """Build the finding that contains the interactive market simulator."""
    import pandas as pd

    share_draws = draws.shares([opening_market.list_products(draws)])[0]
    mean_share, low_share, high_share = draws.summarize(share_draws, interval_tails(ci))
    figures_by_product = np.transpose([mean_share, low_share, high_share, high_share - low_share])
    shares = tuple(
        FormattedShare(name, *(f"{100 * figure:.1f}" for figure in product_figures))
        for name, product_figures in zip(opening_market.names, figures_by_product, strict=True)
    )
    sentence = str(phrase(ENGLISH, "market", what=opening_market.description))
    if opening_market.description != ENGLISH["market.first"]:  # nobody asked for the first task
        largest_share = shares[int(mean_share.argmax())]
        sentence += str(
            phrase(
                ENGLISH,
                "market.largest",
                first=largest_share.name,
                mean=largest_share.mean,
                low=largest_share.low,
                high=largest_share.high,
                interval=describe_interval(ci),
            )
        )
    product_levels = [
        (name, _format_levels(draws.attributes, product))
        for name, product in opening_market.products.items()
    ]
    table = pd.DataFrame(
        {"share": mean_share, "share_low": low_share, "share_high": high_share},
        pd.Index(opening_market.names, name="product"),
    )
    table.attrs["interval"] = ci
    return Finding(
        sentence,
        table=table,
        shown=table.iloc[:0],
        is_printed=False,
        notes=(
            *notes,
            phrase(ENGLISH, "market.size", size=draws.size),
            *_note_omitted_columns(draws),
        ),
        widget=Simulator(
            _format_script_data(draws, opening_market, ci, price),
            tuple(product_levels),
            shares,
            describe_interval(ci),
        ),
    )


def _note_omitted_columns(draws: "MarketDraws") -> tuple[Text, ...]:
    """Return a note on respondent columns that the simulator cannot filter by."""
    if draws.people is None or not draws.people.others:
        return ()
    return (phrase(ENGLISH, "market.others", most=MAX_VALUES, named=shorten(draws.people.others)),)


def _format_levels(
    attributes: "tuple[MarketAttribute, ...]", product: Any
) -> tuple[tuple[str, str], ...]:
    """Return (attribute name, level) texts of a product."""
    level_texts = []
    for attribute, level in zip(attributes, product, strict=True):
        if attribute.fixed is not None:
            continue
        if attribute.takes_any:
            level_text = f"{level:g}"
        elif level is None:
            level_text = "(lacks it)"
        else:
            level_text = attribute.levels[level]
        level_texts.append((_shorten_label(attribute.name), _shorten_label(level_text)))
    return tuple(level_texts)


def _format_script_data(
    draws: "MarketDraws", opening_market: OpeningMarket, ci: float, price: str | None
) -> str:
    """Return the simulator's data as JSON that is safe inside HTML."""
    price_indices = (
        index
        for index, attribute in enumerate(draws.attributes)
        if attribute.name == price and attribute.fixed is None and attribute.numbers is not None
    )
    packed_people = None
    if draws.people is not None:
        packed_people = draws.people.to_json()
    script_data = {
        "price": next(price_indices, -1),
        "attributes": [attribute._asdict() for attribute in draws.attributes],
        "rule": draws.rule.pack(),
        "lapse": draws.lapse,
        "available": draws.available,
        "is_estimate": draws.is_estimate,
        "none": draws.none,
        "none_name": opening_market.none or NO_CHOICE_NAME,
        "offers_none": opening_market.none is not None,
        "products": list(opening_market.products.items()),
        "people": packed_people,
        "tails": interval_tails(ci),
        "interval": describe_interval(ci),
        "interval_words": f"{format_level(ci)} of the draws",
    }
    return encode_json(script_data)


def _shorten_label(text: str) -> str:
    """Return a label cut to the length that the simulator shows."""
    if len(text) <= _MAX_LABEL:
        return text
    return f"{text[: _MAX_LABEL - 1]}…"
