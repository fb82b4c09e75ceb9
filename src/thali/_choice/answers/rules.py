r"""How utilities become shares of a real market: rules of choice, the scale, availability, shares
that are known.

With utilities :math:`u_{nj}` of a person, constants :math:`c_j` and the scale s, the rules are

.. math::
    P_n(j) \propto e^{s u_{nj} + c_j}; \qquad P_n(j) = [j = \arg\max_k u_{nk}]; \qquad
    P_n(j) = P(j = \arg\max_k s u_{nk} + e_{nk})

The errors e of the last are normal with the variance π²/6 that those of the logit have, and two
products share the part of it that their common levels are of all attributes, so that like products
compete with each other first (Huber, Orme & Miller 1999; Orme & Baker 2000, with correlated errors
alone).

Of products that are not always found (availability a_j: awareness times distribution) every set A
of those that are there has the weight of its occasions, :math:`s_j = \sum_{A \ni j} \prod_{k \in A}
a_k \prod_{k \notin A} (1 - a_k) s_j(A)`. Constants are those with which the shares of today are the
actual ones, in each draw (Train 2009, section 2.8; Berry, Levinsohn & Pakes 1995 for the
iteration).
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product as combinations
from typing import Any, NamedTuple, Self

import numpy as np

from thali._arguments import check_allowed, check_open_interval, check_positive, check_proportion
from thali._inference.warn import warn
from thali._labels import format_label, shorten
from thali.errors import Argument, ArgumentError, EstimateWarning, Message, Setting

from .chooser import AS_FITTED, LOGIT, RANDOMISED, RULES, ChoiceRule, Chooser
from .market import Market, find_product

_MOST_LIMITED = 10  # products that are not always available, of which every set is a market
_MOST_OF_ERRORS = 4  # where errors of products are drawn in each
# passes of the iteration for constants; the relative error of shares at its end
_STEPS, _CLOSE = 2_000, 1e-9


# The cells of the products of a market, and which of them are found together on which part of the
# occasions.
Offered = tuple[np.ndarray, list[tuple[np.ndarray, float]]]


class How(NamedTuple):
    """How utilities become shares, as asked for."""

    rule: Any = LOGIT
    scale: Any = 1.0
    availability: Any = None
    actual: Any = None

    def checked(self, markets: Sequence[Market]) -> Self:
        """The same with shares by product; raises for what does not fit these markets."""
        check_allowed("rule", self.rule, RULES)
        scale = check_positive("scale", self.scale, "the factor that multiplies all utilities")
        labels = list(dict.fromkeys(label for market in markets for label in market.labels))
        availability = (
            None
            if self.availability is None
            else _by_product("availability", self.availability, labels)
        )
        for label, value in (availability or {}).items():
            check_proportion(
                Message(Argument("availability"), f" of {label!r}"),
                value,
                "the share of occasions on which it is available",
            )
        actual = None if self.actual is None else self._checked_actual(markets, availability or {})
        return self._replace(scale=scale, availability=availability, actual=actual)

    def _checked_actual(
        self, markets: Sequence[Market], availability: Mapping[str, float]
    ) -> dict[str, float]:
        """The actual share of each product."""
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
        labels = markets[0].labels
        found = _by_product("actual", self.actual, labels)
        if absent := [label for label in labels if label not in found]:
            raise ArgumentError(
                Argument("actual"),
                f" has no share for {shorten(absent)}; give one share per product.",
            )
        for label, value in found.items():
            whose = Message(Argument("actual"), f": the share of {label!r}")
            check_open_interval(
                whose, value, "after products without sales are removed from the market"
            )
        total, most = (
            sum(found.values()),
            1.0 - np.prod([1.0 - availability.get(label, 1.0) for label in labels]),
        )
        if abs(total - most) > 1e-6:
            where = (
                "" if most == 1.0 else ", the share of occasions on which a product is available"
            )
            raise ArgumentError(
                Argument("actual"), f" shares must sum to {most:g}{where}; they sum to {total:g}."
            )
        for label, value in found.items():
            if value >= availability.get(label, 1.0):
                raise ArgumentError(
                    Argument("actual"),
                    f": the share of {label!r} is {value:g}, but it is available on only"
                    f" {availability[label]:g} of the occasions; reduce the share, or increase ",
                    Argument("availability"),
                    ".",
                )
        return found

    def shares(
        self,
        chooser: Chooser,
        markets: Sequence[Market],
        weights: np.ndarray | None,
        cores: int | None,
        seed: Any,
    ) -> list[np.ndarray]:
        """Shares (draws, products) of each market; the actual shares are those of the first."""

        offered = [(chooser.cells(market.table), self._found(market)) for market in markets]

        def of(offered: Sequence[Offered], constants: np.ndarray | None) -> list[np.ndarray]:
            return self._shares(chooser, offered, constants, weights, cores, seed)

        if self.actual is None:
            return of(offered, None)
        constants = self.constants(
            markets[0].labels, len(chooser.chain), lambda tried: of(offered[:1], tried)[0]
        )
        return of(offered, constants)

    def constants(
        self, labels: Sequence[str], draws: int, shares: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """Constants (draws, products) with which the shares that they give are the actual ones,
        within each draw."""
        wanted = np.log([self.actual[label] for label in labels])
        constants, missing = np.zeros((draws, len(wanted))), wanted
        for _ in range(_STEPS):
            missing = wanted - np.log(shares(constants))
            constants += missing
            if np.abs(missing).max() < _CLOSE:
                break
        else:
            warn(
                EstimateWarning(
                    f"After {_STEPS:,} steps the shares still differ from ",
                    Argument("actual"),
                    f" by up to {100 * np.abs(np.expm1(missing)).max():,.2g} %.",
                )
            )
        return constants

    def _shares(
        self,
        chooser: Chooser,
        offered: Sequence[Offered],
        constants: np.ndarray | None,
        weights: np.ndarray | None,
        cores: int | None,
        seed: Any,
    ) -> list[np.ndarray]:
        """The shares with these constants: sums over what is found on an occasion."""
        asked = [own[there] for own, sets in offered for there, _ in sets]
        rule = AS_FITTED
        if (self.rule, self.scale, constants is None) != (LOGIT, 1.0, True):
            added = (
                ()
                if constants is None
                else tuple(constants[:, there] for _, sets in offered for there, _ in sets)
            )
            rule = ChoiceRule(self.rule, self.scale, added)
        parts = iter(chooser.shares(asked, weights, cores, seed, rule))
        found = []
        for own, sets in offered:
            total = np.zeros((len(chooser.chain), len(own)))
            for there, part in sets:
                total[:, there] += part * next(parts)
            found.append(total)
        return found

    def _found(self, market: Market) -> list[tuple[np.ndarray, float]]:
        """Which products are found together, and on which part of the occasions."""
        given = self.availability or {}
        values = [given.get(label, 1.0) for label in market.labels]
        most = _MOST_OF_ERRORS if self.rule == RANDOMISED else _MOST_LIMITED
        if sum(value < 1.0 for value in values) > most:
            raise ArgumentError(
                Argument("availability"),
                f" may be below 1 for at most {most} products of a market with ",
                Setting("rule", self.rule),
                ".",
            )
        return occasions(values)


def occasions(values: Sequence[float]) -> list[tuple[np.ndarray, float]]:
    """Which products are found together on which part of the occasions, of products found on these
    parts of them."""
    found = []
    for there in combinations(*[(True, False) if value < 1.0 else (True,) for value in values]):
        if any(there):
            part = np.prod(
                [v if is_there else 1.0 - v for v, is_there in zip(values, there, strict=True)]
            )
            found.append((np.flatnonzero(there), float(part)))
    return found


def _by_product(name: str, given: Any, labels: Sequence[str]) -> dict[str, float]:
    """What is given for each product that is named."""
    given = dict(given) if isinstance(given, Mapping) or hasattr(given, "keys") else given
    if not isinstance(given, dict) or not given:
        raise ArgumentError(
            Argument(name), f" must map products to numbers, such as {{'A': 0.4}}; got {given!r}."
        )
    found = {format_label(label): value for label, value in given.items()}
    for label in found:
        find_product(label, labels, name)
    return found
