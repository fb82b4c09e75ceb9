"""A fit of product classes as the draws of a market: everybody takes the product with the greatest
sum of values."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from thali._inference.arrays import encode_base64, shrink_integers
from thali._inference.indexing import part_bounds
from thali._people.columns import people_of

from ...answers.chooser import thinned
from ...answers.simulator import (
    MarketDraws,
    Product,
    attributes_of,
    first_task_of,
    hash_exponentials,
    held,
    none_of,
    spread,
)

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments.design import ExperimentDesign

    from ..particles import Particles

MIN_DRAWS, MAX_DRAWS = 40, 200
MAX_OWNED = 150_000  # classes that people own, of all draws: two or three bytes each
OCCASIONS = 2_000  # of all people in a draw: the noise of a share is below .011 then
_ROWS = 128  # passing values to choose among in each draw; a power of 2


class BestOfClasses(NamedTuple):
    """Classes of D draws and what P people of each own; values are numbers of a table that all
    share.

    On occasion r the o-th owned class of all draws has the value values[lasting[o]] +
    values[passing[d, h(R o + r)]], where h spreads its argument evenly and R is the number of
    occasions.
    """

    sizes: tuple[int, ...]  # levels of each attribute
    first_class: np.ndarray  # (D + 1,)
    # (classes, sum of (levels + 1)) bool; the last of an attribute: it is missing
    member: np.ndarray
    counts: np.ndarray  # (D, P) classes that a person owns
    # (owned,) number of the class within its draw, times 2, and 1 more if it is disliked
    owned: np.ndarray
    lasting: np.ndarray  # (owned,) uint8
    passing: np.ndarray  # (D, _ROWS) uint8
    values: np.ndarray  # (256,) float32
    occasions: int
    respondents: int

    def shares(
        self, markets: Sequence[Sequence[Product]], weights: np.ndarray | None = None
    ) -> list[np.ndarray]:
        """Share of each product in each draw, shape (draws, products), of every market; without
        lapses."""
        draws, people = self.counts.shape
        of_market = hash_exponentials(draws, self.respondents) * (
            1.0 if weights is None else weights
        )
        of_market = np.take_along_axis(of_market, held(draws, people, self.respondents), axis=1)
        codes = [self._cells(market) for market in markets]
        found = [np.empty((draws, len(market))) for market in markets]
        ends = part_bounds(self.counts.sum(axis=1))
        for d in range(draws):
            member = self.member[self.first_class[d] : self.first_class[d + 1]]
            values = self._values(d, int(ends[d]), int(ends[d + 1]))
            owned = self.owned[ends[d] : ends[d + 1]]
            for cells, shares in zip(codes, found, strict=True):
                inside = np.logical_and.reduce(member[:, cells], axis=2)
                shares[d] = self._winners(inside, owned, values, self.counts[d], of_market[d])
        return found

    def telling_apart(self, products: int) -> Self:
        """The same for products whose last cell is their number, of so many, or None: every class
        takes any."""
        every = np.ones((len(self.member), products + 1), bool)
        return self._replace(sizes=(*self.sizes, products), member=np.hstack([self.member, every]))

    def _cells(self, market: Sequence[Product]) -> np.ndarray:
        """Columns of `member` that the products of a market stand for, shape (products,
        attributes)."""
        first = part_bounds(np.add(self.sizes, 1))[:-1]
        levels = [
            [size if level is None else level for size, level in zip(self.sizes, p, strict=True)]
            for p in market
        ]
        return first + np.array(levels, np.int64)

    def _values(self, d: int, begin: int, end: int) -> np.ndarray:
        """The values of the classes owned in draw d, shape (owned, occasions)."""
        table = self.values.astype(np.float64)
        number = np.arange(begin * self.occasions, end * self.occasions, dtype=np.uint32)
        rows = (spread(number) >> np.uint32(25)).reshape(-1, self.occasions)
        return table[self.lasting[begin:end]][:, None] + table[self.passing[d][rows]]

    def _winners(
        self,
        inside: np.ndarray,
        owned: np.ndarray,
        values: np.ndarray,
        counts: np.ndarray,
        weights: np.ndarray,
    ) -> np.ndarray:
        """How often each product is the best, among weighted people and occasions."""
        differs = np.logical_or.reduce(inside, axis=1) & ~np.logical_and.reduce(inside, axis=1)
        kept = differs[owned >> 1]
        signed = np.where(owned & 1, -1.0, 1.0)[kept, None] * values[kept]
        inside = inside[owned[kept] >> 1]
        cases = len(counts) * self.occasions
        person = np.repeat(np.arange(len(counts)), counts)[kept]
        case = (person[:, None] * self.occasions + np.arange(self.occasions)).ravel()
        utility = np.stack(
            [
                # adds in the order given
                np.bincount(case, (signed * column[:, None]).ravel(), minlength=cases)
                for column in inside.T
            ],
            axis=1,
        )
        best = utility == utility.max(axis=1, keepdims=True)
        of_cases = np.repeat(weights, self.occasions)
        with np.errstate(invalid="ignore"):
            return of_cases @ (best / best.sum(axis=1, keepdims=True)) / of_cases.sum()

    def packed(self) -> dict[str, Any]:
        """The rule in terms of JSON."""
        return {
            "name": "best",
            "sizes": list(self.sizes),
            "classes": encode_base64(shrink_integers(np.diff(self.first_class))),
            "member": encode_base64(np.packbits(self.member, axis=1, bitorder="little")),
            "people": int(self.counts.shape[1]),
            "respondents": self.respondents,
            "counts": encode_base64(shrink_integers(self.counts)),
            "owned": encode_base64(shrink_integers(self.owned)),
            "lasting": encode_base64(self.lasting),
            "passing": encode_base64(self.passing),
            "values": encode_base64(self.values),
            "occasions": self.occasions,
        }


def market_draws(
    draws: "Particles", design: "ExperimentDesign", people: "pandas.DataFrame | None"
) -> MarketDraws:
    """Evenly spaced draws with everybody, or, of many people, fewer draws with some people each."""
    each = len(draws.owned_class) / draws.n_draws / draws.n_respondents  # classes of a person
    wanted = MAX_OWNED / max(each, 1e-9) / draws.n_respondents
    kept = thinned(draws.group, int(np.clip(wanted, MIN_DRAWS, MAX_DRAWS)))
    most = int(MAX_OWNED / max(each, 1e-9) / len(kept))
    number = min(draws.n_respondents, max(1, most))
    some = "each with all respondents"
    if number < draws.n_respondents:
        some = (
            f"each with {number:,} of {draws.n_respondents:,} respondents, so intervals are"
            " slightly too wide"
        )
    return MarketDraws(
        attributes_of(design, design.scheme.levels, [False] * len(design.scheme.names)),
        _rule(draws, kept, number),
        float(draws.lapse),
        none_of(design),
        first_task_of(design),
        f"{len(kept):,} posterior draws, {some}",
        people=people_of(people, draws.n_respondents),
    )


def _rule(draws: "Particles", kept: np.ndarray, people: int) -> BestOfClasses:
    """The classes that these draws have, and what some people own in each."""
    number = draws.n_respondents
    places = (kept[:, None] * number + held(len(kept), people, number)).ravel()
    counts = draws.first_owned[places + 1] - draws.first_owned[places]
    owned = np.repeat(draws.first_owned[places] - part_bounds(counts)[:-1], counts)
    owned += np.arange(len(owned))
    classes = [np.arange(*draws.first_class[[d, d + 1]].tolist()) for d in kept]
    chosen = np.concatenate(classes)
    sizes = np.diff(draws.offset)
    cells = np.insert(draws.member[chosen], draws.offset[1:], ~draws.active[chosen], axis=1)
    log_theta, log_fresh = (
        draws.owned_log_theta[owned],
        log_passing(((1.0 - draws.sigma) * draws.a)[kept]),
    )
    table = values_table(np.concatenate([log_theta, log_fresh.ravel()]))
    return BestOfClasses(
        tuple(sizes.tolist()),
        part_bounds([len(own) for own in classes]),
        cells,
        counts.reshape(len(kept), people),
        2 * draws.owned_class[owned] + draws.owned_sign[owned],
        codes_in(table, log_theta),
        codes_in(table, log_fresh),
        table,
        max(1, -(-OCCASIONS // people)),
        number,
    )


def values_table(log_values: np.ndarray) -> np.ndarray:
    """256 values at equal ratios, the largest that of the data; those below 1e-4 of it are all the
    smallest."""
    top = float(log_values.max())
    return np.exp(np.linspace(top - 4.0 * np.log(10.0), top, 256)).astype(np.float32)


def codes_in(table: np.ndarray, log_values: np.ndarray) -> np.ndarray:
    """The nearest values of the table, by ratio."""
    low, high = np.log(table[0].astype(float)), np.log(table[-1].astype(float))
    return np.clip(np.rint((log_values - low) * 255 / (high - low)), 0, 255).astype(np.uint8)


def log_passing(shapes: np.ndarray) -> np.ndarray:
    """Equally probable values of Gamma(shape, 1), their logarithms, a row for each shape."""
    from scipy.special import gammaincinv

    with np.errstate(divide="ignore"):
        return np.log(gammaincinv(shapes[:, None], (np.arange(_ROWS) + 0.5) / _ROWS))
