"""Markets read from product tables, and their changes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.column_roles import NO_CHOICE, is_data_frame, simplify_name
from thali._inference.user_warnings import warn
from thali._labels import format_label, format_plural, shorten, suggest, unescape_formula
from thali.errors import Argument, ArgumentError, DataError, DataWarning

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments.product_encoding import Scheme


_NAMES = ("product", "products", "name", "label")
SCENARIO = "scenario"
_LINE = "line"  # name of an index with the line numbers of a file
_SHARE_COLUMNS = [
    f"{name}{end}"
    for name in ("share", "before", "change", "profit")
    for end in ("", "_low", "_high")
]
# columns of the markets that a report page saves
_SAVED_COLUMNS = {*_SHARE_COLUMNS, "respondents", "respondents_before"}


class Market(NamedTuple):
    """Products that are offered together: scenario name, labels and table of levels."""

    scenario: str | None
    labels: list[str]
    table: "pandas.DataFrame"


def restore_saved_table(scheme: "Scheme", frame: "pandas.DataFrame") -> "pandas.DataFrame":
    """Remove apostrophes before signs that a report page added to a saved table.

    Apostrophes of attributes and levels remain; the index contains the lines of the file.
    """
    levels_by_attribute = scheme.levels

    def remove_apostrophe(text: Any, labels: Sequence[str]) -> Any:
        """Return a cell without the apostrophe that a page put before a sign."""
        if not isinstance(text, str) or text in labels:
            return text
        return unescape_formula(text)

    frame = frame.set_axis(
        [remove_apostrophe(name, scheme.names) for name in frame.columns], axis=1
    )
    restored_table: Any = frame.apply(
        lambda cells: cells.map(
            lambda cell: remove_apostrophe(cell, levels_by_attribute.get(cells.name, ()))
        )
    )
    return restored_table.rename_axis(_LINE)


def parse_markets(scheme: "Scheme", products: Any) -> list[Market]:
    """Return one `Market` per value of the table's column "scenario"."""
    if not is_data_frame(products):
        raise DataError(
            "`products` must be a data frame with one row per product and one column per"
            f" attribute; got {type(products).__name__}."
        )
    frame = products.set_axis([str(name) for name in products.columns], axis=1)
    if SCENARIO not in frame.columns or SCENARIO in scheme.names:
        return [_parse_market(scheme, frame, None)]
    scenario_names = np.array([format_label(cell) for cell in frame[SCENARIO]], dtype=object)
    if (scenario_names == "").any():
        raise DataError(
            f"Column {SCENARIO!r} is empty in row"
            f" {frame.index[int((scenario_names == '').argmax())]}; fill"
            " it in."
        )
    markets = []
    for scenario in dict.fromkeys(scenario_names):
        scenario_frame = frame.loc[scenario_names == scenario].drop(columns=SCENARIO)
        if type(frame.index).__name__ == "RangeIndex" and frame.index.name != _LINE:
            scenario_frame = scenario_frame.reset_index(drop=True)
        markets.append(_parse_market(scheme, scenario_frame, str(scenario)))
    return markets


def parse_single_market(scheme: "Scheme", products: "pandas.DataFrame") -> Market:
    """Return the `Market` of a product table that has a single scenario."""
    markets = parse_markets(scheme, products)
    if len(markets) > 1:
        raise DataError(
            f"The table has {len(markets)} scenarios; give the products of one scenario."
        )
    return markets[0]


def _drop_task_columns(scheme: "Scheme", frame: "pandas.DataFrame") -> "pandas.DataFrame":
    """Return a product table without columns of respondents, tasks and choices."""
    design_columns = (scheme.respondent, scheme.task, scheme.chosen)
    task_columns = [
        name for name in design_columns if name in frame.columns and name not in scheme.names
    ]
    no_choice_columns = [name for name, _ in scheme.none]
    known_columns = {
        *scheme.names,
        *_NAMES,
        SCENARIO,
        scheme.alternative,
        *task_columns,
        *no_choice_columns,
        *_SAVED_COLUMNS,
    }
    if unknown_columns := [name for name in frame.columns if name not in known_columns]:
        warn(
            DataWarning(
                "The product table has columns that are not attributes of the data and were"
                f" ignored: {shorten(unknown_columns, 12)}."
            )
        )
    return frame.drop(columns=task_columns)


def _parse_market(scheme: "Scheme", frame: "pandas.DataFrame", scenario: str | None) -> Market:
    """Check the rows of one scenario and return them as a `Market`."""
    frame = _drop_task_columns(scheme, frame)
    if len(frame) < 2:
        location_phrase = "the table"
        if scenario is not None:
            location_phrase = f"scenario {scenario!r}"
        raise DataError(
            f"A market requires at least two products; {location_phrase} has {len(frame)}."
        )
    product_labels = _read_product_labels(scheme, frame)
    for row_index, label in enumerate(product_labels):
        if label in product_labels[:row_index]:
            raise DataError(f"Products must have unique names; two are called {label!r}.")
    return Market(scenario, product_labels, _add_no_choice_columns(scheme, frame))


def _add_no_choice_columns(scheme: "Scheme", frame: "pandas.DataFrame") -> "pandas.DataFrame":
    """Mark rows with empty attributes, or named none, as the no-choice option."""
    # Tables with a column that marks it are unchanged.
    absent_columns = [
        (name, label)
        for name, label in scheme.none
        if name not in frame.columns and name not in scheme.names
    ]
    attribute_names = [
        attribute.name for attribute in scheme.attributes if attribute.name in frame.columns
    ]
    if not absent_columns or len(absent_columns) < len(scheme.none) or not attribute_names:
        return frame
    is_none = np.all(
        [
            [_is_no_choice(format_label(cell), scheme.levels[name]) for cell in frame[name]]
            for name in attribute_names
        ],
        axis=0,
    )
    if not is_none.any():
        return frame
    no_choice_cells = {}
    for name, label in absent_columns:
        other_labels = [f"product {row}" for row in range(len(frame))]
        if label == "1":
            other_labels = ["0"] * len(frame)
        no_choice_cells[name] = np.where(is_none, label, other_labels).tolist()
    return frame.assign(**no_choice_cells)


def _is_no_choice(label: str, levels: Sequence[str]) -> bool:
    """Return whether a label means no choice and is not itself a level."""
    return label == "" or (label not in levels and simplify_name(label) in NO_CHOICE)


def _read_product_labels(scheme: "Scheme", frame: "pandas.DataFrame") -> list[str]:
    """Return the label of each product in a table."""
    candidate_columns = (*_NAMES, scheme.alternative)
    label_columns = [
        name for name in candidate_columns if name in frame.columns and name not in scheme.names
    ]
    if not label_columns and scheme.alternative in frame.columns:
        label_columns = [name for name in candidate_columns if name in frame.columns]
    if label_columns:
        return [format_label(label) for label in frame[label_columns[0]]]
    if type(frame.index).__name__ == "RangeIndex" or frame.index.name == _LINE:
        return [str(row + 1) for row in range(len(frame))]
    return [format_label(label) for label in frame.index]


def apply_change(market: Market, change: Mapping[str, Any]) -> Market:
    """Return the market with the changes that the user asks for, checked.

    A change is one level for all products, a list with one per product, or a dict by product.
    """
    if not isinstance(change, Mapping) or not change:
        raise ArgumentError(
            '`change` must map attributes to new values, such as {"price": {"A": 150}} or'
            f' {{"price": 150}}; got {change!r}.'
        )
    frame = market.table.copy()
    for attribute, new_levels in change.items():
        if attribute not in frame.columns:
            raise ArgumentError(
                f"`change` contains {attribute!r}, which is not an attribute of the"
                f" products.{suggest(str(attribute), list(frame))}"
            )
        frame[attribute] = _change_values(
            str(attribute), new_levels, frame[attribute].astype(object).tolist(), market.labels
        )
    return market._replace(table=frame)


def _change_values(
    name: str, new_levels: Any, values: list[Any], labels: Sequence[str]
) -> list[Any]:
    """Return the values of one attribute for all products, after a change."""
    if isinstance(new_levels, Mapping):
        for label, value in new_levels.items():
            values[find_product(format_label(label), labels, "change")] = value
        return values
    if isinstance(new_levels, str) or not hasattr(new_levels, "__len__"):
        return [new_levels] * len(values)
    if len(new_levels) != len(values):
        raise ArgumentError(
            f"`change`: {name!r} has {format_plural(len(new_levels), 'level')} for"
            f" {format_plural(len(values), 'product')}; give one level per product."
        )
    return list(new_levels)


def find_product(label: str, labels: Sequence[str], argument: str) -> int:
    """Return the index of the product with this label; raise ArgumentError without."""
    if label not in labels:
        raise ArgumentError(
            Argument(argument),
            f": there is no product {label!r}; the products are"
            f" {shorten(labels, 12)}.{suggest(label, labels)}",
        )
    return list(labels).index(label)
