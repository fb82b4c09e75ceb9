"""Encoding of table rows as products: columns, attributes with ordered levels, no-choice option.

A model keeps the scheme of its data, and uses it to read the tasks that it predicts.
"""

import os.path
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import find_first, part_indices
from thali._labels import find_label_indices, index_labels
from thali.errors import Argument, ArgumentError, DataError, Setting

from ..column_readers import encode_texts, get_column, read_row_texts, rename_as_text
from ..column_roles import ALTERNATIVE, is_data_frame, simplify_name
from ..kinds import INSIDE, INSIDE_LEVELS
from .attribute_levels import (
    ALPHABET,
    ANY_NUMBER,
    BINS,
    MEASURED,
    encode_bins,
    encode_levels,
    group_quarters,
    parse_number,
    read_numbers,
    select_landmarks,
    shorten_numbers,
    sort_by_value,
)

if TYPE_CHECKING:
    import pandas as pd

    from .experiment import ChoiceExperiment


# a column of designs: 1 in tasks that all respondents have and no model is fitted to
HELD_OUT = "held_out"
MANY_NAMES = 30  # alternatives that can each have a constant
_SHOWN = 8  # levels that a description lists

RowDescriber = Callable[[int], str]


class Attribute(NamedTuple):
    """A product attribute: name, ordered levels, rule of the order, bins."""

    name: str
    levels: tuple[str, ...]
    order: str
    cuts: tuple[float, ...] = ()
    # words for products without this attribute; "" is an empty cell
    missing: tuple[str, ...] = ()


class SchemeCells(NamedTuple):
    """New tasks as integers: task, respondent and product levels of each row."""

    task_of_row: np.ndarray  # (rows,) int64, 0, 1, ... in order of first appearance
    respondent_of_row: np.ndarray  # (rows,) int64 among the known respondents; -1: a new person
    products: np.ndarray  # (rows, attributes) int64 level numbers, -1: missing


class SchemeTasks:
    """Base class of tasks whose products are stored as level numbers."""

    scheme: "Scheme"
    respondents: tuple[str, ...]
    first_task: np.ndarray  # (respondents + 1,)
    first_row: np.ndarray  # (tasks + 1,)
    row_product: np.ndarray  # (rows,)
    products: np.ndarray  # (products, attributes)


@dataclass(frozen=True)
class Scheme:
    """Columns and attributes of a choice experiment, and its no-choice option.

    Attributes
    ----------
    respondent, task, chosen : str
        Names of columns.
    alternative : str or None
        None where the table had no such column.
    attributes : tuple of Attribute
        Without "inside".
    none : tuple of (column, label)
        A row with all of these cells is the no-choice option; empty without such an option.
    has_inside : bool
        Whether the attribute "inside" comes before the others.
    """

    respondent: str
    task: str
    alternative: str | None
    chosen: str
    attributes: tuple[Attribute, ...]
    none: tuple[tuple[str, str], ...] = ()
    has_inside: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all attributes, "inside" first if there is one."""
        return tuple(attribute.name for attribute in self.all_attributes)

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """Ordered levels of each attribute, by its name."""
        return {attribute.name: attribute.levels for attribute in self.all_attributes}

    @property
    def all_attributes(self) -> tuple[Attribute, ...]:
        """All attributes, "inside" first if there is one."""
        if not self.has_inside:
            return self.attributes
        return (Attribute(INSIDE, INSIDE_LEVELS, ALPHABET), *self.attributes)

    @property
    def measured(self) -> tuple[str, ...]:
        """Names of attributes with many numbers, which models treat as numeric."""
        return tuple(attribute.name for attribute in self.attributes if attribute.order == MEASURED)

    @property
    def groups(self) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
        """Names of the level groups of each attribute, and the group of each level.

        A group is a single level, or a quarter of the levels of a measured attribute.
        """
        single_level_groups = {
            name: (levels, np.arange(len(levels))) for name, levels in self.levels.items()
        }
        return single_level_groups | {
            name: group_quarters(self.levels[name]) for name in self.measured
        }

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """Level names for tables, by attribute; many-valued numbers are rounded."""
        return self.levels | {name: shorten_numbers(self.levels[name]) for name in self.measured}

    def select_compared_levels(self, name: str, levels: np.ndarray) -> np.ndarray:
        """Return the levels to compare in tables; of many numbers, five representative ones."""
        if name in self.measured and len(levels):
            return select_landmarks(levels)
        return levels

    def to_dict(self) -> dict[Any, Any]:
        """Convert the scheme to JSON types."""
        return asdict(self) | {"attributes": [attribute._asdict() for attribute in self.attributes]}

    @classmethod
    def from_dict(cls, fields: dict[Any, Any]) -> "Scheme":
        """Build a scheme from the JSON types of `to_dict`."""
        attributes = tuple(
            Attribute(
                a["name"], tuple(a["levels"]), a["order"], tuple(a["cuts"]), tuple(a["missing"])
            )
            for a in fields["attributes"]
        )
        none_condition = tuple((name, label) for name, label in fields["none"])
        return cls(**(fields | {"attributes": attributes, "none": none_condition}))

    def encode_products(self, frame: "pd.DataFrame", describe_row: RowDescriber) -> np.ndarray:
        """Return the level number of each attribute in each table row; -1: missing.

        Shape (rows, attributes). `describe_row(row)` names a row in errors.
        """
        is_none = find_none_rows(frame, self.none)
        products = np.empty((len(frame), len(self.names)), np.int64)
        if self.has_inside:
            products[:, 0] = ~is_none
        for k, attribute in enumerate(self.attributes, start=int(self.has_inside)):
            products[:, k] = encode_attribute(
                get_column(frame, attribute.name), attribute, is_none, describe_row
            )
        return products

    def find_none_products(self, products: np.ndarray) -> np.ndarray:
        """Return whether each product (a row of level numbers) is the no-choice option."""
        if not self.none:
            return np.zeros(len(products), bool)
        if self.has_inside:
            return products[:, 0] == 0
        return np.all(products < 0, axis=1)

    def with_numbers(
        self, names: Sequence[str], new_tasks: "pd.DataFrame | SchemeTasks"
    ) -> "Scheme":
        """Return a scheme with new numbers in `new_tasks` as levels of these attributes."""
        attributes = []
        for attribute in self.attributes:
            if attribute.name in names:
                texts: Sequence[str] = ()
                columns = list(map(str, getattr(new_tasks, "columns", ())))
                if isinstance(new_tasks, SchemeTasks):
                    texts = new_tasks.scheme.levels.get(attribute.name, ())
                elif attribute.name in columns:
                    texts = encode_texts(new_tasks.iloc[:, columns.index(attribute.name)])[1]
                known_texts = {*attribute.levels, *attribute.missing}
                new_levels = tuple(
                    text
                    for text in texts
                    if text not in known_texts and parse_number(text) is not None
                )
                attribute = attribute._replace(
                    levels=attribute.levels + new_levels, order=ANY_NUMBER
                )
            attributes.append(attribute)
        return replace(self, attributes=tuple(attributes))

    def encode(
        self, new_tasks: "pd.DataFrame | SchemeTasks", respondents: Sequence[str] = ()
    ) -> SchemeCells:
        """Encode new tasks, from a table or another experiment, as integers."""
        if isinstance(new_tasks, SchemeTasks):
            return self._encode_tasks(new_tasks, respondents)
        if not is_data_frame(new_tasks):
            raise DataError(
                "New tasks must be a ChoiceExperiment or a pandas DataFrame; got"
                f" {type(new_tasks).__name__}."
            )
        frame = rename_as_text(new_tasks)
        if not len(frame):
            raise DataError("The table of new tasks has no rows; give at least one alternative.")
        texts_by_column = {
            label_column: read_row_texts(get_column(frame, label_column))
            for label_column in (self.task, self.respondent)
            if label_column in frame.columns
        }
        for label_column in filter(texts_by_column.__contains__, (self.respondent, self.task)):
            if (row := find_first(texts_by_column[label_column] == "")) is not None:
                raise DataError(
                    f"A label is missing in row {frame.index[row]}, column {label_column!r}; fill"
                    " it in."
                )
        describe_row = _build_row_describer(frame, texts_by_column, self)
        no_labels = np.zeros(len(frame), np.int64)
        task_of_row = number_tasks(
            texts_by_column.get(self.respondent, no_labels),
            texts_by_column.get(self.task, no_labels),
        )
        # labels that are an attribute may be repeated
        if self.alternative in frame.columns and self.alternative not in self.names:
            labels = read_row_texts(get_column(frame, str(self.alternative)))
            check_unique_alternatives(labels, task_of_row, describe_row)
        respondent_index = find_label_indices(
            texts_by_column.get(self.respondent, no_labels), respondents
        )
        return SchemeCells(task_of_row, respondent_index, self.encode_products(frame, describe_row))

    def _encode_tasks(self, data: SchemeTasks, respondents: Sequence[str]) -> SchemeCells:
        """Encode the tasks of another experiment with this scheme's levels."""
        task_of_row = part_indices(data.first_row)
        respondent_of_task = np.repeat(
            find_label_indices(data.respondents, respondents), np.diff(data.first_task)
        )
        return SchemeCells(
            task_of_row,
            respondent_of_task[task_of_row],
            self._convert_products(data)[data.row_product],
        )

    def _convert_products(self, data: SchemeTasks) -> np.ndarray:
        """Convert another experiment's products to this scheme's level numbers."""
        levels = self.levels
        other_levels = data.scheme.levels
        other_names = data.scheme.names
        if levels == other_levels and self.names == other_names:
            return data.products
        new_products = np.full((len(data.products), len(levels)), -1, np.int64)
        for k, attribute_name in enumerate(self.names):
            if attribute_name == INSIDE and not data.scheme.none:  # without a no-choice option
                new_products[:, k] = INSIDE_LEVELS.index(INSIDE)
                continue
            if attribute_name not in other_levels:
                raise DataError(
                    f"The new tasks lack the attribute {attribute_name!r}, which the model"
                    " uses; add it."
                )
            level_codes = data.products[:, other_names.index(attribute_name)]
            index_by_level = index_labels(levels[attribute_name])
            new_codes = np.array(
                [*(index_by_level.get(label, -2) for label in other_levels[attribute_name]), -1],
                np.int64,
            )
            new_products[:, k] = new_codes[level_codes]
            if (row := find_first(new_products[:, k] == -2)) is not None:
                label = other_levels[attribute_name][level_codes[row]]
                raise DataError(
                    f"In the new tasks, attribute {attribute_name!r} has level {label!r}, which is"
                    " not among the levels that the model was fitted to; declare it with ",
                    Argument("levels"),
                    " and refit.",
                )
        return new_products

    def describe_attributes(self) -> tuple[tuple[str, str], ...]:
        """Return (attribute name, description of its levels) pairs."""
        return tuple(
            (attribute.name, _describe_levels(attribute)) for attribute in self.all_attributes
        )


def _describe_levels(attribute: Attribute) -> str:
    """Return an attribute's levels as text, such as "low < middle < high"."""
    levels = attribute.levels
    if attribute.order == MEASURED:
        level_texts = shorten_numbers(levels)
        return f"a number, {level_texts[0]} to {level_texts[-1]} ({len(levels):,} different values)"
    separator = " < "
    if attribute.order in (ALPHABET, BINS):
        separator = ", "
    if len(levels) <= _SHOWN:
        return separator.join(levels)
    shown_levels = [*levels[:3], "...", *levels[-2:]]
    return f"{separator.join(shown_levels)} ({len(levels)} levels)"


def encode_attribute(
    series: "pd.Series", attribute: Attribute, is_none: np.ndarray, describe_row: RowDescriber
) -> np.ndarray:
    """Return one attribute's level number in each row; -1: missing or no choice."""
    codes, cell_texts = encode_texts(series)
    present_rows = find_present_rows(codes, cell_texts, is_none, attribute.missing)
    present_codes = codes[present_rows]
    name, levels = attribute.name, attribute.levels

    def describe_present_row(row: int) -> str:
        """Describe a row of the table that is not the no-choice option."""
        return describe_row(int(present_rows[row]))

    level_numbers = np.full(len(codes), -1, np.int64)
    if attribute.cuts:
        level_numbers[present_rows] = encode_bins(
            name, present_codes, cell_texts, attribute.cuts, levels, describe_present_row
        )
        return level_numbers
    if attribute.order == ANY_NUMBER:
        reason = "the model treats it as numeric"
        read_numbers(name, cell_texts, present_codes, describe_present_row, reason)
    level_numbers[present_rows] = encode_levels(
        name, present_codes, cell_texts, levels, describe_present_row
    )
    return level_numbers


def find_present_rows(
    codes: np.ndarray, texts: list[str], is_none: np.ndarray, missing: Sequence[str]
) -> np.ndarray:
    """Return the rows of products that have an attribute, given the text code of each row."""
    is_missing = np.array([text in missing for text in texts])[codes]
    return np.flatnonzero(~(is_none | is_missing))


def find_none_rows(frame: "pd.DataFrame", none: tuple[tuple[str, str], ...]) -> np.ndarray:
    """Return whether each table row is the no-choice option."""
    if not none or any(none_column not in frame.columns for none_column, _ in none):
        return np.zeros(len(frame), bool)
    is_none = np.ones(len(frame), bool)
    for none_column, none_label in none:
        codes, cell_texts = encode_texts(get_column(frame, none_column))
        is_none &= np.array(
            [
                text == none_label or (none_label == "1" and text in ("True", "true"))
                for text in cell_texts
            ]
        )[codes]
    return is_none


def check_unique_alternatives(
    labels: np.ndarray, task_of_row: np.ndarray, describe_row: RowDescriber
) -> None:
    """Raise DataError if a task lists the same alternative twice."""
    import pandas as pd

    is_repeated = pd.DataFrame({"task": task_of_row, "alternative": labels}).duplicated().to_numpy()
    if (repeated_row := find_first(is_repeated)) is not None:
        raise DataError(
            f"Alternative {labels[repeated_row]!r} {describe_row(repeated_row)} is listed twice;"
            " remove a row, or give each alternative of the task its own number."
        )


def number_tasks(person: np.ndarray, task: np.ndarray) -> np.ndarray:
    """Number the distinct (respondent, task) pairs in order of first appearance."""
    import pandas as pd

    person_task_key = pd.factorize(person)[0] * (len(task) + 1) + pd.factorize(task)[0]
    return pd.factorize(person_task_key)[0].astype(np.int64)


def number_positions(task: np.ndarray) -> np.ndarray:
    """Return each row's position within its task, counted from 1."""
    import pandas as pd

    return (pd.Series(task).groupby(task).cumcount() + 1).to_numpy()


def _build_row_describer(
    frame: "pd.DataFrame", texts_by_column: dict[str, np.ndarray], scheme: Scheme
) -> RowDescriber:
    """Return a function that describes a row by task and respondent, for errors."""
    column_by_noun = {"task": scheme.task, "respondent": scheme.respondent}

    def describe_row(row: int) -> str:
        """Describe a row by its task and respondent, or its index."""
        parts = [
            f"{noun} {texts_by_column[name][row]!r}"
            for noun, name in column_by_noun.items()
            if name in texts_by_column
        ]
        if not parts:
            return f"in row {frame.index[row]}"
        return f"in {' of '.join(parts)}"

    return describe_row


# The alternative's label as a separate attribute, for alternatives with names or positions


def _list_rows(data: "ChoiceExperiment") -> tuple[np.ndarray, Any]:
    """Return the level numbers of each row, and which rows are no-choice options."""
    levels = data.products[data.row_product]
    return levels, data.scheme.find_none_products(levels)


def explain_no_constants(data: "ChoiceExperiment") -> str:
    """Return a sentence why alternatives have no constants; "" if they have."""
    row_levels, is_none = _list_rows(data)
    distinct_labels, label_index = np.unique(
        data.alternative_labels[~is_none].astype(str), return_inverse=True
    )
    if data.scheme.alternative is None or not 1 < len(distinct_labels) <= MANY_NAMES:
        return "the alternatives have no names, a single name or too many names"
    common_prefix = os.path.commonprefix(distinct_labels.tolist())
    longest_ending = max(len(name) - len(common_prefix) for name in distinct_labels)
    is_lettered = longest_ending < 2 and (
        not common_prefix[-1:].isalpha() or simplify_name(common_prefix) in ALTERNATIVE.synonyms
    )
    if is_lettered or any(letter.isdigit() for name in distinct_labels for letter in name):
        return "the alternatives are numbered"
    n_labels = len(distinct_labels)
    are_set_by_label = True
    for attribute_levels, attribute in zip(
        row_levels[~is_none, int(data.scheme.has_inside) :].T, data.scheme.attributes, strict=True
    ):
        n_pairs = len(np.unique(attribute_levels * n_labels + label_index))
        are_set_by_label &= n_pairs == n_labels
        if attribute.order == ALPHABET and n_pairs == len(np.unique(attribute_levels)):
            return _DISTINGUISHED
    if are_set_by_label:
        return _DISTINGUISHED
    return ""


_DISTINGUISHED = "the attributes distinguish the alternatives"


def add_constants(data: "ChoiceExperiment") -> "ChoiceExperiment":
    """Return the data with the alternative's label as an additional attribute.

    The no-choice option lacks this attribute. Data that have the attribute are returned unchanged.
    """
    scheme = data.scheme
    constants_setting = Setting("constants", True)
    if scheme.alternative is None:
        raise ArgumentError(
            constants_setting,
            " requires labels of the alternatives, but no column of labels was given; give its"
            " name with ",
            Argument("alternative"),
            ".",
        )
    if scheme.alternative in scheme.names:
        return data
    old_levels, is_none = _list_rows(data)
    alternative_labels = sorted(set(data.alternative_labels[~is_none].tolist()))
    if len(alternative_labels) < 2:
        raise ArgumentError(
            constants_setting,
            f" requires at least two labels; all alternatives are {alternative_labels[0]!r}.",
        )
    levels, order_rule = sort_by_value(alternative_labels)
    label_codes = find_label_indices(data.alternative_labels, levels)
    label_codes[is_none] = -1
    products, row_product = np.unique(
        np.column_stack([old_levels, label_codes]), axis=0, return_inverse=True
    )
    attributes = (*scheme.attributes, Attribute(scheme.alternative, levels, order_rule))
    changed_fields = {
        "scheme": replace(scheme, attributes=attributes),
        "products": products,
        "row_product": row_product.ravel().astype(np.int64),
    }
    return data.with_fields(**changed_fields)
