"""A fit of a logit as the draws of a market: some draws and people, and their tastes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import plural
from thali.data.experiments.levels import as_number
from thali.data.experiments.scheme import INSIDE
from thali.inference.arrays import packed, smallest
from thali.people.columns import MarketPeople, people_of

from ..answers.simulator import MAX_PRODUCTS, MarketAttribute, MarketDraws, Product, held, none_of

if TYPE_CHECKING:
    from .chooser import LogitChooser

MIN_DRAWS, MAX_DRAWS = 40, 500
MAX_TASTES = 400_000  # coefficients of all people in all draws: two bytes each; the kind of a person takes one


def market_draws(chooser: "LogitChooser") -> MarketDraws:
    """Evenly spaced draws with everybody, or, of many people, fewer draws with some people each."""
    everybody, (number, p) = len(chooser.data.respondents), chooser.tastes.shape[1:]
    each = number * p + (0 if chooser.kinds is None else everybody // 2)
    fewer = chooser.thinned(int(np.clip(MAX_TASTES // each, MIN_DRAWS, MAX_DRAWS)))
    tastes, draws, kinds = fewer.tastes, len(fewer.tastes), None
    some = ""
    if chooser.membership is None:
        some = ", with each respondent in each"
        people = max(1, min(number, MAX_TASTES // (draws * p)))
        if people < number:
            tastes = np.take_along_axis(tastes, held(draws, people, number)[:, :, None], axis=1)
            some = f", with {people:,} of {number:,} respondents in each, so that intervals are somewhat too wide"
    elif chooser.has_individuals:
        assert fewer.kinds is not None
        kinds = Kinds(chooser.membership.astype(np.float32), fewer.kinds[1:])
    of = "the sampling distribution of the estimate" if chooser.is_estimate else "the posterior"
    columns = tuple(
        Columns(part.table[np.append(seen[:-1], True)], part.numbers is not None, part.knots)
        for part, seen in zip(chooser.coding.parts, chooser.coding.seen, strict=True)
    )
    return MarketDraws(
        _attributes(chooser),
        logit_tastes(columns, tastes, chooser.coding.crossed, number if kinds is None else everybody, kinds),
        0.0,
        none_of(chooser.data),
        _first_task(chooser),
        f"{plural(draws - chooser.is_estimate, 'draw')} of {of}{some}",
        chooser.is_estimate,
        _people(chooser),
    )


def _people(chooser: "LogitChooser") -> MarketPeople | None:
    """What is known of people who differ, and their kinds."""
    if not chooser.has_individuals:
        return None
    classes = 0 if chooser.membership is None else chooser.membership.shape[1]
    return people_of(chooser.people, len(chooser.data.respondents), tuple(f"class {k + 1}" for k in range(classes)))


def _attributes(chooser: "LogitChooser") -> tuple[MarketAttribute, ...]:
    """What may be asked of each attribute: levels that the tasks show, or any number between them."""
    data, found = chooser.data, []
    real = np.ones(len(data.products), bool)
    if data.scheme.none:
        real = data.products[:, 0] > 0 if data.scheme.has_inside else (data.products >= 0).any(axis=1)
    for place, (name, levels) in enumerate(data.levels.items()):
        part, seen = chooser.coding.parts[place], chooser.coding.seen[place][:-1]
        shown = tuple(level for level, known in zip(levels, seen, strict=True) if known)
        numbers = tuple(number for number in map(as_number, shown) if number is not None)
        found.append(
            MarketAttribute(
                name,
                shown,
                numbers if len(numbers) == len(shown) else None,
                takes_any=part.numbers is not None,
                may_lack=bool((data.products[real, place] < 0).any()),
                fixed=1 if data.scheme.has_inside and name == INSIDE else None,
            )
        )
    return tuple(found)


def _first_task(chooser: "LogitChooser") -> tuple[Product, ...]:
    """The products of the first task, without the no-choice option."""
    data, none = chooser.data, none_of(chooser.data)
    found = []
    for row in data.products[data.row_product[: data.first_row[1]]].tolist():
        if tuple(None if code < 0 else code for code in row) == none:
            continue
        cells: list[float | None] = []
        for code, part, seen in zip(row, chooser.coding.parts, chooser.coding.seen, strict=True):
            if code < 0:
                cells.append(None)
            else:
                cells.append(float(part.numbers[code]) if part.numbers is not None else int(seen[:code].sum()))
        found.append(tuple(cells))
    return tuple(found[:MAX_PRODUCTS])


# The rule of logits: the tastes of people in each draw, and what columns a product has --------------------------------


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
