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
    is_number: bool  # whether the first column is the number itself, whatever it is


class LogitTastes(NamedTuple):
    """Tastes of P people in D draws, as whole multiples of a step for each coefficient."""

    columns: tuple[Columns, ...]
    codes: np.ndarray  # (D, P, p) int16
    steps: np.ndarray  # (p,)

    def shares(self, markets: Sequence[Sequence[Product]]) -> list[np.ndarray]:
        """Share of each product in each draw, shape (draws, products), of every market; without lapses."""
        tastes = self.codes * self.steps
        return [_probabilities(tastes @ self.matrix(market).T).mean(axis=1) for market in markets]

    def matrix(self, market: Sequence[Product]) -> np.ndarray:
        """The model matrix of the products, shape (products, p)."""
        return np.array([np.concatenate(list(map(_row, self.columns, product))) for product in market])

    def packed(self) -> dict[str, Any]:
        """The rule in terms of JSON."""
        return {
            "name": "logit",
            "people": int(self.codes.shape[1]),
            "columns": [{"table": part.table.tolist(), "is_number": part.is_number} for part in self.columns],
            "codes": packed(self.codes),
            "steps": self.steps.tolist(),
        }


def logit_tastes(columns: Sequence[Columns], tastes: np.ndarray) -> LogitTastes:
    """The rule for tastes (draws, people, coefficients), each rounded to a 32,767th of its largest."""
    largest = np.abs(tastes).max(axis=(0, 1))
    steps = np.where(largest > 0.0, largest, 1.0) / _LARGEST
    return LogitTastes(tuple(columns), np.rint(tastes / steps).astype(np.int16), steps)


def _row(part: Columns, level: float | None) -> np.ndarray:
    """The columns of one attribute for a level, a number, or None."""
    if level is None:
        return part.table[-1]
    if part.is_number:
        return np.concatenate([[level], np.zeros(part.table.shape[1] - 1)])
    return part.table[int(level)]


def _probabilities(utility: np.ndarray) -> np.ndarray:
    """exp(u_j) / Σ exp(u_k) over the last axis."""
    odds = np.exp(utility - utility.max(axis=-1, keepdims=True))
    return odds / odds.sum(axis=-1, keepdims=True)
