"""Importance of each attribute: the change of choices if all alternatives are equal in it."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.compile.jit import allocating
from thali.inference.pieces import in_threads
from thali.inference.seeds import streams

from ...answers.chooser import standard_error, thinned
from ...answers.effects import MAX_DRAWS, some_tasks, variation
from .choosing import add_winners, draw_values, fill_inside, holds, owned_by, room_for_known, row_with, shape_of_passing

if TYPE_CHECKING:
    from thali.data.experiments.design import Design

    from ..particles import Particles

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
    """Add to total[g, 0] the choices of a person, and to total[g, 1 + i] those when attribute i is the same everywhere.

    The tasks are rows own[first_row[t]], ... of `codes`; the common level is that of a random row of the design, and
    the values of an occasion are the same for all. Alternatives that lack the attribute go on to lack it.
    """
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
                                without[o, row] = holds(draws.active, draws.member, c, draws.offset, common, row)
                                common[row, i] = kept_level
                    if touched:
                        add_winners(without, sign, every, n, log_value, value, first, last, 1.0, total[g, 1 + i])
                    else:
                        for row in range(first, last):
                            total[g, 1 + i, row] += winners[row]


def attribute_importance(
    draws: "Particles", design: "Design", cores: int | None = None, random_seed: Any = 0
) -> tuple[np.ndarray, np.ndarray]:
    """The part of choices that each attribute decides, shape (people, attributes), and standard errors of its means.

    Of a person it is the mean over tasks of the total variation between choices with and without the attribute.
    """
    number, attributes = draws.n_respondents, len(design.attributes)
    kept = thinned(draws.group, MAX_DRAWS)
    numbers, group = np.unique(draws.group[kept], return_inverse=True)
    repeats = max(1, -(-_IMPORTANCE_OCCASIONS // len(kept)))
    rngs = streams(random_seed, number)
    room = room_for_known(draws)
    pooled, by_group = np.zeros((number, attributes)), np.zeros((number, attributes, len(numbers)))
    tasks = np.zeros(number)

    def work(person: int) -> None:
        own, first_row = some_tasks(design, person)
        total = np.zeros((len(numbers), attributes + 1, len(own)))
        parts = (design.products, design.row_product, own, first_row, design.inside)
        add_importance(rngs[person], draws, kept, group.astype(np.int64), person, *parts, repeats, room, total)
        drawn = np.bincount(group) * float(repeats)
        tasks[person] = len(first_row) - 1
        decisions = total / drawn[:, None, None]
        by_group[person] = variation(decisions, first_row).T
        pooled[person] = variation(total.sum(axis=0, keepdims=True) / drawn.sum(), first_row)[0]

    in_threads(work, number, cores)
    felt = 1.0 - draws.lapse
    errors = standard_error(np.tensordot(tasks / tasks.sum(), by_group, axes=1))
    return felt * pooled, felt * errors
