"""Markets: products by their levels, and the shares that the draws of a model give them."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from thali.people.columns import MarketPeople

# Of each attribute the number of its level, the value itself where any number may be asked, or None: it is missing.
Product = tuple[float | None, ...]


class MarketAttribute(NamedTuple):
    """What may be asked of an attribute."""

    name: str
    levels: tuple[str, ...]
    numbers: tuple[float, ...] | None  # of the levels, where all are numbers
    takes_any: bool = False  # whether any number between the least and the largest may be asked
    may_lack: bool = False  # whether a product may lack the attribute
    fixed: int | None = None  # the level of every product, where there is nothing to ask


class Rule(Protocol):
    """How people choose, draw by draw."""

    def shares(self, markets: Sequence[Sequence[Product]], weights: np.ndarray | None = None) -> list[np.ndarray]:
        """Share of each product in each draw, shape (draws, products), of every market; without lapses.

        `weights` (respondents,) are at least 0; NaN in a draw that holds nobody with a weight.
        """
        ...

    def packed(self) -> dict[str, Any]:
        """The rule in terms of JSON; `name` says which rule it is."""
        ...


class MarketDraws(NamedTuple):
    """The choices of people in any market, draw by draw."""

    attributes: tuple[MarketAttribute, ...]
    rule: Rule
    lapse: float  # the probability of a choice at random
    none: Product | None  # the no-choice option
    first_task: tuple[Product, ...]  # products that a respondent saw together
    size: str  # draws and people in words
    is_estimate: bool = False  # whether the first draw is an estimate, and the others of its sampling distribution
    people: MarketPeople | None = None  # None: there is nobody to choose

    def shares(self, markets: Sequence[Sequence[Product]], weights: np.ndarray | None = None) -> list[np.ndarray]:
        """Share of each product in each draw, shape (draws, products), of every market, among weighted respondents."""
        found = self.rule.shares(markets, weights)
        return [(1.0 - self.lapse) * each + self.lapse / each.shape[1] for each in found]

    def described(self, shares: np.ndarray, tails: tuple[float, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of shares (draws, products) the estimate or mean, and the ends of the interval."""
        draws = shares[1:] if self.is_estimate else shares
        draws = draws[~np.isnan(draws).any(axis=1)]
        low, high = np.quantile(draws, tails, axis=0)
        return shares[0] if self.is_estimate else draws.mean(axis=0), low, high


def held(draws: int, people: int, respondents: int) -> np.ndarray:
    """Whom each of the draws holds, (draws, people): at even steps, each of the respondents equally often."""
    return (np.arange(people) * draws + np.arange(draws)[:, None]) * respondents // (people * draws)
