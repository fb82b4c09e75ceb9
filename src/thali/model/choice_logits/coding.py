"""Products as numbers: a column for each level but the first, or the levels as numbers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import shorten, suggest
from thali.data.experiment_levels import as_number
from thali.data.experiment_scheme import INSIDE
from thali.errors import Argument, ArgumentError, DataError, Message, Setting

if TYPE_CHECKING:
    import pandas as pd

    from thali.data.experiment import ChoiceExperiment
    from thali.data.experiment_scheme import Encoded, Scheme


class Coding(NamedTuple):
    """The columns of the model matrix."""

    names: tuple[str, ...]  # (p,), such as "brand[sony]", "price", "zoom[missing]"
    tables: tuple[np.ndarray, ...]  # (levels + 1, columns) of each attribute; the last row: attribute missing
    scale: np.ndarray  # (p,) sd of a number over the products, 1 for a level: makes a prior independent of units
    linear: tuple[str, ...]  # attributes read as numbers
    seen: tuple[np.ndarray, ...]  # (levels + 1,) levels that the products of the data have; last: attribute missing
    lacking: tuple[tuple[int, int], ...]  # pairs of attributes missing in the same products: one column serves both

    def matrix(self, products: np.ndarray) -> np.ndarray:
        """The model matrix of products, shape (products, p)."""
        return np.hstack([table[codes] for table, codes in zip(self.tables, products.T, strict=True)])


def linear_names(linear: Any) -> tuple[str, ...]:
    """The argument `linear` as attributes."""
    if isinstance(linear, str):
        return (linear,)
    if not isinstance(linear, Iterable):
        raise ArgumentError(Argument("linear"), f" must be a list of attributes; got {linear!r}.")
    return tuple(str(name) for name in linear)


def coding_of(data: "ChoiceExperiment", linear: Any = ()) -> Coding:
    """The columns that describe the products of the data.

    Each level of an attribute in the products, except the first, has a column: 1 in products with that level.
    An attribute in `linear` has one column, which holds its number. Products that lack an
    attribute have 0 there, and 1 in a further column if not every product that lacks it is the no-choice option.
    """
    wanted = linear_names(linear)
    for name in wanted:
        if name not in data.attributes or name == INSIDE:
            raise ArgumentError(
                Argument("linear"), f" names {name!r}, which is no attribute.{suggest(name, data.attributes)}"
            )
    return coding_by(data, {name: _numbers(name, data.levels[name]) for name in wanted})


def coding_by(data: "ChoiceExperiment", numbers: Mapping[str, np.ndarray]) -> Coding:
    """As `coding_of`, with attribute -> the number of each of its levels."""
    names: list[str] = []
    tables, scales, every_seen, shared = [], [], [], []
    lacking = {data.attributes.index(INSIDE): data.products[:, 0] == 0} if INSIDE in data.levels else {}
    for place, (name, levels) in enumerate(data.levels.items()):
        codes = data.products[:, place]
        seen = np.bincount(codes % (len(levels) + 1), minlength=len(levels) + 1) > 0  # -1, missing, is the last one
        if name in numbers:
            own, table = [name], np.asarray(numbers[name], float)[:, None]
            values = table[codes[codes >= 0], 0]
            scales.append(float(values.std()) or 1.0)
        else:
            columns = np.flatnonzero(seen[:-1])[1:]
            own = [name] if name == INSIDE and len(columns) else [f"{name}[{levels[level]}]" for level in columns]
            table = np.eye(len(levels))[:, columns]
            scales += [1.0] * len(own)
        table = np.vstack([table, np.zeros(table.shape[1])])
        missing = codes < 0
        same = [other for other, pattern in lacking.items() if np.array_equal(missing, pattern)]
        if missing.any() and same:
            shared.append((same[0], place))
        elif missing.any():
            lacking[place] = missing
            own, scales = [*own, f"{name}[missing]"], [*scales, 1.0]
            table = np.hstack([table, np.eye(len(table))[:, -1:]])
        names += own
        tables.append(table)
        every_seen.append(seen)
    return Coding(tuple(names), tuple(tables), np.array(scales), tuple(numbers), tuple(every_seen), tuple(shared))


def read_new(
    coding: Coding, scheme: "Scheme", new: "pd.DataFrame | ChoiceExperiment", respondents: Sequence[str] = ()
) -> tuple[np.ndarray, "Encoded"]:
    """New tasks in the columns of the coding; an attribute that is read as a number may have any value."""
    wide = scheme.with_numbers(coding.linear, new)
    found = wide.encode(new, respondents)
    _refuse_unseen(coding, scheme, found.products)
    tables = []
    for name, table in zip(scheme.names, coding.tables, strict=True):
        more = np.zeros((len(wide.levels[name]) - len(scheme.levels[name]), table.shape[1]))
        if len(more):
            more[:, 0] = _numbers(name, wide.levels[name][-len(more) :])
        tables.append(np.vstack([table[:-1], more, table[-1:]]))
    return coding._replace(tables=tuple(tables)).matrix(found.products), found


def unseen_levels(coding: Coding, levels: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Attribute -> its levels that no product of the fit has, unless it is read as a number."""
    unseen = {
        name: tuple(level for level, known in zip(own, seen[:-1], strict=True) if not known)
        for (name, own), seen in zip(levels.items(), coding.seen, strict=True)
        if name not in coding.linear
    }
    return {name: own for name, own in unseen.items() if own}


def _refuse_unseen(coding: Coding, scheme: "Scheme", products: np.ndarray) -> None:
    """Refuse levels, and patterns of missing attributes, whose utility the data of the fit do not identify."""
    for name, unseen in unseen_levels(coding, scheme.levels).items():
        levels = scheme.levels[name]
        asked = [level for level in unseen if (products[:, scheme.names.index(name)] == levels.index(level)).any()]
        if asked:
            numeric = all(as_number(level) is not None for level in levels)
            cure = Message(", or fit with ", Setting("linear", name), ", which takes any number") if numeric else ""
            shown = [level for level in levels if level not in unseen]
            raise DataError(
                f"The tasks of the fit never show {name!r} as {asked[0]!r}, so that nothing is known of its utility; "
                f"ask about {shorten(shown)}",
                cure,
                ".",
            )
    missing = products < 0
    if scheme.has_inside:
        missing[:, 0] = products[:, 0] == 0  # the no-choice option, whose level was checked
    partner = {place: other for other, place in coding.lacking}
    for place, name in list(enumerate(scheme.names))[scheme.has_inside :]:
        if place in partner:
            unknown = missing[:, place] != missing[:, partner[place]]
        else:
            unknown = missing[:, place] & ~coding.seen[place][-1]
        if unknown.any():
            raise DataError(
                f"Some new product lacks {name!r} as no product of the fit does, so that nothing is known of its "
                "utility; give it a level."
            )


def _numbers(name: str, levels: tuple[str, ...]) -> np.ndarray:
    numbers = [as_number(level) for level in levels]
    for level, number in zip(levels, numbers, strict=True):
        if number is None:
            raise ArgumentError(
                Argument("linear"), f" names {name!r}, whose level {level!r} is no number; leave it out of the list."
            )
    return np.array(numbers, dtype=float)
