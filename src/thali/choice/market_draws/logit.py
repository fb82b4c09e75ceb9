"""The rule of logits: the tastes of people in each draw, and what columns a product has."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from thali.inference.arrays import packed, smallest

from ..answers.simulator import Product, held

_LARGEST = 32_767


class Columns(NamedTuple):
    """The columns of the model matrix that stand for one attribute."""

    table: np.ndarray  # (levels + 1, columns) of each level; the last row: the attribute is missing
    is_number: bool  # whether the first columns are the number itself, whatever it is, piece by piece
    knots: tuple[float, ...] = ()  # where a piece ends and the next begins


class Kinds(NamedTuple):
    """Of which kind each respondent is: in the first draw, an estimate, by parts, in the others of one."""

    membership: np.ndarray  # (respondents, kinds) float32
    of_draws: np.ndarray  # (D - 1, respondents)

    def weights(self, weights: np.ndarray) -> np.ndarray:
        """The weights of the kinds (D, kinds) by those of the respondents."""
        kinds = range(self.membership.shape[1])
        later = np.stack([(self.of_draws == kind) @ weights for kind in kinds], axis=1)
        return np.vstack([weights @ self.membership.astype(float), later])


class LogitTastes(NamedTuple):
    """Tastes of P people, or kinds of people, in D draws, as whole multiples of a step for each coefficient."""

    columns: tuple[Columns, ...]
    codes: np.ndarray  # (D, P, p) int16
    steps: np.ndarray  # (p,)
    crossed: tuple[tuple[int, int], ...]  # further columns: the products of two of those above
    respondents: int
    kinds: Kinds | None = None  # None: each of the P is a respondent

    def shares(self, markets: Sequence[Sequence[Product]], weights: np.ndarray | None = None) -> list[np.ndarray]:
        """Share of each product in each draw, shape (draws, products), of every market; without lapses."""
        tastes, weight = self.codes * self.steps, self._weights(weights)[:, None]
        return [(weight @ _probabilities(tastes @ self.matrix(market).T))[:, 0] for market in markets]

    def _weights(self, weights: np.ndarray | None) -> np.ndarray:
        """The part of each of the P in each draw; NaN in a draw that holds nobody with a weight."""
        draws, people = self.codes.shape[:2]
        weights = np.ones(self.respondents) if weights is None else weights
        each = weights[held(draws, people, self.respondents)] if self.kinds is None else self.kinds.weights(weights)
        with np.errstate(invalid="ignore"):
            return each / each.sum(axis=1, keepdims=True)

    def matrix(self, market: Sequence[Product]) -> np.ndarray:
        """The model matrix of the products, shape (products, p)."""
        single = np.array([np.concatenate(list(map(_row, self.columns, product))) for product in market])
        one, other = np.reshape(self.crossed, (-1, 2)).astype(np.int64).T
        return np.hstack([single, single[:, one] * single[:, other]])

    def packed(self) -> dict[str, Any]:
        """The rule in terms of JSON."""
        kinds = self.kinds
        return {
            "name": "logit",
            "people": int(self.codes.shape[1]),
            "respondents": self.respondents,
            "membership": None if kinds is None else packed(kinds.membership),
            "kinds": None if kinds is None else packed(smallest(kinds.of_draws)),
            "columns": [
                {"table": part.table.tolist(), "is_number": part.is_number, "knots": part.knots}
                for part in self.columns
            ],
            "crossed": self.crossed,
            "codes": packed(self.codes),
            "steps": self.steps.tolist(),
        }


def logit_tastes(
    columns: Sequence[Columns],
    tastes: np.ndarray,
    crossed: Sequence[tuple[int, int]] = (),
    respondents: int | None = None,
    kinds: Kinds | None = None,
) -> LogitTastes:
    """The rule for tastes (draws, people, coefficients), each rounded to a 32,767th of its largest."""
    largest = np.abs(tastes).max(axis=(0, 1))
    steps = np.where(largest > 0.0, largest, 1.0) / _LARGEST
    codes = np.rint(tastes / steps).astype(np.int16)
    return LogitTastes(tuple(columns), codes, steps, tuple(crossed), respondents or tastes.shape[1], kinds)


def _row(part: Columns, level: float | None) -> np.ndarray:
    """The columns of one attribute for a level, a number, or None."""
    if level is None:
        return part.table[-1]
    if part.is_number:
        own = _pieces(level, part.knots)
        return np.concatenate([own, np.zeros(part.table.shape[1] - len(own))])
    return part.table[int(level)]


def _pieces(value: float, knots: Sequence[float]) -> list[float]:
    """The part of a number that lies in each piece between knots."""
    starts, ends = [0.0, *knots], [*knots, np.inf]
    first = [min(value, ends[0])]
    return first + [min(max(value, low), high) - low for low, high in zip(starts[1:], ends[1:], strict=True)]


def _probabilities(utility: np.ndarray) -> np.ndarray:
    """exp(u_j) / Σ exp(u_k) over the last axis."""
    odds = np.exp(utility - utility.max(axis=-1, keepdims=True))
    return odds / odds.sum(axis=-1, keepdims=True)
