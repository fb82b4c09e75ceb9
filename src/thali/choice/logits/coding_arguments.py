"""The arguments that say how attributes become columns, checked against the data."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import suggest
from thali.data.experiments.levels import as_number, is_whole
from thali.data.experiments.scheme import INSIDE
from thali.errors import Argument, ArgumentError

if TYPE_CHECKING:
    from thali.data.experiments import ChoiceExperiment


class Wanted(NamedTuple):
    """What a user asked of the coding."""

    numbers: dict[str, tuple[float, ...]]  # attributes taken as numbers, and where the slope of each changes
    interactions: tuple[tuple[str, str], ...]


def wanted_of(data: "ChoiceExperiment", linear: Any, knots: Any, interactions: Any) -> Wanted:
    """The arguments `linear`, `knots` and `interactions`, checked."""
    numbers: dict[str, tuple[float, ...]] = {}
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
    return Wanted(numbers, pairs)


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
            f" must map attributes to where their slopes change, such as {{'price': [2, 3]}}; got {knots!r}.",
        )
    return {str(name): given for name, given in knots.items()}


def interaction_pairs(interactions: Any) -> tuple[tuple[str, str], ...]:
    """The argument `interactions` as pairs of different attributes."""
    wrong = ArgumentError(
        Argument("interactions"), f" must be pairs of attributes, such as [('price', 'brand')]; got {interactions!r}."
    )
    if isinstance(interactions, Mapping):
        interactions = [(name, other) for name, others in interactions.items() for other in others]
    if isinstance(interactions, str) or not isinstance(interactions, Iterable):
        raise wrong
    found = []
    for pair in interactions:
        if isinstance(pair, str) or not isinstance(pair, Iterable) or len(pair := tuple(map(str, pair))) != 2:
            raise wrong
        one, other = pair
        if one == other or (one, other) in found or (other, one) in found:
            raise ArgumentError(
                Argument("interactions"),
                f" name {one!r} and {other!r}; each pair is of two attributes, and stands once.",
            )
        found.append((one, other))
    return tuple(found)


def numbers_of_levels(name: str, levels: Iterable[str]) -> np.ndarray:
    """The number of each level of an attribute that is to be taken as one."""
    found = []
    for level in levels:
        if (number := as_number(level)) is None:
            raise ArgumentError(
                Argument("linear"), f" names {name!r}, whose level {level!r} is no number; leave it out of the list."
            )
        found.append(number)
    return np.array(found, dtype=float)


def pieces(values: np.ndarray, knots: Sequence[float]) -> np.ndarray:
    """The part of a number that lies in each piece between knots: coefficients are slopes. Shape (values, pieces).

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
            Argument(argument), f" names {name!r}, which is no attribute.{suggest(name, data.attributes)}"
        )


def _knots_of(data: "ChoiceExperiment", name: str, given: Any) -> tuple[float, ...]:
    """Where the slope of an attribute changes: as given, or that many places among the tested values."""
    codes = data.products[:, data.attributes.index(name)]
    tested = np.unique(numbers_of_levels(name, data.levels[name])[np.unique(codes[codes >= 0])])
    if is_whole(given) and 0 < given < len(tested) - 1:
        return tuple(np.quantile(tested, np.arange(1, given + 1) / (given + 1)).tolist())
    try:
        found = np.array(list(given), dtype=float)
    except (TypeError, ValueError):
        found = np.empty(0)
    inside = (found > tested.min()) & (found < tested.max())
    if not len(found) or not inside.all() or not (np.diff(found) > 0).all():
        raise ArgumentError(
            Argument("knots"),
            f" of {name!r} must be increasing numbers between its smallest and largest tested value, {tested.min():g} "
            f"and {tested.max():g}, or how many there are, 1 to {max(1, len(tested) - 2)}; got {given!r}.",
        )
    columns = pieces(tested, tuple(found.tolist()))
    shown = ", ".join(f"{value:g}" for value in tested)
    if np.linalg.matrix_rank(columns - columns.mean(axis=0)) <= len(found):
        raise ArgumentError(
            Argument("knots"),
            f" of {name!r} leave a piece whose slope the tested values {shown} do not show; give fewer of them.",
        )
    return tuple(found.tolist())
