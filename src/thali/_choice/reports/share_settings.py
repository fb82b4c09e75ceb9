r"""Arguments that turn utilities into market shares: rule, scale, availability, actual shares.

With utilities :math:`u_{nj}` of a respondent, constants :math:`c_j` and the scale s, the rules are

.. math::
    P_n(j) \propto e^{s u_{nj} + c_j}; \qquad P_n(j) = [j = \arg\max_k u_{nk}]; \qquad
    P_n(j) = P(j = \arg\max_k s u_{nk} + e_{nk})

The errors e of the last rule are normal with the variance π²/6 of logit errors. Two products share
a fraction of it, equal to their fraction of common levels, so similar products compete with each
other first (Huber, Orme & Miller 1999; Orme & Baker 2000, with correlated errors alone).

For products that are not always available (availability a_j: awareness times distribution), every
set A of available products is weighted by its probability, :math:`s_j = \sum_{A \ni j} \prod_{k \in
A} a_k \prod_{k \notin A} (1 - a_k) s_j(A)`. Constants reproduce the actual shares of today, in each
draw (Train 2009, section 2.8; Berry, Levinsohn & Pakes 1995 for the iteration).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product as combinations
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from thali._argument_checks import (
    check_allowed,
    check_open_interval,
    check_positive,
    check_proportion,
)
from thali._inference.user_warnings import warn
from thali._labels import format_label, shorten
from thali.errors import Argument, ArgumentError, EstimateWarning, Message, Setting

from .choice_draws import LOGIT, RANDOMISED, RULES, ChoiceRule, Chooser
from .market_tables import Market, find_product

if TYPE_CHECKING:
    from thali._inference.random_seeds import RandomSeed


_MAX_LIMITED = 10  # products that are not always available; every set of them is a market
_MAX_LIMITED_RANDOMISED = 4  # the same with randomised first choice
# iterations for constants; relative error of shares at the end
_STEPS = 2_000
_TOLERANCE = 1e-9


# Cells of the products of a market; sets of available products, and their probabilities.
AvailableSets = tuple[np.ndarray, list[tuple[np.ndarray, float]]]


class ShareSettings(NamedTuple):
    """The user's arguments that turn utilities into market shares."""

    rule: Any = LOGIT
    scale: Any = 1.0
    availability: Any = None
    actual: Any = None

    def validate(self, markets: Sequence[Market]) -> Self:
        """Return settings by product; raise ArgumentError if they do not match the markets."""
        check_allowed("rule", self.rule, RULES)
        scale = check_positive("scale", self.scale, "the factor that multiplies all utilities")
        product_labels = list(dict.fromkeys(label for market in markets for label in market.labels))
        availability = None
        if self.availability is not None:
            availability = _parse_by_product("availability", self.availability, product_labels)
        for label, number in (availability or {}).items():
            check_proportion(
                Message(Argument("availability"), f" of {label!r}"),
                number,
                "the share of occasions on which it is available",
            )
        actual = None
        if self.actual is not None:
            actual = self._parse_actual(markets, availability or {})
        return self._replace(scale=scale, availability=availability, actual=actual)

    def _parse_actual(
        self, markets: Sequence[Market], availability: Mapping[str, float]
    ) -> dict[str, float]:
        """Return the checked actual market share of each product."""
        if len(markets) > 1:
            raise ArgumentError(
                Argument("actual"),
                f" shares require one market, but the table has {len(markets)} scenarios; give"
                " one.",
            )
        if self.rule != LOGIT:
            raise ArgumentError(
                Argument("actual"),
                " shares are matched by a constant for each product, which requires the logit"
                " rule; remove ",
                Argument("rule"),
                ".",
            )
        product_labels = markets[0].labels
        actual = _parse_by_product("actual", self.actual, product_labels)
        if absent_products := [label for label in product_labels if label not in actual]:
            raise ArgumentError(
                Argument("actual"),
                f" has no share for {shorten(absent_products)}; give one share per product.",
            )
        for label, share in actual.items():
            share_phrase = Message(Argument("actual"), f": the share of {label!r}")
            check_open_interval(
                share_phrase, share, "after products without sales are removed from the market"
            )
        share_sum = sum(actual.values())
        total_available = 1.0 - np.prod(
            [1.0 - availability.get(label, 1.0) for label in product_labels]
        )
        if abs(share_sum - total_available) > 1e-6:
            explanation = ", the share of occasions on which a product is available"
            if total_available == 1.0:
                explanation = ""
            raise ArgumentError(
                Argument("actual"),
                f" shares must sum to {total_available:g}{explanation}; they sum to {share_sum:g}.",
            )
        for label, share in actual.items():
            if share >= availability.get(label, 1.0):
                raise ArgumentError(
                    Argument("actual"),
                    f": the share of {label!r} is {share:g}, but it is available on only"
                    f" {availability[label]:g} of the occasions; reduce the share, or increase ",
                    Argument("availability"),
                    ".",
                )
        return actual

    def shares(
        self,
        chooser: Chooser,
        markets: Sequence[Market],
        weights: np.ndarray | None,
        cores: int | None,
        seed: "RandomSeed",
    ) -> list[np.ndarray]:
        """Return market shares of the products of each market, (draws, products) each.

        The actual shares are those of the first market.
        """

        offered_products = [
            (chooser.cells(market.table), self._list_sets(market)) for market in markets
        ]

        def compute_shares(
            offered_products: Sequence[AvailableSets], constants: np.ndarray | None
        ) -> list[np.ndarray]:
            """Return shares of offered products with these constants."""
            return self._shares(chooser, offered_products, constants, weights, cores, seed)

        if self.actual is None:
            return compute_shares(offered_products, None)
        constants = self.calibrate_constants(
            markets[0].labels,
            len(chooser.chain),
            lambda tried: compute_shares(offered_products[:1], tried)[0],
        )
        return compute_shares(offered_products, constants)

    def calibrate_constants(
        self,
        labels: Sequence[str],
        n_draws: int,
        compute_shares: Callable[[np.ndarray], np.ndarray],
    ) -> np.ndarray:
        """Return product constants by draw at which shares equal the actual ones."""
        log_actual = np.log([self.actual[label] for label in labels])
        constants = np.zeros((n_draws, len(log_actual)))
        log_differences = log_actual
        for _ in range(_STEPS):
            log_differences = log_actual - np.log(compute_shares(constants))
            constants += log_differences
            if np.abs(log_differences).max() < _TOLERANCE:
                break
        else:
            warn(
                EstimateWarning(
                    f"After {_STEPS:,} steps the shares still differ from ",
                    Argument("actual"),
                    f" by up to {100 * np.abs(np.expm1(log_differences)).max():,.2g} %.",
                )
            )
        return constants

    def _shares(
        self,
        chooser: Chooser,
        offered_products: Sequence[AvailableSets],
        constants: np.ndarray | None,
        weights: np.ndarray | None,
        cores: int | None,
        seed: "RandomSeed",
    ) -> list[np.ndarray]:
        """Return shares with product constants, averaged over the available sets."""
        available_cells = [
            cells[available] for cells, sets in offered_products for available, _ in sets
        ]
        set_constants: tuple[np.ndarray, ...] = ()
        if constants is not None:
            set_constants = tuple(
                constants[:, available] for _, sets in offered_products for available, _ in sets
            )
        rule = ChoiceRule(self.rule, self.scale, set_constants)
        set_shares = iter(chooser.shares(available_cells, weights, cores, seed, rule))
        return [average_over_sets(set_shares, sets, len(cells)) for cells, sets in offered_products]

    def _list_sets(self, market: Market) -> list[tuple[np.ndarray, float]]:
        """Return possible sets of available products of a market, with probabilities."""
        availabilities = [(self.availability or {}).get(label, 1.0) for label in market.labels]
        max_limited = _MAX_LIMITED
        if self.rule == RANDOMISED:
            max_limited = _MAX_LIMITED_RANDOMISED
        if sum(value < 1.0 for value in availabilities) > max_limited:
            raise ArgumentError(
                Argument("availability"),
                f" may be below 1 for at most {max_limited} products of a market with ",
                Setting("rule", self.rule),
                ".",
            )
        return list_available_sets(availabilities)


def list_available_sets(availability: Sequence[float]) -> list[tuple[np.ndarray, float]]:
    """Return possible sets of available products, with their probabilities.

    `availability` contains the probability that each product is available.
    """
    p_available = np.array(availability)
    is_limited = p_available < 1.0
    is_available = np.ones(len(p_available), bool)
    available_sets = []
    for is_limited_available in combinations((True, False), repeat=int(is_limited.sum())):
        is_available[is_limited] = is_limited_available
        if is_available.any():
            p = np.where(is_available, p_available, 1.0 - p_available).prod()
            available_sets.append((np.flatnonzero(is_available), float(p)))
    return available_sets


def average_over_sets(
    set_shares: Iterator[np.ndarray], sets: list[tuple[np.ndarray, float]], n_products: int
) -> np.ndarray:
    """Return shares (draws, products), averaged over sets of available products.

    `set_shares` yields the shares (draws, available products) of each set.
    """
    weighted_sum: Any = 0.0
    for available_indices, p in sets:
        shares = next(set_shares)
        all_shares = np.zeros((len(shares), n_products))
        all_shares[:, available_indices] = p * shares
        weighted_sum = weighted_sum + all_shares
    return weighted_sum


def _parse_by_product(name: str, mapping: Any, labels: Sequence[str]) -> dict[str, float]:
    """Return a user's mapping as {product label: number}, checked."""
    if isinstance(mapping, Mapping) or hasattr(mapping, "keys"):
        mapping = dict(mapping)
    if not isinstance(mapping, dict) or not mapping:
        raise ArgumentError(
            Argument(name), f" must map products to numbers, such as {{'A': 0.4}}; got {mapping!r}."
        )
    number_by_label = {format_label(label): number for label, number in mapping.items()}
    for label in number_by_label:
        find_product(label, labels, name)
    return number_by_label
