"""What may be offered in a market, by the data of a choice experiment or what a model keeps of them."""

from typing import Any

import numpy as np

from thali.data.experiments.levels import as_number
from thali.data.experiments.scheme import INSIDE

from .market import MarketAttribute, Product

MAX_PRODUCTS = 8  # of the first task


def attributes_of(design: Any) -> tuple[MarketAttribute, ...]:
    """The levels of the attributes, those included that no product had."""
    real = np.ones(len(design.products), bool)
    if design.scheme.none:
        real = design.products[:, 0] > 0 if design.scheme.has_inside else (design.products >= 0).any(axis=1)
    found = []
    for place, (name, levels) in enumerate(design.scheme.levels.items()):
        numbers = [as_number(level) for level in levels]
        of_levels = tuple(number for number in numbers if number is not None)
        is_inside = design.scheme.has_inside and place == 0 and name == INSIDE
        found.append(
            MarketAttribute(
                name,
                levels,
                of_levels if len(of_levels) == len(levels) else None,
                may_lack=bool((design.products[real, place] < 0).any()),
                fixed=1 if is_inside else None,
            )
        )
    return tuple(found)


def none_of(design: Any) -> Product | None:
    """The no-choice option, which lacks every attribute but "inside"."""
    if not design.scheme.none:
        return None
    missing: Product = (None,) * len(design.scheme.attributes)
    return (0, *missing) if design.scheme.has_inside else missing


def first_task_of(design: Any) -> tuple[Product, ...]:
    """The products of the first task, without the no-choice option."""
    rows = design.products[design.row_product[: design.first_row[1]]].tolist()
    products = [tuple(None if level < 0 else level for level in row) for row in rows]
    return tuple(product for product in products if product != none_of(design))[:MAX_PRODUCTS]
