"""Willingness to pay: the price difference at which a person is indifferent between two levels of
an attribute."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.experiments.levels import parse_number
from thali._data.experiments.scheme import INSIDE, Scheme
from thali._data.roles import simplify_name
from thali._inference.warn import warn
from thali._labels import shorten, suggest
from thali._posterior.interval import tails_of
from thali.errors import Argument, ArgumentError, DataError, EstimateWarning

from .chooser import Chooser, between_chain_error, check_probability
from .effects import build_respondent_table
from .market import compute_weights

if TYPE_CHECKING:
    import pandas

_PRICES = ("price", "cost", "costs", "fee", "fare")
_UNIT = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")  # as in "Price (EUR)"
_MAX_NUMBERS = 5_000_000  # numbers kept, of all draws, people and levels: with more, fewer draws
_MIN_DRAWS = 40


class Prices(NamedTuple):
    """What the price attribute may be."""

    attribute: int
    numbers: np.ndarray  # (K,) tested prices, increasing
    cells: np.ndarray  # (K,) their cells
    is_linear: bool  # whether utility is a straight line in the price, wherever it goes on

    @property
    def differences(self) -> np.ndarray:
        """Price differences, around the middle of the tested range, between which utility
        differences are lines."""
        ends = 2.0 * (self.numbers - self.numbers[[0, -1]].mean())
        return np.unique(np.concatenate([ends, -ends]))


class Change(NamedTuple):
    """One level of an attribute in place of another."""

    attribute: int
    cells: tuple[float, float]  # of the level, and of the one that it is compared with
    names: tuple[str, str]


def willingness_to_pay(
    chooser: "Chooser",
    price: str,
    each_person: bool,
    people: Any,
    respondent_weights: Any,
    ci: float,
) -> "pandas.DataFrame":
    """A row for each level of each attribute but the first, or for each unit of one that is taken
    as a number."""
    from thali._tables import Table

    ci = check_probability(ci)
    weights = compute_weights(chooser, people, respondent_weights)
    if weights is None:
        raise ArgumentError(
            "New respondents have no individual willingness to pay; set `people='respondents'`."
        )
    prices, changes = prices_of(chooser, price), changes_of(chooser, price)
    if not changes:
        raise ArgumentError(
            Argument("price"),
            f": {price!r} is the only attribute, so there is nothing to pay for; add attributes.",
        )
    names = chooser.data.scheme.names
    columns = ["attribute", "level", "over"]
    named = [(names[change.attribute], *change.names) for change in changes]
    most = _MAX_NUMBERS // max(1, len(weights) * len(changes))
    fewer = chooser.thin(max(most, _MIN_DRAWS))
    attends = None if fewer.attends is None else fewer.attends[..., prices.attribute]
    if attends is not None and attends.all():  # nobody may ignore the price, or nobody does
        attends = None
    found = chooser.compute_once(
        ("compensations", price, most), lambda: compensations(fewer, prices, changes)
    )
    tails = tails_of(ci)
    of_people = found[0] if fewer.is_estimate else _over_draws(found, fewer, prices, [0.5])[0]
    limit = np.inf if prices.is_linear else prices.differences[-1]
    if each_person:
        of_estimate = fewer.is_estimate
        ends = (
            _confidence_set(fewer, prices, changes, ci)
            if of_estimate
            else _over_draws(found, fewer, prices, tails)
        )
        _give(_about_the_price(fewer, prices, weights, ci, ends))
        amounts = {"wtp": of_people, "wtp_low": ends[0], "wtp_high": ends[1]}
        figures = {
            name: np.where(np.isfinite(each), each, np.nan) for name, each in amounts.items()
        }
        figures["at_limit"] = _sides(of_people, limit)
        if attends is not None:
            figures["attends"] = attends.mean(axis=0)[:, None]
        table = build_respondent_table(chooser, columns, named, figures)
        table.attrs["interval"] = ci
        return table
    if chooser.has_individuals:
        chain, own, attending = fewer.chain, weights, weights
        if attends is not None:
            own = weights * attends
            some = own.any(axis=1)
            if not some.any():
                raise DataError(
                    f"No respondent attends to {price!r} in any draw, so willingness to pay is"
                    " undefined."
                )
            found, chain, own, attending = found[some], chain[some], own[some], own.mean(axis=0)
        middle = weighted_quantile(found, own, 0.5)
        value, ends, errors = (
            quantiles(middle, [0.5])[0],
            quantiles(middle, tails),
            _errors(middle, chain),
        )
        low, high = (weighted_quantile(of_people[None], attending, tail)[0] for tail in tails)
        spread = {"respondents_low": low, "respondents_high": high}
    else:
        value, ends, spread = of_people[0], _confidence_set(fewer, prices, changes, ci)[:, 0], {}
        variances = fewer.delta_covariance(
            lambda other: compensations(other, prices, changes)[..., None]
        )
        errors = np.where(np.abs(value) < limit, np.sqrt(variances[0, :, 0, 0]), np.nan)
    table = Table(named, columns=columns).assign(
        wtp=value,
        wtp_low=ends[0],
        wtp_high=ends[1],
        wtp_se=errors,
        **spread,
        at_limit=np.abs(value) >= limit,
    )
    notes = _about_the_price(fewer, prices, weights, ci, ends)
    notes += _about_amounts(table, prices, limit, is_established=not notes)
    _give(notes)
    table.attrs.update(chooser.interval_attrs(ci), price=price, notes=tuple(notes))
    if attends is not None:
        table.attrs["attends"] = float(attends.mean(axis=0) @ weights / weights.sum())
    return table


def _sides(amounts: np.ndarray, limit: float) -> np.ndarray:
    """Beyond which end amounts lie: "above", "below", or "", as of who has none."""
    return np.where(amounts >= limit, "above", np.where(amounts <= -limit, "below", ""))


def _over_draws(
    values: np.ndarray, chooser: "Chooser", prices: Prices, probabilities: Sequence[float]
) -> np.ndarray:
    """Quantiles (probabilities, people, changes) over the draws in which the person attends to the
    price."""
    if chooser.attends is None:
        return quantiles(values, probabilities)
    of_people, own = values.swapaxes(0, 1), chooser.attends[..., prices.attribute].T.astype(float)
    return np.stack([weighted_quantile(of_people, own, each) for each in probabilities])


def _give(notes: list[str]) -> None:
    """Warnings of what the amounts cannot tell."""
    for note in notes:
        warn(EstimateWarning(note))


def refuse_wordy_price(scheme: "Scheme", price: str) -> None:
    """Refuse a price that is no attribute, or whose levels are no amounts."""
    if price not in scheme.levels or price == INSIDE:
        raise ArgumentError(
            Argument("price"),
            f": there is no attribute {price!r}.{suggest(str(price), scheme.names)}",
        )
    for level in scheme.levels[price]:
        if parse_number(level) is None:
            raise ArgumentError(
                Argument("price"),
                f": the level {level!r} of {price!r} is not a number; name an attribute whose"
                " levels are amounts.",
            )


def price_among(scheme: "Scheme") -> str | None:
    """The attribute that is called a price or a cost and has amounts as levels, if it is one of
    several."""
    if all(_is_called_price(name) for name in scheme.names if name != INSIDE):
        return None
    for name, levels in scheme.levels.items():
        if _is_called_price(name) and all(parse_number(level) is not None for level in levels):
            return name
    return None


def _is_called_price(name: str) -> bool:
    """Whether an attribute is called so, whatever its unit."""
    return simplify_name(_UNIT.sub("", name)) in _PRICES


def prices_of(chooser: "Chooser", price: str) -> Prices:
    """The tested prices, if that attribute has numbers."""
    scheme = chooser.data.scheme
    refuse_wordy_price(scheme, price)
    place = scheme.names.index(price)
    values = np.array(list(map(parse_number, scheme.levels[price])), float)
    cells = chooser.level_cells()[place]
    known = np.flatnonzero(~np.isnan(cells))
    order = known[np.argsort(values[known], kind="stable")]
    if len(order) < 2:
        raise ArgumentError(
            Argument("price"),
            f": the fitted tasks show only one level of {price!r}, so its effect is unknown; use"
            " an attribute that varies.",
        )
    turns = chooser.slope_changes(place)
    both = np.unique(np.concatenate([values[order], turns])) if len(turns) else values[order]
    return Prices(place, both, both if len(turns) else cells[order], chooser.is_linear(place))


def changes_of(chooser: "Chooser", price: str) -> list[Change]:
    """What is paid for: each level over the first, or one unit more where utility is a straight
    line."""
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
            found.append(
                Change(
                    i,
                    (float(cells[level]), float(cells[known[0]])),
                    (levels[level], levels[known[0]]),
                )
            )
    return found


def compensations(chooser: "Chooser", prices: Prices, changes: list[Change]) -> np.ndarray:
    r"""Price differences that make up for changes of levels, shape (draws, people, changes).

    .. math::

        \Delta: \; u_n(x \text{ with } b, m + \Delta / 2) = u_n(x \text{ with } a, m - \Delta / 2),
        \text{ mean over } x

    m is the middle of the tested prices, so that differences up to their whole range are between
    tested prices, where utility is interpolated; where it is linear in the price, the difference is
    not bounded.
    """
    found = []
    for u in _utilities_of(chooser, prices, changes):
        found.append(
            _linear(u, prices)
            if prices.is_linear
            else _crossing(u[:, :, :, 0], u[:, :, :, 1], prices)
        )
    return np.concatenate(found)


def _utilities_of(
    chooser: "Chooser", prices: Prices, changes: list[Change]
) -> Iterator[np.ndarray]:
    """Utilities (draws, people, changes, level and other, prices), mean over products, some draws
    at a time."""
    examples = chooser.sample_products()
    rows = []
    for change in changes:
        for cell in change.cells:
            for price in prices.cells:
                product = examples.copy()
                product[:, change.attribute], product[:, prices.attribute] = cell, price
                rows.append(product)
    shape = (len(changes), 2, len(prices.cells), len(examples))
    for block in chooser.utilities(np.concatenate(rows)):
        yield block.reshape(*block.shape[:2], *shape).mean(axis=-1)


def _line(u: np.ndarray, prices: Prices) -> tuple[np.ndarray, np.ndarray]:
    """The difference of utility (..., changes) at equal prices, and its slope in their
    difference."""
    steps = prices.numbers - prices.numbers.mean()
    return (u[..., 0, :] - u[..., 1, :]).mean(axis=-1), (u.mean(axis=-2) @ steps) / (steps @ steps)


def _linear(u: np.ndarray, prices: Prices) -> np.ndarray:
    """The difference over the slope; infinite for a person who does not mind the price."""
    difference, slope = _line(u, prices)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(slope < 0, -difference / slope, np.sign(difference) * np.inf)
    return np.where(difference == 0.0, 0.0, ratio)


def _crossing(better: np.ndarray, worse: np.ndarray, prices: Prices) -> np.ndarray:
    """Where the line through utilities `better` less `worse` (..., K) of the tested prices crosses
    0; else an end."""
    at, gap = prices.differences, _gaps(better, worse, prices)
    return 0.5 * (_first_below(gap, at) - _first_below(-gap[..., ::-1], -at[::-1]))


def _gaps(better: np.ndarray, worse: np.ndarray, prices: Prices) -> np.ndarray:
    """Differences of utility (..., D), where the better one is dearer by each of the D differences
    of prices."""
    at, middle = prices.differences, prices.numbers[[0, -1]].mean()
    return better @ _weights(prices.numbers, middle + at / 2.0) - worse @ _weights(
        prices.numbers, middle - at / 2.0
    )


def _confidence_set(
    chooser: "Chooser", prices: Prices, changes: list[Change], ci: float
) -> np.ndarray:
    r"""The ends of the set of amounts that an estimate does not reject, shape (2, people,
    changes)."""
    # .. math:: \{\Delta: g(\Delta)^2 \le z^2 \operatorname{var} g(\Delta)\}, \qquad
    #     g(\Delta) = u(x \text{ with } b, m + \Delta / 2) - u(x \text{ with } a, m - \Delta / 2)
    #
    # Where utility is linear in the price, this is Fieller's set. It has no end on a side on which
    # it leaves the range of tested prices, and none at all if it is not an interval, or demand
    # rises with the price.
    from scipy.special import ndtri

    z = ndtri((1.0 + ci) / 2.0)
    at = np.array([0.0, np.ptp(prices.numbers)]) if prices.is_linear else prices.differences

    def gaps(other: "Chooser") -> np.ndarray:
        found = []
        for u in _utilities_of(other, prices, changes):
            if prices.is_linear:
                difference, slope = _line(u, prices)
                found.append(difference[..., None] + slope[..., None] * at)
            else:
                found.append(_gaps(u[:, :, :, 0], u[:, :, :, 1], prices))
        return np.concatenate(found)

    gap, covariance = gaps(chooser.thin(1))[0], chooser.delta_covariance(gaps)
    variance = np.diagonal(covariance, axis1=-2, axis2=-1)
    rise, between = np.diff(gap), np.diagonal(covariance, 1, -2, -1)
    # a s^2 + 2 b s + c <= 0 from place to place, where s goes from 0 to 1
    a = rise**2 - z**2 * (variance[..., 1:] + variance[..., :-1] - 2.0 * between)
    b = gap[..., :-1] * rise - z**2 * (between - variance[..., :-1])
    c = gap**2 - z**2 * variance
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(b**2 - a * c[..., :-1])
        roots = np.stack([(-b - root) / a, (-b + root) / a], axis=-1)
    if prices.is_linear:
        is_bounded = ((a > 0.0) & (rise < 0.0))[..., 0]
        ends = at[1] * np.moveaxis(np.sort(roots[..., 0, :], axis=-1), -1, 0)
        return np.where(is_bounded, ends, np.array([-np.inf, np.inf])[:, None, None])
    is_between = (roots >= 0.0) & (roots <= 1.0)
    crossings = at[:-1, None] + roots * np.diff(at)[:, None]
    low = np.where(is_between, crossings, np.inf).min(axis=(-2, -1))
    low = np.minimum(low, np.where(c <= 0.0, at, at[-1]).min(axis=-1))
    high = np.where(is_between, crossings, -np.inf).max(axis=(-2, -1))
    high = np.maximum(high, np.where(c <= 0.0, at, at[0]).max(axis=-1))
    low = np.where((c[..., 0] <= 0.0) | (gap[..., 0] < 0.0), -np.inf, low)
    high = np.where((c[..., -1] <= 0.0) | (gap[..., -1] > 0.0), np.inf, high)
    return np.stack([low, high])


def _weights(numbers: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Linear interpolation between numbers, as a matrix (numbers, places)."""
    return np.stack([np.interp(at, numbers, unit) for unit in np.eye(len(numbers))])


def _first_below(gap: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The smallest place where piecewise linear gaps (..., places) are 0 or less; the last place if
    they never are."""
    below = gap <= 0.0
    place = np.where(below.any(axis=-1), below.argmax(axis=-1), len(at) - 1)
    before = np.maximum(place - 1, 0)
    high = np.take_along_axis(gap, before[..., None], axis=-1)[..., 0]
    low = np.take_along_axis(gap, place[..., None], axis=-1)[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where((high > 0.0) & (low <= 0.0), high / (high - low), 1.0)
    return at[before] + part * (at[place] - at[before])


def quantiles(values: np.ndarray, probabilities: Sequence[float]) -> np.ndarray:
    """Quantiles over the first axis of numbers that may be infinite: those of x are minus those of
    -x."""
    ordered, n = np.sort(values, axis=0), len(values)
    found = []
    for place in np.multiply(n, probabilities):
        below = round(place)
        if abs(place - below) < 1e-9 * n and 0 < below < n:
            found.append(_half_way(ordered[below - 1], ordered[below]))
        else:
            found.append(ordered[min(int(place), n - 1)])
    return np.stack(found)


def weighted_quantile(values: np.ndarray, weights: np.ndarray, probability: float) -> np.ndarray:
    """The weighted quantile over people, the second axis; like `quantiles` where weights are equal.

    Weights (people,), or (draws, people); NaN in a draw without any. Where one person has the last
    of the lower part and another one the first of the upper part, it is half way between the two:
    their mean, or the one that is finite.

    Examples
    --------
    >>> weighted_quantile(
    ...     np.array([[[1.0], [5.0], [np.inf]]]), np.array([1.0, 1.0, 1.0]), 0.5
    ... ).tolist()
    [[5.0]]
    >>> weighted_quantile(np.array([[[1.0], [5.0]]]), np.array([1.0, 1.0]), 0.5).tolist()
    [[3.0]]
    """
    weights = np.broadcast_to(weights, values.shape[:2])
    weighs = (weights > 0).any(axis=0)
    values, weights = values[:, weighs], weights[:, weighs]
    values = np.where(weights[..., None] > 0, values, np.inf)
    order = np.argsort(values, axis=1, kind="stable")
    total = np.cumsum(np.take_along_axis(weights[..., None], order, axis=1), axis=1)
    part = probability * weights.sum(axis=1)[:, None, None]
    ordered = np.take_along_axis(values, order, axis=1)
    low = np.argmax(total >= part * (1 - 1e-12), axis=1)[:, None]
    high = np.argmax(total > part * (1 + 1e-12), axis=1)[:, None]
    found = _half_way(
        np.take_along_axis(ordered, low, axis=1), np.take_along_axis(ordered, high, axis=1)
    )[:, 0]
    return np.where(np.any(weights, axis=1)[:, None], found, np.nan)


def _half_way(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The mean of two numbers; the finite one if one is infinite, and 0 between the two
    infinities."""
    with np.errstate(invalid="ignore"):
        mean = np.where(low == high, low, 0.5 * (low + high))
    mean = np.where(np.isneginf(low) & np.isfinite(high), high, mean)
    mean = np.where(np.isposinf(high) & np.isfinite(low), low, mean)
    return np.where(np.isneginf(low) & np.isposinf(high), 0.0, mean)


def _about_the_price(
    chooser: "Chooser", prices: Prices, weights: np.ndarray, ci: float, amounts: np.ndarray
) -> list[str]:
    """A sentence where the data do not tell that utility falls with the price, on average over
    people."""
    from scipy.special import ndtri

    examples = chooser.sample_products()
    cheap, dear = examples.copy(), examples.copy()
    cheap[:, prices.attribute], dear[:, prices.attribute] = prices.cells[[0, -1]]

    def rise(other: "Chooser") -> np.ndarray:
        found = []
        for u in other.utilities(np.concatenate([dear, cheap])):
            of_people = u[..., : len(examples)].mean(axis=-1) - u[..., len(examples) :].mean(
                axis=-1
            )
            share = weights / weights.sum() if u.shape[1] == len(weights) else np.ones(1)
            found.append(of_people @ share)
        return np.concatenate(found)[:, None]

    drawn = rise(chooser)[:, 0]
    if chooser.is_estimate:
        mean, error = drawn[0], np.sqrt(chooser.delta_covariance(rise)[0, 0])
        is_established = abs(mean) > ndtri((1.0 + ci) / 2.0) * error
    else:
        mean, error = drawn.mean(), drawn.std()
        low, high = quantiles(drawn, tails_of(ci))
        is_established = low > 0.0 or high < 0.0
    name = chooser.data.scheme.names[prices.attribute]
    z = f"(z = {mean / error if error > 0.0 else 0.0:z.1f})"
    if not is_established:
        is_endless = np.isinf(amounts).any(axis=0).all()
        then = "amounts have no finite interval" if is_endless else "amounts are very uncertain"
        return [f"The effect of {name!r} is not clearly different from 0 {z}, so the {then}."]
    if mean > 0.0:
        return [
            f"Demand rises with {name!r} {z}, so amounts of money are meaningless; check how the"
            " column was read."
        ]
    return []


def _about_amounts(
    table: "pandas.DataFrame", prices: Prices, limit: float, is_established: bool
) -> list[str]:
    """Sentences about amounts that the data do not bound, or that lie beyond the tested prices."""
    names = [f"{row['attribute']} {paid_for(row)}" for row in table.to_dict("records")]
    amounts, tested = (
        table[["wtp", "wtp_low", "wtp_high"]].to_numpy(float),
        float(np.ptp(prices.numbers)),
    )
    notes = []
    is_endless = np.isinf(amounts).any(axis=1)
    is_beyond = (np.abs(amounts[:, 0]) > tested) & np.isfinite(amounts[:, 0])
    if is_established and is_endless.any():
        named = f"the amount for {_some_of(names, is_endless)}"
        within = "" if prices.is_linear else f" within the range of tested prices ({tested:g})"
        notes.append(f"The data set no bound on {named}{within}.")
    if is_beyond.any():
        notes.append(
            f"The amount for {_some_of(names, is_beyond)} exceeds every difference between tested"
            f" prices ({tested:g}), so it is extrapolated."
        )
    if (np.isfinite(amounts) & (np.abs(amounts) >= limit)).any():
        notes.append(
            f"Amounts of {tested:g}, the range of tested prices, are lower bounds: the true"
            " amounts may be larger."
        )
    return notes


def paid_for(row: Mapping[str, Any], than: str = "over") -> str:
    """The levels of a row of the table, in words."""
    return f"{row['level']} {than} {row['over']}" if row["over"] else str(row["level"])


def _some_of(names: list[str], chosen: Any) -> str:
    """The names that are chosen, quoted."""
    return shorten(list(compress(names, chosen)), 3)


def _errors(middle: np.ndarray, chain: np.ndarray) -> np.ndarray:
    """Standard errors of posterior medians by the differences between those of the chains."""
    chains = np.unique(chain)
    medians = np.stack([quantiles(middle[chain == c], [0.5])[0] for c in chains])
    with np.errstate(invalid="ignore"):
        return between_chain_error(medians, np.arange(len(chains)))
