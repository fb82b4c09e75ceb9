"""What a verdict on product classes looks at, in every draw: shares of levels among choices, and level effects."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.compile.jit import allocating
from thali.inference.pieces import in_threads
from thali.inference.seeds import streams

from ...answers.check import effect_names, level_pairs_of, levels_of_products, named_arrays, share_names
from .choosing import add_winners, draw_values, fill_inside, owned_by, room_for_known, separating, shape_of_passing
from .effects import add_effects

if TYPE_CHECKING:
    import xarray

    from thali.data.experiments.design import Design

    from ..particles import Particles

_REPORTED_OCCASIONS = 2_000  # of all people in a draw


@allocating
def add_observed(
    rng: np.random.Generator,
    draws: Any,
    d: Any,
    codes: Any,
    row_product: Any,
    first_task: Any,
    first_row: Any,
    repeats: Any,
    room: Any,
    total: Any,
) -> None:
    """Add to `total`, for each row of the tasks of the data, on how many occasions it was chosen in draw d."""
    chosen = np.empty(room, np.int64)
    log_value, value = np.empty(room), np.empty(room)
    shape = shape_of_passing(draws, d)
    for person in range(first_task.shape[0] - 1):
        begin, n, sign, log_theta = owned_by(draws, d, person)
        for t in range(first_task[person], first_task[person + 1]):
            first, last = first_row[t], first_row[t + 1]
            offered = codes[row_product[first:last]]
            inside = np.empty((room, last - first), np.bool_)
            fill_inside(draws, d, begin, n, offered, last - first, inside)
            matter = separating(inside, n, 0, last - first, chosen)
            for _ in range(repeats):
                draw_values(rng, log_theta, shape, chosen, matter, log_value)
                add_winners(inside, sign, chosen, matter, log_value, value, 0, last - first, 1.0, total[first:last])


def reported(draws: "Particles", design: "Design", cores: int | None = None) -> "dict[str, xarray.DataArray]":
    """`share` and `effect` of every draw, arrays (chain, draw, name).

    They are found by simulated occasions, whose random stream hangs on the draw alone: a draw has the same numbers in
    runs of any length.
    """
    matrix = levels_of_products(design.scheme, design.products)
    pairs = level_pairs_of(design.scheme, draws.monotone)
    attribute, first, second = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    of_attribute = np.searchsorted(attribute, np.arange(len(design.attributes) + 1)).astype(np.int64)
    people, tasks = draws.n_respondents, len(design.first_row) - 1
    of_tasks, of_people = (max(1, -(-_REPORTED_OCCASIONS // number)) for number in (tasks, people))
    alternatives = np.repeat(np.diff(design.first_row), np.diff(design.first_row))
    room = room_for_known(draws)
    shares, effects = np.empty((draws.n_draws, matrix.shape[1])), np.empty((draws.n_draws, len(pairs)))
    rows = (design.products, design.row_product)

    def work(d: int) -> None:
        rng = streams(_seed_of(draws, d), 1)[0]
        total, own = np.zeros(len(design.row_product)), np.zeros((people, len(pairs)), np.int64)
        add_observed(rng, draws, d, *rows, design.first_task, design.first_row, of_tasks, room, total)
        p = (1.0 - draws.lapse) * total / of_tasks + draws.lapse / alternatives
        shares[d] = np.bincount(design.row_product, p, len(design.products)) @ matrix / tasks
        add_effects(rng, draws, d, *rows, design.inside, first, second, of_attribute, of_people, room, own)
        effects[d] = own.sum(axis=0) / (2.0 * of_people * people)

    in_threads(work, draws.n_draws, cores)
    groups = int(draws.group.max(initial=0)) + 1
    shares, effects = (values.reshape(groups, -1, values.shape[1]) for values in (shares, effects))
    return named_arrays(shares, effects, share_names(design.scheme), effect_names(design.scheme, pairs))


def _seed_of(draws: "Particles", d: int) -> np.random.SeedSequence:
    """The seed of what is simulated of a draw: its own numbers."""
    numbers = np.array([draws.a[d], draws.sigma[d], draws.log_likelihood[d]])
    return np.random.SeedSequence(numbers.view(np.uint32).tolist())
