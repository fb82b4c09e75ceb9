"""Willingness to pay: the price difference at which a person is indifferent between two levels of an attribute."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import suggest
from thali.data.column_names import plain
from thali.data.experiment_levels import as_number
from thali.data.experiment_scheme import INSIDE
from thali.errors import Argument, ArgumentError

from .crowd import weights_of
from .effects import long_table
from .figures import error_between_chains, probability_of

if TYPE_CHECKING:
    import pandas

    from thali.data.experiment_scheme import Scheme

    from .chooser import Chooser

_PRICES = ("price", "cost", "costs", "fee", "fare")
_MOST = 20_000_000  # numbers kept, of all draws, people and levels
MIN_DRAWS, MAX_DRAWS = 40, 400


class Prices(NamedTuple):
    """What the price attribute may be."""

    attribute: int
    numbers: np.ndarray  # (K,) tested prices, increasing
    cells: np.ndarray  # (K,) their cells
    is_linear: bool  # whether utility is a straight line in the price, wherever it goes on

    @property
    def differences(self) -> np.ndarray:
        """Price differences, around the middle of the tested range, between which utility differences are lines."""
        ends = 2.0 * (self.numbers - self.numbers[[0, -1]].mean())
        return np.unique(np.concatenate([ends, -ends]))


class Change(NamedTuple):
    """One level of an attribute in place of another."""

    attribute: int
    cells: tuple[float, float]  # of the level, and of the one that it is compared with
    names: tuple[str, str]


def willingness_to_pay(
    chooser: "Chooser", price: str, each_person: bool, people: Any, respondent_weights: Any, ci: float
) -> "pandas.DataFrame":
    """A row for each level of each attribute but the first, or for each unit of one that is taken as a number."""
    from scipy.special import ndtri

    from thali._tables import Table

    ci = probability_of(ci)
    weights = weights_of(chooser, people, respondent_weights)
    if weights is None:
        raise ArgumentError("people='new' have no willingness to pay of their own; ask for that of the respondents.")
    prices, changes = prices_of(chooser, price), changes_of(chooser, price)
    if not changes:
        raise ArgumentError(Argument("price"), f": there is no attribute but {price!r}, so that nothing is paid for.")
    names = chooser.data.scheme.names
    named = [(names[change.attribute], *change.names) for change in changes]
    most = _MOST // max(1, len(weights) * len(changes))
    fewer = chooser.thinned(int(np.clip(most, MIN_DRAWS, MAX_DRAWS)))
    found = compensations(fewer, prices, changes)  # (draws, people, changes)
    if fewer.is_estimate:
        of_people = found[0]
        errors = fewer.delta_errors(lambda other: compensations(other, prices, changes))
        half = ndtri((1.0 + ci) / 2.0) * errors
        low_high = of_people - half, of_people + half
    else:
        of_people = quantiles(found, [0.5])[0]
        low_high = tuple(quantiles(found, [(1.0 - ci) / 2.0, (1.0 + ci) / 2.0]))
        errors = np.full(of_people.shape, np.nan)
    columns = ["attribute", "level", "over"]
    if each_person:
        return long_table(chooser, columns, named, {"wtp": of_people, "wtp_lb": low_high[0], "wtp_ub": low_high[1]})
    if chooser.has_individuals:
        middle = weighted_median(found, weights)
        value = quantiles(middle, [0.5])[0]
        low_high = tuple(quantiles(middle, [(1.0 - ci) / 2.0, (1.0 + ci) / 2.0]))
        errors = _errors(middle, fewer.chain)
        asked = of_people[weights > 0]
        low, high = quantiles(asked, [(1.0 - ci) / 2.0, (1.0 + ci) / 2.0])
        spread = {"people_lb": low, "people_ub": high}
    else:
        value, low_high, errors, spread = of_people[0], [each[0] for each in low_high], errors[0], {}
    limit = np.inf if prices.is_linear else prices.differences[-1]
    table = Table(named, columns=columns).assign(
        wtp=value, wtp_lb=low_high[0], wtp_ub=low_high[1], wtp_se=errors, **spread, at_limit=np.abs(value) >= limit
    )
    table.attrs.update(interval=ci, price=price)
    return table


def refuse_wordy_price(scheme: "Scheme", price: str) -> None:
    """Refuse a price that is no attribute, or whose levels are no amounts."""
    if price not in scheme.levels or price == INSIDE:
        raise ArgumentError(Argument("price"), f": there is no attribute {price!r}.{suggest(str(price), scheme.names)}")
    for level in scheme.levels[price]:
        if as_number(level) is None:
            raise ArgumentError(
                Argument("price"),
                f": the level {level!r} of {price!r} is no number; name an attribute whose levels are amounts.",
            )


def price_among(scheme: "Scheme") -> str | None:
    """The attribute that is called a price or a cost and has amounts as levels, if it is one of several."""
    if not any(plain(name) not in _PRICES for name in scheme.names if name != INSIDE):
        return None
    for name, levels in scheme.levels.items():
        if plain(name) in _PRICES and all(as_number(level) is not None for level in levels):
            return name
    return None


def prices_of(chooser: "Chooser", price: str) -> Prices:
    """The tested prices, if that attribute has numbers."""
    scheme = chooser.data.scheme
    refuse_wordy_price(scheme, price)
    place = scheme.names.index(price)
    values = np.array(list(map(as_number, scheme.levels[price])), float)
    cells = chooser.level_cells()[place]
    known = np.flatnonzero(~np.isnan(cells))
    order = known[np.argsort(values[known], kind="stable")]
    if len(order) < 2:
        raise ArgumentError(
            Argument("price"), f": the tasks of the fit show one {price!r} alone, so that nothing is known of others."
        )
    turns = chooser.turns(place)
    both = np.unique(np.concatenate([values[order], turns])) if len(turns) else values[order]
    return Prices(place, both, both if len(turns) else cells[order], chooser.is_linear(place))


def changes_of(chooser: "Chooser", price: str) -> list[Change]:
    """What is paid for: each level over the first, or one unit more where utility is a straight line."""
    found = []
    for i, (name, levels) in enumerate(chooser.data.scheme.levels.items()):
        cells = chooser.level_cells()[i]
        known = np.flatnonzero(~np.isnan(cells))
        if name in (price, INSIDE) or not len(known):
            continue
        if chooser.is_linear(i):
            first = float(cells[known].min())
            found.append(Change(i, (first + 1.0, first), ("1 more", "")))
            continue
        for level in known[1:]:
            found.append(Change(i, (float(cells[level]), float(cells[known[0]])), (levels[level], levels[known[0]])))
    return found


def compensations(chooser: "Chooser", prices: Prices, changes: list[Change]) -> np.ndarray:
    r"""Price differences that make up for changes of levels, shape (draws, people, changes).

    .. math:: \Delta: \; u_n(x \text{ with } b, m + \Delta / 2) = u_n(x \text{ with } a, m - \Delta / 2),
        \text{ mean over } x

    m is the middle of the tested prices, so that differences up to their whole range are between tested prices, where
    utility is interpolated; where it is linear in the price, the difference is not bounded.
    """
    examples = chooser.examples()
    rows = []
    for change in changes:
        for cell in change.cells:
            for price in prices.cells:
                product = examples.copy()
                product[:, change.attribute], product[:, prices.attribute] = cell, price
                rows.append(product)
    shape = (len(changes), 2, len(prices.cells), len(examples))
    found = []
    for block in chooser.utilities(np.concatenate(rows)):
        u = block.reshape(*block.shape[:2], *shape).mean(axis=-1)
        found.append(_linear(u, prices) if prices.is_linear else _crossing(u[:, :, :, 0], u[:, :, :, 1], prices))
    return np.concatenate(found)


def _linear(u: np.ndarray, prices: Prices) -> np.ndarray:
    """The difference over the slope; infinite for a person who does not mind the price."""
    difference = (u[:, :, :, 0] - u[:, :, :, 1]).mean(axis=-1)
    steps = prices.numbers - prices.numbers.mean()
    slope = (u.mean(axis=3) @ steps) / (steps @ steps)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(slope < 0, -difference / slope, np.sign(difference) * np.inf)
    return np.where(difference == 0.0, 0.0, ratio)


def _crossing(better: np.ndarray, worse: np.ndarray, prices: Prices) -> np.ndarray:
    """Where the line through the differences of utility crosses 0: half way between the first and the last place.

    `better` and `worse` are utilities (..., K) at the tested prices. Without a crossing it is an end of the range.
    """
    at = prices.differences
    middle = prices.numbers[[0, -1]].mean()
    gap = better @ _weights(prices.numbers, middle + at / 2.0) - worse @ _weights(prices.numbers, middle - at / 2.0)
    return 0.5 * (_first_below(gap, at) - _first_below(-gap[..., ::-1], -at[::-1]))


def _weights(numbers: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Linear interpolation between numbers, as a matrix (numbers, places)."""
    return np.stack([np.interp(at, numbers, unit) for unit in np.eye(len(numbers))])


def _first_below(gap: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The smallest place where piecewise linear gaps (..., places) are 0 or less; the last place if they never are."""
    below = gap <= 0.0
    place = np.where(below.any(axis=-1), below.argmax(axis=-1), len(at) - 1)
    before = np.maximum(place - 1, 0)
    high = np.take_along_axis(gap, before[..., None], axis=-1)[..., 0]
    low = np.take_along_axis(gap, place[..., None], axis=-1)[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where((high > 0.0) & (low <= 0.0), high / (high - low), 1.0)
    return at[before] + part * (at[place] - at[before])


def quantiles(values: np.ndarray, probabilities: list[float]) -> np.ndarray:
    """Quantiles over the first axis, of numbers that may be infinite: each is one of them."""
    return np.quantile(values, probabilities, axis=0, method="inverted_cdf")


def weighted_median(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weighted median over people, the second axis: half of the weight lies on either side.

    Examples
    --------
    >>> weighted_median(np.array([[[1.0], [5.0], [np.inf]]]), np.array([1.0, 1.0, 1.0])).tolist()
    [[5.0]]
    """
    order = np.argsort(values, axis=1, kind="stable")
    total = np.cumsum(weights[order], axis=1)
    place = (total >= 0.5 * weights.sum() * (1 - 1e-12)).argmax(axis=1)
    return np.take_along_axis(np.take_along_axis(values, order, axis=1), place[:, None], axis=1)[:, 0]


def _errors(middle: np.ndarray, chain: np.ndarray) -> np.ndarray:
    """Standard errors of posterior medians by the differences between those of the chains."""
    chains = np.unique(chain)
    medians = np.stack([quantiles(middle[chain == c], [0.5])[0] for c in chains])
    with np.errstate(invalid="ignore"):
        return error_between_chains(medians, np.arange(len(chains)))
