"""Preferences between the levels of an attribute, as a table."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .chooser import centre, ends_of_draws, probability_of, spread_of_people
from .pairs import level_pairs

if TYPE_CHECKING:
    import pandas

    from .chooser import Chooser

_AT_BOUND = 0.5005  # an end of an interval below this is printed as .500


def level_effects(
    chooser: "Chooser", each_person: bool, ci: float, cores: int | None, random_seed: Any
) -> "pandas.DataFrame":
    """For each pair of levels, how often the one is preferred to the other."""
    from thali._tables import Table

    ci = probability_of(ci)
    pairs = level_pairs(chooser.level_cells(), chooser.directions)
    found = chooser.effects(pairs, cores, random_seed)
    scheme = chooser.data.scheme
    levels = list(scheme.levels.values())
    named = [(scheme.names[i], levels[i][b], levels[i][a]) for i, a, b in pairs]
    if each_person:
        return long_table(chooser, ["attribute", "level", "over"], named, {"effect": found.of_people})
    low, high = ends_of_draws(chooser, found.of_draws, ci)
    one_sided = np.array([chooser.directions[i] != 0 for i, _, _ in pairs], bool)
    people = spread_of_people(found.of_people, ci) if chooser.has_individuals else {}
    table = Table(named, columns=["attribute", "level", "over"]).assign(
        **{
            "effect": centre(chooser, found.of_draws),
            "low": low,
            "high": high,
            "se": chooser.errors(found.of_draws, found.chain),
            **people,
            "at_bound": one_sided & (low < _AT_BOUND),
        }
    )
    table.attrs["interval"] = ci
    return table


def long_table(
    chooser: "Chooser", columns: list[str], named: list[tuple[Any, ...]], values: dict[str, np.ndarray]
) -> "pandas.DataFrame":
    """A row for each respondent and name; values are arrays (people, names)."""
    from thali._tables import Table

    respondents = chooser.data.respondents
    count = len(named)
    keys = {column: [name[k] for name in named] * len(respondents) for k, column in enumerate(columns)}
    own = {name: np.broadcast_to(each, (len(respondents), count)).ravel() for name, each in values.items()}
    return Table({"respondent": np.repeat(np.asarray(respondents, object), count), **keys, **own})
