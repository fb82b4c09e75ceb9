"""Table of willingness to pay: the price difference that offsets a change of one level."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.column_roles import list_name_words, simplify_name
from thali._data.experiments.attribute_levels import parse_number
from thali._data.experiments.product_encoding import INSIDE, Scheme
from thali._inference.numerics.weight_shares import compute_shares
from thali._inference.user_warnings import warn
from thali._labels import shorten, suggest
from thali._posterior.posterior_interval import check_interval, interval_tails
from thali.errors import Argument, ArgumentError, EstimateWarning

from .choice_draws import Chooser, standard_error
from .level_effects import build_respondent_table
from .people_weights import average_over_people, draw_table_weights

if TYPE_CHECKING:
    import pandas

    from thali._inference.random_seeds import RandomSeed

    from .people_weights import PeopleWeights

_PRICES = ("price", "cost", "costs", "fee", "fare")
_UNIT = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")  # as in "Price (EUR)"
_MAX_AMOUNTS = 5_000_000  # amounts over all draws, respondents and levels; reduces the draws
_MIN_DRAWS = 40
_LEAST_LEVEL = 1e-9  # of a quantile: the levels 0 and 1 have no respondent
_HALVES = np.array([-0.5, 0.5])  # two prices have the mean and the range of all tested ones


class TestedPrices(NamedTuple):
    """Prices between which utility is linear, and whether it is linear in all of them."""

    attribute: int
    numbers: np.ndarray  # (K,) prices, increasing
    cells: np.ndarray  # (K,) their cells
    is_linear: bool  # whether utility is linear in the price, at any number

    @property
    def differences(self) -> np.ndarray:
        """Price differences between which utility differences are linear, shape (2 K,)."""
        doubled_deviations = 2.0 * (self.numbers - self.numbers[[0, -1]].mean())
        return np.unique(np.concatenate([doubled_deviations, -doubled_deviations]))

    @property
    def limit(self) -> float:
        """Largest amount within the tested prices; infinite if utility is linear in the price."""
        if self.is_linear:
            return np.inf
        return self.differences[-1]


class LevelChange(NamedTuple):
    """One level of an attribute in exchange for another, to be paid for."""

    attribute: int
    cells: tuple[float, float]  # of the new level, and of the level that it replaces
    names: tuple[str, str]


def tabulate_willingness_to_pay(
    chooser: "Chooser",
    price: str,
    each_person: bool,
    people: Any,
    respondent_weights: Any,
    ci: float,
    random_seed: "RandomSeed",
) -> "pandas.DataFrame":
    """Tabulate willingness to pay for each level over the first.

    One row per unit of a numeric attribute.
    """
    from thali._exportable_table import Table

    ci = check_interval(ci)
    prices = read_tested_prices(chooser, price)
    changes = list_level_changes(chooser, price)
    attributes = chooser.data.scheme.names
    label_columns = ["attribute", "level", "over"]
    row_labels = [(attributes[change.attribute], *change.names) for change in changes]
    max_draws = _MAX_AMOUNTS // max(1, len(chooser.data.respondents) * len(changes))
    thinned_chooser = chooser.thin(max(max_draws, _MIN_DRAWS))
    people_weights = draw_table_weights(thinned_chooser, people, respondent_weights, random_seed)
    weights = people_weights.plain
    amount_draws = chooser.compute_once(
        ("compensations", price, max_draws),
        lambda: compute_compensations(thinned_chooser, prices, changes),
    )
    tails = interval_tails(ci)
    by_respondent = amount_draws[0]
    if not thinned_chooser.is_estimate:
        by_respondent = quantiles(amount_draws, [0.5])[0]
    if each_person:
        if thinned_chooser.is_estimate:
            interval_limits = _compute_confidence_set(thinned_chooser, prices, changes, ci)
        else:
            interval_limits = quantiles(amount_draws, tails)
        _warn_notes(_describe_price_effect(thinned_chooser, prices, weights, ci, interval_limits))
        individual_columns = _build_individual_columns(by_respondent, interval_limits, prices.limit)
        table = build_respondent_table(chooser, label_columns, row_labels, individual_columns)
        table.attrs["interval"] = ci
        return table
    if chooser.has_individuals:
        individual_columns = _summarize_medians(
            amount_draws, people_weights, thinned_chooser.chain, tails
        )
        low, high = (weighted_quantile(by_respondent[None], weights, tail)[0] for tail in tails)
        individual_columns |= {"respondents_low": low, "respondents_high": high}
    else:
        individual_columns = _summarize_estimate(
            by_respondent[0], thinned_chooser, prices, changes, ci
        )
    table = Table(row_labels, columns=label_columns).assign(
        **individual_columns, at_limit=np.abs(individual_columns["wtp"]) >= prices.limit
    )
    interval_limits = np.stack([individual_columns["wtp_low"], individual_columns["wtp_high"]])
    notes = _describe_price_effect(thinned_chooser, prices, weights, ci, interval_limits)
    notes += _describe_amounts(table, prices, is_established=not notes)
    _warn_notes(notes)
    table.attrs.update(
        chooser.interval_attrs(ci), price=price, notes=tuple(notes), whose=people_weights.whose
    )
    return table


def _summarize_estimate(
    amounts: np.ndarray,
    chooser: "Chooser",
    prices: TestedPrices,
    changes: list[LevelChange],
    ci: float,
) -> dict[str, np.ndarray]:
    """Return amounts, interval ends and standard errors of a maximum-likelihood fit."""
    # Errors are by the delta method, and NaN for an amount at the limit.
    low, high = _compute_confidence_set(chooser, prices, changes, ci)[:, 0]
    variances = chooser.delta_covariance(
        lambda chooser_at: compute_compensations(chooser_at, prices, changes)[..., None]
    )
    std_errors = np.where(np.abs(amounts) < prices.limit, np.sqrt(variances[0, :, 0, 0]), np.nan)
    return {"wtp": amounts, "wtp_low": low, "wtp_high": high, "wtp_se": std_errors}


def _build_individual_columns(
    by_respondent: np.ndarray, interval_limits: np.ndarray, limit: float
) -> dict[str, np.ndarray]:
    """Return columns of amounts per respondent (NaN if infinite), and whether at the limit."""
    amounts_by_name = {
        "wtp": by_respondent,
        "wtp_low": interval_limits[0],
        "wtp_high": interval_limits[1],
    }
    finite_amounts = {
        name: np.where(np.isfinite(amount), amount, np.nan)
        for name, amount in amounts_by_name.items()
    }
    finite_amounts["at_limit"] = np.select(
        [by_respondent >= limit, by_respondent <= -limit], ["above", "below"], ""
    )
    return finite_amounts


def _summarize_medians(
    amount_draws: np.ndarray, weights: "PeopleWeights", chain: np.ndarray, tails: Sequence[float]
) -> dict[str, np.ndarray]:
    """Return the median respondent's amount, its interval and error, by column."""
    median_draws = weighted_quantile(amount_draws, weights.plain, 0.5)
    (median,) = quantiles(median_draws, [0.5])
    low, high = quantiles(_draw_population_medians(amount_draws, median, weights), tails)
    median_errors = _compute_median_errors(median_draws, chain)
    return {"wtp": median, "wtp_low": low, "wtp_high": high, "wtp_se": median_errors}


def _draw_population_medians(
    amount_draws: np.ndarray, median: np.ndarray, weights: "PeopleWeights"
) -> np.ndarray:
    """Return draws of the median amount in the population, (draws, changes)."""
    # A resampled respondent counts with the probability that the amount is below the median. If
    # drawn amounts were resampled, their uncertainty would count twice: the draws of respondents
    # follow the normal distribution of tastes, which says more on a median than the respondents do.
    below = (amount_draws < median) + 0.5 * (amount_draws == median)
    probability_below = below.mean(axis=0)
    mean_shares, drawn_shares = compute_shares(weights.plain), compute_shares(weights.drawn)
    excess = (drawn_shares - mean_shares) @ probability_below
    quantile_level = np.clip(0.5 - excess, _LEAST_LEVEL, 1.0 - _LEAST_LEVEL)
    return weighted_quantile(amount_draws, weights.plain, quantile_level[..., None, :])


def _warn_notes(notes: list[str]) -> None:
    """Issue the notes of a willingness-to-pay table as warnings."""
    for note in notes:
        warn(EstimateWarning(note))


def refuse_nonnumeric_price(scheme: "Scheme", price: str) -> None:
    """Raise ArgumentError unless the price is an attribute with numeric levels."""
    if price not in scheme.levels or price == INSIDE:
        raise ArgumentError(
            Argument("price"),
            f": there is no attribute {price!r}.{suggest(str(price), scheme.names)}",
        )
    for level in scheme.levels[price]:
        if parse_number(level) is None:
            raise ArgumentError(
                Argument("price"),
                f": the level {level!r} of {price!r} is not a number; choose an attribute whose"
                " levels are amounts.",
            )


def find_price_attribute(scheme: "Scheme") -> str | None:
    """Return the numeric attribute whose name means price; None without.

    It is the first that is called price, else the only one whose name ends so ("Att 3 - Price").
    None if all attributes have such a name.
    """
    if all(_ends_with_price(attribute) for attribute in scheme.names if attribute != INSIDE):
        return None
    prices = [
        attribute
        for attribute, levels in scheme.levels.items()
        if _ends_with_price(attribute) and all(parse_number(level) is not None for level in levels)
    ]
    for attribute in prices:
        if simplify_name(_UNIT.sub("", attribute)) in _PRICES or len(prices) == 1:
            return attribute
    return None


def _ends_with_price(name: str) -> bool:
    """Return whether the last word of a column name means price or cost, ignoring its unit."""
    words = list_name_words(_UNIT.sub("", name))
    return bool(words) and words[-1] in _PRICES


def read_tested_prices(chooser: "Chooser", price: str) -> TestedPrices:
    """Return the prices between which utility is linear: two if it is linear in all of them."""
    scheme = chooser.data.scheme
    refuse_nonnumeric_price(scheme, price)
    attribute_index = scheme.names.index(price)
    level_numbers = np.array(list(map(parse_number, scheme.levels[price])), float)
    price_cells = chooser.level_cells()[attribute_index]
    known_levels = np.flatnonzero(~np.isnan(price_cells))
    level_order = known_levels[np.argsort(level_numbers[known_levels], kind="stable")]
    if len(level_order) < 2:
        raise ArgumentError(
            Argument("price"),
            f": the fitted tasks show only one level of {price!r}, so its effect is unknown; use"
            " an attribute that varies.",
        )
    sorted_prices = level_numbers[level_order]
    price_cells = price_cells[level_order]
    slope_changes = chooser.slope_changes(attribute_index)
    is_linear = chooser.is_linear(attribute_index)
    if is_linear:
        price_cells = sorted_prices = sorted_prices.mean() + np.ptp(sorted_prices) * _HALVES
    elif len(slope_changes):
        end_prices = sorted_prices[[0, -1]]
        price_cells = sorted_prices = np.unique(np.concatenate([end_prices, slope_changes]))
    return TestedPrices(attribute_index, sorted_prices, price_cells, is_linear)


def list_level_changes(chooser: "Chooser", price: str) -> list[LevelChange]:
    """List level changes to be paid for: levels over the first, or one unit."""
    changes = []
    for i, (attribute, levels) in enumerate(chooser.data.scheme.levels.items()):
        level_cells = chooser.level_cells()[i]
        known_levels = np.flatnonzero(~np.isnan(level_cells))
        if attribute in (price, INSIDE) or not len(known_levels):
            continue
        if chooser.is_linear(i):
            lowest_cell = float(level_cells[known_levels].min())
            changes.append(LevelChange(i, (lowest_cell + 1.0, lowest_cell), ("1 more", "")))
            continue
        reference_level, *other_levels = known_levels
        for level in other_levels:
            change_cells = float(level_cells[level]), float(level_cells[reference_level])
            changes.append(LevelChange(i, change_cells, (levels[level], levels[reference_level])))
    if not changes:
        raise ArgumentError(
            Argument("price"),
            f": {price!r} is the only attribute, so there is nothing to pay for; add attributes.",
        )
    return changes


def compute_compensations(
    chooser: "Chooser", prices: TestedPrices, changes: list[LevelChange]
) -> np.ndarray:
    r"""Return price differences that offset level changes, (draws, people, changes).

    .. math::

        \Delta: \; u_n(x \text{ with } b, m + \Delta / 2) = u_n(x \text{ with } a, m - \Delta / 2),
        \text{ mean over } x

    m is the middle of the tested prices, so differences up to their complete range are between
    tested prices, where utility is interpolated. If utility is linear in the price, the difference
    is not bounded.
    """
    amount_blocks = []
    for u in _iterate_utilities(chooser, prices, changes):
        if prices.is_linear:
            amount_blocks.append(_compute_linear_compensation(u, prices))
        else:
            amount_blocks.append(_find_crossing(u[:, :, :, 0], u[:, :, :, 1], prices))
    return np.concatenate(amount_blocks)


def _iterate_utilities(
    chooser: "Chooser", prices: TestedPrices, changes: list[LevelChange]
) -> Iterator[np.ndarray]:
    """Yield utilities of both levels at each tested price, by blocks of draws."""
    # The axis of length 2 is the new and the replaced level; means are over products.
    examples = chooser.sample_products()
    product_blocks = []
    for change in changes:
        for cell in change.cells:
            for price in prices.cells:
                changed_examples = examples.copy()
                changed_examples[:, change.attribute], changed_examples[:, prices.attribute] = (
                    cell,
                    price,
                )
                product_blocks.append(changed_examples)
    utility_shape = (len(changes), 2, len(prices.cells), len(examples))
    for utility_block in chooser.utilities(np.concatenate(product_blocks)):
        yield utility_block.reshape(*utility_block.shape[:2], *utility_shape).mean(axis=-1)


def _fit_line(u: np.ndarray, prices: TestedPrices) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean utility difference of two levels, and the slope by price."""
    # The slope is with respect to the difference of the prices.
    centred_prices = prices.numbers - prices.numbers.mean()
    return (u[..., 0, :] - u[..., 1, :]).mean(axis=-1), (u.mean(axis=-2) @ centred_prices) / (
        centred_prices @ centred_prices
    )


def _compute_linear_compensation(u: np.ndarray, prices: TestedPrices) -> np.ndarray:
    """Return the price difference that offsets a utility difference, by the slope."""
    intercept, slope = _fit_line(u, prices)
    with np.errstate(divide="ignore", invalid="ignore"):
        price_difference = np.where(slope < 0, -intercept / slope, np.sign(intercept) * np.inf)
    return np.where(intercept == 0.0, 0.0, price_difference)


def _find_crossing(better: np.ndarray, worse: np.ndarray, prices: TestedPrices) -> np.ndarray:
    """Return the price difference at which `better` and `worse` are equal, or an end."""
    price_differences = prices.differences
    utility_gap = _utility_gaps(better, worse, prices)
    return 0.5 * (
        _find_first_below(utility_gap, price_differences)
        - _find_first_below(-utility_gap[..., ::-1], -price_differences[::-1])
    )


def _utility_gaps(better: np.ndarray, worse: np.ndarray, prices: TestedPrices) -> np.ndarray:
    """Return utility differences if the better level costs more by each amount."""
    # The better level is dearer by each of the D differences of prices.
    price_differences = prices.differences
    middle_price = prices.numbers[[0, -1]].mean()
    return better @ _build_interpolation_weights(
        prices.numbers, middle_price + price_differences / 2.0
    ) - worse @ _build_interpolation_weights(prices.numbers, middle_price - price_differences / 2.0)


def _compute_confidence_set(
    chooser: "Chooser", prices: TestedPrices, changes: list[LevelChange], ci: float
) -> np.ndarray:
    r"""Return both ends of the confidence set of each amount (Fieller)."""
    # .. math:: \{\Delta: g(\Delta)^2 \le z^2 \operatorname{var} g(\Delta)\}, \qquad
    #     g(\Delta) = u(x \text{ with } b, m + \Delta / 2) - u(x \text{ with } a, m - \Delta / 2)
    #
    # If utility is linear in the price, this is Fieller's set. It has no end on a side where it
    # leaves the range of tested prices, and no ends if it is not an interval, or if demand rises
    # with the price.
    z = chooser.interval_half_width(ci)
    price_differences = prices.differences
    if prices.is_linear:
        price_differences = np.array([0.0, np.ptp(prices.numbers)])

    def compute_utility_gaps(chooser_at: "Chooser") -> np.ndarray:
        """Return utility differences at each price difference, for a chooser."""
        gap_blocks = []
        for u in _iterate_utilities(chooser_at, prices, changes):
            if prices.is_linear:
                intercept, slope = _fit_line(u, prices)
                gap_blocks.append(intercept[..., None] + slope[..., None] * price_differences)
            else:
                gap_blocks.append(_utility_gaps(u[:, :, :, 0], u[:, :, :, 1], prices))
        return np.concatenate(gap_blocks)

    utility_gap = compute_utility_gaps(chooser.thin(1))[0]
    covariance = chooser.delta_covariance(compute_utility_gaps)
    variance = np.diagonal(covariance, axis1=-2, axis2=-1)
    gap_steps = np.diff(utility_gap)
    neighbour_covariance = np.diagonal(covariance, 1, -2, -1)
    # a s^2 + 2 b s + c <= 0 between neighbouring differences, s from 0 to 1
    a = gap_steps**2 - z**2 * (variance[..., 1:] + variance[..., :-1] - 2.0 * neighbour_covariance)
    b = utility_gap[..., :-1] * gap_steps - z**2 * (neighbour_covariance - variance[..., :-1])
    c = utility_gap**2 - z**2 * variance
    with np.errstate(divide="ignore", invalid="ignore"):
        discriminant_root = np.sqrt(b**2 - a * c[..., :-1])
        roots = np.stack([(-b - discriminant_root) / a, (-b + discriminant_root) / a], axis=-1)
    if prices.is_linear:
        is_bounded = ((a > 0.0) & (gap_steps < 0.0))[..., 0]
        fieller_limits = price_differences[1] * np.moveaxis(
            np.sort(roots[..., 0, :], axis=-1), -1, 0
        )
        return np.where(is_bounded, fieller_limits, np.array([-np.inf, np.inf])[:, None, None])
    is_between = (roots >= 0.0) & (roots <= 1.0)
    crossings = price_differences[:-1, None] + roots * np.diff(price_differences)[:, None]
    low_limit = np.where(is_between, crossings, np.inf).min(axis=(-2, -1))
    low_limit = np.minimum(
        low_limit, np.where(c <= 0.0, price_differences, price_differences[-1]).min(axis=-1)
    )
    high_limit = np.where(is_between, crossings, -np.inf).max(axis=(-2, -1))
    high_limit = np.maximum(
        high_limit, np.where(c <= 0.0, price_differences, price_differences[0]).max(axis=-1)
    )
    low_limit = np.where((c[..., 0] <= 0.0) | (utility_gap[..., 0] < 0.0), -np.inf, low_limit)
    high_limit = np.where((c[..., -1] <= 0.0) | (utility_gap[..., -1] > 0.0), np.inf, high_limit)
    return np.stack([low_limit, high_limit])


def _build_interpolation_weights(numbers: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the matrix (numbers, points) that interpolates linearly between numbers."""
    return np.stack([np.interp(points, numbers, unit) for unit in np.eye(len(numbers))])


def _find_first_below(gap: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the smallest point where piecewise linear gaps are <= 0."""
    # The last point if there is none.
    is_below = gap <= 0.0
    first_index = np.where(is_below.any(axis=-1), is_below.argmax(axis=-1), len(points) - 1)
    index_before = np.maximum(first_index - 1, 0)
    gap_before = np.take_along_axis(gap, index_before[..., None], axis=-1)[..., 0]
    gap_at_index = np.take_along_axis(gap, first_index[..., None], axis=-1)[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        fraction = np.where(
            (gap_before > 0.0) & (gap_at_index <= 0.0),
            gap_before / (gap_before - gap_at_index),
            1.0,
        )
    return points[index_before] + fraction * (points[first_index] - points[index_before])


def quantiles(values: np.ndarray, probabilities: Sequence[float]) -> np.ndarray:
    """Return quantiles over the first axis, of numbers that may be infinite.

    Quantiles of x are minus the quantiles of -x.
    """
    weights = np.ones(len(values))
    return np.concatenate(
        [weighted_quantile(values[None], weights, probability) for probability in probabilities]
    )


def weighted_quantile(
    values: np.ndarray, weights: np.ndarray, probability: float | np.ndarray
) -> np.ndarray:
    """Return the weighted quantile over respondents (second axis).

    `weights` are (respondents,) or (draws, respondents); a probability for each draw is
    (draws, 1, ...).
    Equal to `quantiles` for equal weights. If the quantile falls between two respondents, it is the
    mean of their values, or the finite one.

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
    has_weight = weights.any(axis=0)
    values = values[:, has_weight]
    weights = weights[:, has_weight]
    weights = weights.reshape(*weights.shape, *(1,) * (values.ndim - 2))
    value_order = np.argsort(values, axis=1, kind="stable")
    cumulative_weights = np.cumsum(np.take_along_axis(weights, value_order, axis=1), axis=1)
    target_weight = probability * weights.sum(axis=1, keepdims=True)
    sorted_values = np.take_along_axis(values, value_order, axis=1)
    low_index = np.argmax(cumulative_weights >= target_weight * (1 - 1e-12), axis=1)[:, None]
    high_index = np.argmax(cumulative_weights > target_weight * (1 + 1e-12), axis=1)[:, None]
    return _midpoint(
        np.take_along_axis(sorted_values, low_index, axis=1),
        np.take_along_axis(sorted_values, high_index, axis=1),
    )[:, 0]


def _midpoint(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the mean of two numbers; if one is infinite, the finite one."""
    # 0 between the two infinities.
    with np.errstate(invalid="ignore"):
        middle = np.where(low == high, low, 0.5 * (low + high))
    middle = np.where(np.isneginf(low) & np.isfinite(high), high, middle)
    middle = np.where(np.isposinf(high) & np.isfinite(low), low, middle)
    return np.where(np.isneginf(low) & np.isposinf(high), 0.0, middle)


def _describe_price_effect(
    chooser: "Chooser", prices: TestedPrices, weights: np.ndarray, ci: float, amounts: np.ndarray
) -> list[str]:
    """Return a list with a warning if utility does not clearly fall with price."""
    example_products = chooser.sample_products()
    cheap_products = example_products.copy()
    dear_products = example_products.copy()
    cheap_products[:, prices.attribute], dear_products[:, prices.attribute] = prices.cells[[0, -1]]

    def compute_price_effect(chooser_at: "Chooser") -> np.ndarray:
        """Return mean utility of dear minus cheap products, averaged over respondents."""
        effect_blocks = []
        for u in chooser_at.utilities(np.concatenate([dear_products, cheap_products])):
            dear_utility, cheap_utility = np.split(u, 2, axis=-1)
            by_respondent = dear_utility.mean(axis=-1) - cheap_utility.mean(axis=-1)
            effect_blocks.append(average_over_people(by_respondent, weights))
        return np.concatenate(effect_blocks)[:, None]

    rise_draws = compute_price_effect(chooser)[:, 0]
    if chooser.is_estimate:
        mean_effect = rise_draws[0]
        effect_error = np.sqrt(chooser.delta_covariance(compute_price_effect)[0, 0])
        is_established = abs(mean_effect) > chooser.interval_half_width(ci) * effect_error
    else:
        mean_effect = rise_draws.mean()
        effect_error = rise_draws.std()
        low, high = quantiles(rise_draws, interval_tails(ci))
        is_established = low > 0.0 or high < 0.0
    price_name = chooser.data.scheme.names[prices.attribute]
    z = "(z = 0.0)"
    if effect_error > 0.0:
        z = f"(z = {mean_effect / effect_error:z.1f})"
    if not is_established:
        consequence_words = "amounts are very uncertain"
        if np.isinf(amounts).any(axis=0).all():
            consequence_words = "amounts have no finite interval"
        return [
            f"The effect of {price_name!r} is not clearly different from 0 {z}, so the"
            f" {consequence_words}."
        ]
    if mean_effect > 0.0:
        return [
            f"Demand rises with {price_name!r} {z}, so amounts of money are meaningless; check how"
            " the"
            " column was read."
        ]
    return []


def _describe_amounts(
    table: "pandas.DataFrame", prices: TestedPrices, is_established: bool
) -> list[str]:
    """Return sentences on infinite amounts and amounts beyond the tested prices."""
    change_texts = [
        f"{row['attribute']} {format_paid_level(row)}" for row in table.to_dict("records")
    ]
    amounts = table[["wtp", "wtp_low", "wtp_high"]].to_numpy(float)
    tested_range = float(np.ptp(prices.numbers))
    notes = []
    is_infinite = np.any(np.isinf(amounts), axis=1)
    is_beyond = (np.abs(amounts[:, 0]) > tested_range) & np.isfinite(amounts[:, 0])
    if is_established and is_infinite.any():
        infinite_text = shorten(list(compress(change_texts, is_infinite)), 3)
        if not prices.is_linear:
            infinite_text += f" within the range of tested prices ({tested_range:g})"
        notes.append(f"The data do not bound the willingness to pay for {infinite_text}.")
    if is_beyond.any():
        beyond_text = shorten(list(compress(change_texts, is_beyond)), 3)
        notes.append(
            f"The amount for {beyond_text} exceeds every difference between tested"
            f" prices ({tested_range:g}), so it is extrapolated."
        )
    if (np.isfinite(amounts) & (np.abs(amounts) >= prices.limit)).any():
        notes.append(
            f"Amounts of {tested_range:g} (the range of tested prices) are lower bounds: the true"
            " amounts may be larger."
        )
    return notes


def format_paid_level(row: Mapping[str, Any], than: str = "over") -> str:
    """Return words for the levels of a table row, such as "b over a"."""
    if row["over"]:
        return f"{row['level']} {than} {row['over']}"
    return str(row["level"])


def _compute_median_errors(draw_medians: np.ndarray, chain: np.ndarray) -> np.ndarray:
    """Return standard errors of posterior medians, from the medians of chains."""
    chain_medians = [quantiles(draw_medians[chain == c], [0.5])[0] for c in np.unique(chain)]
    with np.errstate(invalid="ignore"):
        return standard_error(np.stack(chain_medians, axis=-1))
