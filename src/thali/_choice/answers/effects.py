"""Preferences between the levels of each attribute, and the importance of attributes, as tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.experiments.scheme import INSIDE
from thali._inference.indexing import part_bounds, space_evenly

from .chooser import Chooser, centre, ends_of_draws, probability_of

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments import ChoiceExperiment
    from thali._data.experiments.design import ExperimentDesign

_AT_BOUND = 0.5005  # an end of an interval below this is printed as .500


def level_effects(
    chooser: "Chooser", each_person: bool, ci: float, cores: int | None, random_seed: Any
) -> "pandas.DataFrame":
    """For each pair of levels, how often the one is preferred to the other."""
    from thali._tables import Table

    ci = probability_of(ci)
    pairs = level_pairs(chooser.level_cells(), chooser.directions)
    found = chooser.once(
        ("effects", random_seed), lambda: chooser.effects(pairs, cores, random_seed)
    )
    scheme = chooser.data.scheme
    levels = list(scheme.labels.values())
    named = [(scheme.names[i], levels[i][b], levels[i][a]) for i, a, b in pairs]
    if each_person:
        return long_table(
            chooser, ["attribute", "level", "over"], named, {"effect": found.of_people}
        )
    low, high = ends_of_draws(chooser, found.of_draws, ci)
    one_sided = np.array([chooser.directions[i] != 0 for i, _, _ in pairs], bool)
    table = Table(named, columns=["attribute", "level", "over"]).assign(
        **{
            "effect": centre(chooser, found.of_draws),
            "low": low,
            "high": high,
            "std_error": chooser.errors(found.of_draws, found.chain),
            **chooser.spread_of_people(found.of_people, ci),
            "at_bound": one_sided & (low < _AT_BOUND),
        }
    )
    table.attrs.update(chooser.facts(ci))
    return table


def long_table(
    chooser: "Chooser",
    columns: list[str],
    named: list[tuple[Any, ...]],
    values: dict[str, np.ndarray],
) -> "pandas.DataFrame":
    """A row for each respondent and name; values are arrays (people, names)."""
    from thali._tables import Table

    respondents = chooser.data.respondents
    count = len(named)
    keys = {
        column: [name[k] for name in named] * len(respondents) for k, column in enumerate(columns)
    }
    own = {
        name: np.broadcast_to(each, (len(respondents), count)).ravel()
        for name, each in values.items()
    }
    return Table({"respondent": np.repeat(np.asarray(respondents, object), count), **keys, **own})


# Which levels of an attribute are compared with which ---------------------------------------------


_MAX_PAIRED = 8  # up to this many levels, all pairs are compared


def level_pairs(cells: Sequence[np.ndarray], directions: np.ndarray) -> list[tuple[int, int, int]]:
    """(attribute, level, better or later one): all pairs of up to eight with cells, else
    neighbours, and the ends."""
    pairs = []
    for i, own_cells in enumerate(cells):
        known = np.flatnonzero(~np.isnan(own_cells)).tolist()
        own = [(a, b) for place, b in enumerate(known) for a in known[:place]]
        if len(known) > _MAX_PAIRED:
            own = [*zip(known, known[1:], strict=False), (known[0], known[-1])]
            own.sort(key=lambda pair: (pair[1], pair[0]))
        pairs += [(i, b, a) if directions[i] < 0 else (i, a, b) for a, b in own]
    return pairs


# The importance of attributes: the part of choices that each decides, and its part of the ranges of
# utility


MAX_DRAWS = 400
MAX_TASKS = 8  # of each person, that the part of choices is computed from


def attribute_importance(
    chooser: "Chooser", each_person: bool, ci: float, cores: int | None, random_seed: Any
) -> "pandas.DataFrame":
    """A row an attribute, the one with the largest share of the ranges first; "inside", which has
    none, last."""
    from thali._tables import Table

    ci = probability_of(ci)
    decided, errors = chooser.once(
        ("importance", random_seed), lambda: chooser.importance(cores, random_seed)
    )
    fewer = chooser.thinned(MAX_DRAWS)
    ranges = range_shares(fewer)
    names = list(chooser.data.scheme.names)
    if each_person:
        figures = {"range_share": _mean_over_draws(fewer, ranges), "importance": decided}
        return long_table(chooser, ["attribute"], [(name,) for name in names], figures)
    weight = np.diff(chooser.data.first_task).clip(max=MAX_TASKS)
    of_draws = mean_of_people(ranges)
    # draws in which all products are the same to everybody
    is_empty = np.isnan(of_draws).all(axis=1)
    if not is_empty.all():
        of_draws[is_empty] = of_draws[~is_empty].mean(axis=0)
    low, high = ends_of_draws(fewer, of_draws, ci)
    table = Table(
        {
            "attribute": names,
            "range_share": centre(fewer, of_draws),
            "range_share_low": low,
            "range_share_high": high,
            "range_share_se": np.where(np.isnan(low), np.nan, fewer.errors(of_draws, fewer.chain)),
            "importance": weight / weight.sum() @ decided,
            "std_error": errors,
            **chooser.spread_of_people(decided, ci),
        }
    )
    table.attrs.update(chooser.facts(ci))
    return table.sort_values("range_share", ascending=False, kind="stable", ignore_index=True)


def range_shares(chooser: "Chooser") -> np.ndarray:
    r"""The part of each attribute in the ranges of expected utility, shape (draws, people,
    attributes).

    .. math::

        \frac{r_i}{\sum_k r_k}, \qquad
        r_i = \max_l u(x \text{ with } l) - \min_l u(x \text{ with } l),
        \text{ mean over } x

    NaN for "inside", and for a person to whom all products are the same.
    """
    asked, is_inside = by_levels(chooser), np.array(chooser.data.scheme.names) == INSIDE
    found = []
    for block in chooser.utilities(asked.products):
        u = asked.shaped(block)
        ranges = np.tile(np.where(is_inside, np.nan, 0.0), (*block.shape[:2], 1))
        for i, levels in asked.places.items():
            own = u[:, :, levels]
            ranges[:, :, i] = (own.max(axis=2) - own.min(axis=2)).mean(axis=2)
        total = np.nansum(ranges, axis=2, keepdims=True)
        found.append(np.divide(ranges, total, out=np.full_like(ranges, np.nan), where=total > 0))
    return np.concatenate(found)


class ByLevels(NamedTuple):
    """The examples of a chooser with each level of each attribute in turn."""

    products: np.ndarray  # (levels of all attributes x examples, attributes)
    examples: np.ndarray
    places: dict[int, slice]  # attribute, but for "inside" -> its levels among those of all
    levels: dict[int, np.ndarray]  # attribute -> the numbers of these levels

    def shaped(self, utilities: np.ndarray) -> np.ndarray:
        """Utilities of the products, the last axis, as (..., levels of all attributes,
        examples)."""
        return utilities.reshape(*utilities.shape[:-1], -1, len(self.examples))


def by_levels(chooser: "Chooser") -> ByLevels:
    """What is asked of a chooser to know what each level adds to utility."""
    examples, cells = chooser.examples(), chooser.level_cells()
    variants, places, levels = [], {}, {}
    for i, name in enumerate(chooser.data.scheme.names):
        known = np.flatnonzero(~np.isnan(cells[i]))
        if name == INSIDE:
            continue
        levels[i] = known
        places[i] = slice(len(variants), len(variants) + len(levels[i]))
        for level in cells[i][levels[i]]:
            changed = examples.copy()
            changed[:, i] = level
            variants.append(changed)
    return ByLevels(np.concatenate(variants), examples, places, levels)


def mean_of_people(values: np.ndarray) -> np.ndarray:
    """The mean over people, the second axis, of those who have a number; NaN where nobody has."""
    there = ~np.isnan(values)
    count = there.sum(axis=1)
    return np.divide(
        np.where(there, values, 0.0).sum(axis=1),
        count,
        out=np.full(count.shape, np.nan),
        where=count > 0,
    )


def _mean_over_draws(chooser: "Chooser", values: np.ndarray) -> np.ndarray:
    """The figure of each person, shape (people, attributes)."""
    if chooser.is_estimate:
        return values[0]
    return mean_of_people(np.moveaxis(values, 0, 1))


def some_products(
    data: "ChoiceExperiment | ExperimentDesign", cells: np.ndarray, most: int
) -> np.ndarray:
    """Some products that lack no attribute, evenly through the cells of the data; put together
    where each lacks one."""
    offered = cells[cells[:, 0] != 0] if data.scheme.has_inside else cells
    whole = offered[~np.isnan(offered).any(axis=1)]
    if len(whole):
        return whole[space_evenly(len(whole), most)]
    there = [own[~np.isnan(own)] for own in offered.T]
    return np.stack(
        [own[np.linspace(0, len(own) - 1, most).round().astype(np.int64)] for own in there], axis=1
    )


def some_tasks(
    data: "ChoiceExperiment | ExperimentDesign", person: int
) -> tuple[np.ndarray, np.ndarray]:
    """Products of the rows of some tasks of a person, evenly through them, and where each task
    begins."""
    first, last = data.first_task[person], data.first_task[person + 1]
    tasks = first + space_evenly(last - first, MAX_TASKS)
    begin, end = data.first_row[tasks].tolist(), data.first_row[tasks + 1].tolist()
    rows = np.concatenate([np.arange(*ends) for ends in zip(begin, end, strict=True)])
    return data.row_product[rows], part_bounds(np.subtract(end, begin))


def variation(decisions: np.ndarray, first_row: np.ndarray) -> np.ndarray:
    """Half the sum of |difference| between choices (..., with all or without one, row), mean over
    the tasks."""
    apart = np.abs(decisions[..., 1:, :] - decisions[..., :1, :]).sum(axis=-1)
    return 0.5 * apart / (len(first_row) - 1)
