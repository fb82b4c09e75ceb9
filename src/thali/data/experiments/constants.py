"""The alternative's label as an attribute of its own, for experiments whose alternatives have names or places."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from thali.errors import Argument, ArgumentError, Setting

from .levels import by_value
from .scheme import Attribute

if TYPE_CHECKING:
    from .experiment import ChoiceExperiment


def with_constants(data: "ChoiceExperiment") -> "ChoiceExperiment":
    """The data with the column of alternatives as their last attribute, which the no-choice option lacks.

    Data that have it already are returned as they are.
    """
    scheme = data.scheme
    if scheme.alternative is None:
        raise ArgumentError(
            Setting("constants", True),
            " needs labels of alternatives, and the data have none; name their column by ",
            Argument("alternative"),
            ".",
        )
    if scheme.alternative in scheme.names:
        return data
    old = data.products[data.row_product]
    is_none = (
        (old[:, 0] == 0 if scheme.has_inside else (old < 0).all(axis=1)) if scheme.none else np.zeros(len(old), bool)
    )
    found = sorted(set(data.alternative_labels[~is_none].tolist()))
    if len(found) < 2:
        raise ArgumentError(
            Setting("constants", True), f" needs two labels or more; all alternatives are {found[0]!r}."
        )
    levels, order = by_value(found)
    place = {label: number for number, label in enumerate(levels)}
    codes = np.array([place.get(label, -1) for label in data.alternative_labels], np.int64)
    codes[is_none] = -1
    products, row_product = np.unique(np.column_stack([old, codes]), axis=0, return_inverse=True)
    attributes = (*scheme.attributes, Attribute(scheme.alternative, levels, order))
    changed = {
        "scheme": replace(scheme, attributes=attributes),
        "products": products,
        "row_product": row_product.ravel().astype(np.int64),
    }
    return data.with_fields(**changed)
