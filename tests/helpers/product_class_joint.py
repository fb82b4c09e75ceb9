"""Chains over parameters and data of product classes: quantities of their states, averaged.

Geweke (2004): parameters drawn from the prior, and parameters of a chain that alternates between
drawing data and a sweep, have the same distribution if and only if simulator, sampler and prior
agree.
"""

import math
from typing import Any

import numpy as np

from thali._choice.product_classes.likelihood import (
    count_included_levels,
    fill_hits,
    is_active,
    log_likelihood_with_lapse,
    sum_features,
)
from thali._choice.product_classes.simulation import simulate_choices
from thali._choice.product_classes.state import (
    ACTIVE,
    CLASS,
    CLASSES,
    CONCENTRATION,
    FIRST,
    NEXT_OWNED,
    NEXT_OWNER,
    PERSON,
    POLARITY,
    PRESENT,
    SIGMA,
    SIGN,
    TOP,
    A,
    build_workspace,
    double_capacity,
)
from thali._choice.product_classes.sweep import add_respondents, finish_sweep, reset_state
from thali._compile.jit import compiled, part

NAMES = (
    "K",
    "features",
    "sum tanh ln theta",
    "sum tanh ln eps",
    "sum theta",
    "a",
    "sigma",
    "negatives",
    "classes with polarity",
    "active attributes",
    "classes owned by all",
    "active levels",
    "K^2",
    "n_1 n_2",
    "n_1 = 0",
    "alpha",
    "a^2",
    "sum S (m - S)",
    "log-likelihood",
    "n_1",
    "shared by 1 and 2",
    "negatives of 1",
    "sum theta of 1",
)
# data fixed; redrawn before every sweep; parameters from the prior as well
FIXED, SIMULATED, PRIOR = range(3)


@part
def functionals(
    problem: Any, target: Any, state: Any, work: Any, people: Any, out: Any, row: Any
) -> None:
    """Add the quantities of NAMES, for the first `people` people only, and L of all tasks, to a row
    of `out`."""
    classes, with_polarity, active, by_all, levels, mixed = 0, 0, 0, 0, 0, 0
    for k in range(state.whole[CLASSES]):
        owners, negative = 0, 0
        f = state.classes[k, FIRST]
        while f >= 0:
            if state.features.slots[f, PERSON] < people:
                owners += 1
                negative += state.features.slots[f, SIGN]
            f = state.features.slots[f, NEXT_OWNER]
        if owners == 0:
            continue
        classes += 1
        with_polarity += 1 if state.classes[k, POLARITY] >= 0 else 0
        active += state.classes[k, ACTIVE]
        by_all += 1 if owners == people else 0
        mixed += negative * (owners - negative)
        for i in range(problem.n_levels.shape[0]):
            if is_active(problem, state.bits, k, i):
                levels += count_included_levels(problem, state.bits, k, i)
    features, tanh_theta, tanh_eps, theta, negatives = 0, 0.0, 0.0, 0.0, 0
    shared, negatives_of_first, theta_of_first = 0, 0, 0.0
    for f in range(state.whole[TOP]):
        n = state.features.slots[f, PERSON]
        if n < 0 or n >= people:
            continue
        features += 1
        negatives += state.features.slots[f, SIGN]
        tanh_theta += math.tanh(state.features.log_theta[f])
        theta += math.exp(state.features.log_theta[f])
        for tau in range(problem.tasks.first_task[n + 1] - problem.tasks.first_task[n]):
            if state.features.separates[f, tau] != 0:
                tanh_eps += math.tanh(state.features.log_eps[f, tau])
        if n == 0:
            negatives_of_first += state.features.slots[f, SIGN]
            theta_of_first += math.exp(state.features.log_theta[f])
            g = state.features.respondents[1, 0] if people > 1 else -1
            while g >= 0:
                shared += (
                    1 if state.features.slots[g, CLASS] == state.features.slots[f, CLASS] else 0
                )
                g = state.features.slots[g, NEXT_OWNED]
    first, second = (
        state.features.respondents[0, 1],
        state.features.respondents[1, 1] if people > 1 else 0,
    )
    fit = 0.0
    for n in range(state.whole[PRESENT]):
        sum_features(problem.tasks, state.features, work.sums, 0, n)
        fill_hits(problem.tasks, state.features, work.sums, work.hit, 0, n)
        if n < people:
            fit += log_likelihood_with_lapse(problem.tasks, target, work.hit, n)
        for t in range(problem.tasks.first_task[n], problem.tasks.first_task[n + 1]):
            out[row, len(NAMES) + t] += work.hit[t - problem.tasks.first_task[n]]
    a = state.real[A]
    values = (
        1.0 * classes,
        1.0 * features,
        tanh_theta,
        tanh_eps,
        theta,
        a,
        state.real[SIGMA],
        1.0 * negatives,
        1.0 * with_polarity,
        1.0 * active,
        1.0 * by_all,
        1.0 * levels,
        1.0 * classes * classes,
        1.0 * first * second,
        1.0 if first == 0 else 0.0,
        state.real[CONCENTRATION],
        a * a,
        1.0 * mixed,
        fit,
        1.0 * first,
        1.0 * shared,
        1.0 * negatives_of_first,
        theta_of_first,
    )
    for i in range(len(values)):
        out[row, i] += values[i]


@compiled
def run_chain(
    rng: np.random.Generator,
    problem: Any,
    target: Any,
    state: Any,
    work: Any,
    data: Any,
    people: Any,
    at: Any,
    drop: Any,
    total: Any,
    out: Any,
    row: Any,
    chosen: Any,
) -> Any:
    """Iterations at[0] to total, at[1] the progress of one, added up from `drop` on; False if there
    was no room."""
    everybody = problem.tasks.first_task.shape[0] - 1
    while at[0] < total:
        if data == PRIOR:
            if at[1] == 0:
                reset_state(rng, problem, state, True)
                at[1] = 1
            if not add_respondents(rng, problem, state, everybody):
                return False
        if data != FIXED and at[1] < 2:
            simulate_choices(rng, problem, target, state, chosen)
            at[1] = 2
        if data != PRIOR and not finish_sweep(rng, problem, target, state, work):
            return False
        at[1] = 0
        if at[0] >= drop:
            functionals(problem, target, state, work, people, out, row)
        at[0] += 1
    return True


def average(
    rng: np.random.Generator,
    problem: Any,
    target: Any,
    state: Any,
    data: Any = FIXED,
    *,
    iterations: Any,
    drop: int = 0,
    batches: int = 1,
    people: Any = None,
) -> tuple[np.ndarray, "object"]:
    """Means of NAMES and of L of every task, a row a batch of one chain, all but the first `drop`;
    the last state."""
    people = problem.n_people if people is None else people
    out = np.zeros((batches, len(NAMES) + problem.n_tasks))
    work, chosen = build_workspace(problem, state), np.zeros(problem.n_tasks, np.int64)
    for row in range(batches):
        at, skip = np.zeros(2, np.int64), drop if row == 0 else 0
        total = iterations + skip
        rest = (data, people, at, skip, total, out, row, chosen)
        while not run_chain(rng, problem, target, state, work, *rest):
            state = double_capacity(state)
            work = build_workspace(problem, state)
    return out / iterations, state
