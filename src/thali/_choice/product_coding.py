"""Model matrix of products: columns for levels, numbers, pieces of numbers, interactions."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import is_list
from thali._data.column_roles import list_weight_columns
from thali._data.experiments import ChoiceExperiment
from thali._data.experiments.attribute_levels import (
    ALPHABET,
    MANY_LEVELS,
    MEASURED,
    NUMBERS,
    advise_linear,
    is_integer,
    parse_number,
)
from thali._data.experiments.product_encoding import (
    INSIDE,
    Scheme,
    SchemeCells,
    add_constants,
    explain_no_constants,
)
from thali._data.respondent_table import list_differing_columns
from thali._inference.user_warnings import warn
from thali._labels import shorten, suggest
from thali._object_descriptions import Facts
from thali.errors import Argument, ArgumentError, Clause, DataError, DataWarning, Message, Setting

if TYPE_CHECKING:
    import pandas as pd


class AttributeCoding(NamedTuple):
    """Columns that one attribute has in the model matrix."""

    # (levels + 1, columns) of each declared level; the last row: attribute missing
    table: np.ndarray
    numbers: np.ndarray | None = None  # (levels,) if the attribute is numeric
    knots: tuple[float, ...] = ()  # numbers at which the slope changes

    def encode_cells(self, cells: np.ndarray) -> np.ndarray:
        """Return the attribute's model-matrix columns, shape (rows, columns)."""
        is_missing = np.isnan(cells)
        if self.numbers is None:
            return self.table[np.where(is_missing, -1, cells).astype(np.int64)]
        columns = np.repeat(self.table[-1:], len(cells), axis=0)
        columns[~is_missing] = 0.0
        columns[~is_missing, : len(self.knots) + 1] = split_at_knots(cells[~is_missing], self.knots)
        return columns


class CodingRequest(NamedTuple):
    """The user's arguments `linear`, `knots` and `interactions`, checked."""

    # numeric attributes, and the numbers at which the slope of each changes
    numbers: dict[str, tuple[float, ...]]
    interactions: tuple[tuple[str, str], ...]


class Coding(NamedTuple):
    """Columns of the model matrix, by attribute, with interactions and names."""

    # (p,), such as "brand[sony]", "price", "zoom[missing]", "price:brand[sony]"
    names: tuple[str, ...]
    parts: tuple[AttributeCoding, ...]  # of each attribute
    # additional columns: products of two columns of the parts
    crossed: tuple[tuple[int, int], ...]
    # (p,) sd of a number over the products, 1 for a level: makes a prior independent of units
    scale: np.ndarray
    linear: tuple[str, ...]  # numeric attributes
    # (levels + 1,) bool: levels that the products of the data have; last: attribute missing
    seen: tuple[np.ndarray, ...]
    # pairs of attributes missing in the same products: one column serves both
    lacking: tuple[tuple[int, int], ...]
    # Attributes that alternatives with some labels lack, and these labels (bool): the constants of
    # the labels replace a column.
    unlabelled: tuple[tuple[int, tuple[bool, ...]], ...] = ()

    def convert_codes(self, codes: np.ndarray) -> np.ndarray:
        """Return numbers instead of level codes, shape (products, attributes).

        Cells contain the number of a numeric attribute, otherwise the code; NaN if missing.
        """
        cells = np.where(codes < 0, np.nan, codes)
        for attribute_index, attribute_coding in enumerate(self.parts):
            if attribute_coding.numbers is not None:
                cells[:, attribute_index] = np.append(attribute_coding.numbers, np.nan)[
                    codes[:, attribute_index]
                ]
        return cells

    def encode_cells(self, cells: np.ndarray) -> np.ndarray:
        """Return the model matrix of encoded products, shape (products, p)."""
        return encode_attribute_cells(self.parts, self.crossed, cells)

    def encode_codes(self, codes: np.ndarray) -> np.ndarray:
        """Return the model matrix of products given by level codes, (products, p)."""
        return self.encode_cells(self.convert_codes(codes))


def encode_attribute_cells(
    parts: Sequence[AttributeCoding], crossed: Sequence[tuple[int, int]], cells: np.ndarray
) -> np.ndarray:
    """Return the model matrix of encoded products, with products of crossed columns."""
    cells_by_attribute = zip(parts, cells.T, strict=True)
    single_columns = np.hstack([part.encode_cells(column) for part, column in cells_by_attribute])
    if not crossed:
        return single_columns
    first_factors, second_factors = np.array(crossed).T
    return np.hstack(
        [single_columns, single_columns[:, first_factors] * single_columns[:, second_factors]]
    )


def build_coding(
    data: ChoiceExperiment,
    linear: Iterable[str] = (),
    knots: Mapping[str, Any] | None = None,
    interactions: Iterable[tuple[str, str]] = (),
) -> Coding:
    """Build the model-matrix columns that describe the products of the data."""
    # Each level of an attribute in the products, except the first, has a column: 1 in products with
    # that level. A measured attribute, and one in `linear`, has one column with its number; one in
    # `knots` has a column for each piece of its number. Products that lack an attribute have 0 in
    # these columns, and 1 in an additional column unless all of them are the no-choice option. Two
    # attributes in `interactions` also have the products of their columns.
    request = parse_coding_request(data, linear, knots, interactions)
    return build_coding_from_numbers(
        data,
        {name: parse_level_numbers(name, data.levels[name]) for name in request.numbers},
        request,
    )


def build_coding_from_numbers(
    data: ChoiceExperiment, numbers: Mapping[str, np.ndarray], request: CodingRequest
) -> Coding:
    """Build model-matrix columns, given the numbers of numeric levels."""
    column_names: list[str] = []
    attribute_codings = []
    shown_levels = []
    shared_missing = []
    lacking_by_label = []
    first_column = {}
    missing_masks = {}
    if INSIDE in data.levels:
        missing_masks[data.attributes.index(INSIDE)] = data.products[:, 0] == 0
    for attribute_index, (attribute, levels) in enumerate(data.levels.items()):
        codes = data.products[:, attribute_index]
        # code -1, missing, is counted last
        is_shown = np.bincount(codes % (len(levels) + 1), minlength=len(levels) + 1) > 0
        level_numbers = None
        knots = request.numbers.get(attribute, ())
        if attribute in numbers:
            level_numbers = np.asarray(numbers[attribute], float)
            names_of_columns = _name_pieces(attribute, knots)
            level_table = split_at_knots(level_numbers, knots)
        else:
            coded_levels = np.flatnonzero(is_shown[:-1])[1:]
            names_of_columns = [f"{attribute}[{levels[level]}]" for level in coded_levels]
            if attribute == INSIDE and len(coded_levels):
                names_of_columns = [attribute]
            level_table = np.eye(len(levels))[:, coded_levels]
        first_column[attribute] = (len(column_names), len(column_names) + len(names_of_columns))
        level_table = np.vstack([level_table, np.zeros(level_table.shape[1])])
        is_missing = codes < 0
        equal_attributes = [  # that are missing in the same products
            other_index
            for other_index, other_mask in missing_masks.items()
            if np.array_equal(is_missing, other_mask)
        ]
        lacking_labels = _find_lacking_labels(data, is_missing)
        if lacking_labels is not None:
            lacking_by_label.append((attribute_index, lacking_labels))
        elif is_missing.any() and equal_attributes:
            shared_missing.append((equal_attributes[0], attribute_index))
        elif is_missing.any():
            missing_masks[attribute_index] = is_missing
            names_of_columns = [*names_of_columns, f"{attribute}[missing]"]
            level_table = np.hstack([level_table, np.eye(len(level_table))[:, -1:]])
        column_names += names_of_columns
        attribute_codings.append(AttributeCoding(level_table, level_numbers, tuple(knots)))
        shown_levels.append(is_shown)
    coding = Coding(
        tuple(column_names),
        tuple(attribute_codings),
        (),
        np.ones(len(column_names)),
        tuple(numbers),
        tuple(shown_levels),
        tuple(shared_missing),
        tuple(lacking_by_label),
    )
    coding = _add_interactions(coding, data.products, first_column, request.interactions)
    return coding._replace(scale=_compute_scales(coding, data.products, first_column))


def _add_interactions(
    coding: Coding,
    products: np.ndarray,
    first_column: Mapping[str, tuple[int, int]],
    interactions: tuple[tuple[str, str], ...],
) -> Coding:
    """Return the coding with columns for interactions of attributes."""
    single_columns = coding.encode_codes(products)
    column_names = coding.names
    column_pairs = [
        (a, b)
        for first_name, second_name in interactions
        for a in range(*first_column[first_name])
        for b in range(*first_column[second_name])
        # the utility of combinations that no product has is unknown
        if (single_columns[:, a] * single_columns[:, b]).any()
    ]
    crossed_names = (f"{column_names[a]}:{column_names[b]}" for a, b in column_pairs)
    return coding._replace(names=(*column_names, *crossed_names), crossed=tuple(column_pairs))


def _find_lacking_labels(data: ChoiceExperiment, is_missing: np.ndarray) -> tuple[bool, ...] | None:
    """Return which labelled alternatives never have an attribute; None if mixed."""
    # None without constants, or if only some alternatives of a label lack it.
    if data.scheme.alternative not in data.attributes or not is_missing.any():
        return None
    labels = data.products[:, data.attributes.index(data.scheme.alternative)]
    if (labels[is_missing] < 0).any():
        return None
    is_lacking = np.zeros(len(data.levels[data.scheme.alternative]), bool)
    is_lacking[labels[is_missing]] = True
    if not np.array_equal(is_lacking[labels] & (labels >= 0), is_missing):
        return None
    return tuple(is_lacking.tolist())


def _compute_scales(
    coding: Coding, products: np.ndarray, first_column: Mapping[str, tuple[int, int]]
) -> np.ndarray:
    """Return the scale of each column: sd if numeric, product if crossed, else 1."""
    # Scales of interactions are products of scales.
    scales = np.ones(len(coding.names))
    model_matrix = coding.encode_codes(products)
    for attribute_index, attribute in enumerate(first_column):
        if attribute in coding.linear:
            first_index, stop_index = first_column[attribute]
            present_rows = model_matrix[products[:, attribute_index] >= 0]
            scales[first_index:stop_index] = [
                float(present_rows[:, k].copy().std()) or 1.0
                for k in range(first_index, stop_index)
            ]
    n_single = len(coding.names) - len(coding.crossed)
    for column_index, (a, b) in enumerate(coding.crossed, n_single):
        scales[column_index] = scales[a] * scales[b]
    return scales


def _name_pieces(name: str, knots: Sequence[float]) -> list[str]:
    """Return column names of a numeric attribute's pieces between knots."""
    if not knots:
        return [name]
    inner_names = [f"{name}[{low:g} to {high:g}]" for low, high in pairwise(knots)]
    return [f"{name}[to {knots[0]:g}]", *inner_names, f"{name}[from {knots[-1]:g}]"]


def encode_new_tasks(
    coding: Coding,
    scheme: "Scheme",
    new_tasks: "pd.DataFrame | ChoiceExperiment",
    respondents: Sequence[str] = (),
) -> tuple[np.ndarray, "SchemeCells"]:
    """Return the model matrix of new tasks, and their encoded products.

    Numeric attributes may have any value.
    """
    cells, scheme_cells = read_task_cells(coding, scheme, new_tasks, respondents)
    return coding.encode_cells(cells), scheme_cells


def read_task_cells(
    coding: Coding,
    scheme: "Scheme",
    new_tasks: "pd.DataFrame | ChoiceExperiment",
    respondents: Sequence[str],
) -> tuple[np.ndarray, "SchemeCells"]:
    """Return new tasks with encoded products; warn of numbers outside the tested range."""
    extended_scheme, scheme_cells = encode_tasks(scheme, coding.linear, new_tasks, respondents)
    _refuse_unseen(coding, scheme, scheme_cells.products)
    cells = np.where(scheme_cells.products < 0, np.nan, scheme_cells.products)
    for attribute_index, (attribute, attribute_coding) in enumerate(
        zip(scheme.names, coding.parts, strict=True)
    ):
        if attribute_coding.numbers is not None:
            new_levels = extended_scheme.levels[attribute][len(attribute_coding.numbers) :]
            level_numbers = np.concatenate(
                [attribute_coding.numbers, parse_level_numbers(attribute, new_levels), [np.nan]]
            )
            cells[:, attribute_index] = level_numbers[scheme_cells.products[:, attribute_index]]
            _warn_extrapolated(
                attribute,
                cells[:, attribute_index],
                attribute_coding.numbers[coding.seen[attribute_index][:-1]],
            )
    return cells, scheme_cells


def encode_tasks(
    scheme: "Scheme",
    linear: Sequence[str],
    new_tasks: "pd.DataFrame | ChoiceExperiment",
    respondents: Sequence[str] = (),
) -> "tuple[Scheme, SchemeCells]":
    """Return the scheme with new numbers added, and new tasks encoded by it."""
    if isinstance(new_tasks, ChoiceExperiment) and scheme.alternative in scheme.names:
        new_tasks = add_constants(new_tasks)
    extended_scheme = scheme.with_numbers(linear, new_tasks)
    return extended_scheme, extended_scheme.encode(new_tasks, respondents)


def _warn_extrapolated(name: str, numbers: np.ndarray, tested_numbers: np.ndarray) -> None:
    """Warn of the number outside the tested range that is farthest from the tested mean."""
    with np.errstate(invalid="ignore"):
        outside_numbers = numbers[
            (numbers < tested_numbers.min()) | (numbers > tested_numbers.max())
        ]
    if len(outside_numbers):
        farthest_number = outside_numbers[np.abs(outside_numbers - tested_numbers.mean()).argmax()]
        warn(
            DataWarning(
                f"{name!r} is {farthest_number:g}, outside the tested range"
                f" {tested_numbers.min():g} to"
                f" {tested_numbers.max():g}, so its effect is extrapolated linearly."
            )
        )


def find_unseen_levels(
    coding: Coding, levels: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Return {attribute: levels that no fitted product has}."""
    unseen_levels = {
        name: tuple(
            level
            for level, is_shown in zip(attribute_levels, shown_levels[:-1], strict=True)
            if not is_shown
        )
        for (name, attribute_levels), shown_levels in zip(levels.items(), coding.seen, strict=True)
        if name not in coding.linear
    }
    return {
        name: attribute_levels
        for name, attribute_levels in unseen_levels.items()
        if attribute_levels
    }


def _refuse_unseen(coding: Coding, scheme: "Scheme", products: np.ndarray) -> None:
    """Raise DataError for products with levels that the fit has no utility for."""
    for attribute, unseen_levels in find_unseen_levels(coding, scheme.levels).items():
        levels = scheme.levels[attribute]
        requested_levels = [
            level
            for level in unseen_levels
            if (products[:, scheme.names.index(attribute)] == levels.index(level)).any()
        ]
        if requested_levels:
            known_levels = [level for level in levels if level not in unseen_levels]
            raise DataError(
                f"The fitted tasks never show {attribute!r} as {requested_levels[0]!r}, so its"
                " utility is"
                f" unknown; use one of {shorten(known_levels)}",
                advise_linear(attribute, levels) or ".",
            )
    is_missing = products < 0
    if scheme.has_inside:
        is_missing[:, 0] = products[:, 0] == 0  # the no-choice option, whose level was checked
    partner_index = {
        attribute_index: first_index for first_index, attribute_index in coding.lacking
    }
    lacking_labels = dict(coding.unlabelled)
    for attribute_index, attribute in list(enumerate(scheme.names))[scheme.has_inside :]:
        if attribute_index in lacking_labels:
            labels = products[:, scheme.names.index(str(scheme.alternative))]
            is_unknown = is_missing[:, attribute_index] != (
                np.array(lacking_labels[attribute_index])[labels] & (labels >= 0)
            )
        elif attribute_index in partner_index:
            is_unknown = (
                is_missing[:, attribute_index] != is_missing[:, partner_index[attribute_index]]
            )
        else:
            is_unknown = is_missing[:, attribute_index] & ~coding.seen[attribute_index][-1]
        if is_unknown.any():
            verb = "has"
            if is_missing[is_unknown.argmax(), attribute_index]:
                verb = "lacks"
            raise DataError(
                f"A new product {verb} a value for {attribute!r}, unlike comparable products in"
                " the fitted data, so its utility is unknown; change this value."
            )


def require_experiment(data: Any, constants: bool | None = False) -> ChoiceExperiment:
    """Return the choice experiment, with labels as an attribute for constants."""
    if not isinstance(data, ChoiceExperiment):
        raise DataError(
            f"The model requires a ChoiceExperiment; got {type(data).__name__}. Create one with"
            " ChoiceExperiment.from_frame(frame)."
        )
    if not isinstance(constants, bool | None):
        raise ArgumentError(
            Argument("constants"), f" must be True, False or None; got {constants!r}."
        )
    if has_constants(data, constants):
        return add_constants(data)
    return data


def refuse_weights(data: ChoiceExperiment) -> None:
    """Raise DataError if a column of respondents contains different weights."""
    for name in list_weight_columns(list_differing_columns(data.people)):
        raise DataError(
            f"Column {name!r} looks like weights, but the model weights all tasks equally; drop it"
            " with ",
            Setting("without", [name]),
            "; if it describes respondents, rename it.",
        )


def has_constants(data: ChoiceExperiment, constants: bool | None) -> bool:
    """Return whether labelled alternatives get constants; None means if they are named."""
    if constants is None:
        return not explain_no_constants(data)
    return constants


def describe_constants(data: ChoiceExperiment, constants: bool | None) -> Message:
    """Return a message on alternative constants, and how to change that."""
    uses_constants = has_constants(data, constants)
    description = "no alternative-specific constants"
    if uses_constants:
        description = "a constant for each named alternative"
    elif constants is None:
        description += f", because {explain_no_constants(data)}"
    return Message(
        description, Clause(" (to change this, use ", Setting("constants", not uses_constants), ")")
    )


def refuse_many_levels(data: ChoiceExperiment, numbers: Iterable[str] | None) -> None:
    """Raise DataError for attributes with many levels that `numbers` does not list.

    `numbers` are the numeric attributes; None if the model has none.
    """
    numeric_advice: tuple[Any, ...] = ()
    if numbers is not None:
        numeric_advice = *numbers, *data.scheme.measured, data.scheme.alternative
    for attribute in data.scheme.attributes:
        attribute_name = attribute.name
        levels = attribute.levels
        if (
            attribute_name in numeric_advice
            or len(levels) <= MANY_LEVELS
            or attribute.order not in (NUMBERS, MEASURED, ALPHABET)
        ):
            continue
        examples = f"{levels[0]} to {levels[-1]}"
        advice: list[Any] = ["group its levels with ", Setting("bins", {attribute_name: 4})]
        if numbers is not None:
            advice = ["treat it as numeric with ", Setting("linear", attribute_name), ", ", *advice]
        if attribute.order == ALPHABET:
            examples = shorten(levels, 4)
            advice = ["leave the attribute out of ", Argument("attributes"), ", merge rare levels"]
            if numbers is not None:
                advice += [", replace them with a numeric attribute named in ", Argument("linear")]
        raise DataError(
            f"Attribute {attribute_name!r} has {len(levels):,} levels ({examples}), but at most"
            f" {MANY_LEVELS} are allowed unless they are listed; ",
            *advice,
            ", or list the levels with ",
            Argument("levels"),
            ".",
        )


def build_measured_facts(coding: Coding, scheme: "Scheme") -> Facts:
    """Return the report fact that lists attributes treated as numeric by default."""
    numeric_attributes = [name for name in scheme.measured if name in coding.linear]
    if not numeric_attributes:
        return ()
    reason = (
        f"more than {MANY_LEVELS} different values; list the levels to treat them as categories"
    )
    return (("taken as numbers", f"{shorten(numeric_attributes)} ({reason})"),)


def build_unseen_remarks(coding: Coding, levels: dict[str, tuple[str, ...]]) -> list[Message]:
    """Return a list with a remark on declared levels that no task shows."""
    level_texts = [
        f"{name} = {level}"
        for name, attribute_levels in find_unseen_levels(coding, levels).items()
        for level in attribute_levels
    ]
    if not level_texts:
        return []
    return [
        Message(
            "Levels that no task shows have no coefficients, so choices involving them cannot be"
            f" predicted: {shorten(level_texts)}. Attributes named in ",
            Argument("linear"),
            " accept any number.",
        )
    ]


# The arguments of the coding, checked against the data --------------------------------------------


def parse_coding_request(
    data: "ChoiceExperiment",
    linear: Iterable[str],
    knots: Mapping[str, Any] | None,
    interactions: Iterable[tuple[str, str]],
) -> CodingRequest:
    """Return the arguments `linear`, `knots`, `interactions`, checked against data."""
    knots_by_attribute: dict[str, tuple[float, ...]] = dict.fromkeys(data.scheme.measured, ())
    for attribute in parse_linear(linear):
        _check_attribute("linear", attribute, data)
        knots_by_attribute[attribute] = ()
    for attribute, attribute_knots in parse_knots(knots).items():
        _check_attribute("knots", attribute, data)
        knots_by_attribute[attribute] = _choose_knots(data, attribute, attribute_knots)
    attribute_pairs = parse_interactions(interactions)
    for pair in attribute_pairs:
        for attribute in pair:
            _check_attribute("interactions", attribute, data)
    return CodingRequest(knots_by_attribute, attribute_pairs)


def parse_linear(linear: Iterable[str]) -> tuple[str, ...]:
    """Return the argument `linear` as a tuple of attributes."""
    if isinstance(linear, str):
        return (linear,)
    if not isinstance(linear, Iterable):
        raise ArgumentError(Argument("linear"), f" must be a list of attributes; got {linear!r}.")
    return tuple(str(name) for name in linear)


def parse_knots(knots: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the argument `knots` as a dict by attribute."""
    if knots is None:
        return {}
    if not isinstance(knots, Mapping):
        raise ArgumentError(
            Argument("knots"),
            " must map attributes to the points where their slopes change, such as {'price': [2,"
            f" 3]}}; got {knots!r}.",
        )
    return {str(name): attribute_knots for name, attribute_knots in knots.items()}


def parse_interactions(interactions: Any) -> tuple[tuple[str, str], ...]:
    """Return the argument `interactions` as pairs of different attributes."""
    format_error = ArgumentError(
        Argument("interactions"),
        f" must be pairs of attributes, such as [('price', 'brand')]; got {interactions!r}.",
    )
    if isinstance(interactions, Mapping):
        interactions = [
            (name, second_name)
            for name, partners in interactions.items()
            for second_name in partners
        ]
    if not is_list(interactions):
        raise format_error
    attribute_pairs = []
    for pair in interactions:
        if not is_list(pair) or len(pair := tuple(map(str, pair))) != 2:
            raise format_error
        first_name, second_name = pair
        pair_problem = ""
        if first_name == second_name:
            pair_problem = ", the same attribute; remove this pair"
        elif (first_name, second_name) in attribute_pairs or (
            second_name,
            first_name,
        ) in attribute_pairs:
            pair_problem = " twice; remove the duplicate"
        if pair_problem:
            raise ArgumentError(
                Argument("interactions"),
                f" pairs {first_name!r} with {second_name!r}{pair_problem}.",
            )
        attribute_pairs.append((first_name, second_name))
    return tuple(attribute_pairs)


def parse_level_numbers(name: str, levels: Iterable[str]) -> np.ndarray:
    """Return the number of each level of a numeric attribute."""
    numbers = []
    for level in levels:
        if (number := parse_number(level)) is None:
            raise ArgumentError(
                Argument("linear"),
                f" contains {name!r}, whose level {level!r} is not a number; remove {name!r} from"
                " the list.",
            )
        numbers.append(number)
    return np.array(numbers, dtype=float)


def split_at_knots(numbers: np.ndarray, knots: Sequence[float]) -> np.ndarray:
    """Return the part of each number in each interval between knots, (values, pieces).

    Coefficients of the pieces are slopes.

    Examples
    --------
    >>> split_at_knots(np.array([1.0, 3.0, 6.0]), (2.0, 5.0)).tolist()
    [[1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [2.0, 3.0, 1.0]]
    """
    if not knots:
        return numbers[:, None]
    pieces = [np.minimum(numbers, knots[0])]
    pieces += [np.clip(numbers, low, high) - low for low, high in pairwise(knots)]
    return np.column_stack([*pieces, np.maximum(numbers - knots[-1], 0.0)])


def _check_attribute(argument: str, name: str, data: "ChoiceExperiment") -> None:
    """Raise ArgumentError unless the data have the attribute."""
    if name not in data.attributes or name == INSIDE:
        raise ArgumentError(
            Argument(argument),
            f" contains {name!r}, which is not an attribute.{suggest(name, data.attributes)}",
        )


def _choose_knots(data: "ChoiceExperiment", name: str, knots: Any) -> tuple[float, ...]:
    """Return the knots of an attribute: given numbers, or quantiles of tested values."""
    codes = data.products[:, data.attributes.index(name)]
    tested_numbers = np.unique(
        parse_level_numbers(name, data.levels[name])[np.unique(codes[codes >= 0])]
    )
    if is_integer(knots) and 0 < knots < len(tested_numbers) - 1:
        return tuple(np.quantile(tested_numbers, np.arange(1, knots + 1) / (knots + 1)).tolist())
    try:
        knot_array = np.array(list(knots), dtype=float)
    except (TypeError, ValueError):
        knot_array = np.empty(0)
    is_inside = (knot_array > tested_numbers.min()) & (knot_array < tested_numbers.max())
    if not len(knot_array) or not is_inside.all() or not (np.diff(knot_array) > 0).all():
        raise ArgumentError(
            Argument("knots"),
            f" of {name!r} must be increasing numbers between its lowest and highest tested values"
            f" ({tested_numbers.min():g} and {tested_numbers.max():g}), or the number of knots (at"
            " most"
            f" {max(1, len(tested_numbers) - 2)}); got {knots!r}.",
        )
    piece_columns = split_at_knots(tested_numbers, tuple(knot_array.tolist()))
    number_texts = ", ".join(f"{value:g}" for value in tested_numbers)
    if np.linalg.matrix_rank(piece_columns - piece_columns.mean(axis=0)) <= len(knot_array):
        raise ArgumentError(
            Argument("knots"),
            f" of {name!r} leave a segment without enough tested values ({number_texts}) to"
            " estimate its"
            " slope; use fewer knots.",
        )
    return tuple(knot_array.tolist())
