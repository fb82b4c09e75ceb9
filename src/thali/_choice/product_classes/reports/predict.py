"""Probabilities of choice and shares of markets that product classes predict, for known and for new
people."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._compile.jit import allocating, part
from thali._inference.indexing import part_bounds
from thali._inference.numerics.decisions import draw_poisson
from thali._inference.numerics.gamma import draw_log_gamma
from thali._inference.seeds import spawn_generators
from thali._inference.threads import call_in_threads

from ..prior import draw_sign
from .choosing import (
    add_winners,
    draw_class,
    draw_values,
    fill_inside,
    holds,
    owned_by,
    room_for_known,
    room_for_newcomers,
    separating,
    shape_of_passing,
)

if TYPE_CHECKING:
    from thali._data.experiments.design import ExperimentDesign
    from thali._data.experiments.scheme import SchemeCells

    from ..particles import Particles

MIN_REPEATS, MIN_OCCASIONS = 3, 5_000  # occasions of a draw, of all draws together
# of an interval: the noise of a draw's probability is below .026
DRAWS_OF_INTERVAL, OCCASIONS_OF_DRAW = 400, 400


@part
def add_person(
    rng: Any,
    draws: Any,
    d: Any,
    person: Any,
    codes: Any,
    first_row: Any,
    first_task: Any,
    last_task: Any,
    repeats: Any,
    inside: Any,
    chosen: Any,
    log_value: Any,
    value: Any,
    total: Any,
) -> None:
    """Add to `total`, for each row of some tasks, on how many occasions a person of the data chose
    it in draw d."""
    # Task t has the rows first_row[t], ..., first_row[t + 1] - 1 of `codes`.
    begin, n, sign, log_theta = owned_by(draws, d, person)
    shape = shape_of_passing(draws, d)
    for t in range(first_task, last_task):
        first, rows = first_row[t], first_row[t + 1] - first_row[t]
        fill_inside(draws, d, begin, n, codes[first : first + rows], rows, inside)
        matter = separating(inside, n, rows, chosen)
        for _ in range(repeats if matter else 1):
            draw_values(rng, log_theta, shape, chosen, matter, log_value)
            weight = 1.0 if matter else float(repeats)
            add_winners(
                inside,
                sign,
                chosen,
                matter,
                log_value,
                value,
                0,
                rows,
                weight,
                total[first : first + rows],
            )


@allocating
def add_known(
    rng: np.random.Generator,
    draws: Any,
    first_draw: Any,
    last_draw: Any,
    first_person: Any,
    codes: Any,
    first_task: Any,
    first_row: Any,
    repeats: Any,
    room: Any,
    total: Any,
) -> None:
    """Add to `total`, for each row of the tasks of some people, on how many occasions it was chosen
    in some draws."""
    # Person first_person + n of the data has the tasks first_task[n], ..., first_task[n + 1] - 1.
    inside, chosen = np.empty((room, np.diff(first_row).max()), np.bool_), np.empty(room, np.int64)
    log_value, value = np.empty(room), np.empty(room)
    work = (inside, chosen, log_value, value)
    for d in range(first_draw, last_draw):
        for n in range(first_task.shape[0] - 1):
            tasks = (first_task[n], first_task[n + 1])
            add_person(
                rng, draws, d, first_person + n, codes, first_row, *tasks, repeats, *work, total
            )


@allocating
def add_newcomers(
    rng: np.random.Generator,
    draws: Any,
    first_draw: Any,
    last_draw: Any,
    groups: Any,
    newcomers: Any,
    occasions: Any,
    codes: Any,
    first_row: Any,
    room: Any,
    total: Any,
) -> None:
    """As `add_known`, for groups of new people, who join those of a draw one after the other; rows
    are in `codes`."""
    # Each draws from the prior given everybody before; the more of them there are, the closer their
    # shares are to those of one population that the people of the data are a sample of. Values of
    # an occasion are the same in all tasks.
    people = (draws.first_owned.shape[0] - 1) // draws.a.shape[0]
    rows = codes.shape[0]
    owners, negative = np.empty(room, np.int64), np.empty(room, np.int64)
    polarity, held = np.empty(room, np.int64), np.empty((room, rows), np.bool_)
    inside = np.empty((room, rows), np.bool_)
    chosen, order = np.empty(room, np.int64), np.empty(draws.monotone.shape[0], np.int64)
    sign, log_theta = np.empty(room, np.int8), np.empty(room)
    log_value, value = np.empty(room), np.empty(room)
    active = np.empty((1, draws.monotone.shape[0]), np.bool_)
    member = np.empty((1, draws.member.shape[1]), np.bool_)
    for d in range(first_draw, last_draw):
        lasting, passing = draws.sigma[d] * draws.a[d], shape_of_passing(draws, d)
        begin = draws.first_class[d]
        known = draws.first_class[d + 1] - begin
        for c in range(known):
            for row in range(rows):
                held[c, row] = holds(
                    draws.active, draws.member, begin + c, draws.offset, codes, row
                )
        for _ in range(groups):
            n_classes = known
            for c in range(known):
                owners[c], negative[c] = draws.n_owners[begin + c], draws.n_negative[begin + c]
                polarity[c] = draws.polarity[begin + c]
            for present in range(people, people + newcomers):
                own = draw_poisson(rng, draws.alpha[d] * draws.beta / (draws.beta + present))
                for c in range(n_classes, min(n_classes + own, room)):
                    polarity[c] = draw_class(
                        rng, draws.offset, draws.monotone, order, active, member, 0
                    )
                    owners[c], negative[c] = 0, 0
                    for row in range(rows):
                        held[c, row] = holds(active, member, 0, draws.offset, codes, row)
                n, others = 0, n_classes
                n_classes = min(n_classes + own, room)
                for c in range(n_classes):
                    if c < others and rng.random() * (draws.beta + present) >= owners[c]:
                        continue
                    sign[n] = draw_sign(rng, polarity[c], owners[c], negative[c])
                    owners[c] += 1
                    negative[c] += sign[n]
                    log_theta[n] = draw_log_gamma(rng, lasting)
                    for row in range(rows):
                        inside[n, row] = held[c, row]
                    n += 1
                matter = separating(inside, n, rows, chosen)
                for _ in range(occasions):
                    draw_values(rng, log_theta, passing, chosen, matter, log_value)
                    for t in range(first_row.shape[0] - 1):
                        first, last = first_row[t], first_row[t + 1]
                        add_winners(
                            inside, sign, chosen, matter, log_value, value, first, last, 1.0, total
                        )


def drawn_choices(
    draws: "Particles", design: "ExperimentDesign", rng: np.random.Generator, kept: np.ndarray
) -> np.ndarray:
    """A choice of the people of the data in each of their tasks at the draws of those numbers,
    shape (draws, tasks)."""
    room, codes = room_for_known(draws), design.products[design.row_product]
    chosen = np.empty((len(kept), len(design.chosen)), np.int64)
    for place, d in enumerate(kept.tolist()):
        shares = np.zeros(len(design.row_product))
        add_known(
            rng, draws, d, d + 1, 0, codes, design.first_task, design.first_row, 1, room, shares
        )
        alternatives = np.diff(design.first_row)
        p = (1.0 - draws.lapse) * shares + draws.lapse / np.repeat(alternatives, alternatives)
        noisy = np.log(p, where=p > 0.0, out=np.full(len(p), -np.inf)) + rng.gumbel(size=len(p))
        chosen[place] = [part.argmax() for part in np.split(noisy, design.first_row[1:-1])]
    return chosen


def tasks_proba(
    draws: "Particles",
    encoded: "SchemeCells",
    *,
    by_draw: bool = False,
    repeats: Any = None,
    cores: Any = None,
    random_seed: Any = 0,
) -> np.ndarray:
    """Probability of each row of encoded tasks in each chain or draw, (parts, rows); a new person
    for each new task."""
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
    found = probabilities_in_parts(
        draws,
        codes,
        row_product.ravel(),
        first_row,
        first_task,
        people,
        by_draw=by_draw,
        repeats=repeats,
        cores=cores,
        random_seed=random_seed,
    )
    result = np.empty(found.shape)
    result[:, order] = found
    return result


def probabilities_in_parts(
    draws: "Particles",
    products: np.ndarray,
    row_product: np.ndarray,
    first_row: np.ndarray,
    first_task: np.ndarray,
    people: np.ndarray,
    *,
    by_draw: bool,
    repeats: int | None,
    cores: int | None,
    random_seed: Any,
) -> np.ndarray:
    """Probability that each row is chosen in its task, averaged over the draws of each chain, shape
    (chains, rows).

    `by_draw`: in each draw, shape (draws, rows), of occasions of the same new person.
    """
    from ..engines.fit import slice_draws

    count = draws.a.shape[0]
    number = count if by_draw else draws.n_groups
    each = count // number
    parts = [slice_draws(draws, part * each, (part + 1) * each) for part in range(number)]
    repeats = repeats or (
        OCCASIONS_OF_DRAW if by_draw else max(MIN_REPEATS, -(-MIN_OCCASIONS // count))
    )
    groups, occasions = (1, repeats) if by_draw else (repeats, 1)
    rngs = spawn_generators(random_seed, len(people))
    room_known = room_for_known(draws)
    room_new = room_for_newcomers(draws, 1)
    total = np.zeros((number, len(row_product)))

    def work(unit: int) -> None:
        tasks = first_row[first_task[unit] : first_task[unit + 1] + 1]
        rows = slice(tasks[0], tasks[-1])
        starts, person = np.ascontiguousarray(tasks - tasks[0], np.int64), int(people[unit])
        codes = np.ascontiguousarray(products[row_product[rows]], np.int64)
        known = (codes, np.array([0, len(starts) - 1], np.int64), starts, repeats, room_known)
        new = (groups, 1, occasions, codes, starts, room_new)
        for some, of_part in zip(parts, total[:, rows], strict=True):
            if person >= 0:
                add_known(rngs[unit], some, 0, each, person, *known, of_part)
            else:
                add_newcomers(rngs[unit], some, 0, each, *new, of_part)

    call_in_threads(work, len(people), cores)
    alternatives = np.repeat(np.diff(first_row), np.diff(first_row))
    return (1.0 - draws.lapse) * total / (each * repeats) + draws.lapse / alternatives


# Simulated markets: the share of people who would choose each product, before and after a change


_OCCASIONS = 4_000  # of all people in a draw: the noise of a share is below .008 then
# for each respondent: their variance is a tenth of the sampling variance of the respondents
_NEWCOMERS = 10


@allocating
def add_shares(
    rng: np.random.Generator,
    draws: Any,
    d: Any,
    weights: Any,
    codes: Any,
    first_row: Any,
    repeats: Any,
    room: Any,
    total: Any,
) -> None:
    """Add to `total`, for each product of each market, how often it is chosen by all people in draw
    d, by weight."""
    # Market m offers the rows first_row[m], ..., first_row[m + 1] - 1 of `codes`; on an occasion a
    # person's values are the same in all markets. People without weight are left out.
    people = (draws.first_owned.shape[0] - 1) // draws.a.shape[0]
    rows = codes.shape[0]
    inside = np.empty((room, rows), np.bool_)
    chosen = np.empty(room, np.int64)
    log_value, value = np.empty(room), np.empty(room)
    shape = shape_of_passing(draws, d)
    for person in range(people):
        if weights[person] == 0.0:
            continue
        begin, n, sign, log_theta = owned_by(draws, d, person)
        fill_inside(draws, d, begin, n, codes, rows, inside)
        matter = separating(inside, n, rows, chosen)
        for _ in range(repeats):
            draw_values(rng, log_theta, shape, chosen, matter, log_value)
            for m in range(first_row.shape[0] - 1):
                first, last = first_row[m], first_row[m + 1]
                add_winners(
                    inside,
                    sign,
                    chosen,
                    matter,
                    log_value,
                    value,
                    first,
                    last,
                    weights[person],
                    total,
                )


def share_draws(
    draws: "Particles",
    markets: list[np.ndarray],
    weights: np.ndarray | None,
    cores: int | None = None,
    random_seed: Any = 0,
) -> list[np.ndarray]:
    """Shares of the products of several markets in every draw, by the weights (respondents,) or
    (draws, respondents) of respondents; None: of new people."""
    codes = np.ascontiguousarray(np.concatenate(markets), np.int64)
    first_row = part_bounds([len(market) for market in markets])
    rngs = spawn_generators(random_seed, draws.n_draws)
    total = np.zeros((draws.n_draws, len(codes)))
    newcomers = max(_OCCASIONS, _NEWCOMERS * draws.n_respondents)
    of_draws = np.ones((draws.n_draws, draws.n_respondents)) * (1.0 if weights is None else weights)
    repeats = 1 if weights is None else max(1, -(-_OCCASIONS // np.count_nonzero(of_draws[0])))
    room = room_for_newcomers(draws, newcomers) if weights is None else room_for_known(draws)

    def work(d: int) -> None:
        if weights is None:
            add_newcomers(
                rngs[d], draws, d, d + 1, 1, newcomers, 1, codes, first_row, room, total[d]
            )
        else:
            add_shares(rngs[d], draws, d, of_draws[d], codes, first_row, repeats, room, total[d])

    call_in_threads(work, draws.n_draws, cores)
    total /= newcomers if weights is None else of_draws.sum(axis=1, keepdims=True) * repeats
    alternatives = np.repeat(np.diff(first_row), np.diff(first_row))
    total = (1.0 - draws.lapse) * total + draws.lapse / alternatives
    return np.split(total, first_row[1:-1], axis=1)
