"""Tables of products: their names, the scenarios they form, and what a change makes of them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import as_label, plural, shorten, suggest
from thali.errors import ArgumentError, DataError, DataWarning
from thali.inference.warn import warn

if TYPE_CHECKING:
    import pandas

    from thali.data.experiments.scheme import Scheme

_NAMES = ("product", "products", "name", "label")
SCENARIO = "scenario"


class Market(NamedTuple):
    """Products that are offered together."""

    scenario: str | None
    labels: list[str]
    table: "pandas.DataFrame"


def markets_of(scheme: "Scheme", products: Any) -> list[Market]:
    """The markets of a table: one, or one for each value of its column "scenario"."""
    if not (hasattr(products, "columns") and hasattr(products, "index")):
        raise DataError(
            f"products must be a data frame with a row for each product and a column for each attribute; got "
            f"{type(products).__name__}."
        )
    frame = products.set_axis([str(name) for name in products.columns], axis=1)
    if SCENARIO not in frame.columns or SCENARIO in scheme.names:
        return [_market(scheme, frame, None)]
    names = np.array([as_label(value) for value in frame[SCENARIO]], dtype=object)
    if (names == "").any():
        raise DataError(f"Column {SCENARIO!r} is empty in row {frame.index[int((names == '').argmax())]}; fill it in.")
    numbered = type(frame.index).__name__ == "RangeIndex"
    parts = {str(name): frame.loc[names == name].drop(columns=SCENARIO) for name in dict.fromkeys(names)}
    return [_market(scheme, part.reset_index(drop=True) if numbered else part, name) for name, part in parts.items()]


def market_of(scheme: "Scheme", products: Any) -> Market:
    """The only market of a table."""
    found = markets_of(scheme, products)
    if len(found) > 1:
        raise DataError(f"The table has {len(found)} scenarios; give the products of one of them.")
    return found[0]


def competitors_of(scheme: "Scheme", products: Any) -> "pandas.DataFrame":
    """The products that others offer: one or more."""
    if not (hasattr(products, "columns") and hasattr(products, "index")) or not len(products):
        raise DataError(
            "competitors must be a data frame with a row for each product that others offer, the no-choice option "
            f"included, and a column for each attribute; got {type(products).__name__}."
        )
    frame = products.set_axis([str(name) for name in products.columns], axis=1)
    _warn_of_idle(scheme, frame)
    return frame.drop(columns=_of_tasks(scheme, frame))


def _warn_of_idle(scheme: "Scheme", frame: "pandas.DataFrame") -> None:
    """Warn of columns of a market that are no attribute and name nothing."""
    of_none = [name for name, _ in scheme.none]
    known = {*scheme.names, *_NAMES, SCENARIO, scheme.alternative, *_of_tasks(scheme, frame), *of_none}
    if idle := [name for name in frame.columns if name not in known]:
        warn(
            DataWarning(
                f"{shorten(idle, 12)} {'is no attribute' if len(idle) == 1 else 'are no attributes'} of the data, and "
                "what the table of products says of it is not used; leave it out."
            )
        )


def _of_tasks(scheme: "Scheme", frame: "pandas.DataFrame") -> list[str]:
    """Columns that a table of tasks has and a market has not."""
    columns = (scheme.respondent, scheme.task, scheme.chosen)
    return [name for name in columns if name in frame.columns and name not in scheme.names]


def _market(scheme: "Scheme", frame: "pandas.DataFrame", scenario: str | None) -> Market:
    """The table of products, and a label for each of them."""
    _warn_of_idle(scheme, frame)
    frame = frame.drop(columns=_of_tasks(scheme, frame))
    where = "the table" if scenario is None else f"scenario {scenario!r}"
    if len(frame) < 2:
        raise DataError(f"A market needs two products or more; {where} has {len(frame)}.")
    labels = _labels(scheme, frame)
    for place, label in enumerate(labels):
        if label in labels[:place]:
            raise DataError(f"Products must have different names; two are called {label!r}.")
    return Market(scenario, labels, frame)


def _labels(scheme: "Scheme", frame: "pandas.DataFrame") -> list[str]:
    """What the products are called."""
    columns = (*_NAMES, scheme.alternative)
    named = [name for name in columns if name in frame.columns and name not in scheme.names]
    if not named and scheme.alternative in frame.columns:
        named = [name for name in columns if name in frame.columns]
    if named:
        return [as_label(label) for label in frame[named[0]]]
    if type(frame.index).__name__ == "RangeIndex":
        return [str(number + 1) for number in range(len(frame))]
    return [as_label(label) for label in frame.index]


def changed(market: Market, change: Any) -> Market:
    """The market with other levels: one for all products, one for each, or one for each product that is named."""
    if not isinstance(change, Mapping) or not change:
        raise ArgumentError(
            'change must say which attributes become what, such as {"price": {"A": 150}} or {"price": 150}; got '
            f"{change!r}."
        )
    frame = market.table.copy()
    for name, wanted in change.items():
        if name not in frame.columns:
            raise ArgumentError(f"change: the products have no attribute {name!r}.{suggest(str(name), list(frame))}")
        frame[name] = _values(str(name), wanted, frame[name].astype(object).tolist(), market.labels)
    return market._replace(table=frame)


def _values(name: str, wanted: Any, values: list[Any], labels: Sequence[str]) -> list[Any]:
    """The levels of an attribute after a change."""
    if isinstance(wanted, Mapping):
        for label, value in wanted.items():
            values[place_of(as_label(label), labels, "change")] = value
        return values
    if isinstance(wanted, str) or not hasattr(wanted, "__len__"):
        return [wanted] * len(values)
    if len(wanted) != len(values):
        raise ArgumentError(
            f"change: {name!r} has {plural(len(wanted), 'level')} for {plural(len(values), 'product')}; give one "
            "for each product."
        )
    return list(wanted)


def place_of(label: str, labels: Sequence[str], argument: str) -> int:
    """Which of the products has that name."""
    if label not in labels:
        raise ArgumentError(f"{argument}: there is no product {label!r}; there are {', '.join(labels)}.")
    return list(labels).index(label)
