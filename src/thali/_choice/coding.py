"""Products as numbers: a column for each level, or for a number itself, its pieces, and products of
columns."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import is_list
from thali._data.experiments import ChoiceExperiment
from thali._data.experiments.levels import (
    ALPHABET,
    MANY_LEVELS,
    MEASURED,
    NUMBERS,
    is_integer,
    parse_number,
)
from thali._data.experiments.scheme import (
    INSIDE,
    Scheme,
    SchemeCells,
    add_constants,
    explain_no_constants,
)
from thali._described import Facts
from thali._inference.warn import warn
from thali._labels import shorten, suggest
from thali.errors import Argument, ArgumentError, Clause, DataError, DataWarning, Message, Setting

if TYPE_CHECKING:
    import pandas as pd


def attention_required(argument: str) -> ArgumentError:
    """Return the error for an argument that only attribute non-attendance has."""
    return ArgumentError(
        Argument(argument),
        " applies to attribute non-attendance; also set ",
        Setting("attention", True),
        ".",
    )


class Part(NamedTuple):
    """The columns that stand for one attribute."""

    # (levels + 1, columns) of each declared level; the last row: attribute missing
    table: np.ndarray
    numbers: np.ndarray | None = None  # (levels,) where the attribute is taken as a number
    knots: tuple[float, ...] = ()  # where the slope of the number changes

    def rows(self, cells: np.ndarray) -> np.ndarray:
        """The columns for cells, shape (rows, columns)."""
        missing = np.isnan(cells)
        if self.numbers is None:
            return self.table[np.where(missing, -1, cells).astype(np.int64)]
        found = np.repeat(self.table[-1:], len(cells), axis=0)
        found[~missing] = 0.0
        found[~missing, : len(self.knots) + 1] = pieces(cells[~missing], self.knots)
        return found


class CodingRequest(NamedTuple):
    """What a user asked of the coding."""

    # attributes taken as numbers, and where the slope of each changes
    numbers: dict[str, tuple[float, ...]]
    interactions: tuple[tuple[str, str], ...]


class Coding(NamedTuple):
    """The columns of the model matrix."""

    # (p,), such as "brand[sony]", "price", "zoom[missing]", "price:brand[sony]"
    names: tuple[str, ...]
    parts: tuple[Part, ...]  # of each attribute
    # further columns are products of two of those of the parts
    crossed: tuple[tuple[int, int], ...]
    # (p,) sd of a number over the products, 1 for a level: makes a prior independent of units
    scale: np.ndarray
    linear: tuple[str, ...]  # attributes taken as numbers
    # (levels + 1,) levels that the products of the data have; last: attribute missing
    seen: tuple[np.ndarray, ...]
    # pairs of attributes missing in the same products: one column serves both
    lacking: tuple[tuple[int, int], ...]
    # Attributes that alternatives of some labels lack, and which these are: their constants serve
    # instead of a column.
    unlabelled: tuple[tuple[int, tuple[bool, ...]], ...] = ()

    def cells(self, codes: np.ndarray) -> np.ndarray:
        """Products by level numbers as cells: numbers of attributes taken as such; NaN where one is
        lacking."""
        found = np.where(codes < 0, np.nan, codes)
        for place, part in enumerate(self.parts):
            if part.numbers is not None:
                own = codes[:, place]
                found[:, place] = np.append(part.numbers, np.nan)[own]
        return found

    def rows(self, cells: np.ndarray) -> np.ndarray:
        """The model matrix of cells, shape (products, p)."""
        single = np.hstack([part.rows(own) for part, own in zip(self.parts, cells.T, strict=True)])
        if not self.crossed:
            return single
        one, other = np.array(self.crossed).T
        return np.hstack([single, single[:, one] * single[:, other]])

    def matrix(self, codes: np.ndarray) -> np.ndarray:
        """The model matrix of products by their declared level numbers, shape (products, p)."""
        return self.rows(self.cells(codes))


def coding_of(
    data: ChoiceExperiment, linear: Any = (), knots: Any = None, interactions: Any = ()
) -> Coding:
    """The columns that describe the products of the data."""
    # Each level of an attribute in the products, except the first, has a column: 1 in products with
    # that level. A measured attribute, and one in `linear`, has one column, which holds its number;
    # one in `knots` has a column for each piece of its number. Products that lack an attribute have
    # 0 there, and 1 in a further column if not every product that lacks it is the no-choice option.
    # Two attributes in `interactions` have the products of their columns besides.
    wanted = wanted_of(data, linear, knots, interactions)
    return coding_by(
        data, {name: numbers_of_levels(name, data.levels[name]) for name in wanted.numbers}, wanted
    )


def coding_by(
    data: ChoiceExperiment, numbers: Mapping[str, np.ndarray], wanted: CodingRequest | None = None
) -> Coding:
    """As `coding_of`, with attribute -> the number of each of its levels."""
    wanted = CodingRequest(dict.fromkeys(numbers, ()), ()) if wanted is None else wanted
    names: list[str] = []
    parts, every_seen, shared, unlabelled, first_column = [], [], [], [], {}
    lacking = (
        {data.attributes.index(INSIDE): data.products[:, 0] == 0} if INSIDE in data.levels else {}
    )
    for place, (name, levels) in enumerate(data.levels.items()):
        codes = data.products[:, place]
        # -1, missing, is the last one
        seen = np.bincount(codes % (len(levels) + 1), minlength=len(levels) + 1) > 0
        own_numbers, knots = None, wanted.numbers.get(name, ())
        if name in numbers:
            own_numbers = np.asarray(numbers[name], float)
            own, table = _piece_names(name, knots), pieces(own_numbers, knots)
        else:
            columns = np.flatnonzero(seen[:-1])[1:]
            own = (
                [name]
                if name == INSIDE and len(columns)
                else [f"{name}[{levels[level]}]" for level in columns]
            )
            table = np.eye(len(levels))[:, columns]
        first_column[name] = (len(names), len(names) + len(own))
        table = np.vstack([table, np.zeros(table.shape[1])])
        missing = codes < 0
        same = [other for other, pattern in lacking.items() if np.array_equal(missing, pattern)]
        lacks = _labels_without(data, missing)
        if lacks is not None:
            unlabelled.append((place, lacks))
        elif missing.any() and same:
            shared.append((same[0], place))
        elif missing.any():
            lacking[place] = missing
            own = [*own, f"{name}[missing]"]
            table = np.hstack([table, np.eye(len(table))[:, -1:]])
        names += own
        parts.append(Part(table, own_numbers, tuple(knots)))
        every_seen.append(seen)
    fields = tuple(numbers), tuple(every_seen), tuple(shared), tuple(unlabelled)
    coding = Coding(tuple(names), tuple(parts), (), np.ones(len(names)), *fields)
    single = coding.matrix(data.products)
    crossed = [
        (a, b)
        for one, other in wanted.interactions
        for a in range(*first_column[one])
        for b in range(*first_column[other])
        # of combinations that no product has, nothing is known
        if (single[:, a] * single[:, b]).any()
    ]
    coding = coding._replace(
        names=(*names, *(f"{names[a]}:{names[b]}" for a, b in crossed)), crossed=tuple(crossed)
    )
    return coding._replace(scale=_scales(coding, data.products, first_column))


def _labels_without(data: ChoiceExperiment, missing: np.ndarray) -> tuple[bool, ...] | None:
    """Which labels of alternatives lack an attribute, if all of a label do, or none; None without
    constants."""
    if data.scheme.alternative not in data.attributes or not missing.any():
        return None
    labels = data.products[:, data.attributes.index(data.scheme.alternative)]
    if (labels[missing] < 0).any():
        return None
    found = np.zeros(len(data.levels[data.scheme.alternative]), bool)
    found[labels[missing]] = True
    return tuple(found.tolist()) if np.array_equal(found[labels] & (labels >= 0), missing) else None


def _scales(
    coding: Coding, products: np.ndarray, first_column: Mapping[str, tuple[int, int]]
) -> np.ndarray:
    """Standard deviations, over products with the attribute, of columns that are numbers, and of
    their products."""
    scale = np.ones(len(coding.names))
    matrix = coding.matrix(products)
    for place, name in enumerate(first_column):
        if name in coding.linear:
            first, last = first_column[name]
            there = matrix[products[:, place] >= 0]
            scale[first:last] = [float(there[:, k].copy().std()) or 1.0 for k in range(first, last)]
    singles = len(coding.names) - len(coding.crossed)
    for column, (a, b) in enumerate(coding.crossed, singles):
        scale[column] = scale[a] * scale[b]
    return scale


def _piece_names(name: str, knots: Sequence[float]) -> list[str]:
    """What the pieces of a number are called."""
    if not knots:
        return [name]
    inner = [f"{name}[{low:g} to {high:g}]" for low, high in pairwise(knots)]
    return [f"{name}[to {knots[0]:g}]", *inner, f"{name}[from {knots[-1]:g}]"]


def read_new(
    coding: Coding,
    scheme: "Scheme",
    new: "pd.DataFrame | ChoiceExperiment",
    respondents: Sequence[str],
) -> tuple[np.ndarray, "SchemeCells"]:
    """New tasks in the columns of the coding; an attribute that is taken as a number may have any
    value."""
    cells, found = read_cells(coding, scheme, new, respondents)
    return coding.rows(cells), found


def read_cells(
    coding: Coding,
    scheme: "Scheme",
    new: "pd.DataFrame | ChoiceExperiment",
    respondents: Sequence[str] = (),
) -> tuple[np.ndarray, "SchemeCells"]:
    """New tasks as cells; a warning names numbers beyond those that the tasks of the fit show."""
    wide, found = encoded(scheme, coding.linear, new, respondents)
    _refuse_unseen(coding, scheme, found.products)
    cells = np.where(found.products < 0, np.nan, found.products)
    for place, (name, part) in enumerate(zip(scheme.names, coding.parts, strict=True)):
        if part.numbers is not None:
            more = wide.levels[name][len(part.numbers) :]
            numbers = np.concatenate([part.numbers, numbers_of_levels(name, more), [np.nan]])
            cells[:, place] = numbers[found.products[:, place]]
            _warn_beyond(name, cells[:, place], part.numbers[coding.seen[place][:-1]])
    return cells, found


def encoded(
    scheme: "Scheme",
    linear: Sequence[str],
    new: "pd.DataFrame | ChoiceExperiment",
    respondents: Sequence[str] = (),
) -> "tuple[Scheme, SchemeCells]":
    """The scheme in which attributes that are taken as numbers have any value, and new tasks in
    it."""
    if isinstance(new, ChoiceExperiment) and scheme.alternative in scheme.names:
        new = add_constants(new)
    wide = scheme.with_numbers(linear, new)
    return wide, wide.encode(new, respondents)


def _warn_beyond(name: str, values: np.ndarray, tested: np.ndarray) -> None:
    """Say which values lie outside the tested range."""
    with np.errstate(invalid="ignore"):
        beyond = values[(values < tested.min()) | (values > tested.max())]
    if len(beyond):
        worst = beyond[np.abs(beyond - tested.mean()).argmax()]
        warn(
            DataWarning(
                f"{name!r} is {worst:g}, outside the tested range {tested.min():g} to"
                f" {tested.max():g}, so its effect is extrapolated linearly."
            )
        )


def unseen_levels(
    coding: Coding, levels: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Attribute -> its levels that no product of the fit has, unless it is taken as a number."""
    unseen = {
        name: tuple(level for level, known in zip(own, seen[:-1], strict=True) if not known)
        for (name, own), seen in zip(levels.items(), coding.seen, strict=True)
        if name not in coding.linear
    }
    return {name: own for name, own in unseen.items() if own}


def _refuse_unseen(coding: Coding, scheme: "Scheme", products: np.ndarray) -> None:
    """Refuse levels, and patterns of missing attributes, whose utility the data of the fit do not
    identify."""
    for name, unseen in unseen_levels(coding, scheme.levels).items():
        levels = scheme.levels[name]
        asked = [
            level
            for level in unseen
            if (products[:, scheme.names.index(name)] == levels.index(level)).any()
        ]
        if asked:
            numeric = all(parse_number(level) is not None for level in levels)
            cure = (
                Message(
                    ", or refit with ", Setting("linear", name), ", which applies to any number"
                )
                if numeric
                else ""
            )
            shown = [level for level in levels if level not in unseen]
            raise DataError(
                f"The tasks of the fit never show {name!r} as {asked[0]!r}, so its utility is"
                f" unknown; use one of {shorten(shown)}",
                cure,
                ".",
            )
    missing = products < 0
    if scheme.has_inside:
        missing[:, 0] = products[:, 0] == 0  # the no-choice option, whose level was checked
    partner = {place: other for other, place in coding.lacking}
    of_labels = dict(coding.unlabelled)
    for place, name in list(enumerate(scheme.names))[scheme.has_inside :]:
        if place in of_labels:
            labels = products[:, scheme.names.index(str(scheme.alternative))]
            unknown = missing[:, place] != (np.array(of_labels[place])[labels] & (labels >= 0))
        elif place in partner:
            unknown = missing[:, place] != missing[:, partner[place]]
        else:
            unknown = missing[:, place] & ~coding.seen[place][-1]
        if unknown.any():
            raise DataError(
                f"A new product {'lacks' if missing[unknown.argmax(), place] else 'has'} a level"
                f" of {name!r}, unlike the fitted products, so its utility is unknown; change the"
                " product."
            )


def experiment(data: Any, constants: bool | None = False) -> ChoiceExperiment:
    """The data, if they are a choice experiment; where there are constants, labels of alternatives
    are an attribute."""
    if not isinstance(data, ChoiceExperiment):
        raise DataError(
            f"The model requires a ChoiceExperiment; got {type(data).__name__}. Create one with"
            " ChoiceExperiment.from_frame(frame)."
        )
    if not isinstance(constants, bool | None):
        raise ArgumentError(
            Argument("constants"), f" must be True, False or None; got {constants!r}."
        )
    return add_constants(data) if has_constants(data, constants) else data


def has_constants(data: ChoiceExperiment, constants: bool | None) -> bool:
    """Return whether alternatives have constants; None: where they have names."""
    return not explain_no_constants(data) if constants is None else constants


def constants_in_words(data: ChoiceExperiment, constants: bool | None) -> Message:
    """Say whether alternatives have constants, and how to change that."""
    has = has_constants(data, constants)
    why = f", because {explain_no_constants(data)}" if constants is None and not has else ""
    which = "a constant for each named alternative" if has else "no alternative-specific constants"
    return Message(which, why, Clause(" (to change this, use ", Setting("constants", not has), ")"))


def refuse_many_levels(data: ChoiceExperiment, numbers: Iterable[str] | None) -> None:
    """Refuse attributes of many levels, unless they are listed; `numbers` are taken as such, None:
    no attribute is."""
    of_numbers = (
        () if numbers is None else (*numbers, *data.scheme.measured, data.scheme.alternative)
    )
    for attribute in data.scheme.attributes:
        name, levels = attribute.name, attribute.levels
        if (
            name in of_numbers
            or len(levels) <= MANY_LEVELS
            or attribute.order not in (NUMBERS, MEASURED, ALPHABET)
        ):
            continue
        what = f"Attribute {name!r} has {len(levels):,} levels"
        most = f", but at most {MANY_LEVELS} are allowed unless they are listed; "
        listed: tuple[Any, ...] = ", or list the levels with ", Argument("levels"), "."
        if attribute.order == ALPHABET:
            named = ", replace them by a numeric attribute named in ", Argument("linear")
            linear = () if numbers is None else named
            leave = "leave the attribute out of ", Argument("attributes"), ", merge rare levels"
            raise DataError(f"{what} ({shorten(levels, 4)}){most}", *leave, *linear, *listed)
        linear = (
            () if numbers is None else ("treat it as numeric with ", Setting("linear", name), ", ")
        )
        group = "group its levels with ", Setting("bins", {name: 4})
        raise DataError(f"{what} ({levels[0]} to {levels[-1]}){most}", *linear, *group, *listed)


def measured_facts(coding: Coding, scheme: "Scheme") -> Facts:
    """Which attributes are taken as numbers because of what they hold."""
    names = [name for name in scheme.measured if name in coding.linear]
    why = f"more than {MANY_LEVELS} different values"
    return (
        (
            (
                "taken as numbers",
                f"{shorten(names)} ({why}; list the levels to treat them as categories)",
            ),
        )
        if names
        else ()
    )


def unseen_remarks(coding: Coding, levels: dict[str, tuple[str, ...]]) -> list[Message]:
    """Which declared levels no task shows."""
    named = [
        f"{name} = {level}" for name, own in unseen_levels(coding, levels).items() for level in own
    ]
    if not named:
        return []
    return [
        Message(
            "Levels that no task shows have no coefficients and cannot be predicted:"
            f" {shorten(named)}. Attributes named in ",
            Argument("linear"),
            " accept any number.",
        )
    ]


# The arguments that say how attributes become columns, checked against the data -------------------


def wanted_of(
    data: "ChoiceExperiment", linear: Any, knots: Any, interactions: Any
) -> CodingRequest:
    """The arguments `linear`, `knots` and `interactions`, checked."""
    numbers: dict[str, tuple[float, ...]] = dict.fromkeys(data.scheme.measured, ())
    for name in linear_names(linear):
        _known("linear", name, data)
        numbers[name] = ()
    for name, given in knots_by_name(knots).items():
        _known("knots", name, data)
        numbers[name] = _knots_of(data, name, given)
    pairs = interaction_pairs(interactions)
    for pair in pairs:
        for name in pair:
            _known("interactions", name, data)
    return CodingRequest(numbers, pairs)


def linear_names(linear: Any) -> tuple[str, ...]:
    """The argument `linear` as attributes."""
    if isinstance(linear, str):
        return (linear,)
    if not isinstance(linear, Iterable):
        raise ArgumentError(Argument("linear"), f" must be a list of attributes; got {linear!r}.")
    return tuple(str(name) for name in linear)


def knots_by_name(knots: Any) -> dict[str, Any]:
    """The argument `knots` as attribute -> what was given for it."""
    if knots is None:
        return {}
    if not isinstance(knots, Mapping):
        raise ArgumentError(
            Argument("knots"),
            " must map attributes to the points where their slopes change, such as {'price': [2,"
            f" 3]}}; got {knots!r}.",
        )
    return {str(name): given for name, given in knots.items()}


def interaction_pairs(interactions: Any) -> tuple[tuple[str, str], ...]:
    """The argument `interactions` as pairs of different attributes."""
    wrong = ArgumentError(
        Argument("interactions"),
        f" must be pairs of attributes, such as [('price', 'brand')]; got {interactions!r}.",
    )
    if isinstance(interactions, Mapping):
        interactions = [(name, other) for name, others in interactions.items() for other in others]
    if not is_list(interactions):
        raise wrong
    found = []
    for pair in interactions:
        if not is_list(pair) or len(pair := tuple(map(str, pair))) != 2:
            raise wrong
        one, other = pair
        if one == other or (one, other) in found or (other, one) in found:
            raise ArgumentError(
                Argument("interactions"),
                f" pairs {one!r} with"
                f" {other!r}{', the same attribute' if one == other else ' twice'}; remove this"
                " pair.",
            )
        found.append((one, other))
    return tuple(found)


def numbers_of_levels(name: str, levels: Iterable[str]) -> np.ndarray:
    """The number of each level of an attribute that is to be taken as one."""
    found = []
    for level in levels:
        if (number := parse_number(level)) is None:
            raise ArgumentError(
                Argument("linear"),
                f" contains {name!r}, whose level {level!r} is not a number; remove {name!r} from"
                " the list.",
            )
        found.append(number)
    return np.array(found, dtype=float)


def pieces(values: np.ndarray, knots: Sequence[float]) -> np.ndarray:
    """The part of a number that lies in each piece between knots: coefficients are slopes. Shape
    (values, pieces).

    Examples
    --------
    >>> pieces(np.array([1.0, 3.0, 6.0]), (2.0, 5.0)).tolist()
    [[1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [2.0, 3.0, 1.0]]
    """
    if not knots:
        return values[:, None]
    parts = [np.minimum(values, knots[0])]
    parts += [np.clip(values, low, high) - low for low, high in pairwise(knots)]
    return np.column_stack([*parts, np.maximum(values - knots[-1], 0.0)])


def _known(argument: str, name: str, data: "ChoiceExperiment") -> None:
    if name not in data.attributes or name == INSIDE:
        raise ArgumentError(
            Argument(argument),
            f" contains {name!r}, which is not an attribute.{suggest(name, data.attributes)}",
        )


def _knots_of(data: "ChoiceExperiment", name: str, given: Any) -> tuple[float, ...]:
    """Where the slope of an attribute changes: as given, or that many places among the tested
    values."""
    codes = data.products[:, data.attributes.index(name)]
    tested = np.unique(numbers_of_levels(name, data.levels[name])[np.unique(codes[codes >= 0])])
    if is_integer(given) and 0 < given < len(tested) - 1:
        return tuple(np.quantile(tested, np.arange(1, given + 1) / (given + 1)).tolist())
    try:
        found = np.array(list(given), dtype=float)
    except (TypeError, ValueError):
        found = np.empty(0)
    inside = (found > tested.min()) & (found < tested.max())
    if not len(found) or not inside.all() or not (np.diff(found) > 0).all():
        raise ArgumentError(
            Argument("knots"),
            f" of {name!r} must be increasing numbers between its lowest and highest tested values"
            f" ({tested.min():g} and {tested.max():g}), or the number of knots (at most"
            f" {max(1, len(tested) - 2)}); got {given!r}.",
        )
    columns = pieces(tested, tuple(found.tolist()))
    shown = ", ".join(f"{value:g}" for value in tested)
    if np.linalg.matrix_rank(columns - columns.mean(axis=0)) <= len(found):
        raise ArgumentError(
            Argument("knots"),
            f" of {name!r} leave a segment without enough tested values ({shown}) to estimate its"
            " slope; use fewer knots.",
        )
    return tuple(found.tolist())
