"""The rule of logits: the tastes of people in each draw, and what columns a product has."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .market import Product
from .packing import packed

_LARGEST = 32_767


class Columns(NamedTuple):
    """The columns of the model matrix that stand for one attribute."""

    table: np.ndarray  # (levels + 1, columns) of each level; the last row: the attribute is missing
    is_number: bool  # whether the first columns are the number itself, whatever it is, piece by piece
    knots: tuple[float, ...] = ()  # where a piece ends and the next begins


class LogitTastes(NamedTuple):
    """Tastes of P people, or kinds of people, in D draws, as whole multiples of a step for each coefficient."""

    columns: tuple[Columns, ...]
    codes: np.ndarray  # (D, P, p) int16
    steps: np.ndarray  # (p,)
    crossed: tuple[tuple[int, int], ...]  # further columns: the products of two of those above
    weights: np.ndarray  # (P,) share of people that each stands for

    def shares(self, markets: Sequence[Sequence[Product]]) -> list[np.ndarray]:
        """Share of each product in each draw, shape (draws, products), of every market; without lapses."""
        tastes = self.codes * self.steps
        return [self.weights @ _probabilities(tastes @ self.matrix(market).T) for market in markets]

    def matrix(self, market: Sequence[Product]) -> np.ndarray:
        """The model matrix of the products, shape (products, p)."""
        single = np.array([np.concatenate(list(map(_row, self.columns, product))) for product in market])
        one, other = np.reshape(self.crossed, (-1, 2)).astype(np.int64).T
        return np.hstack([single, single[:, one] * single[:, other]])

    def packed(self) -> dict[str, Any]:
        """The rule in terms of JSON."""
        return {
            "name": "logit",
            "people": int(self.codes.shape[1]),
            "columns": [
                {"table": part.table.tolist(), "is_number": part.is_number, "knots": part.knots}
                for part in self.columns
            ],
            "crossed": self.crossed,
            "weights": self.weights.tolist(),
            "codes": packed(self.codes),
            "steps": self.steps.tolist(),
        }


def logit_tastes(
    columns: Sequence[Columns],
    tastes: np.ndarray,
    crossed: Sequence[tuple[int, int]] = (),
    weights: np.ndarray | None = None,
) -> LogitTastes:
    """The rule for tastes (draws, people, coefficients), each rounded to a 32,767th of its largest."""
    people = tastes.shape[1]
    weights = np.full(people, 1.0 / people) if weights is None else weights
    largest = np.abs(tastes).max(axis=(0, 1))
    steps = np.where(largest > 0.0, largest, 1.0) / _LARGEST
    return LogitTastes(tuple(columns), np.rint(tastes / steps).astype(np.int16), steps, tuple(crossed), weights)


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
