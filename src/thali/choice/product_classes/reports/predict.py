"""Probabilities of choice that draws of product classes predict, for known and for new people."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.compile.jit import allocating
from thali.inference.pieces import in_threads
from thali.inference.seeds import streams

from .choosing import (
    add_winners,
    draw_new_row,
    draw_values,
    holds,
    owned_by,
    room_for_known,
    room_for_new,
    separating,
    shape_of_passing,
)

if TYPE_CHECKING:
    from thali.data.experiments.design import Design
    from thali.data.experiments.scheme import Encoded

    from ..particles import Particles

MIN_REPEATS, MIN_OCCASIONS = 3, 5_000  # occasions of a draw, of all draws together


@allocating
def add_known(
    rng: np.random.Generator,
    draws: Any,
    person: Any,
    codes: Any,
    row_product: Any,
    first_row: Any,
    repeats: Any,
    room: Any,
    total: Any,
) -> None:
    """Add to `total`, for each row of the tasks of a person of the data, in how many occasions it was chosen.

    Row number r is product `row_product[r]` of `codes`; task t has the rows first_row[t], ..., first_row[t + 1] - 1.
    """
    inside = np.empty((room, row_product.shape[0]), np.bool_)
    chosen = np.empty(room, np.int64)
    log_value, value = np.empty(room), np.empty(room)
    for d in range(draws.a.shape[0]):
        begin, n, sign, log_theta = owned_by(draws, d, person)
        for o in range(n):
            c = draws.first_class[d] + draws.owned_class[begin + o]
            for row in range(row_product.shape[0]):
                inside[o, row] = holds(draws.active, draws.member, c, draws.offset, codes, row_product[row])
        shape = shape_of_passing(draws, d)
        for t in range(first_row.shape[0] - 1):
            first, last = first_row[t], first_row[t + 1]
            matter = separating(inside, n, first, last, chosen)
            for _ in range(repeats if matter else 1):
                draw_values(rng, log_theta, shape, chosen, matter, log_value)
                weight = 1.0 if matter else float(repeats)
                add_winners(inside, sign, chosen, matter, log_value, value, first, last, weight, total)


@allocating
def add_new(
    rng: np.random.Generator,
    draws: Any,
    codes: Any,
    row_product: Any,
    first_row: Any,
    repeats: Any,
    room: Any,
    total: Any,
) -> None:
    """As `add_known`, for a person who is not in the data: a new row of the buffet for each repetition."""
    people = (draws.first_owned.shape[0] - 1) // draws.a.shape[0]
    products = codes.shape[0]
    held = np.empty((room, products), np.bool_)
    inside = np.empty((room, row_product.shape[0]), np.bool_)
    chosen, order = np.empty(room, np.int64), np.empty(draws.monotone.shape[0], np.int64)
    sign, log_theta = np.empty(room, np.int8), np.empty(room)
    log_value, value = np.empty(room), np.empty(room)
    active = np.empty((1, draws.monotone.shape[0]), np.bool_)
    member = np.empty((1, draws.member.shape[1]), np.bool_)
    for d in range(draws.a.shape[0]):
        shape = shape_of_passing(draws, d)
        for _ in range(repeats):
            n = draw_new_row(rng, draws, d, people, codes, held, sign, log_theta, order, active, member)
            for o in range(n):
                for row in range(row_product.shape[0]):
                    inside[o, row] = held[o, row_product[row]]
            for t in range(first_row.shape[0] - 1):
                first, last = first_row[t], first_row[t + 1]
                matter = separating(inside, n, first, last, chosen)
                draw_values(rng, log_theta, shape, chosen, matter, log_value)
                add_winners(inside, sign, chosen, matter, log_value, value, first, last, 1.0, total)


def drawn_choices(draws: "Particles", design: "Design", rng: np.random.Generator, kept: np.ndarray) -> np.ndarray:
    """A choice of the people of the data in each of their tasks at the draws of those numbers, shape (draws, tasks)."""
    room, people = room_for_known(draws), draws.n_respondents
    chosen = np.empty((len(kept), len(design.chosen)), np.int64)
    for place, d in enumerate(kept.tolist()):
        one = slice(d, d + 1)
        draw = draws._replace(
            group=draws.group[one],
            a=draws.a[one],
            sigma=draws.sigma[one],
            alpha=draws.alpha[one],
            log_likelihood=draws.log_likelihood[one],
            first_class=draws.first_class[d : d + 2],
            first_owned=draws.first_owned[d * people : (d + 1) * people + 1],
        )
        shares = np.zeros(len(design.row_product))
        for person in range(people):
            starts = design.first_row[design.first_task[person] : design.first_task[person + 1] + 1]
            rows = slice(starts[0], starts[-1])
            places = design.row_product[rows]
            add_known(rng, draw, person, design.products, places, starts - starts[0], 1, room, shares[rows])
        alternatives = np.diff(design.first_row)
        p = (1.0 - draws.lapse) * shares + draws.lapse / np.repeat(alternatives, alternatives)
        noisy = np.log(p, where=p > 0.0, out=np.full(len(p), -np.inf)) + rng.gumbel(size=len(p))
        chosen[place] = [part.argmax() for part in np.split(noisy, design.first_row[1:-1])]
    return chosen


def tasks_proba(
    draws: "Particles", encoded: "Encoded", *, repeats: Any = None, cores: Any = None, random_seed: Any = 0
) -> np.ndarray:
    """Probability of each row of encoded tasks in each chain, array (chains, rows), in the order of the rows.

    Each task of new people has a new person. `probabilities_by_chain` takes the tasks of one person after the
    other.
    """
    person, task = encoded.respondent_of_row, encoded.task_of_row
    unit = np.where(person >= 0, person, draws.n_respondents + task)
    order = np.lexsort((task, unit))
    unit, task = unit[order], task[order]
    first_row = np.flatnonzero(np.diff(task, prepend=-1, append=-1))
    of_task = unit[first_row[:-1]]
    first_task = np.flatnonzero(np.diff(of_task, prepend=-1, append=-1))
    people = of_task[first_task[:-1]]
    people = np.where(people < draws.n_respondents, people, -1)
    codes, row_product = np.unique(encoded.products[order], axis=0, return_inverse=True)
    found = probabilities_by_chain(
        draws,
        codes,
        row_product.ravel(),
        first_row,
        first_task,
        people,
        repeats=repeats,
        cores=cores,
        random_seed=random_seed,
    )
    result = np.empty(found.shape)
    result[:, order] = found
    return result


def choice_probabilities(*arguments: Any, **how: Any) -> np.ndarray:
    """Probability that each row is chosen in its task, averaged over all draws; see `probabilities_by_chain`."""
    return probabilities_by_chain(*arguments, **how).mean(axis=0)


def probabilities_by_chain(
    draws: "Particles",
    products: np.ndarray,
    row_product: np.ndarray,
    first_row: np.ndarray,
    first_task: np.ndarray,
    people: np.ndarray,
    *,
    repeats: int | None = None,
    cores: int | None = None,
    random_seed: Any = 0,
) -> np.ndarray:
    """Probability that each row is chosen in its task, averaged over the draws of each chain, shape (chains, rows)."""
    from ..engines.fit import draws_between

    count, chains = draws.a.shape[0], int(draws.group.max(initial=0)) + 1
    each = count // chains
    parts = [draws_between(draws, chain * each, (chain + 1) * each) for chain in range(chains)]
    repeats = repeats or max(MIN_REPEATS, -(-MIN_OCCASIONS // count))
    rngs = streams(random_seed, len(people))
    known = (draws.first_owned.shape[0] - 1) // count
    room_known = room_for_known(draws)
    room_new = room_for_new(draws, known)
    total = np.zeros((chains, len(row_product)))

    def work(unit: int) -> None:
        tasks = first_row[first_task[unit] : first_task[unit + 1] + 1]
        rows = slice(tasks[0], tasks[-1])
        used, places = np.unique(row_product[rows], return_inverse=True)
        codes = np.ascontiguousarray(products[used], np.int64)
        places, starts = places.astype(np.int64), np.ascontiguousarray(tasks - tasks[0], np.int64)
        for part, of_chain in zip(parts, total[:, rows], strict=True):
            if people[unit] >= 0:
                add_known(rngs[unit], part, int(people[unit]), codes, places, starts, repeats, room_known, of_chain)
            else:
                add_new(rngs[unit], part, codes, places, starts, repeats, room_new, of_chain)

    in_threads(work, len(people), cores)
    alternatives = np.repeat(np.diff(first_row), np.diff(first_row))
    return (1.0 - draws.lapse) * total / (each * repeats) + draws.lapse / alternatives
