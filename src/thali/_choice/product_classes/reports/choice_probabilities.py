"""Simulated choice probabilities and market shares of product classes."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._compile.jit import allocating, part
from thali._inference.index_arithmetic import part_bounds
from thali._inference.numerics.array_parts import part_ends, part_size
from thali._inference.numerics.discrete_draws import draw_poisson
from thali._inference.numerics.gamma_distribution import draw_log_gamma
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._inference.threads_and_processes import call_in_threads

from ..prior import draw_sign
from .choice_kernels import (
    add_winner_weights,
    bound_owned_classes,
    bound_total_classes,
    collect_separating_classes,
    count_occasions,
    count_respondents,
    draw_class_members,
    draw_occasion_values,
    fill_class_row,
    fill_membership,
    read_owned_classes,
    transient_shape,
)

if TYPE_CHECKING:
    from thali._data.experiments.fitted_design import ExperimentDesign
    from thali._data.experiments.product_encoding import SchemeCells

    from ..ragged_draws import Particles

MIN_REPEATS, MIN_OCCASIONS = 3, 5_000  # occasions per draw, and over all draws
# for an interval: the noise of a draw's probability is below 0.026
INTERVAL_DRAWS = 400
OCCASIONS_PER_DRAW = 400


@part
def count_person_choices(
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
    """Count a respondent's simulated choices of each product row in draw d."""
    # Task t has the rows first_row[t], ..., first_row[t + 1] - 1 of `codes`.
    begin, n, sign, log_theta = read_owned_classes(draws, d, person)
    shape = transient_shape(draws, d)
    for t in range(first_task, last_task):
        first, rows = first_row[t], part_size(first_row, t)
        fill_membership(draws, d, begin, n, codes[first : first + rows], rows, inside)
        n_separating = collect_separating_classes(inside, n, rows, chosen)
        for _ in range(repeats if n_separating else 1):
            draw_occasion_values(rng, log_theta, shape, chosen, n_separating, log_value)
            weight = 1.0 if n_separating else float(repeats)
            add_winner_weights(
                inside,
                sign,
                chosen,
                n_separating,
                log_value,
                value,
                0,
                rows,
                weight,
                total[first : first + rows],
            )


@allocating
def count_respondent_choices(
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
    """Count fitted respondents' simulated choices of each row in some draws."""
    # Person first_person + n of the data has the tasks first_task[n], ..., first_task[n + 1] - 1.
    inside, chosen = np.empty((room, np.diff(first_row).max()), np.bool_), np.empty(room, np.int64)
    log_value, value = np.empty(room), np.empty(room)
    work = (inside, chosen, log_value, value)
    for d in range(first_draw, last_draw):
        for n in range(first_task.size - 1):
            tasks = part_ends(first_task, n)
            count_person_choices(
                rng, draws, d, first_person + n, codes, first_row, *tasks, repeats, *work, total
            )


@allocating
def count_newcomer_choices(
    rng: np.random.Generator,
    draws: Any,
    first_draw: Any,
    last_draw: Any,
    groups: Any,
    newcomers: Any,
    occasions: Any,
    codes: Any,
    first_row: Any,
    max_classes: Any,
    total: Any,
) -> None:
    """Add new respondents' simulated choices of each row, in some draws, to `total`.

    New respondents of a group join the respondents of a draw one after the other.
    """
    # Each is drawn from the prior given all respondents before. With more of them, their shares
    # approach the shares of the sampled population. Values of an occasion are the same in all
    # tasks.
    people, rows = count_respondents(draws), codes.shape[0]
    owners, negative = np.empty(max_classes, np.int64), np.empty(max_classes, np.int64)
    polarity, contains = np.empty(max_classes, np.int64), np.empty((max_classes, rows), np.bool_)
    inside = np.empty((max_classes, rows), np.bool_)
    chosen, order = np.empty(max_classes, np.int64), np.empty(draws.monotone.size, np.int64)
    sign, log_theta = np.empty(max_classes, np.int8), np.empty(max_classes)
    log_value, value = np.empty(max_classes), np.empty(max_classes)
    active = np.empty((1, draws.monotone.size), np.bool_)
    member = np.empty((1, draws.member.shape[1]), np.bool_)
    for d in range(first_draw, last_draw):
        lasting, passing = draws.sigma[d] * draws.a[d], transient_shape(draws, d)
        begin = draws.first_class[d]
        n_known = draws.first_class[d + 1] - begin
        for c in range(n_known):
            fill_class_row(
                draws.active, draws.member, begin + c, draws.offset, codes, rows, contains, c
            )
        for _ in range(groups):
            n_classes = n_known
            for c in range(n_known):
                owners[c], negative[c] = draws.n_owners[begin + c], draws.n_negative[begin + c]
                polarity[c] = draws.polarity[begin + c]
            for present in range(people, people + newcomers):
                n_new = draw_poisson(rng, draws.alpha[d] * draws.beta / (draws.beta + present))
                for c in range(n_classes, min(n_classes + n_new, max_classes)):
                    polarity[c] = draw_class_members(
                        rng, draws.offset, draws.monotone, order, active, member, 0
                    )
                    owners[c], negative[c] = 0, 0
                    fill_class_row(active, member, 0, draws.offset, codes, rows, contains, c)
                n, n_existing = 0, n_classes
                n_classes = min(n_classes + n_new, max_classes)
                for c in range(n_classes):
                    if c < n_existing and rng.random() * (draws.beta + present) >= owners[c]:
                        continue
                    sign[n] = draw_sign(rng, polarity[c], owners[c], negative[c])
                    owners[c] += 1
                    negative[c] += sign[n]
                    log_theta[n] = draw_log_gamma(rng, lasting)
                    for row in range(rows):
                        inside[n, row] = contains[c, row]
                    n += 1
                work = (chosen, log_value, value, first_row, occasions)
                count_occasions(rng, inside, sign, log_theta, passing, n, *work, 1.0, total)


def add_lapse(draws: "Particles", p: np.ndarray, first_row: np.ndarray) -> np.ndarray:
    """Return probabilities (..., rows) mixed with random choices (lapses)."""
    task_sizes = np.diff(first_row)
    return (1.0 - draws.lapse) * p + draws.lapse / np.repeat(task_sizes, task_sizes)


def draw_choices(
    draws: "Particles",
    design: "ExperimentDesign",
    rng: np.random.Generator,
    draw_indices: np.ndarray,
) -> np.ndarray:
    """Draw choices of all respondents in the fitted tasks, shape (draws, tasks)."""
    max_owned = bound_owned_classes(draws)
    codes = design.products[design.row_product]
    chosen_positions = np.empty((len(draw_indices), len(design.chosen)), np.int64)
    for draw_position, d in enumerate(draw_indices.tolist()):
        choice_counts = np.zeros(len(design.row_product))
        count_respondent_choices(
            rng,
            draws,
            d,
            d + 1,
            0,
            codes,
            design.first_task,
            design.first_row,
            1,
            max_owned,
            choice_counts,
        )
        p = add_lapse(draws, choice_counts, design.first_row)
        noisy_log_p = np.log(p, where=p > 0.0, out=np.full(len(p), -np.inf)) + rng.gumbel(
            size=len(p)
        )
        chosen_positions[draw_position] = [
            part.argmax() for part in np.split(noisy_log_p, design.first_row[1:-1])
        ]
    return chosen_positions


def predict_tasks(
    draws: "Particles",
    encoded: "SchemeCells",
    *,
    by_draw: bool = False,
    repeats: int | None = None,
    cores: int | None = None,
    random_seed: RandomSeed = 0,
) -> np.ndarray:
    """Return the choice probability of each row, (chains or draws, rows).

    Every task of an unknown respondent belongs to a new one.
    """
    person_of_row = encoded.respondent_of_row
    task_of_row = encoded.task_of_row
    unit_of_row = np.where(person_of_row >= 0, person_of_row, draws.n_respondents + task_of_row)
    row_order = np.lexsort((task_of_row, unit_of_row))
    unit_of_row = unit_of_row[row_order]
    task_of_row = task_of_row[row_order]
    first_row = np.flatnonzero(np.diff(task_of_row, prepend=-1, append=-1))
    unit_of_task = unit_of_row[first_row[:-1]]
    first_task = np.flatnonzero(np.diff(unit_of_task, prepend=-1, append=-1))
    unit_people = unit_of_task[first_task[:-1]]
    unit_people = np.where(unit_people < draws.n_respondents, unit_people, -1)
    unique_products, row_product = np.unique(
        encoded.products[row_order], axis=0, return_inverse=True
    )
    sorted_p = estimate_row_probabilities(
        draws,
        unique_products,
        row_product.ravel(),
        first_row,
        first_task,
        unit_people,
        by_draw=by_draw,
        repeats=repeats,
        cores=cores,
        random_seed=random_seed,
    )
    p = np.empty(sorted_p.shape)
    p[:, row_order] = sorted_p
    return p


def estimate_row_probabilities(
    draws: "Particles",
    products: np.ndarray,
    row_product: np.ndarray,
    first_row: np.ndarray,
    first_task: np.ndarray,
    respondent_of_unit: np.ndarray,
    *,
    by_draw: bool,
    repeats: int | None,
    cores: int | None,
    random_seed: RandomSeed,
) -> np.ndarray:
    """Estimate each row's choice probability within its task, (chains, rows).

    `by_draw`: in each draw, shape (draws, rows), of occasions of the same new person.
    """
    from ..samplers.stored_draws import slice_draws

    n_draws = draws.n_draws
    if by_draw:
        n_parts = n_draws
        repeats = repeats or OCCASIONS_PER_DRAW
        n_groups = 1
        n_occasions = repeats
    else:
        n_parts = draws.n_groups
        repeats = repeats or max(MIN_REPEATS, -(-MIN_OCCASIONS // n_draws))
        n_groups = repeats
        n_occasions = 1
    draws_per_part = n_draws // n_parts
    draw_parts = [
        slice_draws(draws, part_index * draws_per_part, (part_index + 1) * draws_per_part)
        for part_index in range(n_parts)
    ]
    rngs = spawn_generators(random_seed, len(respondent_of_unit))
    max_owned = bound_owned_classes(draws)
    max_classes = bound_total_classes(draws, 1)
    choice_counts = np.zeros((n_parts, len(row_product)))

    def simulate_unit(unit: int) -> None:
        """Simulate the choices of one fitted respondent, or of new respondents."""
        task_bounds = first_row[first_task[unit] : first_task[unit + 1] + 1]
        row_slice = slice(task_bounds[0], task_bounds[-1])
        task_starts = np.ascontiguousarray(task_bounds - task_bounds[0], np.int64)
        person = int(respondent_of_unit[unit])
        codes = np.ascontiguousarray(products[row_product[row_slice]], np.int64)
        tasks_of_person = np.array([0, len(task_starts) - 1], np.int64)
        for part_draws, part_counts in zip(draw_parts, choice_counts[:, row_slice], strict=True):
            if person >= 0:
                count_respondent_choices(
                    rngs[unit],
                    part_draws,
                    0,
                    draws_per_part,
                    person,
                    codes,
                    tasks_of_person,
                    task_starts,
                    repeats,
                    max_owned,
                    part_counts,
                )
            else:
                count_newcomer_choices(
                    rngs[unit],
                    part_draws,
                    0,
                    draws_per_part,
                    n_groups,
                    1,
                    n_occasions,
                    codes,
                    task_starts,
                    max_classes,
                    part_counts,
                )

    call_in_threads(simulate_unit, len(respondent_of_unit), cores)
    task_sizes = np.repeat(np.diff(first_row), np.diff(first_row))
    return (1.0 - draws.lapse) * choice_counts / (
        draws_per_part * repeats
    ) + draws.lapse / task_sizes


# Simulated markets: shares of the products, before and after a change -----------------------------


_OCCASIONS = 4_000  # per draw over all respondents: the noise of a share is below 0.008
# per respondent: their variance is a tenth of the sampling variance of the respondents
_NEWCOMERS = 10


@allocating
def add_market_choices(
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
    """Add the weighted choices of each market's products in draw d to `total`."""
    # Market m offers the rows first_row[m], ..., first_row[m + 1] - 1 of `codes`. On an occasion a
    # respondent's values are the same in all markets. Respondents with weight 0 are skipped.
    people, rows = count_respondents(draws), codes.shape[0]
    inside = np.empty((room, rows), np.bool_)
    chosen = np.empty(room, np.int64)
    log_value, value = np.empty(room), np.empty(room)
    shape = transient_shape(draws, d)
    for person in range(people):
        if weights[person] == 0.0:
            continue
        begin, n, sign, log_theta = read_owned_classes(draws, d, person)
        fill_membership(draws, d, begin, n, codes, rows, inside)
        work = (chosen, log_value, value, first_row, repeats)
        count_occasions(rng, inside, sign, log_theta, shape, n, *work, weights[person], total)


def simulate_share_draws(
    draws: "Particles",
    markets: list[np.ndarray],
    weights: np.ndarray | None,
    cores: int | None = None,
    random_seed: RandomSeed = 0,
) -> list[np.ndarray]:
    """Return simulated market shares of several markets, (draws, products) each.

    Weights of respondents have shape (respondents,) or (draws, respondents); None simulates new
    respondents.
    """
    codes = np.ascontiguousarray(np.concatenate(markets), np.int64)
    first_row = part_bounds([len(market) for market in markets])
    rngs = spawn_generators(random_seed, draws.n_draws)
    choice_counts = np.zeros((draws.n_draws, len(codes)))
    if weights is None:
        n_newcomers = max(_OCCASIONS, _NEWCOMERS * draws.n_respondents)
        max_classes = bound_total_classes(draws, n_newcomers)

        def simulate_draw(d: int) -> None:
            count_newcomer_choices(
                rngs[d],
                draws,
                d,
                d + 1,
                1,
                n_newcomers,
                1,
                codes,
                first_row,
                max_classes,
                choice_counts[d],
            )

        n_occasions = n_newcomers
    else:
        draw_weights = np.ones((draws.n_draws, draws.n_respondents)) * weights
        repeats = max(1, -(-_OCCASIONS // np.count_nonzero(draw_weights[0])))
        max_owned = bound_owned_classes(draws)

        def simulate_draw(d: int) -> None:
            add_market_choices(
                rngs[d],
                draws,
                d,
                draw_weights[d],
                codes,
                first_row,
                repeats,
                max_owned,
                choice_counts[d],
            )

        n_occasions = draw_weights.sum(axis=1, keepdims=True) * repeats
    call_in_threads(simulate_draw, draws.n_draws, cores)
    choice_counts /= n_occasions
    return np.split(add_lapse(draws, choice_counts, first_row), first_row[1:-1], axis=1)
