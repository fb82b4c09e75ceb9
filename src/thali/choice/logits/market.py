"""A fit of a logit as the draws of a market: some draws and people, and their tastes."""

from typing import TYPE_CHECKING

import numpy as np

from thali._labels import plural
from thali.data.experiments.levels import as_number
from thali.data.experiments.scheme import INSIDE
from thali.people.columns import MarketPeople, people_of

from ..answers.simulator import MAX_PRODUCTS, MarketAttribute, MarketDraws, Product, held, none_of
from ..market_draws.logit import Columns, Kinds, logit_tastes

if TYPE_CHECKING:
    from .chooser import LogitChooser

MIN_DRAWS, MAX_DRAWS = 40, 500
MAX_TASTES = 400_000  # coefficients of all people in all draws: two bytes each; the kind of a person takes one


def market_draws(chooser: "LogitChooser") -> MarketDraws:
    """Evenly spaced draws with everybody, or, of many people, fewer draws with some people each."""
    everybody, (number, p) = len(chooser.data.respondents), chooser.tastes.shape[1:]
    each = number * p + (0 if chooser.kinds is None else everybody // 2)
    fewer = chooser.thinned(int(np.clip(MAX_TASTES // each, MIN_DRAWS, MAX_DRAWS)))
    tastes, draws, kinds = fewer.tastes, len(fewer.tastes), None
    some = ""
    if chooser.membership is None:
        some = ", with each respondent in each"
        people = max(1, min(number, MAX_TASTES // (draws * p)))
        if people < number:
            tastes = np.take_along_axis(tastes, held(draws, people, number)[:, :, None], axis=1)
            some = f", with {people:,} of {number:,} respondents in each, so that intervals are somewhat too wide"
    elif chooser.has_individuals:
        assert fewer.kinds is not None
        kinds = Kinds(chooser.membership.astype(np.float32), fewer.kinds[1:])
    of = "the sampling distribution of the estimate" if chooser.is_estimate else "the posterior"
    columns = tuple(
        Columns(part.table[np.append(seen[:-1], True)], part.numbers is not None, part.knots)
        for part, seen in zip(chooser.coding.parts, chooser.coding.seen, strict=True)
    )
    return MarketDraws(
        _attributes(chooser),
        logit_tastes(columns, tastes, chooser.coding.crossed, number if kinds is None else everybody, kinds),
        0.0,
        none_of(chooser.data),
        _first_task(chooser),
        f"{plural(draws - chooser.is_estimate, 'draw')} of {of}{some}",
        chooser.is_estimate,
        _people(chooser),
    )


def _people(chooser: "LogitChooser") -> MarketPeople | None:
    """What is known of people who differ, and their kinds."""
    if not chooser.has_individuals:
        return None
    classes = 0 if chooser.membership is None else chooser.membership.shape[1]
    return people_of(chooser.people, len(chooser.data.respondents), tuple(f"class {k + 1}" for k in range(classes)))


def _attributes(chooser: "LogitChooser") -> tuple[MarketAttribute, ...]:
    """What may be asked of each attribute: levels that the tasks show, or any number between them."""
    data, found = chooser.data, []
    real = np.ones(len(data.products), bool)
    if data.scheme.none:
        real = data.products[:, 0] > 0 if data.scheme.has_inside else (data.products >= 0).any(axis=1)
    for place, (name, levels) in enumerate(data.levels.items()):
        part, seen = chooser.coding.parts[place], chooser.coding.seen[place][:-1]
        shown = tuple(level for level, known in zip(levels, seen, strict=True) if known)
        numbers = tuple(number for number in map(as_number, shown) if number is not None)
        found.append(
            MarketAttribute(
                name,
                shown,
                numbers if len(numbers) == len(shown) else None,
                takes_any=part.numbers is not None,
                may_lack=bool((data.products[real, place] < 0).any()),
                fixed=1 if data.scheme.has_inside and name == INSIDE else None,
            )
        )
    return tuple(found)


def _first_task(chooser: "LogitChooser") -> tuple[Product, ...]:
    """The products of the first task, without the no-choice option."""
    data, none = chooser.data, none_of(chooser.data)
    found = []
    for row in data.products[data.row_product[: data.first_row[1]]].tolist():
        if tuple(None if code < 0 else code for code in row) == none:
            continue
        cells: list[float | None] = []
        for code, part, seen in zip(row, chooser.coding.parts, chooser.coding.seen, strict=True):
            if code < 0:
                cells.append(None)
            else:
                cells.append(float(part.numbers[code]) if part.numbers is not None else int(seen[:code].sum()))
        found.append(tuple(cells))
    return tuple(found[:MAX_PRODUCTS])
