"""Preferences between levels of an attribute: a summary that depends on predictions only."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.compile.jit import allocating
from thali.inference.pieces import in_threads
from thali.inference.seeds import streams

from ...answers.chooser import Effects, thinned
from .choosing import (
    alike,
    difference,
    draw_values,
    fill_inside,
    owned_by,
    room_for_known,
    row_with,
    scale_values,
    separating,
    shape_of_passing,
)

if TYPE_CHECKING:
    from thali.data.experiments.design import Design

    from ..particles import Particles

EFFECT_DRAWS = 400
_EFFECT_OCCASIONS = 4_000  # of all people in a draw
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
    """Add twice the number of occasions on which each person prefers level `second` to `first`, ties counting half.

    An occasion is a random product of the design (codes[rows]) that is given one level or the other. Pairs of
    attribute i are numbered of_attribute[i], ..., of_attribute[i + 1] - 1.
    """
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
                matter = separating(inside, n, 0, levels, chosen)
                draw_values(rng, log_theta, shape, chosen, matter, log_value)
                scale_values(log_value, matter, value)
                for pair in range(of_attribute[i], of_attribute[i + 1]):
                    a, b = first[pair], second[pair]
                    if alike(inside, chosen, matter, a, b):
                        by_person[person, pair] += 1
                    elif difference(inside, sign, chosen, matter, log_value, value, b, a) > 0.0:
                        by_person[person, pair] += 2


def level_effects(
    draws: "Particles",
    design: "Design",
    pairs: Sequence[tuple[int, int, int]],
    cores: int | None = None,
    random_seed: Any = 0,
) -> Effects:
    """For each triple (attribute, level, other level), how often the last is preferred."""
    kept = thinned(draws.group, EFFECT_DRAWS)
    repeats = max(2, -(-_EFFECT_OCCASIONS // draws.n_respondents))
    counts, by_draw = _counted(draws, design, pairs, kept, repeats, cores, random_seed)
    of_people = counts / (2.0 * repeats * len(kept))
    return Effects(of_people, by_draw / (2.0 * repeats * draws.n_respondents), draws.group[kept])


def _counted(
    draws: Any, design: Any, pairs: Any, kept: Any, repeats: Any, cores: Any, random_seed: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Twice the occasions with a preference: of each person over all draws, of each draw over all people."""
    attribute, first, second = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    of_attribute = np.searchsorted(attribute, np.arange(len(design.attributes) + 1)).astype(np.int64)
    rngs = streams(random_seed, len(kept))
    room = room_for_known(draws)
    people = draws.n_respondents
    pieces = min(_PIECES, len(kept))
    by_piece = np.zeros((pieces, people, len(pairs)), np.int64)
    by_draw = np.zeros((len(kept), len(pairs)), np.int64)

    def work(piece: int) -> None:
        for place in range(piece, len(kept), pieces):
            own = np.zeros((people, len(pairs)), np.int64)
            parts = (design.products, design.row_product, design.inside, first, second, of_attribute)
            add_effects(rngs[place], draws, int(kept[place]), *parts, repeats, room, own)
            by_piece[piece] += own
            by_draw[place] = own.sum(axis=0)

    in_threads(work, pieces, cores)
    return by_piece.sum(axis=0), by_draw
