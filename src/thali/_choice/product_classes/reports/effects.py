"""Preferences between levels and importance of attributes in product classes, which depend on
predictions only."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._compile.jit import allocating
from thali._inference.seeds import spawn_generators
from thali._inference.threads import call_in_threads
from thali._people.segments import Preferences, spaced_draws

from ...answers.check import (
    effect_names,
    level_pairs_of,
    levels_of_products,
    named_arrays,
    share_names,
)
from ...answers.chooser import Effects, standard_error, thinned
from ...answers.effects import MAX_DRAWS, some_tasks, variation
from ...answers.segments import by_levels, pairs_of_levels
from ..arguments import OCCASIONS
from .choosing import (
    add_winners,
    alike,
    difference,
    draw_values,
    fill_inside,
    holds,
    owned_by,
    room_for_known,
    row_with,
    scale_values,
    separating,
    shape_of_passing,
)
from .predict import add_known

if TYPE_CHECKING:
    import xarray

    from thali._data.experiments.design import ExperimentDesign

    from ..particles import Particles

EFFECT_DRAWS = 400
_EFFECT_OCCASIONS = 4_000  # of all people in a draw
_SOME_TASKS = 500  # tasks whose predictions are compared between chains
_PIECES = 40  # of the work


@allocating
def add_effects(
    rng: np.random.Generator,
    draws: Any,
    d: Any,
    codes: Any,
    rows: Any,
    inside_attribute: Any,
    first: Any,
    second: Any,
    of_attribute: Any,
    repeats: Any,
    room: Any,
    by_person: Any,
) -> None:
    """Add twice the number of occasions on which each person prefers level `second` to `first`,
    ties counting half."""
    # An occasion is a random product of the design (codes[rows]) that is given one level or the
    # other. Pairs of attribute i are numbered of_attribute[i], ..., of_attribute[i + 1] - 1.
    people, attributes = by_person.shape[0], codes.shape[1]
    most = 0
    for i in range(attributes):
        most = max(most, draws.offset[i + 1] - draws.offset[i])
    variant = np.empty((most, attributes), np.int64)
    inside = np.empty((room, most), np.bool_)
    chosen = np.empty(room, np.int64)
    log_value, value = np.empty(room), np.empty(room)
    shape = shape_of_passing(draws, d)
    for person in range(people):
        begin, n, sign, log_theta = owned_by(draws, d, person)
        for _ in range(repeats):
            for i in range(attributes):
                levels = draws.offset[i + 1] - draws.offset[i]
                product = row_with(rng, codes, rows, i, 1 if i == inside_attribute else 0)
                for level in range(levels):
                    for j in range(attributes):
                        variant[level, j] = codes[product, j]
                        if i == inside_attribute and level == 0:
                            variant[level, j] = -1
                    variant[level, i] = level
                fill_inside(draws, d, begin, n, variant, levels, inside)
                matter = separating(inside, n, levels, chosen)
                draw_values(rng, log_theta, shape, chosen, matter, log_value)
                scale_values(log_value, matter, value)
                for pair in range(of_attribute[i], of_attribute[i + 1]):
                    a, b = first[pair], second[pair]
                    if alike(inside, chosen, matter, a, b):
                        by_person[person, pair] += 1
                    elif difference(inside, sign, chosen, matter, log_value, value, b, a) > 0.0:
                        by_person[person, pair] += 2


def pair_places(
    pairs: Sequence[tuple[int, int, int]], attributes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the first and second levels of pairs, and the number of the first pair of each
    attribute."""
    attribute, first, second = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    return first, second, np.searchsorted(attribute, np.arange(attributes + 1))


def level_effects(
    draws: "Particles",
    design: "ExperimentDesign",
    pairs: Sequence[tuple[int, int, int]],
    cores: int | None = None,
    random_seed: Any = 0,
) -> Effects:
    """For each triple (attribute, level, other level), how often the last is preferred."""
    kept = thinned(draws.group, EFFECT_DRAWS)
    people = draws.n_respondents
    repeats = max(2, -(-_EFFECT_OCCASIONS // people))
    places = pair_places(pairs, len(design.attributes))
    rngs = spawn_generators(random_seed, len(kept))
    room = room_for_known(draws)
    pieces = min(_PIECES, len(kept))
    by_piece = np.zeros((pieces, people, len(pairs)), np.int64)
    by_draw = np.zeros((len(kept), len(pairs)), np.int64)

    def work(piece: int) -> None:
        for place in range(piece, len(kept), pieces):
            own = np.zeros((people, len(pairs)), np.int64)
            parts = (design.products, design.row_product, design.inside, *places)
            add_effects(rngs[place], draws, int(kept[place]), *parts, repeats, room, own)
            by_piece[piece] += own
            by_draw[place] = own.sum(axis=0)

    call_in_threads(work, pieces, cores)
    of_people = by_piece.sum(axis=0) / (2.0 * repeats * len(kept))
    return Effects(of_people, by_draw / (2.0 * repeats * people), draws.group[kept])


# Importance of each attribute: the change of choices if all alternatives are equal in it ----------


_IMPORTANCE_OCCASIONS = 800  # of all draws


@allocating
def add_importance(
    rng: np.random.Generator,
    draws: Any,
    kept: Any,
    group: Any,
    person: Any,
    codes: Any,
    rows: Any,
    own: Any,
    first_row: Any,
    inside_attribute: Any,
    repeats: Any,
    room: Any,
    total: Any,
) -> None:
    """Add to total[g, 0] the choices of a person, and to total[g, 1 + i] those if attribute i is
    alike everywhere."""
    # The tasks are rows own[first_row[t]], ... of `codes`; the common level is that of a random row
    # of the design, and the values of an occasion are the same for all. Alternatives that lack the
    # attribute go on to lack it.
    attributes = codes.shape[1]
    width = own.shape[0]
    inside, without = np.empty((room, width), np.bool_), np.empty((room, width), np.bool_)
    every = np.arange(room)
    log_value, value = np.empty(room), np.empty(room)
    winners = np.empty(width)
    common = np.empty((width, attributes), np.int64)
    for row in range(width):
        for i in range(attributes):
            common[row, i] = codes[own[row], i]
    for place in range(kept.shape[0]):
        d, g = kept[place], group[place]
        begin, n, sign, log_theta = owned_by(draws, d, person)
        shape = shape_of_passing(draws, d)
        fill_inside(draws, d, begin, n, common, width, inside)
        for t in range(first_row.shape[0] - 1):
            first, last = first_row[t], first_row[t + 1]
            for _ in range(repeats):
                draw_values(rng, log_theta, shape, every, n, log_value)
                for row in range(first, last):
                    winners[row] = 0.0
                add_winners(inside, sign, every, n, log_value, value, first, last, 1.0, winners)
                for row in range(first, last):
                    total[g, 0, row] += winners[row]
                for i in range(attributes):
                    level = 1
                    if i != inside_attribute:
                        level = codes[row_with(rng, codes, rows, i, 0), i]
                    touched = False
                    for o in range(n):
                        c = draws.first_class[d] + draws.owned_class[begin + o]
                        uses = draws.active[c, i]
                        touched = touched or uses
                        for row in range(first, last):
                            without[o, row] = inside[o, row]
                            kept_level = common[row, i]
                            if uses and kept_level >= 0:
                                common[row, i] = level
                                without[o, row] = holds(
                                    draws.active, draws.member, c, draws.offset, common, row
                                )
                                common[row, i] = kept_level
                    if touched:
                        add_winners(
                            without,
                            sign,
                            every,
                            n,
                            log_value,
                            value,
                            first,
                            last,
                            1.0,
                            total[g, 1 + i],
                        )
                    else:
                        for row in range(first, last):
                            total[g, 1 + i, row] += winners[row]


def attribute_importance(
    draws: "Particles", design: "ExperimentDesign", cores: int | None = None, random_seed: Any = 0
) -> tuple[np.ndarray, np.ndarray]:
    """How choices differ without each attribute, mean over tasks, (people, attributes), and errors
    of means."""
    number, attributes = draws.n_respondents, len(design.attributes)
    kept = thinned(draws.group, MAX_DRAWS)
    numbers, group = np.unique(draws.group[kept], return_inverse=True)
    repeats = max(1, -(-_IMPORTANCE_OCCASIONS // len(kept)))
    rngs = spawn_generators(random_seed, number)
    room = room_for_known(draws)
    pooled, by_group = np.zeros((number, attributes)), np.zeros((number, attributes, len(numbers)))
    tasks = np.zeros(number)

    def work(person: int) -> None:
        own, first_row = some_tasks(design, person)
        total = np.zeros((len(numbers), attributes + 1, len(own)))
        parts = (design.products, design.row_product, own, first_row, design.inside)
        add_importance(
            rngs[person], draws, kept, group.astype(np.int64), person, *parts, repeats, room, total
        )
        drawn = np.bincount(group) * float(repeats)
        tasks[person] = len(first_row) - 1
        decisions = total / drawn[:, None, None]
        by_group[person] = variation(decisions, first_row).T
        pooled[person] = variation(total.sum(axis=0, keepdims=True) / drawn.sum(), first_row)[0]

    call_in_threads(work, number, cores)
    felt = 1.0 - draws.lapse
    errors = standard_error(np.tensordot(tasks / tasks.sum(), by_group, axes=1))
    return felt * pooled, felt * errors


# What `convergence` of product classes looks at, in every draw: shares of levels among choices, and
# level effects


class SimulatedQuantities(NamedTuple):
    """What is simulated of a draw, or of all, in arrays (draws, ...)."""

    shares: np.ndarray  # of levels among the choices
    effects: np.ndarray
    chosen: np.ndarray  # how often each alternative of some tasks is chosen, lapse left out
    noise: np.ndarray  # mean variance of that because of the occasions simulated


def simulate_reports(
    draws: "Particles",
    design: "ExperimentDesign",
    cores: int | None,
    known: dict[bytes, SimulatedQuantities] | None = None,
) -> SimulatedQuantities:
    """Simulate shares of levels, level effects and choices of every draw but those in `known`,
    which receives them."""
    # They are found by simulated occasions, whose random stream depends on the draw alone: a draw
    # has the same numbers in runs of any length.
    known = {} if known is None else known
    matrix = levels_of_products(design.scheme, design.products)
    pairs = level_pairs_of(design.scheme, draws.monotone)
    places = pair_places(pairs, len(design.attributes))
    people, tasks = draws.n_respondents, len(design.first_row) - 1
    of_tasks, of_people = -(-OCCASIONS // (2 * tasks)), max(1, -(-OCCASIONS // people))
    alternatives = np.repeat(np.diff(design.first_row), np.diff(design.first_row))
    some = np.isin(
        np.repeat(np.arange(tasks), np.diff(design.first_row)),
        np.arange(0, tasks, -(-tasks // _SOME_TASKS)),
    )
    room = room_for_known(draws)
    codes, rows = design.products[design.row_product], (design.products, design.row_product)
    keys = [_numbers_of(draws, d).tobytes() for d in range(draws.n_draws)]
    new = [d for d, key in enumerate(keys) if key not in known]

    def work(place: int) -> None:
        d = new[place]
        rng = spawn_generators(
            np.random.SeedSequence(_numbers_of(draws, d).view(np.uint32).tolist()), 1
        )[0]
        halves, own = (
            np.zeros((2, len(design.row_product))),
            np.zeros((people, len(pairs)), np.int64),
        )
        for half in halves:
            add_known(
                rng,
                draws,
                d,
                d + 1,
                0,
                codes,
                design.first_task,
                design.first_row,
                of_tasks,
                room,
                half,
            )
        one, other = halves / of_tasks
        chosen = (one + other) / 2.0
        p = (1.0 - draws.lapse) * chosen + draws.lapse / alternatives
        shares = np.bincount(design.row_product, p, len(design.products)) @ matrix / tasks
        add_effects(rng, draws, d, *rows, design.inside, *places, of_people, room, own)
        effects = own.sum(axis=0) / (2.0 * of_people * people)
        noise = ((one - other)[some] ** 2).mean() / 4.0
        known[keys[d]] = SimulatedQuantities(
            shares, effects, chosen[some].astype(np.float32), noise
        )

    call_in_threads(work, len(new), cores)
    for key in known.keys() - set(keys):
        del known[key]
    columns = (np.array(column) for column in zip(*(known[key] for key in keys), strict=True))
    return SimulatedQuantities(*columns)


def named_reports(
    reports: SimulatedQuantities, draws: "Particles", design: "ExperimentDesign"
) -> "dict[str, xarray.DataArray]":
    """Return `share` and `effect` of every draw, arrays (chain, draw, name)."""
    groups = draws.n_groups
    pairs = level_pairs_of(design.scheme, draws.monotone)
    shares, effects = (
        each.reshape(groups, -1, each.shape[1]) for each in (reports.shares, reports.effects)
    )
    return named_arrays(
        shares, effects, share_names(design.scheme), effect_names(design.scheme, pairs)
    )


def prediction_difference(reports: SimulatedQuantities, draws: "Particles") -> float:
    """Return how much probabilities of choice of another run would differ, root mean square; NaN
    for one chain."""
    # The variance between chains, less that of the occasions that are simulated at a draw.
    groups = draws.n_groups
    if groups < 2:
        return math.nan
    p = reports.chosen.reshape(groups, -1, reports.chosen.shape[1]).astype(np.float64)
    between = p.mean(axis=1).var(axis=0, ddof=1).mean()
    simulated = reports.noise.mean() / p.shape[1]
    return (1.0 - draws.lapse) * math.sqrt(2.0 * max(between - simulated, 0.0) / groups)


def _numbers_of(draws: "Particles", d: int) -> np.ndarray:
    """Return numbers that identify a draw, and are the seed of what is simulated of it."""
    return np.array([draws.a[d], draws.sigma[d], draws.log_likelihood[d]])


# How often everybody prefers each level to the others of its attribute, draw by draw, by simulation


_PREFERENCE_OCCASIONS = 30  # of a person in a draw, whose error is .09 at most
_SEED = 0


def preferences_of(
    draws: "Particles", design: "ExperimentDesign", cores: int | None = None
) -> Preferences:
    """Preferences of the respondents at some draws, equally many of each chain."""
    sizes = [len(levels) for levels in design.scheme.levels.values()]
    pairs = pairs_of_levels(sizes)
    places = pair_places(pairs, len(sizes))
    kept = thinned(draws.group, len(spaced_draws(draws.n_draws, draws.n_respondents, sum(sizes))))
    rngs, room = spawn_generators(_SEED, len(kept)), room_for_known(draws)
    values = np.zeros((len(kept), draws.n_respondents, sum(sizes)))

    def work(place: int) -> None:
        own = np.zeros((draws.n_respondents, len(pairs)), np.int64)
        parts = (design.products, design.row_product, design.inside, *places)
        add_effects(rngs[place], draws, int(kept[place]), *parts, _PREFERENCE_OCCASIONS, room, own)
        values[place] = by_levels(own.T / (2.0 * _PREFERENCE_OCCASIONS), sizes, own.shape[:1])

    call_in_threads(work, len(kept), cores)
    named = tuple(
        (name, level) for name, levels in design.scheme.levels.items() for level in levels
    )
    return Preferences(named, values, tuple(design.respondents))
