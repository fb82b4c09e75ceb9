"""What products take from each other: elasticities of shares, and where the buyers of a new product
come from."""

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import is_list
from thali._data.experiments.levels import parse_number
from thali._inference.warn import silence_warnings
from thali._labels import format_label, suggest
from thali.errors import Argument, ArgumentError, Setting

from .chooser import LOGIT, Chooser, check_probability, point_estimate
from .market import Market, apply_change, draw_market_weights, find_product, parse_single_market
from .rules import How
from .shares import spread

if TYPE_CHECKING:
    import pandas

# of a point elasticity, as a part of the value: the error of the difference is about its square
_STEP = 1e-4


def elasticities(
    chooser: Chooser,
    products: "pandas.DataFrame",
    attribute: str,
    change: Any,
    people: Any,
    respondent_weights: Any,
    ci: float,
    how: How,
    cores: int | None,
    random_seed: Any,
) -> "pandas.DataFrame":
    """The elasticity of every share with regard to a number of every product."""
    from thali._tables import Table

    ci = check_probability(ci)
    market = parse_single_market(chooser.data.scheme, products)
    how = how.checked([market])
    steps = _steps(chooser, market, attribute, change)
    if (
        change is None
        and how.rule != LOGIT
        and chooser.is_number(chooser.data.scheme.names.index(attribute))
    ):
        raise ArgumentError(
            Argument("change"),
            " is required because shares are discontinuous with ",
            Setting("rule", how.rule),
            "; set the relative change of the attribute, such as `change=0.1`.",
        )
    markets = [market]
    for label, (_, low, high) in steps.items():
        markets += [apply_change(market, {attribute: {label: value}}) for value in (low, high)]
    asked = draw_market_weights(chooser, people, respondent_weights, random_seed)
    # of numbers beyond those tested, which the market itself was warned of above
    with silence_warnings():
        base, *found = how.shares(chooser, markets, asked.drawn, cores, random_seed)
    rows, values = [], []
    for place, (label, (now, low, high)) in enumerate(steps.items()):
        before, after = found[2 * place : 2 * place + 2]
        with np.errstate(divide="ignore", invalid="ignore"):
            if change is None and low < now < high:  # d log s / d log x
                own = (after - before) / base * now / (high - low)
            else:  # by the middle between both, which makes no difference between up and down
                own = (after - before) / (after + before) * (high + low) / (high - low)
        values.append(own)
        rows += [(label, other, now, high if low == now else low) for other in market.labels]
    drawn = np.hstack(values)
    table = Table(rows, columns=["changed", "product", "from", "to"]).assign(
        elasticity=point_estimate(chooser, drawn), **spread(chooser, "elasticity", drawn, ci)
    )
    if change is None and all(low < now < high for now, low, high in steps.values()):
        table = table.drop(columns=["from", "to"])
    table.attrs.update(chooser.interval_attrs(ci), attribute=attribute, whose=asked.whose)
    return table


def _steps(
    chooser: Chooser, market: Market, attribute: str, change: Any
) -> dict[str, tuple[float, float, float]]:
    """Of each product that has a number of the attribute: the number, and between which two shares
    are compared."""
    names = chooser.data.scheme.names
    if attribute not in market.table.columns or attribute not in names:
        other = "" if attribute in names else suggest(str(attribute), [*map(str, names)])
        raise ArgumentError(
            Argument("attribute"), f": the products have no attribute {attribute!r}.{other}"
        )
    numbers = {
        label: parse_number(format_label(value))
        for label, value in zip(market.labels, market.table[attribute], strict=True)
    }
    column = names.index(attribute)
    there = ~np.isnan(chooser.cells(market.table)[:, column])
    known: dict[str, float] = {}
    for (label, now), has in zip(numbers.items(), there, strict=True):
        if not has:
            continue
        if now is None or now <= 0.0:
            raise ArgumentError(
                Argument("attribute"),
                f": an elasticity requires positive numbers, but {attribute!r} of {label!r} is"
                f" {market.table[attribute].tolist()[market.labels.index(label)]!r}.",
            )
        known[label] = now
    if change is not None:
        if (
            not isinstance(change, Real)
            or isinstance(change, bool)
            or not 0.0 < abs(float(change)) < 1.0
        ):
            raise ArgumentError(
                Argument("change"),
                f", a relative change, must be between -1 and 1 and not 0; got {change!r}.",
            )
        if not chooser.is_number(column):
            raise ArgumentError(
                Argument("change"),
                f" requires values of {attribute!r} that were not tested and have no coefficient;"
                " remove ",
                Argument("change"),
                " to use the next tested value, or make the attribute linear.",
            )
        to = 1.0 + float(change)
        return {
            label: (now, min(now, now * to), max(now, now * to)) for label, now in known.items()
        }
    if chooser.is_number(column):
        return {
            label: (now, now * (1.0 - _STEP), now * (1.0 + _STEP)) for label, now in known.items()
        }
    levels = tested_numbers(chooser, attribute)
    return {label: (now, *_next(now, levels)) for label, now in known.items()}


def tested_numbers(chooser: Chooser, attribute: str) -> list[float]:
    """The numbers of an attribute that the fit knows of."""
    scheme = chooser.data.scheme
    known = np.flatnonzero(~np.isnan(chooser.level_cells()[scheme.names.index(attribute)]))
    numbers = [parse_number(scheme.levels[attribute][level]) for level in known]
    return sorted(number for number in numbers if number is not None)


def _next(now: float, levels: list[float]) -> tuple[float, float]:
    """The number and the next tested one above it, or below the highest."""
    above, below = (
        [level for level in levels if level > now],
        [level for level in levels if level < now],
    )
    if not above and not below:
        raise ArgumentError(
            Argument("attribute"),
            f": {now:g} is the only tested value, so no arc elasticity can be computed; test other"
            " values.",
        )
    return (now, above[0]) if above else (below[-1], now)


def source_of_volume(
    chooser: Chooser,
    products: "pandas.DataFrame",
    new: Any,
    people: Any,
    respondent_weights: Any,
    ci: float,
    how: How,
    cores: int | None,
    random_seed: Any,
) -> "pandas.DataFrame":
    """What each other product loses to new ones, and their part of what these win."""
    import pandas as pd

    from thali._tables import Table

    ci = check_probability(ci)
    market = parse_single_market(chooser.data.scheme, products)
    named = list(new) if is_list(new) else [new]
    added = list(
        dict.fromkeys(find_product(format_label(label), market.labels, "new") for label in named)
    )
    if not added:
        raise ArgumentError(Argument("new"), " is empty; name at least one product of the market.")
    others = [place for place in range(len(market.labels)) if place not in added]
    if len(others) < 1:
        raise ArgumentError(
            Argument("new"),
            " contains every product of the market; leave at least one as a source.",
        )
    before_market = market._replace(
        labels=[market.labels[k] for k in others], table=market.table.iloc[others]
    )
    how = how.checked([market])
    asked = draw_market_weights(chooser, people, respondent_weights, random_seed)
    before, after = how.shares(chooser, [before_market, market], asked.drawn, cores, random_seed)
    won = after[:, added].sum(axis=1, keepdims=True)
    named_values = {"before": before, "after": after[:, others]}
    with np.errstate(divide="ignore", invalid="ignore"):
        named_values |= {
            "lost": before - after[:, others],
            "source": (before - after[:, others]) / won,
        }
        named_values |= {"proportional": before / before.sum(axis=1, keepdims=True)}
    columns = {name: point_estimate(chooser, values) for name, values in named_values.items()}
    for name in ("lost", "source"):
        columns |= spread(chooser, name, named_values[name], ci)
    table = Table(columns, index=pd.Index([market.labels[k] for k in others], name="product"))
    table.attrs.update(
        chooser.interval_attrs(ci), new=[market.labels[k] for k in added], whose=asked.whose
    )
    table.attrs["won"] = float(point_estimate(chooser, won)[0])
    return table
