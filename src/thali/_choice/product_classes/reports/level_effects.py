"""Level effects and attribute importance of product classes, by simulated choices."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._compile.jit import allocating, scalar
from thali._inference.index_arithmetic import part_indices
from thali._inference.numerics.array_parts import part_ends, part_range, part_size
from thali._inference.numerics.weight_shares import compute_shares
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._inference.threads_and_processes import call_in_threads
from thali._people.respondent_segments import Preferences, select_segment_draws

from ...reports.choice_draws import LevelEffects, select_draws, standard_error
from ...reports.level_effects import MAX_DRAWS, compute_choice_change, select_tasks
from ...reports.level_preferences import average_preferences, list_all_level_pairs
from ...reports.predictive_check import (
    build_level_indicators,
    build_report_arrays,
    list_effect_names,
    list_reference_pairs,
    list_share_names,
)
from ..fit_preparation import OCCASIONS
from .choice_kernels import (
    add_winner_weights,
    bound_owned_classes,
    collect_separating_classes,
    contains_product,
    draw_design_row,
    draw_occasion_values,
    fill_membership,
    is_tie,
    read_owned_classes,
    scale_values,
    scaled_utility_difference,
    transient_shape,
)
from .choice_probabilities import add_lapse, count_respondent_choices

if TYPE_CHECKING:
    import xarray

    from thali._data.experiments.fitted_design import ExperimentDesign

    from ...reports.people_weights import PeopleWeights
    from ..ragged_draws import Particles

EFFECT_DRAWS = 400
_EFFECT_OCCASIONS = 4_000  # of all people in a draw
_SOME_TASKS = 500  # tasks whose predictions are compared between chains
_PIECES = 40  # of the work


@allocating
def count_level_preferences(
    rng: np.random.Generator,
    draws: Any,
    d: Any,
    codes: Any,
    rows: Any,
    inside_attribute: Any,
    first: Any,
    second: Any,
    first_pair: Any,
    repeats: Any,
    room: Any,
    by_person: Any,
) -> None:
    """Count, in two runs of draw d, simulated occasions that prefer `second` to `first`.

    Counts by respondent and pair; ties count half.
    """
    # An occasion is a random product of the design (codes[rows]) with one level or the other. Pairs
    # of attribute i have numbers first_pair[i], ..., first_pair[i + 1] - 1.
    people, attributes = by_person.shape[0], codes.shape[1]
    max_levels = 0
    for i in range(attributes):
        max_levels = max(max_levels, part_size(draws.offset, i))
    variant = np.empty((max_levels, attributes), np.int64)
    inside = np.empty((room, max_levels), np.bool_)
    chosen = np.empty(room, np.int64)
    log_value, value = np.empty(room), np.empty(room)
    shape = transient_shape(draws, d)
    for person in range(people):
        begin, n, sign, log_theta = read_owned_classes(draws, d, person)
        for _ in range(repeats):
            for i in range(attributes):
                levels = part_size(draws.offset, i)
                product = draw_design_row(rng, codes, rows, i, 1 if i == inside_attribute else 0)
                for level in range(levels):
                    for j in range(attributes):
                        variant[level, j] = codes[product, j]
                        if i == inside_attribute and level == 0:
                            variant[level, j] = -1
                    variant[level, i] = level
                fill_membership(draws, d, begin, n, variant, levels, inside)
                matter = collect_separating_classes(inside, n, levels, chosen)
                draw_occasion_values(rng, log_theta, shape, chosen, matter, log_value)
                scale_values(log_value, matter, value)
                for pair in part_range(first_pair, i):
                    a, b = first[pair], second[pair]
                    if is_tie(inside, chosen, matter, a, b):
                        by_person[person, pair] += 1
                    elif (
                        scaled_utility_difference(
                            inside, sign, chosen, matter, log_value, value, b, a
                        )
                        > 0.0
                    ):
                        by_person[person, pair] += 2


class LevelPairs(NamedTuple):
    """Pairs of levels of one attribute, sorted by attribute."""

    first: np.ndarray  # (pairs,) levels
    second: np.ndarray
    start: np.ndarray  # (attributes + 1,) each attribute's first pair


def index_pairs(pairs: Sequence[tuple[int, int, int]], attributes: int) -> LevelPairs:
    """Return pairs (attribute, level, other level) as the arrays that kernels read."""
    attribute, first_levels, second_levels = (
        np.array(column, np.int64) for column in zip(*pairs, strict=True)
    )
    starts = np.searchsorted(attribute, np.arange(attributes + 1))
    return LevelPairs(first_levels, second_levels, starts)


def _count_preferences(
    rng: np.random.Generator,
    draws: "Particles",
    d: int,
    design: "ExperimentDesign",
    pair_index: LevelPairs,
    repeats: int,
    max_owned: int,
) -> np.ndarray:
    """Return the counts (respondents, pairs) of `count_level_preferences` in one draw."""
    preference_counts = np.zeros((draws.n_respondents, len(pair_index.first)), np.int64)
    count_level_preferences(
        rng,
        draws,
        d,
        design.products,
        design.row_product,
        design.inside,
        pair_index.first,
        pair_index.second,
        pair_index.start,
        repeats,
        max_owned,
        preference_counts,
    )
    return preference_counts


def estimate_level_effects(
    draws: "Particles",
    design: "ExperimentDesign",
    pairs: Sequence[tuple[int, int, int]],
    weights: "PeopleWeights",
    cores: int | None,
    random_seed: RandomSeed,
) -> LevelEffects:
    """Return how often the second level of each pair is preferred, simulated.

    A pair is (attribute, level, other level).
    """
    draw_indices = select_draws(draws.group, EFFECT_DRAWS)
    n_people = draws.n_respondents
    repeats = max(2, -(-_EFFECT_OCCASIONS // n_people))
    pair_index = index_pairs(pairs, len(design.attributes))
    rngs = spawn_generators(random_seed, len(draw_indices))
    max_owned = bound_owned_classes(draws)
    n_pieces = min(_PIECES, len(draw_indices))
    counts_by_piece = np.zeros((n_pieces, n_people, len(pairs)), np.int64)
    by_draw, of_people = np.zeros((2, len(draw_indices), len(pairs)))
    plain_shares = compute_shares(weights.plain)
    drawn_shares = compute_shares(np.broadcast_to(weights.drawn, (draws.n_draws, n_people)))

    def simulate_piece(piece: int) -> None:
        """Simulate preferences at the draws of one thread."""
        for draw_position in range(piece, len(draw_indices), n_pieces):
            d = int(draw_indices[draw_position])
            preference_counts = _count_preferences(
                rngs[draw_position], draws, d, design, pair_index, repeats, max_owned
            )
            counts_by_piece[piece] += preference_counts
            by_draw[draw_position] = plain_shares @ preference_counts
            of_people[draw_position] = drawn_shares[d] @ preference_counts

    call_in_threads(simulate_piece, n_pieces, cores)
    by_person = counts_by_piece.sum(axis=0) / (2.0 * repeats * len(draw_indices))
    n_occasions = 2.0 * repeats
    return LevelEffects(
        by_person, by_draw / n_occasions, of_people / n_occasions, draws.group[draw_indices]
    )


# Importance of each attribute: the change of choices if all alternatives have the same level ------


_IMPORTANCE_OCCASIONS = 800  # of all draws


@scalar
def equalise_attribute(
    draws: Any,
    d: Any,
    begin: Any,
    n: Any,
    i: Any,
    level: Any,
    codes: Any,
    start: Any,
    stop: Any,
    inside: Any,
    without: Any,
) -> Any:
    """Write class membership of products that all have one level of attribute i.

    Returns whether any of the n owned classes uses the attribute. Rows that lack the attribute
    continue to lack it.
    """
    is_used = False
    for o in range(n):
        c = draws.first_class[d] + draws.owned_class[begin + o]
        is_active = draws.active[c, i]
        is_used = is_used or is_active
        for row in range(start, stop):
            without[o, row] = inside[o, row]
            old_level = codes[row, i]
            if is_active and old_level >= 0:
                codes[row, i] = level
                without[o, row] = contains_product(
                    draws.active, draws.member, c, draws.offset, codes, row
                )
                codes[row, i] = old_level
    return is_used


@allocating
def count_choices_without_attributes(
    rng: np.random.Generator,
    draws: Any,
    draw_indices: Any,
    group: Any,
    person: Any,
    codes: Any,
    rows: Any,
    task_rows: Any,
    first_row: Any,
    inside_attribute: Any,
    repeats: Any,
    room: Any,
    total: Any,
) -> None:
    """Count a respondent's choices as shown, and with each attribute made equal.

    Adds choices to total[g, 0], and to total[g, 1 + i] the choices if attribute i has the same
    level everywhere.
    """
    # The tasks are rows task_rows[first_row[t]], ... of `codes`. The common level comes from a
    # random row of the design, and values of an occasion are the same for all attributes.
    # Alternatives that lack the attribute continue to lack it.
    attributes = codes.shape[1]
    width = task_rows.shape[0]
    inside, without = np.empty((room, width), np.bool_), np.empty((room, width), np.bool_)
    all_classes = np.arange(room)
    log_value, value = np.empty(room), np.empty(room)
    winners = np.empty(width)
    common = np.empty((width, attributes), np.int64)
    for row in range(width):
        for i in range(attributes):
            common[row, i] = codes[task_rows[row], i]
    for position in range(draw_indices.shape[0]):
        d, g = draw_indices[position], group[position]
        begin, n, sign, log_theta = read_owned_classes(draws, d, person)
        shape = transient_shape(draws, d)
        fill_membership(draws, d, begin, n, common, width, inside)
        for t in range(first_row.size - 1):
            start, stop = part_ends(first_row, t)
            for _ in range(repeats):
                draw_occasion_values(rng, log_theta, shape, all_classes, n, log_value)
                for row in range(start, stop):
                    winners[row] = 0.0
                add_winner_weights(
                    inside, sign, all_classes, n, log_value, value, start, stop, 1.0, winners
                )
                for row in range(start, stop):
                    total[g, 0, row] += winners[row]
                for i in range(attributes):
                    level = 1
                    if i != inside_attribute:
                        level = codes[draw_design_row(rng, codes, rows, i, 0), i]
                    if equalise_attribute(
                        draws, d, begin, n, i, level, common, start, stop, inside, without
                    ):
                        work = (all_classes, n, log_value, value)
                        add_winner_weights(without, sign, *work, start, stop, 1.0, total[g, 1 + i])
                    else:
                        for row in range(start, stop):
                            total[g, 1 + i, row] += winners[row]


def estimate_attribute_importance(
    draws: "Particles", design: "ExperimentDesign", cores: int | None, random_seed: RandomSeed
) -> tuple[np.ndarray, np.ndarray]:
    """Return changes of choices without each attribute, by respondent, and errors.

    Means over tasks; errors are errors of means over respondents.
    """
    n_people = draws.n_respondents
    n_attributes = len(design.attributes)
    draw_indices = select_draws(draws.group, MAX_DRAWS)
    group_numbers, group_of_draw = np.unique(draws.group[draw_indices], return_inverse=True)
    repeats = max(1, -(-_IMPORTANCE_OCCASIONS // len(draw_indices)))
    rngs = spawn_generators(random_seed, n_people)
    max_owned = bound_owned_classes(draws)
    pooled_changes = np.zeros((n_people, n_attributes))
    group_changes = np.zeros((n_people, n_attributes, len(group_numbers)))
    n_tasks = np.zeros(n_people)

    def simulate_person(person: int) -> None:
        """Simulate the choices of one respondent."""
        task_rows, first_row = select_tasks(design, person)
        choice_counts = np.zeros((len(group_numbers), n_attributes + 1, len(task_rows)))
        count_choices_without_attributes(
            rngs[person],
            draws,
            draw_indices,
            group_of_draw.astype(np.int64),
            person,
            design.products,
            design.row_product,
            task_rows,
            first_row,
            design.inside,
            repeats,
            max_owned,
            choice_counts,
        )
        n_occasions = np.bincount(group_of_draw) * float(repeats)
        n_tasks[person] = len(first_row) - 1
        decisions = choice_counts / n_occasions[:, None, None]
        group_changes[person] = compute_choice_change(decisions, first_row).T
        pooled_changes[person] = compute_choice_change(
            choice_counts.sum(axis=0, keepdims=True) / n_occasions.sum(), first_row
        )[0]

    call_in_threads(simulate_person, n_people, cores)
    deliberate_share = 1.0 - draws.lapse
    importance_errors = standard_error(np.tensordot(compute_shares(n_tasks), group_changes, axes=1))
    return deliberate_share * pooled_changes, deliberate_share * importance_errors


# Quantities of the convergence check: shares of levels among choices, and level effects -----------


class SimulatedQuantities(NamedTuple):
    """Simulated level shares, effects and choices of each draw."""

    shares: np.ndarray  # of levels among the choices
    effects: np.ndarray
    chosen: np.ndarray  # choice frequencies in some tasks, without lapse
    noise: np.ndarray  # mean variance of the frequencies due to the simulated occasions


def simulate_quantities(
    draws: "Particles",
    design: "ExperimentDesign",
    cores: int | None,
    reports_by_draw: dict[bytes, SimulatedQuantities],
) -> SimulatedQuantities:
    """Simulate level shares, level effects and choices of all draws.

    Draws in `reports_by_draw` are reused, and it receives the new ones.
    """
    # The random stream of the occasions depends on the draw alone, so a draw has the same numbers
    # in runs of any length.
    level_indicators = build_level_indicators(design.scheme, design.products)
    level_pairs = list_reference_pairs(design.scheme, draws.monotone)
    pair_index = index_pairs(level_pairs, len(design.attributes))
    n_tasks = len(design.first_row) - 1
    task_repeats = -(-OCCASIONS // (2 * n_tasks))
    is_compared_row = np.isin(
        part_indices(design.first_row),
        np.arange(0, n_tasks, -(-n_tasks // _SOME_TASKS)),
    )
    max_owned = bound_owned_classes(draws)
    codes = design.products[design.row_product]
    draw_keys = [_identify_draw(draws, d).tobytes() for d in range(draws.n_draws)]
    new_draws = [d for d, key in enumerate(draw_keys) if key not in reports_by_draw]

    def simulate_draw(new_index: int) -> None:
        """Simulate the quantities of one new draw."""
        d = new_draws[new_index]
        rng = spawn_generators(
            np.random.SeedSequence(_identify_draw(draws, d).view(np.uint32).tolist()), 1
        )[0]
        both_halves = np.zeros((2, len(design.row_product)))
        for half_counts in both_halves:
            count_respondent_choices(
                rng,
                draws,
                d,
                d + 1,
                0,
                codes,
                design.first_task,
                design.first_row,
                task_repeats,
                max_owned,
                half_counts,
            )
        first_half, second_half = both_halves / task_repeats
        choice_shares = (first_half + second_half) / 2.0
        p = add_lapse(draws, choice_shares, design.first_row)
        level_shares = (
            np.bincount(design.row_product, p, len(design.products)) @ level_indicators / n_tasks
        )
        level_effects = _simulate_level_effects(rng, draws, d, design, pair_index, max_owned)
        simulation_variance = ((first_half - second_half)[is_compared_row] ** 2).mean() / 4.0
        reports_by_draw[draw_keys[d]] = SimulatedQuantities(
            level_shares,
            level_effects,
            choice_shares[is_compared_row].astype(np.float32),
            simulation_variance,
        )

    call_in_threads(simulate_draw, len(new_draws), cores)
    for old_key in reports_by_draw.keys() - set(draw_keys):
        del reports_by_draw[old_key]
    report_columns = (
        np.array(column)
        for column in zip(*(reports_by_draw[key] for key in draw_keys), strict=True)
    )
    return SimulatedQuantities(*report_columns)


def _simulate_level_effects(
    rng: np.random.Generator,
    draws: "Particles",
    d: int,
    design: "ExperimentDesign",
    pair_index: LevelPairs,
    max_owned: int,
) -> np.ndarray:
    """Return the simulated level effects of one draw."""
    n_people = draws.n_respondents
    person_repeats = max(1, -(-OCCASIONS // n_people))
    preference_counts = _count_preferences(
        rng, draws, d, design, pair_index, person_repeats, max_owned
    )
    return preference_counts.sum(axis=0) / (2.0 * person_repeats * n_people)


def label_reports(
    reports: SimulatedQuantities, draws: "Particles", design: "ExperimentDesign"
) -> "dict[str, xarray.DataArray]":
    """Return draws of level shares and effects as labelled posterior variables."""
    n_groups = draws.n_groups
    level_pairs = list_reference_pairs(design.scheme, draws.monotone)
    shares, effects = (
        array.reshape(n_groups, -1, array.shape[1]) for array in (reports.shares, reports.effects)
    )
    return build_report_arrays(
        shares,
        effects,
        list_share_names(design.scheme),
        list_effect_names(design.scheme, level_pairs),
    )


def estimate_prediction_difference(reports: SimulatedQuantities, draws: "Particles") -> float:
    """Return the root mean square difference of predictions between two runs.

    NaN for one chain.
    """
    # The variance between chains minus the variance due to the simulated occasions.
    n_groups = draws.n_groups
    if n_groups < 2:
        return math.nan
    p = reports.chosen.reshape(n_groups, -1, reports.chosen.shape[1]).astype(np.float64)
    between_variance = p.mean(axis=1).var(axis=0, ddof=1).mean()
    simulation_variance = reports.noise.mean() / p.shape[1]
    return (1.0 - draws.lapse) * math.sqrt(
        2.0 * max(between_variance - simulation_variance, 0.0) / n_groups
    )


def _identify_draw(draws: "Particles", d: int) -> np.ndarray:
    """Return numbers of a draw that seed its simulation."""
    return np.array([draws.a[d], draws.sigma[d], draws.log_likelihood[d]])


# Preferences of each respondent between levels, in each draw, by simulation -----------------------


_PREFERENCE_OCCASIONS = 30  # per respondent and draw, with a standard error of at most 0.09
_SEED = 0


def simulate_preferences(
    draws: "Particles", design: "ExperimentDesign", cores: int | None = None
) -> Preferences:
    """Return each respondent's preferences between levels at some draws, simulated."""
    n_levels = [len(levels) for levels in design.scheme.levels.values()]
    level_pairs = list_all_level_pairs(n_levels)
    pair_index = index_pairs(level_pairs, len(n_levels))
    draw_indices = select_draws(
        draws.group, len(select_segment_draws(draws.n_draws, draws.n_respondents, sum(n_levels)))
    )
    rngs = spawn_generators(_SEED, len(draw_indices))
    room = bound_owned_classes(draws)
    preferences = np.zeros((len(draw_indices), draws.n_respondents, sum(n_levels)))

    def simulate_draw(draw_position: int) -> None:
        """Simulate the preferences of all respondents at one draw."""
        preference_counts = _count_preferences(
            rngs[draw_position],
            draws,
            int(draw_indices[draw_position]),
            design,
            pair_index,
            _PREFERENCE_OCCASIONS,
            room,
        )
        preferences[draw_position] = average_preferences(
            preference_counts.T / (2.0 * _PREFERENCE_OCCASIONS),
            n_levels,
            preference_counts.shape[:1],
        )

    call_in_threads(simulate_draw, len(draw_indices), cores)
    level_names = tuple(
        (name, level) for name, levels in design.scheme.levels.items() for level in levels
    )
    return Preferences(level_names, preferences, tuple(design.respondents))
